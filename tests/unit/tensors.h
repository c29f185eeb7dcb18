// Making and comparing tensors in tests.
#pragma once

#include "tests/catch.h"

#include <cstring>
#include <random>
#include <vector>

#include "runtime/core/context.h"
#include "runtime/ops/op.h"

namespace tfl::test {

/// The bits of element i, in 64 bits.
inline uint64_t element_bits(const Tensor& t, int64_t i) {
  uint64_t bits = 0;
  size_t n = dtype_size(t.dtype());
  std::memcpy(&bits, t.raw() + i * static_cast<int64_t>(n), n);
  return bits;
}

/// True when the bits are a NaN of this type: all NaN are one.
inline bool is_nan_bits(DType dtype, uint64_t bits) {
  switch (dtype) {
    case DType::F16: return (bits & 0x7fff) > 0x7c00;
    case DType::BF16: return (bits & 0x7fff) > 0x7f80;
    case DType::F32: return (bits & 0x7fffffff) > 0x7f800000;
    case DType::F64: return (bits & 0x7fffffffffffffff) > 0x7ff0000000000000;
    default: return false;
  }
}
inline bool same_bits(DType dtype, uint64_t a, uint64_t b) { return a == b || (is_nan_bits(dtype, a) && is_nan_bits(dtype, b)); }

/// Index of the first element in which two contiguous tensors of one shape differ; -1 when they agree.
inline int64_t first_difference(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.size() != b.size()) return 0;
  if (a.dtype() == DType::String) {
    for (int64_t i = 0; i < a.size(); ++i) {
      if (a.data<std::string>()[i] != b.data<std::string>()[i]) return i;
    }
    return -1;
  }
  if (is_complex(a.dtype())) {  // part by part
    const DType part = part_dtype(a.dtype());
    const size_t size = dtype_size(part);
    for (int64_t i = 0; i < 2 * a.size(); ++i) {
      uint64_t x = 0, y = 0;
      std::memcpy(&x, a.raw() + static_cast<size_t>(i) * size, size);
      std::memcpy(&y, b.raw() + static_cast<size_t>(i) * size, size);
      if (!same_bits(part, x, y)) return i / 2;
    }
    return -1;
  }
  for (int64_t i = 0; i < a.size(); ++i) {
    if (!same_bits(a.dtype(), element_bits(a, i), element_bits(b, i))) return i;
  }
  return -1;
}

template <class T>
Tensor tensor(Context& c, DType dtype, Dims dims, const std::vector<T>& values) {
  Tensor t = Tensor::empty(c, dtype, dims).take();
  for (size_t i = 0; i < values.size(); ++i) t.data<T>()[i] = values[i];
  return t;
}
inline Tensor floats(Context& c, Dims dims, const std::vector<float>& values) {
  return tensor(c, DType::F32, std::move(dims), values);
}
inline Tensor ints(Context& c, Dims dims, const std::vector<int32_t>& values) {
  return tensor(c, DType::I32, std::move(dims), values);
}

inline Tensor cast_to(Context& c, const Tensor& t, DType dtype) {
  return apply1(c, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype)).take();
}

/// The dtypes that are one number, or a truth value, each: those that machine code knows.
inline constexpr int kRealTypes = static_cast<int>(DType::Bool) + 1;

/// Elements that exercise a type: all magnitudes, special values unless `tame`, small integers.
inline Tensor random_tensor(Context& c, DType dtype, Dims dims, uint32_t seed, bool tame = false) {
  Tensor t = Tensor::empty(c, dtype, dims).take();
  if (is_complex(dtype)) {
    Tensor parts = random_tensor(c, part_dtype(dtype), Dims{2 * t.size()}, seed, tame);
    std::memcpy(t.raw(), parts.raw(), parts.bytes());
    return t;
  }
  std::mt19937_64 random(seed);
  auto n = t.size();
  if (is_floating(dtype)) {
    Tensor wide = Tensor::empty(c, DType::F64, dims).take();
    constexpr double kSpecial[] = {0.0,    -0.0, 1.0,   -1.0, 0.5, 2.0, 3.0, __builtin_inf(), -__builtin_inf(), __builtin_nan(""),
                                   1e-310, 1e30, -1e30, 1e-40};
    for (int64_t i = 0; i < n; ++i) {
      uint64_t r = random();
      double unit = static_cast<double>(r >> 12) * 0x1p-52 * 2 - 1;
      switch (tame ? r & 3 : r & 7) {
        case 0: wide.data<double>()[i] = tame ? unit : kSpecial[(r >> 3) % std::size(kSpecial)]; break;
        case 1: wide.data<double>()[i] = unit * 1000; break;
        case 2: wide.data<double>()[i] = static_cast<double>(static_cast<int>(unit * 10)); break;
        default: wide.data<double>()[i] = unit * 4; break;
      }
    }
    return dtype == DType::F64 ? wide : cast_to(c, wide, dtype);
  }
  for (int64_t i = 0; i < n; ++i) {
    uint64_t r = random();
    uint64_t v = (r & 3) == 0 ? r >> 2 : (r >> 2) % 23;
    if (dtype == DType::Bool) v &= 1;
    if (dtype == DType::String) {
      t.data<std::string>()[i] = std::string(v % 5, static_cast<char>('a' + v % 3));
      continue;
    }
    if (dtype_group(dtype) == DTypeGroup::Signed && (r & 12) == 0) v = 0 - v;
    std::memcpy(t.raw() + i * static_cast<int64_t>(dtype_size(dtype)), &v, dtype_size(dtype));
  }
  return t;
}

/// The levels this machine runs, and contexts for them.
inline std::vector<IsaLevel> isa_levels() {
  std::vector<IsaLevel> levels;
  for (int i = 0; i <= static_cast<int>(best_isa_level()); ++i) levels.push_back(static_cast<IsaLevel>(i));
  return levels;
}
inline ContextOptions options(int threads, IsaLevel isa = IsaLevel::v4) {
  ContextOptions o;
  o.threads = threads;
  o.max_isa = isa;
  return o;
}

}  // namespace tfl::test
