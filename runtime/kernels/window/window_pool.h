// Pooling over the windows of images and volumes. Padding takes no part: a maximum looks past it, an average divides by the
// number of places that are there. Sums run over a window in row-major order. This header must not know tensors or contexts.
#pragma once

#include "runtime/kernels/window/window_product.h"

namespace tfl {
inline namespace window_loops {

/// The part of a window that is in the image.
struct WindowRange {
  int64_t first, last;
  WindowRange(int64_t from, int64_t until) : first(from), last(until) {}
  WindowRange(const WindowAxis& a, int64_t o)
      : first(std::max<int64_t>(a.first(o), 0)), last(std::min(a.first(o) + a.kernel, a.in)) {}
  int64_t size() const { return std::max<int64_t>(last - first, 0); }
  /// The windows o that cover place i of an axis.
  static WindowRange covering(const WindowAxis& a, int64_t i) {
    int64_t reach = i + a.before;
    return {reach < a.kernel ? 0 : (reach - a.kernel) / a.stride + 1, std::min(a.out, reach / a.stride + 1)};
  }
};

/// Places of a window that are in the image, at most.
inline int64_t window_cost(const Windows& w) {
  int64_t n = 1;
  for (const WindowAxis& a : w.axes) n *= std::min(a.kernel, a.in);
  return n;
}
/// Windows that cover a place of the image, at most.
inline int64_t covering_cost(const Windows& w) {
  int64_t n = 1;
  for (const WindowAxis& a : w.axes) n *= std::min(a.out, (a.kernel + a.stride - 1) / a.stride);
  return n;
}

/// body(first window of a line, how many, pixels of each as offsets in elements, their number, where the first begins) for one
/// line of windows; those of one call see as many pixels. `table` has room for window_cost offsets.
template <class F>
void windows_of_line(const Convolution& c, int64_t line, int64_t* table, const F& body) {
  const auto& [depth, rows, columns] = c.windows.axes;
  const int64_t pixel = c.channels_in;
  const int64_t image = line / (depth.out * rows.out);
  const WindowRange zs(depth, line / rows.out % depth.out), ys(rows, line % rows.out);
  const int64_t start = image * c.windows.inputs() * pixel;
  for (int64_t x = 0; x < columns.out;) {
    const WindowRange xs(columns, x);
    int64_t same = 1;
    // Windows that are whole along the line.
    if (xs.size() == columns.kernel)
      same = std::clamp<int64_t>((columns.in - columns.kernel + columns.before) / columns.stride + 1 - x, 1, columns.out - x);
    int64_t n = 0;
    for (int64_t a = zs.first; a < zs.last; ++a) {
      for (int64_t b = ys.first; b < ys.last; ++b) {
        for (int64_t i = xs.first; i < xs.last; ++i) table[n++] = ((a * rows.in + b) * columns.in + i) * pixel;
      }
    }
    body(x, same, table, n, start);
    x += same;
  }
}

template <class T>
int64_t run_pool(const WindowWork<T>& work, const WindowJob<T>& job, std::byte* scratch) {
  const Convolution& c = job.shape;
  const auto& axes = c.windows.axes;
  const int64_t lines = c.batch * axes[0].out * axes[1].out, line = axes[2].out * c.channels_in, cost = window_cost(c.windows);
  if (lines == 0 || line == 0) return 0;
  const int threads = window_threads(work.threads, lines, line * 4, cost);
  const Parts parts(lines, threads == 1 ? lines : std::max<int64_t>(1, lines / (8 * threads)));
  WindowMemory one(nullptr);
  one.take<int64_t>(cost);
  if (!scratch) return WindowMemory::whole(0, one.used(), std::min<int64_t>(threads, parts.count));
  Places places;
  each_task(work.workers, threads, parts.count, [&](int64_t task) {
    int number = places.take();
    auto* table = reinterpret_cast<int64_t*>(scratch + number * one.used());
    const int64_t first = parts.start(task), last = first + parts.size(task);
    for (int64_t l = first; l < last && !work.workers.interrupted(); ++l) {
      windows_of_line(c, l, table, [&](int64_t x, int64_t windows, const int64_t* offsets, int64_t n, int64_t start) {
        T* to = job.result + l * line + x * c.channels_in;
        const int64_t step = axes[2].stride * c.channels_in;
        if (job.kind == WindowKind::max_pool)
          work.loops.largest(windows, step, c.channels_in, n, job.a + start, offsets, to);
        else
          work.loops.average(windows, step, c.channels_in, n, job.a + start, offsets, static_cast<T>(n), to);
      });
    }
    places.give(number);
    if (job.finish) job.finish(job.finisher, first * axes[2].out, last * axes[2].out);
  });
  return 0;
}

template <class T>
int64_t run_max_pool_grad(const WindowWork<T>& work, const WindowJob<T>& job, std::byte* scratch) {
  const Convolution& c = job.shape;
  const auto& axes = c.windows.axes;
  const int64_t lines = axes[0].out * axes[1].out, line = axes[2].out * c.channels_in, cost = window_cost(c.windows);
  const int64_t image = c.windows.inputs() * c.channels_in;
  if (c.batch == 0 || image == 0) return 0;
  const int threads = window_threads(work.threads, c.batch * image, 4, cost);
  // Windows of one image may overlap: a task has some channels of one image.
  const int64_t wanted = threads > 1 && c.batch < 4 * threads ? (4 * threads + c.batch - 1) / c.batch : 1;
  const int64_t vectors = (c.channels_in + work.loops.lanes - 1) / work.loops.lanes;
  const Parts groups(vectors, std::max<int64_t>(1, vectors / wanted));
  const int64_t tasks = c.batch * groups.count;
  WindowMemory one(nullptr);
  one.take<int64_t>(cost);
  if (!scratch) return WindowMemory::whole(0, one.used(), std::min<int64_t>(threads, tasks));
  Places places;
  each_task(work.workers, threads, tasks, [&](int64_t task) {
    const int64_t number_of_image = task / groups.count, group = task % groups.count;
    const int64_t first = groups.start(group) * work.loops.lanes,
                  channels = std::min(groups.size(group) * work.loops.lanes, c.channels_in - first);
    T* to = job.result + number_of_image * image;
    if (channels == c.channels_in) {
      std::fill(to, to + image, T(0));
    } else {
      for (int64_t i = first; i < image; i += c.channels_in) std::fill(to + i, to + i + channels, T(0));
    }
    int number = places.take();
    auto* table = reinterpret_cast<int64_t*>(scratch + number * one.used());
    for (int64_t l = number_of_image * lines; l < (number_of_image + 1) * lines && !work.workers.interrupted(); ++l) {
      windows_of_line(c, l, table, [&](int64_t x, int64_t windows, const int64_t* offsets, int64_t n, int64_t start) {
        if (n == 0) return;
        work.loops.to_largest(windows, axes[2].stride * c.channels_in, channels, c.channels_in, n, job.a + start + first, offsets,
                              job.b + l * line + x * c.channels_in + first, job.result + start + first);
      });
    }
    places.give(number);
  });
  return 0;
}

template <class T>
int64_t run_avg_pool_grad(const WindowWork<T>& work, const WindowJob<T>& job, std::byte* scratch) {
  const Convolution& c = job.shape;
  const auto& [depth, rows, columns] = c.windows.axes;
  const int64_t lines = c.batch * depth.in * rows.in, pixel = c.channels_in, cost = covering_cost(c.windows);
  if (lines == 0 || columns.in == 0 || pixel == 0) return 0;
  const int threads = window_threads(work.threads, lines, columns.in * pixel * 4, cost);
  const Parts parts(lines, threads == 1 ? lines : std::max<int64_t>(1, lines / (8 * threads)));
  auto places_in = [&](WindowMemory& own) {
    int64_t* table = own.take<int64_t>(cost);
    return std::pair(table, own.take<T>(cost));
  };
  WindowMemory one(nullptr);
  places_in(one);
  if (!scratch) return WindowMemory::whole(0, one.used(), std::min<int64_t>(threads, parts.count));
  Places places;
  each_task(work.workers, threads, parts.count, [&, &depth = depth, &rows = rows, &columns = columns](int64_t task) {
    int number = places.take();
    WindowMemory mine(scratch + number * one.used());
    auto [table, factors] = places_in(mine);
    int64_t counted = 0;
    T factor(0);
    for (int64_t l = parts.start(task); l < parts.start(task) + parts.size(task) && !work.workers.interrupted(); ++l) {
      const int64_t image = l / (depth.in * rows.in);
      const WindowRange zs = WindowRange::covering(depth, l / rows.in % depth.in), ys = WindowRange::covering(rows, l % rows.in);
      const T* gradient = job.b + image * c.windows.outputs() * pixel;
      T* to = job.result + l * columns.in * pixel;
      for (int64_t x = 0; x < columns.in; ++x, to += pixel) {
        const WindowRange xs = WindowRange::covering(columns, x);
        int64_t n = 0;
        for (int64_t a = zs.first; a < zs.last; ++a) {
          for (int64_t b = ys.first; b < ys.last; ++b) {
            for (int64_t i = xs.first; i < xs.last; ++i) {
              const int64_t count = WindowRange(depth, a).size() * WindowRange(rows, b).size() * WindowRange(columns, i).size();
              if (count != counted) {
                counted = count;
                factor = T(1) / static_cast<T>(count);
              }
              table[n] = ((a * rows.out + b) * columns.out + i) * pixel;
              factors[n++] = factor;
            }
          }
        }
        work.loops.weighted(pixel, n, gradient, table, factors, to);
      }
    }
    places.give(number);
  });
  return 0;
}

}  // namespace window_loops
}  // namespace tfl
