"""Calls a library that has code for GPUs, with a driver that pretends (launches do nothing). Usage: gpu.py FOLDER_OF_THE_LIBRARY DRIVER LOG"""
import ctypes
import os
import sys

import numpy as np

folder, driver, log = sys.argv[1:]
sys.path.insert(0, folder)
import gpu

os.environ["TFL_CUDA_LIBRARY"] = driver
os.environ["TFL_FAKE_CUDA_LOG"] = log
libc = ctypes.CDLL(None)
libc.setenv(b"TFL_CUDA_LIBRARY", driver.encode(), 1)
libc.setenv(b"TFL_FAKE_CUDA_LOG", log.encode(), 1)


def pretend(what):
    libc.setenv(b"TFL_FAKE_CUDA", what.encode(), 1)


def noted():
    """What the driver has been asked for since this was last called."""
    if not os.path.exists(log):
        return []
    with open(log) as f:
        lines = f.read().split("\n")[:-1]
    os.remove(log)
    return lines


def tensor(array, device=None, strided=False):
    t = gpu._describe(array, False)
    t.array = array
    if device is not None:
        t.device_type, t.device_id = 2, device
    if not strided:
        t.strides = None
    return t


def aligned(array):
    """A copy at an address that GPUs read from as it is; its memory plays a GPU's."""
    memory = np.zeros(array.nbytes + 256, np.uint8)
    start = -memory.ctypes.data % 256
    out = memory[start:start + array.nbytes].view(array.dtype).reshape(array.shape)
    out[...] = array
    return out


def call(context, name, *tensors):
    return getattr(gpu._lib, "gpu_" + name)(context._context, *[ctypes.byref(t) for t in tensors])


def expect(context, status, wanted, words=""):
    said = gpu._lib.gpu_last_error(context._context).decode()
    assert status == wanted and words in said, (status, said)


OK, ARG, OOM, DEVICE = 0, 1, 4, 6
x = aligned(np.array([[1, 1], [0, 0], [2, -1]], np.float32))
right = np.array([[3, 5], [0, 0], [0, 0]], np.float32)

with gpu.Context() as c:
    assert (c.dense(x) == right).all() and noted() == [], "arrays of the processor ask for no driver"
    # What lies on a GPU is read and written there.
    y = aligned(np.full((3, 2), 7, np.float32))
    shape = (ctypes.c_int64 * 2)()
    assert gpu._lib.gpu_dense_shape(c._context, ctypes.byref(tensor(x, 0)), shape) == OK and list(shape) == [3, 2]
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), OK)
    seen = noted()
    assert "context 0" in seen and "pool attribute 1" in seen and any(s.startswith("load ") for s in seen) and any(s.startswith("launch ") for s in seen), seen
    assert (y == 7).all() and "to device 24" not in seen and "to host 24" not in seen and "to device 16" in seen, seen
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), OK)
    seen = noted()
    assert "to device 16" not in seen and not any(s.startswith("load ") for s in seen), "code and variables stay there"
    # Mixed: copies both ways.
    z = np.full((3, 2), 7, np.float32)
    expect(c, call(c, "dense", tensor(x.copy()), tensor(z)), OK)
    assert (z == right).all() and noted() == []
    expect(c, call(c, "dense", tensor(x, 0), tensor(z)), OK)
    assert (z == 0).all() and "to host 24" in noted(), "the pretended kernel has written nothing"
    expect(c, call(c, "dense", tensor(x.copy()), tensor(y, 0)), OK)
    assert "to device 24" in noted()
    # A loop whose condition the host reads back.
    pretend("loops-go-on")
    e = aligned(np.zeros(5000, np.float32))
    m = np.zeros((), np.float32)
    expect(c, call(c, "rounds", tensor(e, 0), tensor(np.array(1, np.float32)), tensor(e.copy(), 0), tensor(m)), OK)
    seen = noted()
    assert seen.count("to host 8") >= 6 and sum(s.startswith("launch ") for s in seen) >= 12, seen
    pretend("")
    # Where there is no code for it, and to word an error: on the processor, with copies.
    a = aligned(np.array([[2, 0], [0, 4]], np.float32))
    b = aligned(np.zeros((2, 2), np.float32))
    expect(c, call(c, "inverse", tensor(a, 0), tensor(b, 0)), OK)
    assert (b == np.array([[0.5, 0], [0, 0.25]], np.float32)).all() and noted() == ["to host 16", "to device 16"]
    expect(c, call(c, "inverse", tensor(b * 0, 0), tensor(a, 0)), 5, "Input is not invertible")
    # Mistakes.
    expect(c, call(c, "dense", tensor(x, 1), tensor(y, 1)), ARG, "works on GPU 0")
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 1)), ARG, "GPU 1")
    expect(c, call(c, "dense", tensor(x[::2], 0, strided=True), tensor(y[:2], 0)), ARG, "row-major")
    expect(c, call(c, "dense", tensor(x, 0), tensor(x, 0)), ARG, "lies in the memory of")
    # What goes wrong on the way.
    pretend("launch-refused")
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), DEVICE, "illegal memory access")
    pretend("out-of-memory")
    big = np.zeros((1000, 2), np.float32)
    expect(c, call(c, "dense", tensor(big), tensor(aligned(big), 0)), OOM, "out of memory")
    pretend("")
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), OK)
    # Variables that change are sent again.
    c.save(folder + "/state")
    c.load(folder + "/state")
    noted()
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), OK)
    assert "to device 16" in noted()
    noted()
taken, given = 0, noted()
assert "unload" in given and "trim 0" in given and "no context 0" in given, given

options = gpu._Options(ctypes.sizeof(gpu._Options), 1, 1, 0, None, None, None)
for what, status, words in (("", OK, ""), ("no-device", DEVICE, "no CUDA-capable device"), ("none", DEVICE, "there is no GPU 0"), ("old-gpu", DEVICE, "compute capability 7"), ("old-ptx", DEVICE, "unsupported toolchain")):
    pretend(what)
    c = gpu.Context()
    gpu._lib.gpu_context_free(c._context)
    assert gpu._lib.gpu_context_new(ctypes.byref(options), ctypes.byref(c._context)) == OK
    expect(c, call(c, "dense", tensor(x), tensor(np.zeros((3, 2), np.float32))), status, words)
    c.close()
libc.setenv(b"TFL_CUDA_LIBRARY", b"/nowhere/libcuda.so.1", 1)
with gpu.Context() as c:
    expect(c, call(c, "dense", tensor(x, 0), tensor(y, 0)), DEVICE, "cannot be loaded")
print("all right")
