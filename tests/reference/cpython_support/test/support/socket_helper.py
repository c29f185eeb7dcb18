"""There is no network."""
import unittest

has_gethostname = False
HOST = "localhost"


def find_unused_port(*args, **kwargs):
    raise unittest.SkipTest("no network")


bind_port = bind_unix_socket = transient_internet = find_unused_port


def skip_unless_bind_unix_socket(test):
    return unittest.skip("no network")(test)
