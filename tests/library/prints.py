"""Calls the functions of prints.tfl as its end does. Usage: prints.py FOLDER_OF_THE_LIBRARY"""
import sys

import numpy as np

sys.path.insert(0, sys.argv[1])
import prints

with prints.Context() as c:
    y = c.watched(np.array([0.25, 1e10, 3.0, np.nan, -np.inf, 1 / 3], np.float32))
    assert y.shape == (6,) and y[2] == np.float32(0.3), y
    c.counts(np.int32(5))
    kept = c.chosen((np.arange(24.0).reshape(8, 3) - 7.25) / 3.0, np.array([0.1, 65504, 6e-8], np.float16), np.array([0x3DCD, 0xC040], np.uint16))
    assert kept.shape == (5, 3), kept
