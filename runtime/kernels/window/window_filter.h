// The gradient of a convolution's filter: rows are the elements of a window, columns the channels out, and k runs over the
// positions of all images, in blocks of 512. This header must not know tensors or contexts.
#pragma once

#include "runtime/kernels/window/window_product.h"

namespace tfl {
inline namespace window_loops {

template <class T>
struct FilterGradient {
  WindowSource<T> source;
  const T* gradient;
  T* result;
  int64_t m, n, k, row;  // `row`: from one row of gradient and result to the next

  int64_t run(const WindowWork<T>& work, std::byte* scratch) {
    const WindowLoops<T>& loops = work.loops;
    if (m == 0 || n == 0) return 0;
    if (k == 0) {
      for (int64_t i = 0; scratch && i < m; ++i) std::fill(result + i * row, result + i * row + n, T(0));
      return 64;
    }
    const int threads = window_threads(work.threads, m, n, k);
    const int64_t block = std::min(k, kProductBlock);
    const Parts panels((n + loops.lanes - 1) / loops.lanes, loops.max_vectors);
    const int64_t widest = panels.size(0) * loops.lanes, height = loops.max_rows[panels.size(0) - 1];
    const int64_t tiles = (m + height - 1) / height;
    // A task copies its panels of the gradient, so panels are shared out first.
    const int64_t wanted = threads == 1 ? 1 : 2 * threads;
    const Parts groups(panels.count, (panels.count + wanted - 1) / wanted);
    const int64_t others = (wanted + groups.count - 1) / groups.count;
    const Parts parts(tiles, (tiles + others - 1) / others);
    const int64_t tasks = parts.count * groups.count;
    const bool dense = row == widest && n == widest;  // one panel, and whole
    source.prepare(block);

    WindowMemory memory(scratch);
    int64_t* elements = memory.take<int64_t>(m);
    struct Place {
      const T **rows, **tile;
      int64_t* positions;
      T *copies, *panel, *chains;
    };
    const int64_t shared = memory.used();
    auto place_in = [&](WindowMemory& own) {
      return Place{own.take<const T*>(block),
                   own.take<const T*>(kMaxWindowRows),
                   own.take<int64_t>(block),
                   own.take<T>(source.buffer_elements()),
                   own.take<T>(dense ? 0 : block * widest),
                   own.take<T>(kTall * widest)};
    };
    WindowMemory one(nullptr);
    place_in(one);
    if (!scratch) return WindowMemory::whole(shared, one.used(), std::min<int64_t>(threads, tasks));

    source.offsets(elements);
    Places places;
    each_task(work.workers, threads, tasks, [&](int64_t task) {
      const int64_t part = task / groups.count, group = task % groups.count;
      const int64_t first = parts.start(part) * height, end = std::min(m, first + parts.size(part) * height);
      int number = places.take();
      WindowMemory mine(scratch + shared + number * one.used());
      Place own = place_in(mine);
      for (int64_t p0 = 0; p0 < k && !work.workers.interrupted(); p0 += kProductBlock) {
        const int64_t count = std::min(kProductBlock, k - p0);
        source.rows(p0, count, own.copies, own.rows);
        const T* base = own.rows[0];
        for (int64_t p = 0; p < count; ++p) own.positions[p] = own.rows[p] - base;
        for (int64_t j = groups.start(group); j < groups.start(group) + groups.size(group); ++j) {
          const int64_t column = panels.start(j) * loops.lanes, vectors = panels.size(j), width = vectors * loops.lanes;
          const int64_t columns = std::min(width, n - column);
          const T* b = gradient + p0 * row + column;
          if (!dense) {
            for (int64_t p = 0; p < count; ++p) {
              std::memcpy(own.panel + p * width, b + p * row, static_cast<size_t>(columns) * sizeof(T));
              std::fill(own.panel + p * width + columns, own.panel + (p + 1) * width, T(0));
            }
            b = own.panel;
          }
          for (int64_t i = first; i < end; i += kTall)
            some_rows(loops, i, std::min(end, i + kTall), vectors, columns, count, p0 > 0, base, elements, b, own.positions,
                      own.tile, own.chains, result + i * row + column);
        }
      }
      places.give(number);
    });
    return 0;
  }

 private:
  static constexpr int64_t kTall = 96;  // rows that run over a chunk of k while it is in the first-level cache

  void some_rows(const WindowLoops<T>& loops, int64_t first, int64_t end, int64_t vectors, int64_t columns, int64_t count,
                 bool add, const T* base, const int64_t* elements, const T* b, const int64_t* positions, const T** tile,
                 T* chains, T* to) const {
    const int64_t width = vectors * loops.lanes;
    const int tail = static_cast<int>(columns - (vectors - 1) * loops.lanes);
    const Parts rows(end - first, loops.max_rows[vectors - 1]), chunks(count, kChunk);
    for (int64_t q = 0; q < chunks.count; ++q) {
      const int64_t at = chunks.start(q);
      const bool last = q + 1 == chunks.count;
      WindowTile<T> t{chunks.size(q), tile,  positions + at, b + at * width,     width,
                      nullptr,        width, nullptr,        last ? row : width, last ? tail : loops.lanes,
                      last && add};
      for (int64_t i = 0; i < rows.count; ++i) {
        const int64_t from = rows.start(i);
        for (int64_t r = 0; r < rows.size(i); ++r) tile[r] = base + elements[first + from + r];
        if (q > 0) t.from = chains + from * width;
        t.to = last ? to + from * row : chains + from * width;
        loops.tile[vectors - 1][rows.size(i)](t);
      }
    }
  }
};

}  // namespace window_loops
}  // namespace tfl
