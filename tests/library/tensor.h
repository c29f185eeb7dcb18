// A description of row-major elements, for the C programs of these tests. Comes after the header of a library.
#pragma once

#include <string.h>

static tfl_tensor tensor(void* data, int code, int bits, int rank, int64_t* shape) {
  tfl_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.device.device_type = 1;
  t.ndim = rank;
  t.dtype.code = (uint8_t)code;
  t.dtype.bits = (uint8_t)bits;
  t.dtype.lanes = 1;
  t.shape = shape;
  return t;
}
