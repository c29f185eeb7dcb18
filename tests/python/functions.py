"""tfl.function: Python functions that TFL compiles."""
import math
import traceback
import unittest

import numpy as np

import tfl
from tfl import tf

SCALE = 3.0
TABLE = np.array([1.0, 2.0, 4.0], np.float32)


def helper(x):
    return x * SCALE


@tfl.function
def norm(x, p=2.0):
    """The length of x over p."""
    if p > 0.0:
        x = x / p
    return tf.sqrt(tf.reduce_sum(x * x))


@tfl.function
def uses(x):
    return {"helped": helper(x), "table": tf.constant(TABLE)[1], "floor": math.floor(2.5)}


@tfl.function
def calls_another(x):
    return norm(x) + 1.0


@tfl.function(reduce_retracing=True)
def with_options(x):
    return x + 1


@tfl.function
def collatz(n):
    steps = 0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps


@tfl.function
def wrong_name(x):
    y = x + 1.0
    return y + nothing_of_this_name  # noqa: F821


@tfl.function
def wrong_shape(x):
    return tf.matmul(
        x,
        x)


class Functions(unittest.TestCase):
    def test_result(self):
        self.assertEqual(norm(np.array([6.0, 8.0], np.float32)), 5)
        self.assertEqual(norm(np.array([3.0, 4.0], np.float32), p=1.0), 5)
        self.assertEqual(norm.__name__, "norm")
        self.assertEqual(norm.__doc__, "The length of x over p.")

    def test_what_it_uses(self):
        got = uses(np.array([1.0, 2.0], np.float32))
        self.assertEqual((got["helped"].tolist(), got["table"], got["floor"]), ([3, 6], 2, 2))
        self.assertEqual(calls_another(np.array([6.0, 8.0], np.float32)), 6)

    def test_options(self):
        self.assertEqual(with_options(4), 5)

    def test_autograph(self):
        self.assertEqual(collatz(tf.constant(27)), 111)
        self.assertEqual(collatz(np.int32(27)), 111)

    def test_closure(self):
        def make(k):
            @tfl.function
            def add(x):
                return x + k
            return add
        self.assertEqual([make(1)(np.float32(1)), make(5)(np.float32(1))], [2, 6])

    def test_contexts(self):
        other = tfl.Context()
        with other:
            self.assertEqual(norm(np.array([6.0, 8.0], np.float32)), 5)

        @other.function
        def there(x):
            return x
        self.assertEqual(there(1.0), 1)

    def refused(self, f, *args):
        try:
            f(*args)
        except Exception as e:
            return e, "".join(traceback.format_exception(e))
        self.fail("no error")

    def test_errors_have_pythons_lines(self):
        e, text = self.refused(wrong_name, np.float32(1))
        self.assertIsInstance(e, NameError)
        line = wrong_name.__wrapped__.__code__.co_firstlineno + 3
        self.assertIn(f'functions.py", line {line}, in wrong_name\n    return y + nothing_of_this_name', text)
        e, text = self.refused(wrong_shape, np.zeros((2, 3), np.float32))
        self.assertIn("in wrong_shape", text)

    def test_refused(self):
        @tfl.function
        def syntax(x):
            _ = "\N{BULLET}"
            return x
        e, _ = self.refused(syntax, 1)
        self.assertIsInstance(e, SyntaxError)
        self.assertTrue(e.filename.endswith("functions.py"))
        self.assertEqual(e.lineno, syntax.__wrapped__.__code__.co_firstlineno + 2)
        thing = object()

        @tfl.function
        def captures(x):
            return thing
        e, text = self.refused(captures, 1)
        self.assertIsInstance(e, TypeError)
        self.assertIn("captures() uses thing", text)
        with self.assertRaises(TypeError):
            tfl.function(len)
        e, _ = self.refused(tfl.function(lambda x: x), 1)
        self.assertIsInstance(e, TypeError)

    def test_lambda_and_method(self):
        class A:
            @tfl.function
            def method(self, x):
                return x
        with self.assertRaisesRegex(TypeError, "methods"):
            A().method(1)


if __name__ == "__main__":
    unittest.main()
