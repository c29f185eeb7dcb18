"""Modules for tests."""
import contextlib
import importlib
import sys
import unittest


def import_module(name, deprecated=False, *, required_on=()):
    try:
        return importlib.import_module(name)
    except ImportError as e:
        raise unittest.SkipTest(str(e))


def import_fresh_module(name, fresh=(), blocked=(), deprecated=False):
    wanted = [n for n in fresh if n.startswith("_")]
    if wanted:
        return None   # the half that is written in C
    return importlib.import_module(name)


def forget(modname):
    sys.modules.pop(modname, None)


unload = forget


def ready_to_import(name=None, source=""):
    raise unittest.SkipTest("about files of modules")


class CleanImport:
    def __init__(self, *names, usefrozen=False):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *details):
        pass


class DirsOnSysPath:
    def __init__(self, *paths):
        self.before = sys.path[:]
        sys.path.extend(paths)

    def __enter__(self):
        return self

    def __exit__(self, *details):
        sys.path[:] = self.before


@contextlib.contextmanager
def isolated_modules():
    yield


def modules_setup():
    return (sys.modules.copy(),)


def modules_cleanup(before):
    pass
