"""Examples in docstrings are code as text: there is nothing to run."""
import unittest

ELLIPSIS = NORMALIZE_WHITESPACE = IGNORE_EXCEPTION_DETAIL = SKIP = 0


class DocTestSuite(unittest.TestSuite):
    def __init__(self, *args, **kwargs):
        super().__init__()


DocFileSuite = DocTestSuite


def testmod(*args, **kwargs):
    return 0, 0
