"""Threads in tests."""
import contextlib
import threading
import unittest

can_start_thread = True


def threading_setup():
    return ()


def threading_cleanup(*original):
    pass


def reap_threads(f):
    return f


def requires_working_threading(*, module=False):
    if module:
        return None
    return lambda f: f


def join_thread(thread, timeout=30):
    thread.join(timeout)
    if thread.is_alive():
        raise AssertionError("a thread did not end")


@contextlib.contextmanager
def start_threads(threads, unlock=None):
    threads = list(threads)
    for t in threads:
        t.start()
    try:
        yield
    finally:
        if unlock:
            unlock()
        for t in threads:
            t.join(30)


@contextlib.contextmanager
def wait_threads_exit(timeout=None):
    yield


class catch_threading_exception:
    def __enter__(self):
        self.exc_type = self.exc_value = self.exc_traceback = self.thread = None
        self._before = threading.excepthook
        threading.excepthook = self._hook
        return self

    def _hook(self, args):
        self.exc_type, self.exc_value, self.exc_traceback, self.thread = args.exc_type, args.exc_value, args.exc_traceback, args.thread

    def __exit__(self, *details):
        threading.excepthook = self._before
