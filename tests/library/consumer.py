"""The library through ctypes, with NumPy's arrays: no copies, any strides."""
import sys
import threading

import numpy as np

sys.path.insert(0, sys.argv[1])
import functions  # noqa: E402

with functions.Context() as c:
    x = np.arange(3, dtype=np.float32)
    assert (c.add(x, x) == 2 * x).all()
    whole = np.arange(40, dtype=np.float32).reshape(8, 5)
    assert (c.add(whole[::2, 1], whole[::-2, 3]) == whole[::2, 1] + whole[::-2, 3]).all()
    assert (c.add_row(whole.T.copy().T, whole[0]) == whole + whole[0]).all()
    out = np.empty(3, np.float32)
    assert c.add(x, x, out=out) is out and (out == 2 * x).all()
    largest, mean, smallest = c.extremes(whole)
    assert (largest == whole.max(1)).all() and (smallest == whole.min(0)).all() and mean.shape == () and mean == 19.5
    inside, some, every, chosen = c.comparisons(np.linspace(-2, 2, 30).astype(np.float32))
    assert inside.dtype == np.bool_ and bool(some) and not bool(every)
    for wrong, status in ((lambda: c.add(x, x[:2]), 2), (lambda: c.element(np.zeros(6, np.float32), np.int32(9)), 5)):
        try:
            wrong()
        except functions.Error as e:
            assert e.status == status, (e.status, str(e))
        else:
            raise AssertionError("no error")
    try:
        c.add(x.astype(np.float64), x)
    except TypeError as e:
        assert "float32" in str(e)
    else:
        raise AssertionError("no error")
    kept, seen = c.filtered(np.array([0.5, 2, 3, 1], np.float32))
    assert (kept == [2, 3]).all() and seen == 2 and kept.dtype == np.float32
    kept, seen = c.filtered(whole[::3, ::2].reshape(-1)[::2])
    assert (kept == whole[::3, ::2].reshape(-1)[::2][1:]).all() and seen == 2 + len(kept)
    values, index = c.distinct_floats([1.0, 2.0, 1.0])
    assert values.tolist() == [1, 2] and index.tolist() == [0, 1, 0]
    try:
        c.chosen_rows(np.zeros((3, 3), np.float32), np.zeros(4, bool))
    except functions.Error as e:
        assert e.status == 2 and "must be 3" in str(e), str(e)
    else:
        raise AssertionError("no error")
    _, count = c.step(np.ones((1, 2), np.float32))
    c.save(sys.argv[1] + "/state")
    _, again = c.step(np.ones((1, 2), np.float32))
    c.load(sys.argv[1] + "/state")
    _, third = c.step(np.ones((1, 2), np.float32))
    assert (count, again, third) == (1, 2, 2)


def run(wrong):
    with functions.Context(num_threads=1) as own:
        wrong.extend(i for i in range(100) if own.step(np.ones((1, 2), np.float32))[1] != i + 1)


mistakes = []
threads = [threading.Thread(target=run, args=(mistakes,)) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
assert not mistakes
print("all right")
