"""There is no bytecode to look into."""
import unittest


class BytecodeTestCase(unittest.TestCase):
    pass
