"""Digests in tests."""


def requires_hashdigest(digestname, openssl=None, usedforsecurity=True):
    return lambda f: f
