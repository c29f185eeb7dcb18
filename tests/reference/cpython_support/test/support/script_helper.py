"""Programs in tests: there is no interpreter to start."""
import unittest


def _none(*args, **kwargs):
    raise unittest.SkipTest("starts an interpreter")


assert_python_ok = assert_python_failure = run_python_until_end = spawn_python = kill_python = make_script = make_pkg = make_zip_script = make_zip_pkg = _none
run_test_script = _none


def interpreter_requires_environment():
    return False
