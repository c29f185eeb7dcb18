"""Warnings in tests."""
import contextlib
import functools
import warnings


def ignore_warnings(*, category):
    def decorator(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", category=category)
                return f(*args, **kwargs)
        return wrapper
    return decorator


class WarningsRecorder:
    def __init__(self, caught):
        self._caught = caught
        self._last = 0

    def __getattr__(self, name):
        if len(self._caught) > self._last:
            return getattr(self._caught[-1], name)
        raise AttributeError(name)

    @property
    def warnings(self):
        return self._caught[self._last:]

    def reset(self):
        self._last = len(self._caught)


@contextlib.contextmanager
def check_warnings(*filters, quiet=True):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield WarningsRecorder(caught)


@contextlib.contextmanager
def check_no_warnings(testcase, message="", category=Warning, force_gc=False):
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=message, category=category)
        yield
    testcase.assertEqual(caught, [])


check_no_resource_warning = check_no_warnings


@contextlib.contextmanager
def save_restore_warnings_filters():
    with warnings.catch_warnings():
        yield


def check_syntax_warning(*args, **kwargs):
    import unittest
    raise unittest.SkipTest("code as text")
