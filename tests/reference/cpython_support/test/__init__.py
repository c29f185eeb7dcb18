"""A package for copies of CPython tests."""
