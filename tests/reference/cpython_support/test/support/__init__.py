"""What CPython's tests ask of their package `test.support`, as far as TFL and CPython can both run it."""
import contextlib
import io
import os
import sys
import unittest

verbose = 0
failfast = False
use_resources = None
max_memuse = 0
real_max_memuse = 0
PIPE_MAX_SIZE = 4 * 1024 * 1024 + 1
SHORT_TIMEOUT = 30.0
LONG_TIMEOUT = 300.0
LOOPBACK_TIMEOUT = 5.0
INTERNET_TIMEOUT = 60.0
MAX_Py_ssize_t = sys.maxsize
TEST_HOME_DIR = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TEST_DATA_DIR = os.path.join(TEST_HOME_DIR, "data")
TEST_SUPPORT_DIR = os.path.dirname(os.path.abspath(__file__))
STDLIB_DIR = os.path.dirname(TEST_HOME_DIR)
FORCE = True
is_jython = is_android = is_emscripten = is_wasi = check_sanitizer_found = False
has_fork_support = has_subprocess_support = True
is_apple = False
MS_WINDOWS = False
unix_shell = "/bin/sh"
has_socket_support = False
_1M = 1024 * 1024
_1G = 1024 * _1M
_2G = 2 * _1G
_4G = 4 * _1G
HAVE_DOCSTRINGS = True
MISSING_C_DOCSTRINGS = False
Py_DEBUG = False
PGO = False
C_RECURSION_LIMIT = 10000


class Error(Exception):
    pass


class TestFailed(Error):
    pass


class ResourceDenied(unittest.SkipTest):
    pass


def requires(resource, msg=None):
    raise ResourceDenied(f"resource {resource!r} is not there")


def is_resource_enabled(resource):
    return False


def requires_resource(resource):
    return unittest.skip(f"resource {resource!r} is not there")


def _decorator(*args, **kwargs):
    return lambda f: f


def cpython_only(f):
    return unittest.skip("about CPython's insides")(f)


def impl_detail(msg=None, **guards):
    return cpython_only


def check_impl_detail(**guards):
    return False


def refcount_test(f):
    return cpython_only(f)


def no_tracing(f):
    return f


def anticipate_failure(condition):
    return unittest.expectedFailure if condition else (lambda f: f)


def bigmemtest(size, memuse, dry_run=True):
    return unittest.skip("takes much memory")


def bigaddrspacetest(f):
    return unittest.skip("takes much memory")(f)


def skip_if_sanitizer(*args, **kwargs):
    return lambda f: f


def skip_if_pgo_task(f):
    return f


skip_if_broken_multiprocessing_synchronize = lambda: None
requires_fork = requires_subprocess = requires_working_socket = lambda *a, **k: (lambda f: f)
requires_IEEE_754 = requires_docstrings = requires_zlib = requires_gzip = requires_bz2 = requires_lzma = None


def _needs(name):
    def decorator(*args, **kwargs):
        def wrap(f):
            try:
                __import__(name)
            except ImportError:
                return unittest.skip(f"requires {name}")(f)
            return f
        return wrap
    return decorator


requires_zlib, requires_gzip, requires_bz2, requires_lzma = _needs("zlib"), _needs("gzip"), _needs("bz2"), _needs("lzma")
requires_IEEE_754 = requires_docstrings = lambda f: f


def run_with_locale(catstr, *locales):
    def decorator(f):
        return unittest.skip("other places are not there")(f)
    return decorator


def run_with_tz(tz):
    return lambda f: unittest.skip("other zones of time are not set here")(f)


def requires_limited_api(f):
    return cpython_only(f)


def requires_specialization(f):
    return cpython_only(f)


def reap_children():
    pass


def gc_collect():
    import gc
    gc.collect()


@contextlib.contextmanager
def disable_gc():
    yield


@contextlib.contextmanager
def captured_output(stream_name):
    before = getattr(sys, stream_name)
    setattr(sys, stream_name, io.StringIO())
    try:
        yield getattr(sys, stream_name)
    finally:
        setattr(sys, stream_name, before)


def captured_stdout():
    return captured_output("stdout")


def captured_stderr():
    return captured_output("stderr")


def captured_stdin():
    return captured_output("stdin")


@contextlib.contextmanager
def swap_attr(obj, attr, new_val):
    if hasattr(obj, attr):
        before = getattr(obj, attr)
        setattr(obj, attr, new_val)
        try:
            yield before
        finally:
            setattr(obj, attr, before)
    else:
        setattr(obj, attr, new_val)
        try:
            yield
        finally:
            if hasattr(obj, attr):
                delattr(obj, attr)


@contextlib.contextmanager
def swap_item(obj, item, new_val):
    if item in obj:
        before = obj[item]
        obj[item] = new_val
        try:
            yield before
        finally:
            obj[item] = before
    else:
        obj[item] = new_val
        try:
            yield
        finally:
            if item in obj:
                del obj[item]


@contextlib.contextmanager
def infinite_recursion(max_depth=75):
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max_depth)
        yield
    finally:
        sys.setrecursionlimit(before)


@contextlib.contextmanager
def adjust_int_max_str_digits(max_digits):
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(max_digits)
        yield
    finally:
        sys.set_int_max_str_digits(before)


@contextlib.contextmanager
def catch_unraisable_exception():
    class Caught:
        unraisable = None
    yield Caught


@contextlib.contextmanager
def disable_faulthandler():
    yield


class _AlwaysEqual:
    def __eq__(self, other):
        return True

    def __ne__(self, other):
        return False


class _NeverEqual:
    def __eq__(self, other):
        return False

    def __ne__(self, other):
        return True

    def __hash__(self):
        return 1


class _Largest:
    def __lt__(self, other):
        return False

    def __le__(self, other):
        return isinstance(other, _Largest)

    def __eq__(self, other):
        return isinstance(other, _Largest)

    def __gt__(self, other):
        return not isinstance(other, _Largest)

    def __ge__(self, other):
        return True


class _Smallest:
    def __lt__(self, other):
        return not isinstance(other, _Smallest)

    def __le__(self, other):
        return True

    def __eq__(self, other):
        return isinstance(other, _Smallest)

    def __gt__(self, other):
        return False

    def __ge__(self, other):
        return isinstance(other, _Smallest)


ALWAYS_EQ, NEVER_EQ, LARGEST, SMALLEST = _AlwaysEqual(), _NeverEqual(), _Largest(), _Smallest()


def findfile(filename, subdir=None):
    if os.path.isabs(filename):
        return filename
    if subdir is not None:
        filename = os.path.join(subdir, filename)
    return os.path.join(TEST_HOME_DIR, filename)


def sortdict(d):
    return "{" + ", ".join([f"{k!r}: {v!r}" for k, v in sorted(d.items())]) + "}"


def run_unittest(*classes):
    pass


def run_doctest(module, verbosity=None, optionflags=0):
    return 0, 0


def print_warning(msg):
    print(msg, file=sys.stderr)


def args_from_interpreter_flags():
    return []


def check_free_after_iterating(test, iter, cls, args=()):
    raise unittest.SkipTest("about CPython's insides")


def set_recursion_limit(limit):
    return infinite_recursion(limit)


def missing_compiler_executable(*args):
    return None


def flush_std_streams():
    sys.stdout.flush()
    sys.stderr.flush()


def sleeping_retry(timeout, err_msg=None, /, *, init_delay=0.010, max_delay=1.0, error=True):
    import time
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        yield
        time.sleep(init_delay)
    if error:
        raise AssertionError(err_msg or "timeout")


busy_retry = sleeping_retry


def check_sizeof(test, o, size):
    raise unittest.SkipTest("about CPython's insides")


def check__all__(*args, **kwargs):
    raise unittest.SkipTest("about CPython's modules")


def check_syntax_error(*args, **kwargs):
    raise unittest.SkipTest("code as text")


def calcobjsize(fmt):
    return 0


calcvobjsize = calcobjsize


def check_disallow_instantiation(testcase, tp, *args, **kwds):
    testcase.assertRaises(TypeError, tp, *args, **kwds)


class SuppressCrashReport:
    def __enter__(self):
        return self

    def __exit__(self, *details):
        pass


def skip_on_s390x(f):
    return f


def set_memlimit(limit):
    pass


def open_urlresource(url, *args, **kw):
    raise ResourceDenied("no network")


def optim_args_from_interpreter_flags():
    return []


def python_is_optimized():
    return True


def system_must_validate_cert(f):
    return f


def get_c_recursion_limit():
    return 1000


def late_deletion(obj):
    pass


def patch(test_instance, object_to_patch, attr_name, new_value):
    before = getattr(object_to_patch, attr_name)
    test_instance.addCleanup(setattr, object_to_patch, attr_name, before)
    setattr(object_to_patch, attr_name, new_value)


REPO_ROOT = TEST_HOME_DIR
HAVE_ASAN_FORK_BUG = False


def maybe_get_event_loop_policy():
    return None


def check_sanitizer(**kinds):
    return False


def requires_legacy_unicode_capi(f):
    return cpython_only(f)


def requires_mac_ver(*version):
    return lambda f: f


def skip_if_buggy_ucrt_strfptime(f):
    return f


def fd_count():
    return 0


def darwin_malloc_err_warning(test_name):
    pass
