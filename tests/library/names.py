"""A library with names that are others' as well, and wrong arguments of every kind to one function."""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import names  # noqa: E402

c = names.Context()
x = np.arange(3, dtype=np.float32)
same = np.testing.assert_array_equal
same(c.save_(x), x)
same(c.save_(out_=x, out=np.zeros(3, np.float32)), x)
closed = c.close_(x)
same(np.stack(closed), [2 * x, x, x + 1])
same(c.context(x, x[:2])[1], x[:2])
same(c.error(x, x, x, x[1:], 2.0), 3 * x + 3)
same(c.check(x, np.ones((3, 2), np.float32)), x + 1)
same(c._check_(x, np.ones(4, np.float32)), x + 4)
same(c.by_name(x, 3.0), 3 * x)
assert c.metadata(np.array([0x3F80], np.uint16)) == 0x4000
assert c.halve(np.float32(0.5)) is None and c.save_(x)[1] == 0.5

rows = np.arange(6, dtype=np.float32).reshape(3, 2)
out = np.zeros(3, np.float32)
assert c.check(x, rows, out) is out and c.check(x, rows, out=[out]) is out
same(out, x + rows[:, 0])
fixed = rows.copy()
fixed.flags.writeable = False
same(c.check(x, fixed), out)
same(c.check(x, np.frombuffer(b"\0" + rows.tobytes(), np.float32, offset=1).reshape(3, 2)), out)
same(c.check(x, np.asfortranarray(rows)), out)
same(c.check(x, np.broadcast_to(np.float32(1), (3, 2))), x + 1)
assert c.check(x[:0], rows[:0]).shape == (0,)
same(c.check([0, 1, 2], rows.tolist()), out)


def raises(kind, words, *arguments, **named):
    try:
        c.check(*arguments, **named)
    except kind as e:
        assert words in str(e), str(e)
    else:
        raise AssertionError(f"{arguments} {named} raise nothing")


small = np.zeros(3, np.float32)
small.flags.writeable = False
raises(TypeError, "errno_ is None", x, None)
raises(ValueError, "text", x, "text")
raises(TypeError, "must be dtype('float32') and is dtype('float64')", x, rows.astype(np.float64))
raises(TypeError, "must be dtype('float32') and is dtype('>f4')", x, rows.astype(">f4"))
raises(names.Error, "errno_ has rank 1 and must be float32[?, ?]", x, x)
raises(names.Error, "must be", x[:2], rows)
raises(names.Error, "size 0 of y is 2 and must be 3", x, rows, np.zeros(2, np.float32))
raises(TypeError, "y must be an array of dtype('float32') and is dtype('float64')", x, rows, np.zeros(3))
raises(TypeError, "y must be an array of dtype('float32') and is 'int'", x, rows, 3)
raises(TypeError, "out must be 1 arrays and is 0", x, rows, [])
raises(TypeError, "out must be 1 arrays and is 2", x, rows, [out, out])
raises(ValueError, "y is read-only", x, rows, small)
raises(names.Error, "y must be row-major", x, rows, np.zeros(6, np.float32)[::2])
raises(ValueError, "y must be row-major", x, rows, np.zeros((3, 5), np.uint8)[:, :4].view(np.float32)[:, 0])
raises(names.Error, "y lies in the memory of check_", x, rows, x)
raises(names.Error, "y lies in the memory of errno_", x, rows, rows.reshape(-1)[1:4])
for wrong in ({"num_threads": -1}, {"num_threads": 2**40}, {"memory_limit": -1}, {"device": 2**31}):
    try:
        names.Context(**wrong)
    except ValueError as e:
        assert next(iter(wrong)) in str(e)
    else:
        raise AssertionError(wrong)
for wrong, words in (({"device": 1}, "GPU"), ({"memory_limit": 1}, "memory")):
    try:
        names.Context(**wrong)
    except names.Error as e:
        assert words in str(e)
    else:
        raise AssertionError(wrong)
for path in ("a\0b", 3):
    try:
        c.save(path)
    except (ValueError, TypeError):
        pass
    else:
        raise AssertionError(path)
c.close()
raises(names.Error, "no context", x, rows)
c.close()
