#!/usr/bin/env python3
"""`tfl test` as users of pytest call it: which tests run, what failures show, the summary line and the exit status.

  runner.py --tfl build/tfl
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

FILES = {
    "fixtures/test_fix.tfl": '''import pytest
import tensorflow as tf

log = []


@pytest.fixture
def number():
    log.append("make")
    yield 3
    log.append("end")


@pytest.fixture(params=[1, 2], ids=["one", "two"])
def size(request):
    return request.param


@pytest.fixture(scope="module")
def shared(number_of_module):
    return [number_of_module]


@pytest.fixture(scope="module")
def number_of_module():
    return 7


@pytest.fixture(autouse=True)
def always():
    log.append("auto")


def test_number(number):
    assert number == 3


def test_ended():
    assert log == ["auto", "make", "end", "auto"]


def test_size(size, number):
    assert size * number in (3, 6)


@pytest.mark.parametrize("a, b", [(1, 2), pytest.param(2, 3, id="second")])
def test_rows(a, b, size):
    assert a + 1 == b


class TestThings:
    @pytest.fixture
    def own(self, shared):
        return shared + [1]

    def test_own(self, own):
        assert own == [7, 1]

    def test_shared(self, shared, monkeypatch, tmp_path):
        monkeypatch.setitem(shared_dict, "a", 2)
        assert shared_dict["a"] == 2


shared_dict = {"a": 1}


def test_taken_back():
    assert shared_dict == {"a": 1}


def test_output(capsys):
    print("hello")
    assert capsys.readouterr().out == "hello\\n"


@pytest.mark.xfail(reason="not yet")
def test_expected():
    assert 1 == 2


@pytest.mark.xfail
def test_unexpected():
    pass


def test_approx():
    assert 0.1 + 0.2 == pytest.approx(0.3)
    assert tf.constant([1.0, 2.0]) == pytest.approx([1.0, 2.0000001])
    assert not 1.0 == pytest.approx(1.1)
    with pytest.raises(ValueError, match="bad"):
        raise ValueError("a bad one")
''',
    "fixtures/conftest.tfl": '''import pytest


@pytest.fixture(scope="session")
def everywhere():
    return 5
''',
    "fixtures/test_conftest.tfl": '''def test_everywhere(everywhere):
    assert everywhere == 5
''',
    "test_sums.tfl": '''import tensorflow as tf


def add(a, b):
    return a + b


def test_holds():
    print("not shown")
    assert add(1, 2) == 3


def test_lists():
    print("shown")
    assert add([1], [4]) == [1, 5], "lists differ"


def test_parts():
    a, b = 3, 4
    assert b > a and a > b and add(a, 1)


def test_in():
    assert "q" in {"a": 1}


@tf.test.parametrize("x, y", [(1, 2), (2, 5)])
def test_rows(x, y):
    assert x * 2 == y


@tf.test.skip("not now")
def test_skipped():
    assert False


def test_raises():
    with tf.test.raises(ValueError, match="inv.*lit"):
        int("x")


def test_match():
    with tf.test.raises(ValueError, match="zzz"):
        int("x")


def test_fixture(nowhere):
    pass


def test_default(n=3):
    assert n == 3


class TestGroup:
    def setup_method(self):
        self.v = 1

    def test_one(self):
        assert self.v == 1


class CaseTest(tf.test.TestCase):
    def setUp(self):
        self.x = tf.constant([1., 2.])

    def test_close(self):
        self.assertAllClose(self.x, [1., 2.])

    def test_equal(self):
        self.assertEqual(1, 2)
''',
    "good_test.tfl": "def test_fine():\n    assert True\n",
    "test_syntax.tfl": "def test_x(:\n    pass\n",
    "test_import.tfl": "import nowhere_at_all\n",
    "props/test_props.tfl": '''import numpy as np
import pytest
from hypothesis import assume, example, given, note, settings, strategies as st
from hypothesis.extra.numpy import arrays


@pytest.fixture
def limit():
    return 100


@given(st.integers(), st.integers())
def test_holds(a, b):
    assert a + b == b + a


@given(xs=st.lists(st.integers()))
def test_small(limit, xs):
    note("a note")
    assert sum(xs) < limit


@given(st.text(), st.integers(0, 20))
def test_assumes(text, n):
    assume(n % 2 == 0)
    assert n < 15


@given(st.integers())
def test_never(n):
    assume(False)


@settings(max_examples=3)
@example(77)
@given(st.integers(0, 5))
def test_example(n):
    assert n != 77


@given(arrays(np.float32, 3, elements=st.floats(-100, 100, width=32)))
def test_array(x):
    assert np.all(np.abs(x) < 50)


class TestMethods:
    @given(st.booleans())
    def test_method(self, b):
        assert b in (True, False)
''',
    "snaps/test_snaps.tfl": '''import numpy as np


def test_text(snapshot):
    assert "one\\ntwo" == snapshot
    assert {"a": 1, "b": [1, 2]} == snapshot


class TestIn:
    def test_array(self, snapshot):
        assert np.arange(3) == snapshot
''',
    "details/test_details.tfl": '''import numpy as np
import pytest
import tensorflow as tf

A = np.arange(6.0).reshape(2, 3)
B = A + [[0, 0, 0], [0, 0.25, 4]]


def test_equal():
    assert np.array_equal(A, B)


def test_close():
    assert np.allclose(tf.constant(A) * 1.0, B, atol=1.0), "not close"


def test_all():
    assert tf.reduce_all(tf.constant(A) == B)


def test_less():
    assert (A < 4).all()


def test_approx():
    assert A == pytest.approx(B)


def test_shapes():
    assert np.array_equal(A, A[0])


def test_lists():
    assert [1, 2, 3] == [1, 4, 3]


def test_dicts():
    assert {"a": 1, "b": 2} == {"a": 1, "c": 3}
''',
    "ends/test_ends.tfl": '''def test_before():
    pass


def test_ends():
    raise KeyboardInterrupt


def test_after():
    pass
''',
    "helper.tfl": "def test_not_collected():\n    assert False\n",
}

# Arguments, exit status, what the output holds, what it does not hold.
CALLS = [
    ("test_sums.tfl", 1, ["collected 14 items", "test_sums.tfl .FFF.Fs.FF...F", "AssertionError: lists differ\nassert [1, 4] == [1, 5]", "where [1, 4] = add([1], [4])",
                          "assert 3 > 4\n +  where 3 = a\n +  where 4 = b", "assert 'q' in {'a': 1}", "test_rows[2-5]", "assert 4 == 5", "Captured stdout call", "\nshown\n",
                          "Expected: 'zzz'", "fixture 'nowhere' not found", "FAILED test_sums.tfl::CaseTest::test_equal - AssertionError: 1 != 2",
                          "7 failed, 6 passed, 1 skipped in"], ["not shown"]),
    ("good_test.tfl", 0, ["1 passed in"], ["FAILED"]),
    ("test_sums.tfl -k 'rows and not 5'", 0, ["1 passed, 13 deselected"], []),
    ("test_sums.tfl -k 'group or close'", 0, ["2 passed, 12 deselected"], []),
    ("test_sums.tfl -k nothing_like_it", 5, ["14 deselected"], ["passed"]),
    ("test_sums.tfl -k 'a b'", 2, ["unexpected 'b'"], []),
    ("test_sums.tfl -x", 1, ["1 failed, 1 passed", "stopping after 1 failures"], ["test_parts"]),
    ("test_sums.tfl::TestGroup::test_one", 0, ["1 passed"], ["deselected"]),
    ("test_sums.tfl::nope", 2, ["no test nope"], []),
    ("test_syntax.tfl good_test.tfl", 2, ["ERROR collecting test_syntax.tfl", "test_syntax.tfl:1:11: error: '(' was never closed", "Interrupted: 1 error during collection", "1 error in"],
     ["passed"]),
    ("test_import.tfl", 2, ["No module named 'nowhere_at_all'"], []),
    ("nowhere.tfl", 2, ["not found: nowhere.tfl"], []),
    (".", 2, ["collected 51 items / 2 errors", "Interrupted: 2 errors"], ["test_not_collected", "passed"]),
    ("--lp", 2, ["unknown flag '--lp'"], []),
    ("fixtures", 0, ["collected 16 items", "14 passed, 1 xfailed, 1 xpassed"], []),
    ("fixtures --mode eager", 0, ["14 passed, 1 xfailed, 1 xpassed"], []),
    ("fixtures -k 'size and two'", 0, ["1 passed, 15 deselected"], []),
    ("props", 1, ["5 failed, 2 passed", "Falsifying example: test_small(\n    xs=[100],\n)\na note", "Falsifying example: test_assumes(\n    text='',\n    n=16,\n)",
                  "Unable to satisfy assumptions of test_never", "Falsifying explicit example: test_example(\n    n=77,\n)",
                  "x=array([ 0.,  0., 50.], dtype=float32)"], ["test_holds ", "test_method "]),
    ("snaps", 1, ["2 failed", "a snapshot that is not there yet"], []),
    ("snaps --snapshot-update", 0, ["2 passed", "3 snapshots written"], []),
    ("snaps", 0, ["2 passed"], ["snapshot"]),
    ("snaps -k text", 0, ["1 passed"], ["unused"]),
    ("details", 1, ["8 failed", "Mismatched elements: 2 / 6 (33.3%)\nMax absolute difference: 4\nMax relative difference: 0.444444\nIndex  | Obtained | Expected\n(1, 2) | 5.0      | 9.0\n"
                    "(1, 1) | 4.0      | 4.25\n", "AssertionError: not close\nassert False\n +  where False = np.allclose", "Elements that are not <: 2 / 6 (33.3%)\nIndex  | Left | Right\n(1, 2) | 5.0  | 4\n",
                    "Shapes differ: (2, 3) and (3,)", "At index 1 diff: 2 != 4", "Omitting 1 identical items\nLeft contains 1 more item:\n{'b': 2}\nRight contains 1 more item:\n{'c': 3}"], []),
    ("test_sums.tfl good_test.tfl -n 2", 1, ["7 failed, 7 passed, 1 skipped", "AssertionError: lists differ", "Captured stdout call", "FAILED test_sums.tfl::CaseTest::test_equal - AssertionError: 1 != 2"], ["not shown"]),
    ("fixtures -n 2 --dist loadfile", 0, ["14 passed, 1 xfailed, 1 xpassed"], []),
    ("test_sums.tfl -n 3 -k 'rows and not 5'", 0, ["1 passed, 13 deselected"], []),
    ("test_sums.tfl -n auto -x", 1, ["stopping after"], []),
    ("ends -n 2 --dist loadfile", 1, ["1 failed, 2 passed", "the process that ran it ended with exit status 130"], []),
    ("good_test.tfl -n 0", 2, [], ["passed"]),
    ("test_sums.tfl -q", 1, ["7 failed"], []),
    ("test_sums.tfl --lf", 1, ["7 failed, 7 deselected"], []),
]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--tfl", required=True)
    tfl = os.path.abspath(p.parse_args().tfl)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            with open(os.path.join(folder, name), "w") as f:
                f.write(text)

        def run(arguments):
            done = subprocess.run(f"'{tfl}' test --color=never {arguments}", shell=True, cwd=folder, capture_output=True, text=True, timeout=60)
            return done.returncode, done.stdout + done.stderr

        for arguments, wanted, there, absent in CALLS:
            status, text = run(arguments)
            wrong = [f"exit status {status}, not {wanted}"] if status != wanted else []
            wrong += [f"no {t!r}" for t in there if t not in text] + [f"there is {t!r}" for t in absent if t in text]
            if wrong:
                failures += 1
                print(f"tfl test {arguments}: {'; '.join(wrong)}\n{text}")
        path = os.path.join(folder, "results.xml")
        run(f"test_sums.tfl --junitxml={path}")
        suite = next(xml.etree.ElementTree.parse(path).iter("testsuite"))
        counts = tuple(int(suite.get(k)) for k in ("tests", "failures", "skipped", "errors"))
        if counts != (14, 7, 1, 0) or not re.fullmatch(r"\d+\.\d+", suite.get("time")):
            failures += 1
            print(f"--junitxml: {counts}, {suite.attrib}")
    print(f"{len(CALLS) + 1} calls, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
