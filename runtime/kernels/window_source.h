// The windows of a convolution as the rows of a matrix that lies nowhere: row r holds what output position r sees, tap by tap, the
// channels of a group within a tap. Products copy blocks of it (product.h). Must not know tensors or operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "runtime/support/small_vec.h"

namespace tfl {

/// One spatial axis: position j of tap t is at j * step + base[t]; outside [0, limit) there is padding.
struct SourceAxis {
  int64_t positions = 1, step = 1, limit = 1;
  Dims base{0};
  int64_t taps() const { return static_cast<int64_t>(base.size()); }
};

template <class T>
struct WindowSource {
  const T* x;        // pixels, row-major, `pixel` elements apart, the group's first channel first
  int64_t pixel;
  int64_t channels;  // of the group
  SourceAxis axes[3];

  WindowSource(const T* first, int64_t pixel_size, int64_t group_channels) : x(first), pixel(pixel_size), channels(group_channels) {}

  int64_t taps() const { return axes[0].taps() * axes[1].taps() * axes[2].taps(); }
  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t image() const { return axes[0].limit * axes[1].limit * axes[2].limit * pixel; }

  /// Call before the first copy.
  void prepare() {
    const SourceAxis& w = axes[2];
    dense_ = channels == pixel;
    for (int64_t t = 1; t < w.taps(); ++t) dense_ = dense_ && w.base[static_cast<size_t>(t)] == w.base[static_cast<size_t>(t - 1)] + 1;
    run_ = dense_ ? channels * w.taps() : channels;
    offsets_.clear();
    if (run_ >= 16 || taps() * channels > 256) return;
    // Short runs: where each element of a window lies from the first, for windows without padding.
    for (int64_t a : axes[0].base)
      for (int64_t b : axes[1].base)
        for (int64_t c : w.base)
          for (int64_t i = 0; i < channels; ++i) offsets_.push_back(((a * axes[1].limit + b) * w.limit + c) * pixel + i);
  }

  /// Elements [first, first + n) of row `row`.
  void copy(int64_t row, int64_t first, int64_t n, T* to) const {
    Place p = place(row);
    copy_at(p, first, n, to);
  }
  void copy_rows(int64_t row, int64_t rows, int64_t first, int64_t n, T* to, int64_t to_row) const {
    Place p = place(row);
    for (int64_t i = 0; i < rows; ++i) {
      copy_at(p, first, n, to + i * to_row);
      advance(p);
    }
  }

  static void pack_a(const void* source, int64_t row, int64_t rows, int64_t p, int64_t k, T* to, int64_t to_row) {
    static_cast<const WindowSource*>(source)->copy_rows(row, rows, p, k, to, to_row);
  }
  static void pack_b(const void* source, int64_t p, int64_t k, int64_t column, int64_t columns, T* to, int64_t to_k) {
    static_cast<const WindowSource*>(source)->copy_rows(p, k, column, columns, to, to_k);
  }

 private:
  struct Place {
    const T* image;
    int64_t at[3];
  };

  Place place(int64_t row) const {
    Place p;
    for (int i = 2; i >= 0; --i) {
      p.at[i] = row % axes[i].positions;
      row /= axes[i].positions;
    }
    p.image = x + row * image();
    return p;
  }
  void advance(Place& p) const {
    for (int i = 2; i >= 0; --i) {
      if (++p.at[i] < axes[i].positions) return;
      p.at[i] = 0;
    }
    p.image += image();
  }

  static bool inside(const SourceAxis& axis, int64_t at) {
    int64_t low = at * axis.step + axis.base[0], high = at * axis.step + axis.base.back();
    return std::min(low, high) >= 0 && std::max(low, high) < axis.limit;
  }

  static void put(const T* from, int64_t n, T* to) {
    if (n < 16) {
      for (int64_t i = 0; i < n; ++i) to[i] = from[i];
    } else {
      std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
    }
  }

  void copy_at(const Place& p, int64_t first, int64_t n, T* to) const {
    if (!offsets_.empty() && inside(axes[0], p.at[0]) && inside(axes[1], p.at[1]) && inside(axes[2], p.at[2])) {
      const T* from = p.image + ((p.at[0] * axes[0].step * axes[1].limit + p.at[1] * axes[1].step) * axes[2].limit + p.at[2] * axes[2].step) * pixel;
      const int64_t* offset = offsets_.data() + first;
      for (int64_t i = 0; i < n; ++i) to[i] = from[offset[i]];
      return;
    }
    const int64_t width = axes[2].taps();
    int64_t tap = first / channels, channel = first % channels;
    int64_t c = tap % width, b = tap / width % axes[1].taps(), a = tap / width / axes[1].taps();
    while (n > 0) {
      int64_t z = p.at[0] * axes[0].step + axes[0].base[static_cast<size_t>(a)];
      int64_t y = p.at[1] * axes[1].step + axes[1].base[static_cast<size_t>(b)];
      bool there = z >= 0 && z < axes[0].limit && y >= 0 && y < axes[1].limit;
      // `there` may be false: nothing is read then.
      const T* line = p.image + (there ? (z * axes[1].limit + y) * axes[2].limit * pixel : 0);
      int64_t left = p.at[2] * axes[2].step + axes[2].base[static_cast<size_t>(c)];
      if (dense_) {
        int64_t run = std::min(n, (width - c) * channels - channel);
        if (!there) {
          std::fill(to, to + run, T(0));
        } else {
          int64_t begin = left * channels + channel, end = begin + run, edge = axes[2].limit * channels;
          int64_t from = std::clamp<int64_t>(begin, 0, edge), until = std::clamp<int64_t>(end, 0, edge);
          if (until > from) {
            std::fill(to, to + (from - begin), T(0));
            put(line + from, until - from, to + (from - begin));
            std::fill(to + (until - begin), to + run, T(0));
          } else {
            std::fill(to, to + run, T(0));
          }
        }
        to += run;
        n -= run;
        c = width;
      } else {
        int64_t run = std::min(n, channels - channel);
        if (there && left >= 0 && left < axes[2].limit) {
          put(line + left * pixel + channel, run, to);
        } else {
          std::fill(to, to + run, T(0));
        }
        to += run;
        n -= run;
        ++c;
      }
      channel = 0;
      if (c == width) {
        c = 0;
        if (++b == axes[1].taps()) {
          b = 0;
          ++a;
        }
      }
    }
  }

  bool dense_ = false;
  int64_t run_ = 1;
  SmallVec<int64_t, 64> offsets_;
};

}  // namespace tfl
