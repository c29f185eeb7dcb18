// Convolutions around the tiles of window_kernels.h: how positions are given to threads, what is copied and where. The value of
// an element is that of a matrix product (matmul.h): one chain of fused multiply-adds in each block of 512 values of k, the
// blocks added in order. This header must not know tensors or contexts, and needs no more of the C++ library than its headers.
#pragma once

#include "runtime/kernels/product/product_loops.h"
#include "runtime/kernels/window/window_job.h"
#include "runtime/kernels/window/window_kernels.h"
#include "runtime/kernels/window/window_source.h"

namespace tfl {
inline namespace window_loops {

inline constexpr int64_t kThreadedWindows = 1 << 21;  // multiply-adds from which more than one thread pays
inline constexpr int64_t kBand = 240;                 // positions that are computed together, at most
inline constexpr int64_t kFewPositions = 480;         // see the filter too seldom to copy it
inline constexpr int64_t kChunk = 144;                // of k: a panel of so many rows stays in the first-level cache

/// Scratch memory, handed out piece by piece: sizes first, then, with memory, places.
class WindowMemory {
 public:
  explicit WindowMemory(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(int64_t n) {
    T* place = memory_ ? reinterpret_cast<T*>(memory_ + used_) : nullptr;
    int64_t bytes;
    if (__builtin_mul_overflow(n, static_cast<int64_t>(sizeof(T)), &bytes) || bytes > kMost - used_) {
      used_ = kMost;  // nobody has so much
    } else {
      used_ += (bytes + 63) / 64 * 64;
    }
    return place;
  }
  int64_t used() const { return used_; }
  /// Of what all share, and `each` for `places` of them.
  static int64_t whole(int64_t shared, int64_t each, int64_t places) {
    int64_t all;
    return __builtin_mul_overflow(each, places, &all) || all > kMost - shared ? kMost : shared + all;
  }

 private:
  static constexpr int64_t kMost = int64_t{1} << 60;
  std::byte* memory_;
  int64_t used_ = 0;
};

/// Whoever computes, and with what.
template <class T>
struct WindowWork {
  const Workers& workers;
  const WindowLoops<T>& loops;
  int threads;
};

inline int window_threads(int threads, int64_t m, int64_t n, int64_t k) {
  int64_t work;
  bool large = __builtin_mul_overflow(m, n, &work) || __builtin_mul_overflow(work, k, &work) || work >= kThreadedWindows;
  return large ? usable_threads(threads) : 1;
}

/// body(i) for all i < n, on the threads.
template <class F>
void each_task(const Workers& workers, int threads, int64_t n, const F& body) {
  if (threads == 1 || n == 1) {
    for (int64_t i = 0; i < n && !workers.interrupted(); ++i) body(i);
    return;
  }
  workers.parallel_for(n, 1, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last && !workers.interrupted(); ++i) body(i);
  });
}

/// Where the element of a filter for element q of tap (a, b, c) and column j is: base + a * tap[0] + ... + q * row + j * column.
template <class T>
struct FilterPlaces {
  const T* base;
  int64_t tap[3], row, column;

  /// All rows of `columns` columns from `first` on, `width` apart, zeros behind them.
  template <class Source>
  void copy(const Source& source, int64_t first, int64_t columns, int64_t width, T* to) const {
    const int64_t rows = source.tap_elements();
    for (int64_t a = 0; a < source.axes[0].taps; ++a) {
      for (int64_t b = 0; b < source.axes[1].taps; ++b) {
        for (int64_t c = 0; c < source.axes[2].taps; ++c, to += rows * width) {
          const T* from = base + a * tap[0] + b * tap[1] + c * tap[2] + first * column;
          constexpr int64_t kStep = 16;
          for (int64_t q0 = 0; q0 < rows; q0 += kStep) {
            const int64_t q1 = std::min(rows, q0 + kStep);
            if (column == 1) {
              for (int64_t q = q0; q < q1; ++q)
                std::memcpy(to + q * width, from + q * row, static_cast<size_t>(columns) * sizeof(T));
            } else {
              for (int64_t j = 0; j < columns; ++j) {
                for (int64_t q = q0; q < q1; ++q) to[q * width + j] = from[q * row + j * column];
              }
            }
            for (int64_t q = q0; columns < width && q < q1; ++q) std::fill(to + q * width + columns, to + (q + 1) * width, T(0));
          }
        }
      }
    }
  }
};

/// Where the result of a position lies.
template <class T>
struct ResultPlaces {
  T* to;
  int64_t row;  // from one position to the next, where `scattered` is not set
  bool scattered = false;
  int64_t positions[3], first[3], step[3], in[3];  // else: pixel first + position * step of images of `in` pixels

  T* at(int64_t position) const {
    if (!scattered) return to + position * row;
    int64_t pixel = 0, scale = 1;
    for (int axis = 2; axis >= 0; --axis) {
      pixel += (first[axis] + position % positions[axis] * step[axis]) * scale;
      position /= positions[axis];
      scale *= in[axis];
    }
    return to + (pixel + position * scale) * row;
  }
};

/// Rows of windows times the columns of a filter.
template <class T>
struct WindowProduct {
  WindowSource<T> source;
  FilterPlaces<T> filter;
  ResultPlaces<T> result;
  int64_t m, n;
  void* finisher = nullptr;
  void (*finish)(void*, int64_t, int64_t) = nullptr;

  /// Without memory: only counts what it takes.
  int64_t run(const WindowWork<T>& work, std::byte* scratch) {
    const WindowLoops<T>& loops = work.loops;
    const int64_t k = source.row_elements();
    if (m == 0 || n == 0) return 0;
    if (k == 0) {
      if (scratch) clear(work);
      return 64;
    }
    const int threads = window_threads(work.threads, m, n, k);
    const Parts panels((n + loops.lanes - 1) / loops.lanes, loops.max_vectors);
    const int64_t widest = panels.size(0) * loops.lanes;
    int64_t most = kBand;
    if (threads > 1) most = std::clamp<int64_t>((m / (4 * threads) + 23) / 24 * 24, 24, kBand);
    const Parts bands(m, most);
    const int64_t band = bands.size(0);
    const int64_t wanted = threads > 1 && bands.count < 2 * threads ? (4 * threads + bands.count - 1) / bands.count : 1;
    const Parts groups(panels.count, (panels.count + wanted - 1) / wanted);
    const int64_t tasks = bands.count * groups.count;
    source.prepare(band);
    // Where its rows follow each other the filter is read where it lies, unless so many positions see it that dense panels pay.
    const bool in_place = filter.column == 1 && n % loops.lanes == 0 && filter.tap[2] == source.tap_elements() * filter.row &&
                          filter.tap[1] == source.axes[2].taps * filter.tap[2] &&
                          filter.tap[0] == source.axes[1].taps * filter.tap[1] &&
                          ((panels.count == 1 && filter.row == n) || m <= kFewPositions);

    WindowMemory memory(scratch);
    int64_t* offsets = memory.take<int64_t>(k);
    T* packed = in_place ? const_cast<T*>(filter.base) : memory.take<T>(k * ((n + loops.lanes - 1) / loops.lanes * loops.lanes));
    struct Place {
      const T** rows;
      T *copies, *chains, *sums;
    };
    const int64_t shared = memory.used();
    auto place_in = [&](WindowMemory& own) {
      return Place{own.take<const T*>(band), own.take<T>(source.buffer_elements()), own.take<T>(band * widest),
                   own.take<T>(result.scattered ? band * n : 0)};
    };
    WindowMemory one(nullptr);
    place_in(one);
    if (!scratch) return WindowMemory::whole(shared, one.used(), std::min<int64_t>(threads, tasks));

    source.offsets(offsets);
    if (!in_place) {
      each_task(work.workers, threads, panels.count, [&](int64_t j) {
        int64_t first = panels.start(j) * loops.lanes, width = panels.size(j) * loops.lanes;
        filter.copy(source, first, std::min(width, n - first), width, packed + first * k);
      });
    }
    Places places;
    each_task(work.workers, threads, tasks, [&](int64_t task) {
      const int64_t at = task / groups.count, group = task % groups.count;
      const int64_t first = bands.start(at), count = bands.size(at);
      int number = places.take();
      WindowMemory mine(scratch + shared + number * one.used());
      Place own = place_in(mine);
      source.rows(first, count, own.copies, own.rows);
      T* to = result.scattered ? own.sums : result.to + first * result.row;
      for (int64_t j = groups.start(group); j < groups.start(group) + groups.size(group); ++j) {
        const int64_t column = panels.start(j) * loops.lanes, vectors = panels.size(j);
        panel(loops, count, vectors, std::min(vectors * loops.lanes, n - column), k, own.rows, offsets,
              packed + column * (in_place ? 1 : k), in_place ? filter.row : vectors * loops.lanes, own.chains, to + column,
              result.scattered ? n : result.row);
      }
      for (int64_t i = 0; result.scattered && i < count; ++i)
        std::copy(own.sums + i * n, own.sums + (i + 1) * n, result.at(first + i));
      places.give(number);
      if (finish && groups.count == 1) finish(finisher, first, first + count);
    });
    if (finish && groups.count > 1 && !work.workers.interrupted()) {
      each_task(work.workers, threads, bands.count,
                [&](int64_t i) { finish(finisher, bands.start(i), bands.start(i) + bands.size(i)); });
    }
    return 0;
  }

 private:
  void clear(const WindowWork<T>& work) const {
    for (int64_t i = 0; i < m; ++i) {
      T* to = result.at(i);
      std::fill(to, to + n, T(0));
    }
    if (finish && !work.workers.interrupted()) finish(finisher, 0, m);
  }

  static void panel(const WindowLoops<T>& loops, int64_t count, int64_t vectors, int64_t columns, int64_t k, const T* const* rows,
                    const int64_t* offsets, const T* b, int64_t b_k, T* chains, T* to, int64_t to_row) {
    const int64_t width = vectors * loops.lanes;
    const int tail = static_cast<int>(columns - (vectors - 1) * loops.lanes);
    const Parts parts(count, loops.max_rows[vectors - 1]);
    for (int64_t p0 = 0; p0 < k; p0 += kProductBlock) {
      const Parts chunks(std::min(kProductBlock, k - p0), kChunk);
      for (int64_t q = 0; q < chunks.count; ++q) {
        const int64_t at = p0 + chunks.start(q);
        const bool last = q + 1 == chunks.count;
        WindowTile<T> t{chunks.size(q), nullptr, offsets + at, b + at * b_k,          b_k,
                        nullptr,        width,   nullptr,      last ? to_row : width, last ? tail : loops.lanes,
                        last && p0 > 0};
        for (int64_t i = 0; i < parts.count; ++i) {
          const int64_t row = parts.start(i);
          t.rows = rows + row;
          if (q > 0) t.from = chains + row * width;
          t.to = last ? to + row * to_row : chains + row * width;
          loops.tile[vectors - 1][parts.size(i)](t);
        }
      }
    }
  }
};

}  // namespace window_loops
}  // namespace tfl
