#include "runtime/kernels/layout/walk.h"

#include <algorithm>
#include <cstring>

namespace tfl {

void Walk::collapse() {
  size_t kept = 0;  // dimensions before this one are final, but for the last of them
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

Dims broadcast_strides(std::span<const int64_t> operand_dims, std::span<const int64_t> operand_strides,
                       std::span<const int64_t> dims) {
  Dims out(dims.size());
  size_t skip = dims.size() - operand_dims.size();
  for (size_t i = 0; i < operand_dims.size(); ++i) {
    out[skip + i] = operand_dims[i] == dims[skip + i] ? operand_strides[i] : 0;
  }
  return out;
}

namespace {

template <class T>
void pack_run(const T* from, int64_t stride, int64_t n, T* to) {
  if (stride == 1) {
    if (n >= 16) {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    }
  } else if (stride == 0) {
    std::fill_n(to, n, *from);
  } else {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

template <class T>
void pack(std::span<const int64_t> sizes, std::span<const int64_t> strides, const std::byte* base, int64_t first, int64_t count,
          std::byte* target) {
  auto* to = reinterpret_cast<T*>(target);
  auto* from = reinterpret_cast<const T*>(base);
  size_t rank = sizes.size();
  if (rank == 0) {
    *to = *from;
    return;
  }
  Dims at(rank);
  for (size_t d = rank; d-- > 0;) {
    at[d] = first % sizes[d];
    first /= sizes[d];
    from += at[d] * strides[d];
  }
  size_t inner = rank - 1;
  while (count > 0) {
    int64_t n = std::min(count, sizes[inner] - at[inner]);
    pack_run(from, strides[inner], n, to);
    to += n;
    count -= n;
    from -= at[inner] * strides[inner];
    at[inner] = 0;
    for (size_t d = inner; d-- > 0;) {
      from += strides[d];
      if (++at[d] < sizes[d]) break;
      from -= sizes[d] * strides[d];
      at[d] = 0;
    }
  }
}

}  // namespace

void pack_elements(size_t element, std::span<const int64_t> sizes, std::span<const int64_t> strides, const std::byte* from,
                   int64_t first, int64_t count, std::byte* to) {
  switch (element) {
    case 1: return pack<uint8_t>(sizes, strides, from, first, count, to);
    case 2: return pack<uint16_t>(sizes, strides, from, first, count, to);
    case 4: return pack<uint32_t>(sizes, strides, from, first, count, to);
    case 16: return pack<Storage128>(sizes, strides, from, first, count, to);
    default: return pack<uint64_t>(sizes, strides, from, first, count, to);
  }
}

}  // namespace tfl
