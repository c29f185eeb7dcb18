// Everything that is computed with windows (window_job.h), on whoever's threads, in memory that the caller gives. This header
// must not know tensors or contexts, and needs no more of the C++ library than its headers: libraries made by `tfl build` run the
// same code.
#pragma once

#include <numeric>

#include "runtime/kernels/window/window_channels.h"
#include "runtime/kernels/window/window_filter.h"
#include "runtime/kernels/window/window_pool.h"

namespace tfl {
inline namespace window_loops {

/// What the windows of a convolution see.
template <class T>
WindowSource<T> seen_by(const Convolution& c, const T* x, int64_t channels) {
  WindowSource<T> s(x, c.channels_in, channels);
  for (size_t i = 0; i < 3; ++i) {
    const WindowAxis& a = c.windows.axes[i];
    s.axes[i] = {a.out, a.stride, a.in, a.kernel, -a.before, a.dilation};
  }
  return s;
}

/// The same for depthwise ones, with every channel as often as it has results.
template <class T>
WindowSource<T> seen_by_channels(const Convolution& c, const T* x) {
  WindowSource<T> s = seen_by(c, x, c.channels_out);
  s.times = c.channels_out / c.channels_in;
  if (s.times > 1) s.form = PixelForm::repeated;
  return s;
}

/// One axis of the pixels at phase, phase + stride, ...: the taps that reach them are first, first + period, ...
struct WindowPhase {
  int64_t first = 0, period = 1;
  SourceAxis axis;

  WindowPhase(const WindowAxis& a, int64_t phase) {
    const int64_t common = std::gcd(a.stride, a.dilation);
    period = a.stride / common;
    axis.positions = (a.in - phase + a.stride - 1) / a.stride;
    axis.step = 1;
    axis.limit = a.out;
    axis.taps = 0;
    axis.base_step = -(a.dilation / common);
    for (int64_t t = 0; t < std::min(a.kernel, period); ++t) {
      const int64_t place = phase + a.before - t * a.dilation;
      if (place % a.stride != 0) continue;
      first = t;
      axis.base = place / a.stride;
      axis.taps = (a.kernel - 1 - t) / period + 1;
      break;
    }
  }
};

/// The gradient of the input: body(source over the gradient, filter, places of results, pixels) for each phase. The filter's taps
/// are `tap` elements apart.
template <class T, class F>
void each_phase(const Convolution& c, const WindowSource<T>& gradient, FilterPlaces<T> filter, int64_t tap, T* result,
                const F& body) {
  const auto& axes = c.windows.axes;
  int64_t steps[3];
  for (size_t i = 0; i < 3; ++i) steps[i] = std::min(axes[i].stride, axes[i].in);
  const bool scattered = axes[0].stride > 1 || axes[1].stride > 1 || axes[2].stride > 1;
  const int64_t taps[3] = {axes[1].kernel * axes[2].kernel * tap, axes[2].kernel * tap, tap};
  for (int64_t index = 0; index < steps[0] * steps[1] * steps[2]; ++index) {
    const int64_t number[3] = {index / (steps[1] * steps[2]), index / steps[2] % steps[1], index % steps[2]};
    WindowSource<T> source = gradient;
    FilterPlaces<T> places = filter;
    ResultPlaces<T> to{result, c.channels_in, scattered, {}, {}, {}, {}};
    for (size_t i = 0; i < 3; ++i) {
      const WindowPhase phase(axes[i], number[i]);
      source.axes[i] = phase.axis;
      places.base += phase.first * taps[i];
      places.tap[i] = phase.period * taps[i];
      to.positions[i] = phase.axis.positions;
      to.first[i] = number[i];
      to.step[i] = axes[i].stride;
      to.in[i] = axes[i].in;
    }
    body(source, places, to, c.batch * source.positions());
  }
}

/// Every part of the job, one after the other: part.run(work, scratch) computes it, or only counts what memory it takes.
template <class T, class F>
void each_part(const WindowJob<T>& job, const F& body) {
  const Convolution& c = job.shape;
  const Windows& w = c.windows;
  const int64_t positions = c.batch * w.outputs();
  switch (job.kind) {
    case WindowKind::convolution: {
      const int64_t in = c.channels_in / c.groups, n = c.channels_out / c.groups, tap = in * c.channels_out;
      for (int64_t g = 0; g < c.groups; ++g) {
        WindowProduct<T> p{
            seen_by(c, job.a + g * in, in),
            {job.b + g * n, {w.axes[1].kernel * w.axes[2].kernel * tap, w.axes[2].kernel * tap, tap}, c.channels_out, 1},
            {job.result + g * n, c.channels_out, false, {}, {}, {}, {}},
            positions,
            n};
        if (c.groups == 1) {
          p.finisher = job.finisher;
          p.finish = job.finish;
        }
        body(p);
      }
      return;
    }
    case WindowKind::convolution_input: {
      const int64_t in = c.channels_in / c.groups, n = c.channels_out / c.groups;
      for (int64_t g = 0; g < c.groups; ++g) {
        WindowSource<T> gradient(job.b + g * n, c.channels_out, n);
        FilterPlaces<T> filter{job.a + g * n, {}, 1, c.channels_out};
        each_phase(c, gradient, filter, in * c.channels_out, job.result + g * in,
                   [&](const auto& source, const auto& places, const auto& to, int64_t m) {
                     WindowProduct<T> p{source, places, to, m, in};
                     body(p);
                   });
      }
      return;
    }
    case WindowKind::convolution_filter: {
      const int64_t in = c.channels_in / c.groups, n = c.channels_out / c.groups;
      for (int64_t g = 0; g < c.groups; ++g) {
        FilterGradient<T> p{
            seen_by(c, job.a + g * in, in), job.b + g * n, job.result + g * n, w.taps() * in, n, positions, c.channels_out};
        body(p);
      }
      return;
    }
    case WindowKind::depthwise: {
      const int64_t n = c.channels_out;
      ChannelProduct<T> p{seen_by_channels(c, job.a),
                          {job.b, {w.axes[1].kernel * w.axes[2].kernel * n, w.axes[2].kernel * n, n}, 0, 1},
                          {job.result, n, false, {}, {}, {}, {}},
                          positions,
                          n,
                          job.finisher,
                          job.finish};
      body(p);
      return;
    }
    case WindowKind::depthwise_input: {
      const int64_t times = c.channels_in ? c.channels_out / c.channels_in : 1;
      WindowSource<T> gradient(job.b, c.channels_out, c.channels_in);
      gradient.times = times;
      if (times != 1) gradient.form = PixelForm::planes;
      each_phase(c, gradient, FilterPlaces<T>{job.a, {}, 1, times}, c.channels_out, job.result,
                 [&](const auto& source, const auto& places, const auto& to, int64_t m) {
                   ChannelProduct<T> p{source, places, to, m, c.channels_in};
                   body(p);
                 });
      return;
    }
    case WindowKind::depthwise_filter: {
      ChannelFilterGradient<T> p{seen_by_channels(c, job.a), job.b, job.result, c.channels_out, positions};
      body(p);
      return;
    }
    default: return;
  }
}

/// Computes the job; without `scratch` it only counts the bytes that it takes (more than anybody has when they cannot be
/// counted). `threads` > 1 uses the workers where it pays; results do not depend on it.
template <class T>
int64_t run_window(const Workers& workers, const WindowJob<T>& job, const WindowLoops<T>& loops, int threads,
                   std::byte* scratch) {
  const WindowWork<T> work{workers, loops, threads};
  switch (job.kind) {
    case WindowKind::max_pool:
    case WindowKind::avg_pool: return run_pool(work, job, scratch);
    case WindowKind::max_pool_grad: return run_max_pool_grad(work, job, scratch);
    case WindowKind::avg_pool_grad: return run_avg_pool_grad(work, job, scratch);
    default: break;
  }
  int64_t most = 64;
  each_part(job, [&](auto& part) {
    if (scratch && workers.interrupted()) return;
    most = std::max(most, part.run(work, scratch));
  });
  if (scratch && job.kind == WindowKind::convolution && job.shape.groups > 1 && job.finish && !workers.interrupted())
    job.finish(job.finisher, 0, job.shape.batch * job.shape.windows.outputs());
  return most;
}

}  // namespace window_loops
}  // namespace tfl
