#include "runtime/tensor/copy.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

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
    constexpr int64_t kFew = 8;  // elements that take less time than a call
    if (std::is_trivially_copyable_v<T> && n >= kFew) {
      std::memcpy(static_cast<void*>(dst), src, static_cast<size_t>(n) * sizeof(T));
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

// Lane l of register i changes places with lane i of register l, one bit of the two numbers after the other.
template <int Step, class R, int... L>
void exchange(R& x, R& y, std::integer_sequence<int, L...>) {
  constexpr int n = sizeof...(L);
  R low = __builtin_shufflevector(x, y, (L & Step ? n + L - Step : L)...);
  R high = __builtin_shufflevector(x, y, (L & Step ? n + L : L + Step)...);
  x = low;
  y = high;
}
template <int Step, class R, int N>
void turn(R (&r)[N]) {
  if constexpr (Step < N) {
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) {
      if (!(i & Step)) exchange<Step>(r[i], r[i + Step], std::make_integer_sequence<int, N>());
    }
    turn<Step * 2>(r);
  }
}

// A square of as many rows as a register of 16 bytes has elements, dense along the other axis on each side.
template <class T>
void turn_square(T* dst, int64_t dst_step, const T* src, int64_t src_step) {
  constexpr int n = 16 / static_cast<int>(sizeof(T));
  typedef T Register __attribute__((vector_size(16)));
  Register r[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) std::memcpy(&r[i], src + i * src_step, 16);
  turn<1>(r);
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) std::memcpy(dst + i * dst_step, &r[i], 16);
}

// Two axes of which the inner one has a large step in the source: square tiles, so that each cache line is read once.
template <class T>
void copy_plane(T* dst, const T* src, const CopyAxis& outer, const CopyAxis& inner) {
  constexpr int64_t kTile = sizeof(T) <= 2 ? 64 : 32;
  constexpr int64_t kSquare = sizeof(T) < 16 ? 16 / static_cast<int64_t>(sizeof(T)) : 1;
  const bool squares = std::is_integral_v<T> && outer.src == 1 && inner.dst == 1;
  for (int64_t i0 = 0; i0 < outer.size; i0 += kTile) {
    int64_t i1 = std::min(outer.size, i0 + kTile);
    for (int64_t j0 = 0; j0 < inner.size; j0 += kTile) {
      const int64_t j1 = std::min(inner.size, j0 + kTile), turned = squares ? j1 - (j1 - j0) % kSquare : j0;
      int64_t i = i0;
      if constexpr (std::is_integral_v<T>) {
        for (; squares && i + kSquare <= i1; i += kSquare) {
          for (int64_t j = j0; j < turned; j += kSquare)
            turn_square(dst + i * outer.dst + j, outer.dst, src + i + j * inner.src, inner.src);
          for (int64_t k = i; k < i + kSquare; ++k) {
            for (int64_t j = turned; j < j1; ++j) dst[k * outer.dst + j] = src[k + j * inner.src];
          }
        }
      }
      for (; i < i1; ++i)
        copy_row(dst + i * outer.dst + j0 * inner.dst, inner.dst, src + i * outer.src + j0 * inner.src, inner.src, j1 - j0);
    }
  }
}

// Inner axes of which the innermost is too short for loops of its own: one run in the destination, whose elements come from places that are
// written down once.
struct Run {
  static constexpr int64_t kMost = 512, kShort = 16;
  int64_t count = 0;
  int32_t from[kMost];

  /// Takes axes from the end as far as they are a run; false where that is not worth it.
  bool take(Axes& axes, int64_t all) {
    const CopyAxis last = axes.empty() ? CopyAxis{} : axes.back();
    if (axes.size() < 2 || last.dst != 1 || last.size >= kShort) return false;
    size_t first = axes.size() - 1;
    int64_t elements = last.size, reach = (last.size - 1) * std::abs(last.src);
    while (first > 0 && axes[first - 1].dst == elements && axes[first - 1].size <= kMost / elements) {
      int64_t far;
      if (__builtin_mul_overflow(axes[first - 1].size - 1, std::abs(axes[first - 1].src), &far) || far > INT32_MAX / 2 - reach)
        break;
      reach += far;
      elements *= axes[--first].size;
    }
    constexpr int64_t kUses = 4;  // that pay for writing it down
    if (first + 1 == axes.size() || reach > INT32_MAX / 2 || all / elements < kUses) return false;
    count = 1;
    from[0] = 0;
    for (size_t i = axes.size(); i-- > first;) {
      for (int64_t k = 1; k < axes[i].size; ++k) {
        for (int64_t e = 0; e < count; ++e) from[k * count + e] = from[e] + static_cast<int32_t>(k * axes[i].src);
      }
      count *= axes[i].size;
    }
    axes.resize(first);
    return true;
  }
};

template <class T>
void copy_axes(T* dst, const T* src, const CopyAxis* axes, size_t count, const Run& run) {
  if (run.count > 0 && count == 0) {
    for (int64_t i = 0; i < run.count; ++i) dst[i] = src[run.from[i]];
  } else if (run.count > 0) {
    for (int64_t i = 0; i < axes[0].size; ++i) copy_axes(dst + i * axes[0].dst, src + i * axes[0].src, axes + 1, count - 1, run);
  } else if (count == 0) {
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
    for (int64_t i = 0; i < axes[0].size; ++i) copy_axes(dst + i * axes[0].dst, src + i * axes[0].src, axes + 1, count - 1, run);
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
                  std::span<const int64_t> dst_strides, const std::byte* src, std::span<const int64_t> src_strides, Cut cut) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return;
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  Axes axes = simplify(dims, dst_strides, src_strides);
  Run run;
  if (!run.take(axes, n)) prepare_plane(axes);
  with_storage_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = reinterpret_cast<T*>(dst);
    const T* from = reinterpret_cast<const T*>(src);
    int64_t bytes = n * static_cast<int64_t>(sizeof(T));
    const bool alone = context.thread_count() == 1;
    if (bytes < 2 * kCopyThreadBytes || axes.empty() || (alone && cut == Cut::never))
      return copy_axes(to, from, axes.data(), axes.size(), run);
    size_t widest = axes[0].size == 1 || axes.size() == 1 || axes[0].size >= 8 ? 0 : axes[1].size > axes[0].size ? 1 : 0;
    std::swap(axes[0], axes[widest]);
    int64_t grain = std::max<int64_t>(1, axes[0].size * kCopyThreadBytes / bytes);
    auto body = [&](int64_t first, int64_t last) {
      if (cut == Cut::by_interrupt && context.interrupt.load(std::memory_order_relaxed) != 0) return;
      Axes part = axes;
      part[0].size = last - first;
      copy_axes(to + first * axes[0].dst, from + first * axes[0].src, part.data(), part.size(), run);
    };
    if (!alone) return context.threads().parallel_for(axes[0].size, grain, body);
    for (int64_t first = 0; first < axes[0].size; first += grain) body(first, std::min(axes[0].size, first + grain));
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
