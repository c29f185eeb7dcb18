#include "runtime/tensor/element.h"

#include <cstring>

#include "runtime/math/half.h"

namespace tfl {

namespace {

template <class T>
T read(const std::byte* at) {
  T v;
  std::memcpy(&v, at, sizeof(T));
  return v;
}

template <class T>
void write(std::byte* at, T v) {
  std::memcpy(at, &v, sizeof(T));
}

}  // namespace

double load_double(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::F16: return to_f32(read<f16>(at));
    case DType::BF16: return to_f32(read<bf16>(at));
    case DType::F32: return read<float>(at);
    case DType::C64: return read<float>(at);
    case DType::F64:
    case DType::C128: return read<double>(at);
    case DType::U64: return static_cast<double>(read<uint64_t>(at));
    default: return static_cast<double>(load_int(dtype, at));
  }
}

double load_imag(DType dtype, const std::byte* at) {
  return dtype == DType::C64 ? static_cast<double>(read<float>(at + 4)) : read<double>(at + 8);
}

int64_t load_int(DType dtype, const std::byte* at) {
  switch (dtype) {
    case DType::I8: return read<int8_t>(at);
    case DType::I16: return read<int16_t>(at);
    case DType::I32: return read<int32_t>(at);
    case DType::I64: return read<int64_t>(at);
    case DType::U8: return read<uint8_t>(at);
    case DType::U16: return read<uint16_t>(at);
    case DType::U32: return read<uint32_t>(at);
    case DType::U64: return static_cast<int64_t>(read<uint64_t>(at));
    case DType::Bool: return read<uint8_t>(at) != 0;
    default: return 0;
  }
}

void store_double(DType dtype, double value, std::byte* at) {
  switch (dtype) {
    case DType::F16: write(at, to_f16(value)); break;
    case DType::BF16: write(at, to_bf16(value)); break;
    case DType::F32: write(at, static_cast<float>(value)); break;
    case DType::F64: write(at, value); break;
    case DType::C64:
    case DType::C128: store_complex(dtype, value, 0, at); break;
    default: break;
  }
}

void store_complex(DType dtype, double re, double im, std::byte* at) {
  if (dtype == DType::C64) {
    write(at, static_cast<float>(re));
    write(at + 4, static_cast<float>(im));
  } else {
    write(at, re);
    write(at + 8, im);
  }
}

void store_int(DType dtype, int64_t value, std::byte* at) {
  switch (dtype) {
    case DType::Bool: write(at, value != 0); break;
    case DType::I8:
    case DType::U8: write(at, static_cast<int8_t>(value)); break;
    case DType::I16:
    case DType::U16: write(at, static_cast<int16_t>(value)); break;
    case DType::I32:
    case DType::U32: write(at, static_cast<int32_t>(value)); break;
    case DType::I64:
    case DType::U64: write(at, value); break;
    default: break;
  }
}

}  // namespace tfl
