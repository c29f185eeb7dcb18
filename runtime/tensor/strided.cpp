#include "runtime/tensor/strided.h"

#include <cstring>
#include <string>

namespace tfl {

void Walk::collapse() {
  size_t kept = 0;  // dimensions [0, kept) are final, all but the last of them unmergeable
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    bool mergeable = kept > 0;
    for (int k = 0; mergeable && k < operands; ++k) mergeable = strides[k][kept - 1] == strides[k][i] * sizes[i];
    if (mergeable) {
      sizes[kept - 1] *= sizes[i];
    } else {
      sizes[kept++] = sizes[i];
    }
    for (int k = 0; k < operands; ++k) strides[k][kept - 1] = strides[k][i];
  }
  sizes.resize(kept);
  for (int k = 0; k < operands; ++k) strides[k].resize(kept);
}

namespace {

template <class T>
void gather_elements(int64_t n, const std::byte* from, int64_t stride, std::byte* to) {
  auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) target[i] = source[i * stride];
}
template <class T>
void scatter_elements(int64_t n, const std::byte* from, std::byte* to, int64_t stride) {
  auto* source = reinterpret_cast<const T*>(from);
  auto* target = reinterpret_cast<T*>(to);
  for (int64_t i = 0; i < n; ++i) target[i * stride] = source[i];
}
struct Pair {
  uint64_t a, b;
};

void copy_run(DType dtype, int64_t n, const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride) {
  if (dtype == DType::String) {
    auto* source = reinterpret_cast<const std::string*>(from);
    auto* target = reinterpret_cast<std::string*>(to);
    for (int64_t i = 0; i < n; ++i) target[i * to_stride] = source[i * from_stride];
    return;
  }
  size_t element = dtype_size(dtype);
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, static_cast<size_t>(n) * element);
  } else if (to_stride == 1) {
    gather_run(element, n, from, from_stride, to);
  } else if (from_stride == 1) {
    scatter_run(element, n, from, to, to_stride);
  } else {
    for (int64_t i = 0; i < n; ++i) {
      std::memcpy(to + i * to_stride * static_cast<int64_t>(element), from + i * from_stride * static_cast<int64_t>(element), element);
    }
  }
}

}  // namespace

void gather_run(size_t element, int64_t n, const std::byte* from, int64_t stride, std::byte* to) {
  switch (element) {
    case 1: return gather_elements<uint8_t>(n, from, stride, to);
    case 2: return gather_elements<uint16_t>(n, from, stride, to);
    case 4: return gather_elements<uint32_t>(n, from, stride, to);
    case 8: return gather_elements<uint64_t>(n, from, stride, to);
    default: return gather_elements<Pair>(n, from, stride, to);
  }
}

void scatter_run(size_t element, int64_t n, const std::byte* from, std::byte* to, int64_t stride) {
  switch (element) {
    case 1: return scatter_elements<uint8_t>(n, from, to, stride);
    case 2: return scatter_elements<uint16_t>(n, from, to, stride);
    case 4: return scatter_elements<uint32_t>(n, from, to, stride);
    case 8: return scatter_elements<uint64_t>(n, from, to, stride);
    default: return scatter_elements<Pair>(n, from, to, stride);
  }
}

void copy_strided(DType dtype, std::span<const int64_t> dims, const std::byte* from, std::span<const int64_t> from_strides,
                  std::byte* to, std::span<const int64_t> to_strides) {
  for (int64_t d : dims) {
    if (d == 0) return;
  }
  Walk walk;
  walk.operands = 2;
  walk.sizes = Dims(dims);
  walk.strides[0] = Dims(to_strides);
  walk.strides[1] = Dims(from_strides);
  walk.collapse();
  size_t rank = walk.sizes.size();
  if (rank == 0) return copy_run(dtype, 1, from, 1, to, 1);
  auto element = static_cast<int64_t>(dtype_size(dtype));
  int64_t n = walk.sizes[rank - 1];
  int64_t to_inner = walk.strides[0][rank - 1], from_inner = walk.strides[1][rank - 1];
  // A transposition goes in blocks, so that the cache lines one column touches serve the next ones too.
  if (rank == 2 && to_inner == 1 && walk.strides[1][0] == 1 && dtype != DType::String) {
    constexpr int64_t kBlock = 32;
    for (int64_t r = 0; r < walk.sizes[0]; r += kBlock) {
      int64_t rows = std::min(kBlock, walk.sizes[0] - r);
      for (int64_t c = 0; c < n; c += kBlock) {
        int64_t columns = std::min(kBlock, n - c);
        for (int64_t i = 0; i < rows; ++i) {
          gather_run(static_cast<size_t>(element), columns, from + ((r + i) + c * from_inner) * element, from_inner,
                     to + ((r + i) * walk.strides[0][0] + c) * element);
        }
      }
    }
    return;
  }
  Dims at(rank);
  for (;;) {
    copy_run(dtype, n, from, from_inner, to, to_inner);
    size_t d = rank - 1;
    for (;;) {
      if (d-- == 0) return;
      from += walk.strides[1][d] * element;
      to += walk.strides[0][d] * element;
      if (++at[d] < walk.sizes[d]) break;
      from -= walk.sizes[d] * walk.strides[1][d] * element;
      to -= walk.sizes[d] * walk.strides[0][d] * element;
      at[d] = 0;
    }
  }
}

}  // namespace tfl
