"""Files and folders for tests."""
import contextlib
import os
import shutil
import tempfile
import unittest

TESTFN_ASCII = TESTFN = "@test_file_tmp"
TESTFN_UNICODE = TESTFN + "-\xe0\xf2"
TESTFN_NONASCII = TESTFN_UNICODE
TESTFN_UNENCODABLE = TESTFN_UNDECODABLE = None
FS_NONASCII = "\xe6"
SAVEDCWD = os.getcwd()


def unlink(filename):
    try:
        os.unlink(filename)
    except OSError:
        pass


def rmtree(path):
    shutil.rmtree(path, ignore_errors=True)


def rmdir(dirname):
    try:
        os.rmdir(dirname)
    except OSError:
        pass


def can_symlink():
    return False


def skip_unless_symlink(test):
    return unittest.skip("no links")(test)


skip_unless_hardlink = skip_unless_xattr = skip_unless_working_chmod = skip_unless_dac_override = skip_unless_symlink


def create_empty_file(filename):
    with open(filename, "wb"):
        pass


def make_bad_fd():
    return 9999


@contextlib.contextmanager
def temp_dir(path=None, quiet=False):
    made = path or tempfile.mkdtemp()
    if path:
        os.makedirs(path, exist_ok=True)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)


@contextlib.contextmanager
def change_cwd(path, quiet=False):
    before = os.getcwd()
    os.chdir(path)
    try:
        yield os.getcwd()
    finally:
        os.chdir(before)


@contextlib.contextmanager
def temp_cwd(name="tempcwd", quiet=False):
    with temp_dir(name) as path:
        with change_cwd(path) as cwd:
            yield cwd


class FakePath:
    def __init__(self, path):
        self.path = path

    def __repr__(self):
        return f"<FakePath {self.path!r}>"

    def __fspath__(self):
        if isinstance(self.path, BaseException) or isinstance(self.path, type) and issubclass(self.path, BaseException):
            raise self.path
        return self.path


class EnvironmentVarGuard:
    def __init__(self):
        self._before = {}

    def set(self, name, value):
        self[name] = value

    def unset(self, *names):
        for name in names:
            self._keep(name)
            os.environ.pop(name, None)

    def _keep(self, name):
        if name not in self._before:
            self._before[name] = os.environ.get(name)

    def __setitem__(self, name, value):
        self._keep(name)
        os.environ[name] = value

    def __getitem__(self, name):
        return os.environ[name]

    def __enter__(self):
        return self

    def __exit__(self, *details):
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def skip_if_dac_override(test):
    return unittest.skip("no rights are taken away here")(test)


def fd_count():
    return 0


def save_mode(path):
    return contextlib.nullcontext()
