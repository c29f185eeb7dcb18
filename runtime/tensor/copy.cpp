#include "runtime/tensor/copy.h"

#include <algorithm>
#include <cstring>

#include "runtime/tensor/dtype_dispatch.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

struct CopyAxis {
  int64_t size, dst, src;
};
using Axes = SmallVec<CopyAxis, 6>;

constexpr int64_t kCopyThreadBytes = 1 << 20;  // below this a copy is not worth waking a thread

// Drops sizes of 1, orders axes by the stride of the destination and joins those that are one run on both sides.
Axes simplify(std::span<const int64_t> dims, std::span<const int64_t> dst, std::span<const int64_t> src) {
  Axes axes;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) axes.push_back({dims[i], dst[i], src[i]});
  }
  auto magnitude = [](int64_t v) { return v < 0 ? -v : v; };
  for (size_t i = 1; i < axes.size(); ++i) {  // insertion sort: stable, and nearly always sorted already
    for (size_t j = i; j > 0 && magnitude(axes[j - 1].dst) < magnitude(axes[j].dst); --j) std::swap(axes[j - 1], axes[j]);
  }
  Axes out;
  for (const CopyAxis& a : axes) {
    if (!out.empty()) {
      CopyAxis& last = out.back();
      int64_t joined_dst, joined_src;
      bool fits = !__builtin_mul_overflow(a.dst, a.size, &joined_dst) && !__builtin_mul_overflow(a.src, a.size, &joined_src);
      if (fits && last.dst == joined_dst && last.src == joined_src) {
        last = {last.size * a.size, a.dst, a.src};
        continue;
      }
    }
    out.push_back(a);
  }
  return out;
}

// The first elements one by one, then runs of what is there already.
template <class T>
void repeat(T* dst, const T& value, int64_t n) {
  constexpr int64_t kBlock = 4096 / static_cast<int64_t>(sizeof(T));
  int64_t done = std::is_trivially_copyable_v<T> ? std::min<int64_t>(n, 16) : n;
  std::fill(dst, dst + done, value);
  if constexpr (std::is_trivially_copyable_v<T>) {
    while (done < n) {
      int64_t run = std::min({done, n - done, kBlock});
      std::memcpy(dst + done, dst, static_cast<size_t>(run) * sizeof(T));
      done += run;
    }
  }
}

template <class T>
void copy_row(T* dst, int64_t dst_stride, const T* src, int64_t src_stride, int64_t n) {
  if (dst_stride == 1 && src_stride == 1) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(dst, src, static_cast<size_t>(n) * sizeof(T));
    } else {
      for (int64_t i = 0; i < n; ++i) dst[i] = src[i];
    }
  } else if (dst_stride == 1 && src_stride == 0) {
    repeat(dst, *src, n);
  } else if (dst_stride == 1 && src_stride == -1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[-i];
  } else if (dst_stride == 1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[i * src_stride];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * dst_stride] = src[i * src_stride];
  }
}

// Two axes of which the inner one has a large step in the source: square tiles, so that each cache line is read once.
template <class T>
void copy_plane(T* dst, const T* src, const CopyAxis& outer, const CopyAxis& inner) {
  constexpr int64_t kTile = sizeof(T) <= 2 ? 64 : 32;
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
    int64_t i1 = std::min(outer.size, i0 + kTile);
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile) {
      int64_t n = std::min(inner.size - j0, kTile);
      for (int64_t i = i0; i < i1; ++i) {
        copy_row(dst + i * outer.dst + j0 * inner.dst, inner.dst, src + i * outer.src + j0 * inner.src, inner.src, n);
      }
    }
  }
}

template <class T>
void copy_axes(T* dst, const T* src, const CopyAxis* axes, size_t count) {
  if (count == 0) {
    *dst = *src;
  } else if (count == 1) {
    copy_row(dst, axes[0].dst, src, axes[0].src, axes[0].size);
  } else if (count == 2) {
    bool rows = axes[1].src == 1 || axes[1].src == 0 || axes[1].src == -1;
    if (rows) {
      for (int64_t i = 0; i < axes[0].size; ++i)
        copy_row(dst + i * axes[0].dst, axes[1].dst, src + i * axes[0].src, axes[1].src, axes[1].size);
    } else {
      copy_plane(dst, src, axes[0], axes[1]);
    }
  } else {
    for (int64_t i = 0; i < axes[0].size; ++i) copy_axes(dst + i * axes[0].dst, src + i * axes[0].src, axes + 1, count - 1);
  }
}

// The axis along which the source is dense goes next to the innermost one, where copy_plane makes tiles of the two.
void prepare_plane(Axes& axes) {
  if (axes.size() < 3 || axes.back().src == 1 || axes.back().src == 0) return;
  for (size_t i = 0; i + 2 < axes.size(); ++i) {
    if (axes[i].src != 1) continue;
    CopyAxis dense = axes[i];
    axes.erase(i);
    axes.insert(axes.size() - 1, dense);
    return;
  }
}

}  // namespace

void copy_strided(Context& context, DType dtype, std::span<const int64_t> dims, std::byte* dst,
                  std::span<const int64_t> dst_strides, const std::byte* src, std::span<const int64_t> src_strides) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  Axes axes = simplify(dims, dst_strides, src_strides);
  prepare_plane(axes);
  with_storage_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = reinterpret_cast<T*>(dst);
    const T* from = reinterpret_cast<const T*>(src);
    int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    if (bytes < 2 * kCopyThreadBytes || axes.empty() || context.thread_count() == 1)
      return copy_axes(to, from, axes.data(), axes.size());
    size_t widest = axes[0].size == 1 || axes.size() == 1 || axes[0].size >= 8 ? 0 : axes[1].size > axes[0].size ? 1 : 0;
    std::swap(axes[0], axes[widest]);
    int64_t grain = std::max<int64_t>(1, axes[0].size * kCopyThreadBytes / bytes);
    context.threads().parallel_for(axes[0].size, grain, [&](int64_t first, int64_t last) {
      Axes part = axes;
      part[0].size = last - first;
      copy_axes(to + first * axes[0].dst, from + first * axes[0].src, part.data(), part.size());
    });
  });
}

void fill_elements(Context& context, DType dtype, std::byte* dst, int64_t n, const std::byte* value) {
  constexpr int64_t kOne = 1, kNone = 0;
  copy_strided(context, dtype, {&n, 1}, dst, {&kOne, 1}, value, {&kNone, 1});
}

void copy_run(DType dtype, std::byte* dst, const std::byte* src, int64_t n) {
  if (dtype != DType::String) {
    std::memcpy(dst, src, static_cast<size_t>(n) * dtype_size(dtype));
    return;
  }
  copy_row(reinterpret_cast<std::string*>(dst), 1, reinterpret_cast<const std::string*>(src), 1, n);
}

}  // namespace tfl
