// What the windows of some positions of a convolution see, as a matrix that lies nowhere: row r holds what position r sees, tap
// by tap, the channels within a tap. A row is a pointer, and its elements lie at the same distances from there for every row.
// Where windows reach beyond the image, the lines that some positions need are copied with zeros around them; where that would be
// more than the elements of the matrix, those are copied. This header must not know tensors or operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace tfl {

/// One spatial axis: position j of tap t is at j * step + base + t * base_step; outside [0, limit) there is padding.
struct SourceAxis {
  int64_t positions = 1, step = 1, limit = 1, taps = 1, base = 0, base_step = 1;
  int64_t low() const { return base + std::min<int64_t>(0, (taps - 1) * base_step); }
  int64_t high() const { return base + std::max<int64_t>(0, (taps - 1) * base_step); }
  int64_t span() const { return high() - low() + 1; }
  int64_t at(int64_t j, int64_t tap) const { return j * step + base + tap * base_step; }
  bool inside(int64_t place) const { return place >= 0 && place < limit; }
  bool whole(int64_t j) const { return inside(j * step + low()) && inside(j * step + high()); }
  bool padded() const { return low() < 0 || (positions - 1) * step + high() >= limit; }
};

/// What becomes of the channels of a pixel.
enum class PixelForm : uint8_t {
  plain,     // `channels` of them
  repeated,  // `channels` elements, each channel `times` times: from element first_channel of all on
  planes,    // of `channels` groups of `times`: the first of each group, the second of each group ...
};

template <class T>
struct WindowSource {
  const T* x;  // pixels, row-major, `pixel` elements apart
  int64_t pixel;
  int64_t channels;  // of a tap of a row
  SourceAxis axes[3];
  PixelForm form = PixelForm::plain;
  int64_t times = 1, first_channel = 0;

  WindowSource(const T* first, int64_t pixel_size, int64_t row_channels) : x(first), pixel(pixel_size), channels(row_channels) {}

  int64_t taps() const { return axes[0].taps * axes[1].taps * axes[2].taps; }
  int64_t tap_elements() const { return form == PixelForm::planes ? channels * times : channels; }
  int64_t row_elements() const { return taps() * tap_elements(); }
  int64_t positions() const { return axes[0].positions * axes[1].positions * axes[2].positions; }
  int64_t image() const { return axes[0].limit * axes[1].limit * axes[2].limit * pixel; }

  /// Decides how rows are found; `most` is the number of rows that are asked for at once. Call before anything below. `edges`:
  /// whoever asks does not read what lies beyond the image, so nothing has to be copied for it.
  void prepare(int64_t most, bool edges = false) {
    copied_ = form != PixelForm::plain || (!edges && (axes[0].padded() || axes[1].padded() || axes[2].padded()));
    if (!copied_) return;
    int64_t lines = std::min((most + axes[2].positions - 2) / axes[2].positions + 1, INT64_MAX);
    int64_t portions = (lines - 1) / axes[1].positions + 2;
    int64_t height = 0, elements = 0, dense = 0;
    bool huge = __builtin_mul_overflow(std::min(lines, axes[1].positions) - 1, axes[1].step, &height);
    huge |= __builtin_add_overflow(height, axes[1].span(), &height);
    huge |= __builtin_mul_overflow(axes[2].positions - 1, axes[2].step, &width_);
    huge |= __builtin_add_overflow(width_, axes[2].span(), &width_);
    huge |= __builtin_mul_overflow(width_, tap_elements(), &elements);
    line_ = elements;
    huge |= __builtin_mul_overflow(elements, height, &elements);
    plane_ = elements;
    huge |= __builtin_mul_overflow(elements, axes[0].taps, &elements);
    portion_ = elements;
    huge |= __builtin_mul_overflow(elements, portions, &elements);
    if (__builtin_mul_overflow(most, row_elements(), &dense)) dense = INT64_MAX;
    gathered_ = huge || elements > dense;
    buffer_ = gathered_ ? dense : elements;
  }

  bool copied() const { return copied_; }
  /// Elements of memory for copies of that many rows.
  int64_t buffer_elements() const { return copied_ ? buffer_ : 0; }
  /// Where elements of a row lie after its pointer: every one, or only each `every`-th of a tap.
  void offsets(int64_t* to, int64_t every = 1) const {
    const int64_t n = tap_elements();
    if (copied_ && gathered_) {
      for (int64_t i = 0; i < row_elements(); i += every) *to++ = i;
      return;
    }
    for (int64_t a = 0; a < axes[0].taps; ++a) {
      for (int64_t b = 0; b < axes[1].taps; ++b) {
        for (int64_t c = 0; c < axes[2].taps; ++c) {
          int64_t z = axes[0].at(0, a), y = axes[1].at(0, b), w = axes[2].at(0, c);
          int64_t at = copied_ ? a * plane_ + (y - axes[1].low()) * line_ + (w - axes[2].low()) * n
                               : ((z * axes[1].limit + y) * axes[2].limit + w) * pixel;
          for (int64_t i = 0; i < n; i += every) *to++ = at + i;
        }
      }
    }
  }

  /// The rows of positions [first, first + n), of all images; what has to be copied goes to `buffer`.
  void rows(int64_t first, int64_t n, T* buffer, const T** to) const {
    Walk w = walk(first);
    while (n > 0) {
      if (copied_ && !gathered_) {
        // The lines of one depth.
        const int64_t lines = std::min((w.at[2] + n + axes[2].positions - 1) / axes[2].positions, axes[1].positions - w.at[1]);
        copy(w.picture, w.at[0], w.at[1], lines, buffer);
        for (int64_t l = 0; l < lines; ++l) {
          const int64_t run = std::min(n, axes[2].positions - w.at[2]);
          const T* line = buffer + l * axes[1].step * line_;
          for (int64_t i = 0; i < run; ++i) *to++ = line + (w.at[2] + i) * axes[2].step * tap_elements();
          n -= run;
          next_line(w);
        }
        buffer += portion_;
        continue;
      }
      const int64_t run = std::min(n, axes[2].positions - w.at[2]);
      for (int64_t i = 0; i < run; ++i, ++w.at[2]) {
        if (!copied_) {
          *to++ = row(w);
        } else {
          gather(w.picture, w.at, buffer);
          *to++ = buffer;
          buffer += row_elements();
        }
      }
      n -= run;
      next_line(w);
    }
  }

  /// Where position `first` is: along the axes, and the first pixel of its image.
  struct Walk {
    int64_t at[3];
    const T* picture;
  };
  Walk walk(int64_t first) const {
    Walk w;
    for (int i = 2; i >= 0; --i) {
      w.at[i] = first % axes[i].positions;
      first /= axes[i].positions;
    }
    w.picture = x + first * image();
    return w;
  }
  void next_line(Walk& w) const {
    w.at[2] = 0;
    if (++w.at[1] < axes[1].positions) return;
    w.at[1] = 0;
    if (++w.at[0] < axes[0].positions) return;
    w.at[0] = 0;
    w.picture += image();
  }
  /// body(walk, position, count, whole) over runs of [first, first + n), each in one line: windows that lie in the image, and
  /// each of those that do not alone.
  template <class F>
  void runs(int64_t first, int64_t n, const F& body) const {
    Walk w = walk(first);
    for (int64_t i = 0; i < n;) {
      const int64_t end = std::min(axes[2].positions, w.at[2] + n - i);
      const bool line = axes[0].whole(w.at[0]) && axes[1].whole(w.at[1]);
      while (w.at[2] < end) {
        int64_t count = 1;
        const bool whole = copied_ || (line && axes[2].whole(w.at[2]));
        if (whole) {
          int64_t last = copied_ ? end - 1 : std::min(end - 1, (axes[2].limit - 1 - axes[2].high()) / axes[2].step);
          count = last - w.at[2] + 1;
        }
        body(w, first + i, count, whole);
        w.at[2] += count;
        i += count;
      }
      next_line(w);
    }
  }
  /// The row of a position in place.
  const T* row(const Walk& w) const {
    return w.picture +
           ((w.at[0] * axes[0].step * axes[1].limit + w.at[1] * axes[1].step) * axes[2].limit + w.at[2] * axes[2].step) * pixel;
  }
  /// Where the taps of a position lie, zeros for those outside: each is given to body(tap).
  template <class F>
  void taps_of(const Walk& w, const T* zeros, const F& body) const {
    for (int64_t a = 0; a < axes[0].taps; ++a) {
      const int64_t z = axes[0].at(w.at[0], a);
      for (int64_t b = 0; b < axes[1].taps; ++b) {
        const int64_t y = axes[1].at(w.at[1], b);
        for (int64_t c = 0; c < axes[2].taps; ++c) {
          const int64_t v = axes[2].at(w.at[2], c);
          const bool there = axes[0].inside(z) && axes[1].inside(y) && axes[2].inside(v);
          body(there ? w.picture + ((z * axes[1].limit + y) * axes[2].limit + v) * pixel : zeros);
        }
      }
    }
  }

 private:
  void put(const T* from, T* to) const {
    switch (form) {
      case PixelForm::plain:
        if (channels < 16) {
          for (int64_t i = 0; i < channels; ++i) to[i] = from[i];
        } else {
          std::memcpy(to, from, static_cast<size_t>(channels) * sizeof(T));
        }
        return;
      case PixelForm::repeated:
        for (int64_t i = 0; i < channels; ++i) to[i] = from[(first_channel + i) / times];
        return;
      case PixelForm::planes:
        for (int64_t m = 0; m < times; ++m) {
          for (int64_t i = 0; i < channels; ++i) *to++ = from[i * times + m];
        }
        return;
    }
  }

  void copy(const T* picture, int64_t depth, int64_t first_line, int64_t lines, T* to) const {
    const int64_t n = tap_elements(), left = axes[2].low(), height = (lines - 1) * axes[1].step + axes[1].span();
    const int64_t from = std::clamp<int64_t>(-left, 0, width_), until = std::clamp<int64_t>(axes[2].limit - left, from, width_);
    for (int64_t a = 0; a < axes[0].taps; ++a) {
      int64_t z = axes[0].at(depth, a);
      for (int64_t i = 0; i < height; ++i) {
        int64_t y = first_line * axes[1].step + axes[1].low() + i;
        T* line = to + a * plane_ + i * line_;
        if (!axes[0].inside(z) || !axes[1].inside(y)) {
          std::fill(line, line + line_, T(0));
          continue;
        }
        const T* pixels = picture + ((z * axes[1].limit + y) * axes[2].limit + left + from) * pixel;
        std::fill(line, line + from * n, T(0));
        if (form == PixelForm::plain && pixel == channels) {
          std::memcpy(line + from * n, pixels, static_cast<size_t>((until - from) * n) * sizeof(T));
        } else {
          for (int64_t p = from; p < until; ++p, pixels += pixel) put(pixels, line + p * n);
        }
        std::fill(line + until * n, line + line_, T(0));
      }
    }
  }

  void gather(const T* picture, const int64_t (&at)[3], T* to) const {
    const int64_t n = tap_elements();
    for (int64_t a = 0; a < axes[0].taps; ++a) {
      int64_t z = axes[0].at(at[0], a);
      for (int64_t b = 0; b < axes[1].taps; ++b) {
        int64_t y = axes[1].at(at[1], b);
        for (int64_t c = 0; c < axes[2].taps; ++c, to += n) {
          int64_t w = axes[2].at(at[2], c);
          if (axes[0].inside(z) && axes[1].inside(y) && axes[2].inside(w)) {
            put(picture + ((z * axes[1].limit + y) * axes[2].limit + w) * pixel, to);
          } else {
            std::fill(to, to + n, T(0));
          }
        }
      }
    }
  }

  bool copied_ = false, gathered_ = false;
  int64_t width_ = 0, line_ = 0, plane_ = 0, portion_ = 0, buffer_ = 0;
};

}  // namespace tfl
