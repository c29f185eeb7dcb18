// Depthwise convolutions: every channel by itself, so no matrix product. Output channel c * multiplier + m is one chain over the
// taps (blocks of 512, as in products); padding is a zero. The gradient of the input runs over (tap, m), that of the filter over
// the positions of all images. This header must not know tensors or contexts.
#pragma once

#include "runtime/kernels/window/window_product.h"

namespace tfl {
inline namespace window_loops {

inline constexpr int64_t kLongBand = 960;
inline constexpr int64_t kShortLine = 16;  // positions

/// Rows of windows times a filter, channel by channel.
template <class T>
struct ChannelProduct {
  WindowSource<T> source;
  FilterPlaces<T> filter;  // its columns are the channels
  ResultPlaces<T> result;
  int64_t m, n;
  void* finisher = nullptr;
  void (*finish)(void*, int64_t, int64_t) = nullptr;

  int64_t run(const WindowWork<T>& work, std::byte* scratch) {
    if (m == 0 || n == 0) return 0;
    const int64_t groups = source.form == PixelForm::planes ? source.times : 1, k = source.taps() * groups;
    const int threads = window_threads(work.threads, m, n, k + 8);  // elements have to be written, too
    int64_t most = kLongBand;
    if (threads > 1) most = std::clamp<int64_t>((m / (4 * threads) + 7) / 8 * 8, 8, kLongBand);
    const Parts bands(m, most);
    const int64_t band = bands.size(0);
    // In small images most windows would reach beyond them, each a tile by itself; zeros around a copy make them alike.
    if (k > 0) source.prepare(band, source.axes[2].positions > kShortLine);

    WindowMemory memory(scratch);
    int64_t* offsets = memory.take<int64_t>(k);
    T* weights = memory.take<T>(k * n);
    T* zeros = memory.take<T>(n);
    struct Place {
      const T** rows;
      int64_t* edge;
      T* copies;
    };
    const int64_t shared = memory.used();
    auto place_in = [&](WindowMemory& own) {
      return Place{own.take<const T*>(band), own.take<int64_t>(k), own.take<T>(k > 0 ? source.buffer_elements() : 0)};
    };
    WindowMemory one(nullptr);
    place_in(one);
    if (!scratch) return WindowMemory::whole(shared, one.used(), std::min<int64_t>(threads, bands.count));

    std::fill(zeros, zeros + n, T(0));
    if (k > 0) source.offsets(offsets, n);
    weigh(groups, weights);
    const int64_t to_row = result.row * (result.scattered ? result.step[2] : 1);
    Places places;
    each_task(work.workers, threads, bands.count, [&](int64_t task) {
      const int64_t first = bands.start(task), count = bands.size(task);
      int number = places.take();
      WindowMemory mine(scratch + shared + number * one.used());
      Place own = place_in(mine);
      if (k > 0) source.rows(first, count, own.copies, own.rows);
      source.runs(first, count, [&](const auto& walk, int64_t at, int64_t run, bool whole) {
        T* to = result.at(at);
        for (int64_t i = 0; k == 0 && i < run; ++i) std::fill(to + i * to_row, to + i * to_row + n, T(0));
        const T** rows = own.rows + (at - first);
        const int64_t* table = offsets;
        if (!whole && k > 0) {
          int64_t* next = own.edge;
          source.taps_of(walk, zeros, [&](const T* tap) { *next++ = tap - zeros; });
          *rows = zeros;
          table = own.edge;
        }
        for (int64_t p0 = 0; p0 < k; p0 += kProductBlock) {
          WindowTile<T> t{
              std::min(kProductBlock, k - p0), nullptr, table + p0, weights + p0 * n, n, nullptr, 0, nullptr, to_row, 0, p0 > 0};
          const Parts parts(run, kMaxWindowRows);
          for (int64_t i = 0; i < parts.count; ++i) {
            t.rows = rows + parts.start(i);
            t.to = to + parts.start(i) * to_row;
            work.loops.channels[parts.size(i)](n, t);
          }
        }
      });
      places.give(number);
      if (finish) finish(finisher, first, first + count);
    });
    return 0;
  }

 private:
  /// Rows (tap, m) of n channels each.
  void weigh(int64_t groups, T* to) const {
    for (int64_t a = 0; a < source.axes[0].taps; ++a) {
      for (int64_t b = 0; b < source.axes[1].taps; ++b) {
        for (int64_t c = 0; c < source.axes[2].taps; ++c) {
          const T* from = filter.base + a * filter.tap[0] + b * filter.tap[1] + c * filter.tap[2];
          for (int64_t g = 0; g < groups; ++g) {
            for (int64_t i = 0; i < n; ++i) *to++ = from[g * filter.row + i * filter.column];
          }
        }
      }
    }
  }
};

/// The gradient of a depthwise filter: rows are taps. `x` has the channels of the images, `times` results for each.
template <class T>
struct ChannelFilterGradient {
  WindowSource<T> source;  // of all channels
  const T* gradient;
  T* result;
  int64_t n, k;  // channels of gradient and result, positions

  int64_t run(const WindowWork<T>& work, std::byte* scratch) {
    const int64_t m = source.taps();
    if (m == 0 || n == 0) return 0;
    if (k == 0) {
      if (scratch) std::fill(result, result + m * n, T(0));
      return 64;
    }
    const int threads = window_threads(work.threads, m, n, k);
    const int64_t block = std::min(k, kProductBlock), vectors = (n + work.loops.lanes - 1) / work.loops.lanes;
    const Parts parts(vectors, threads == 1 ? vectors : (vectors + threads - 1) / threads);
    const int64_t widest = std::min(n, parts.size(0) * work.loops.lanes);
    WindowSource<T> first = source;
    first.channels = widest;
    first.prepare(block, true);

    WindowMemory memory(scratch);
    struct Place {
      const T **rows, **taps;
      int64_t *positions, *offsets;
      T *copies, *chains, *zeros;
    };
    auto place_in = [&](WindowMemory& own) {
      return Place{own.take<const T*>(block),
                   own.take<const T*>(m),
                   own.take<int64_t>(block),
                   own.take<int64_t>(m),
                   own.take<T>(first.buffer_elements()),
                   own.take<T>(m * widest),
                   own.take<T>(widest)};
    };
    WindowMemory one(nullptr);
    place_in(one);
    if (!scratch) return WindowMemory::whole(0, one.used(), std::min<int64_t>(threads, parts.count));

    Places places;
    each_task(work.workers, threads, parts.count, [&](int64_t task) {
      const int64_t channel = parts.start(task) * work.loops.lanes,
                    channels = std::min(parts.size(task) * work.loops.lanes, n - channel);
      int number = places.take();
      WindowMemory mine(scratch + number * one.used());
      Place own = place_in(mine);
      WindowSource<T> some = source;
      some.channels = channels;
      some.first_channel = channel;
      if (some.form == PixelForm::plain) some.x += channel;
      some.prepare(block, true);
      some.offsets(own.offsets, channels);
      std::fill(own.zeros, own.zeros + channels, T(0));
      for (int64_t p0 = 0; p0 < k && !work.workers.interrupted(); p0 += kProductBlock) {
        const int64_t count = std::min(kProductBlock, k - p0);
        some.rows(p0, count, own.copies, own.rows);
        // The chains of a block go on from run to run.
        some.runs(p0, count, [&](const auto& walk, int64_t at, int64_t run, bool whole) {
          const T* row = own.rows[at - p0];
          const T** tap = own.taps;
          if (whole) {
            for (int64_t i = 0; i < m; ++i) *tap++ = row + own.offsets[i];
          } else {
            some.taps_of(walk, own.zeros, [&](const T* place) { *tap++ = place; });
          }
          for (int64_t i = 0; i < run; ++i) own.positions[i] = own.rows[at - p0 + i] - row;
          const bool begins = at == p0, ends = at + run == p0 + count;
          WindowTile<T> t{run,           nullptr,  own.positions, gradient + at * n + channel, n,
                          nullptr,       channels, nullptr,       ends ? n : channels,         0,
                          ends && p0 > 0};
          const Parts rows(m, kMaxWindowRows);
          for (int64_t i = 0; i < rows.count; ++i) {
            const int64_t from = rows.start(i);
            t.rows = own.taps + from;
            if (!begins) t.from = own.chains + from * channels;
            t.to = ends ? result + from * n + channel : own.chains + from * channels;
            work.loops.channels[rows.size(i)](channels, t);
          }
        });
      }
      places.give(number);
    });
    return 0;
  }
};

}  // namespace window_loops
}  // namespace tfl
