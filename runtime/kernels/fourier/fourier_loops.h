// Fourier transforms of many rows or columns on the threads there are: plans and kernels over memory. This header must not know tensors.
#pragma once

#include <string.h>

#include <algorithm>

#include "runtime/kernels/fourier/fourier_kernels.h"
#include "runtime/kernels/fourier/fourier_sizes.h"
#include "runtime/kernels/routine.h"
#include "runtime/tensor/dtype.h"

namespace tfl::fourier {

inline constexpr int64_t kThreadedRow = 1 << 15;  // pairs from which one transform is shared among threads

template <class T>
struct Transform {
  const FourierKernels<T>& kernels;
  const FourierPlan<T>& plan;  // of pairs: n numbers, or half as many real ones
  FourierWay<T> way;
  FourierKind kind;
  int64_t n;  // of numbers

  bool even() const { return kind == FourierKind::complex || n % 2 == 0; }
  int64_t in_row() const { return kind == FourierKind::complex ? 2 * n : kind == FourierKind::to_half ? n : 2 * (n / 2 + 1); }
  int64_t out_row() const { return kind == FourierKind::complex ? 2 * n : kind == FourierKind::to_half ? 2 * (n / 2 + 1) : n; }

  /// Of the transform of pairs in a row: what makes half a spectrum of its results multiplies them.
  FourierWay<T> of_pairs() const { return {way.inverse, kind == FourierKind::to_half && even() ? T(1) : way.scale, T(1)}; }

  template <class F>
  static void share(const Workers& workers, int64_t units, int64_t grain, int64_t pairs, const F& body) {
    if (workers.threads > 1 && pairs >= kThreadedRow && units > grain)
      workers.parallel_for(units, grain, [&](int64_t first, int64_t last) {
        if (!workers.interrupted()) body(first, last);
      });
    else
      body(int64_t{0}, units);
  }

  /// The steps of `p`, from x to y, over z.
  void steps(const Workers& workers, const FourierPlan<T>& p, const FourierWay<T>& how, const T* x, T* y, T* z) const {
    for (int j = 0; j < p.steps && !workers.interrupted(); ++j) {
      const FourierStep<T>& step = p.step[j];
      T* to = (p.steps - j) % 2 ? y : z;
      const int64_t lanes = step.s * step.m, grain = std::max<int64_t>(16, (8192 / step.radix + 15) / 16 * 16);
      share(workers, lanes, grain, p.n, [&](int64_t first, int64_t last) {
        (j == 0 ? kernels.first : kernels.next)(step, how, j + 1 == p.steps, x, to, first, last);
      });
      x = to;
    }
  }

  /// One transform of pairs from x to y, over z of row_room() pairs. x may be in z where there is but one step, else where y is.
  void pairs(const Workers& workers, const T* x, T* y, T* z) const {
    const FourierWay<T> how = of_pairs();
    if (plan.steps) return steps(workers, plan, how, x, y, z);
    const FourierPlan<T>& longer = *plan.longer;
    const int64_t m = longer.n;
    const bool odd = longer.steps % 2;
    T *a = z, *b = z + 2 * m, *middle = odd ? b : a;
    const FourierWay<T> plain{way.inverse, T(1)}, forward{false, T(1)}, backward{true, T(1)};
    kernels.multiply(plain, x, plan.chirp, a, plan.n);
    memset(a + 2 * plan.n, 0, static_cast<size_t>(2 * (m - plan.n)) * sizeof(T));
    steps(workers, longer, forward, a, middle, odd ? a : b);
    share(workers, m, 8192, m, [&](int64_t first, int64_t last) {
      kernels.multiply(plain, middle + 2 * first, plan.filter + 2 * first, middle + 2 * first, last - first);
    });
    steps(workers, longer, backward, middle, a, b);
    kernels.multiply(how, a, plan.chirp, y, plan.n);
  }

  void fold(const Workers& workers, const T* x, T* y) const {
    share(workers, plan.n / 2 + 1, 8192, plan.n,
          [&](int64_t first, int64_t last) { kernels.fold(plan, way, x, y, first, last); });
  }

  /// One row from x to y, over z of row_room() pairs.
  void row(const Workers& workers, const T* x, T* y, T* z) const {
    const bool odd_steps = plan.steps % 2;
    if (kind == FourierKind::complex) return pairs(workers, x, y, z);
    if (even() && kind == FourierKind::to_half) {
      pairs(workers, x, y, z);
      return fold(workers, y, y);
    }
    if (even()) {
      T* folded = odd_steps ? z : y;
      fold(workers, x, folded);
      return pairs(workers, folded, y, z);
    }
    // Odd numbers of real numbers: all of them as pairs.
    T* wide = z + 2 * fourier_row_room(n);
    T* result = plan.steps == 0 || !odd_steps ? wide : z;
    widen(x, wide);
    if (plan.steps == 0)
      pairs(workers, wide, wide, z);
    else
      steps(workers, plan, way, wide, result, odd_steps ? wide : z);
    narrow(result, y);
  }

  /// A row of pairs in place of real numbers, or of half of a spectrum.
  void widen(const T* x, T* wide) const {
    if (kind == FourierKind::to_half) {
      for (int64_t i = 0; i < n; ++i) wide[2 * i] = x[i], wide[2 * i + 1] = T(0);
      return;
    }
    wide[0] = x[0];
    wide[1] = T(0);
    for (int64_t i = 1; i <= n / 2; ++i) {
      const T re = x[2 * i] * way.sides, im = x[2 * i + 1] * way.sides;
      wide[2 * i] = wide[2 * (n - i)] = re;
      wide[2 * i + 1] = im;
      wide[2 * (n - i) + 1] = -im;
    }
  }
  void narrow(const T* wide, T* y) const {
    if (kind == FourierKind::to_half) {
      y[0] = wide[0];
      y[1] = T(0);
      for (int64_t i = 2; i < 2 * (n / 2 + 1); ++i) y[i] = wide[i] * way.sides;
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = wide[2 * i];
    }
  }

  // ---- rows side by side --------------------------------------------------------------------------------------------------

  static constexpr int kVectors = 2;
  int64_t block_rows() const { return kernels.lanes * kVectors; }

  /// At most block_rows() rows whose transform is a single step, over z of block_room() pairs.
  void block(const T* x, T* y, int rows, T* z) const {
    const int64_t pairs = plan.n, room = 2 * pairs * block_rows();
    T *in = z, *out = z + room, *wide = out + room;
    const T* from = x;
    int64_t from_row = in_row(), to_row = out_row();
    T* to = y;
    if (!even()) {
      for (int i = 0; i < rows; ++i) widen(x + i * in_row(), wide + i * 2 * n);
      from = to = wide;
      from_row = to_row = 2 * n;
    } else if (kind == FourierKind::from_half) {
      for (int i = 0; i < rows; ++i) kernels.fold(plan, way, x + i * in_row(), wide + i * 2 * pairs, 0, pairs / 2 + 1);
      from = wide;
      from_row = 2 * pairs;
    }
    const int vectors = rows > kernels.lanes ? kVectors : 1;
    kernels.turn_in(from, from_row, rows, pairs, in, vectors);
    const int64_t step = 2 * kernels.lanes * vectors;
    kernels.columns(plan, of_pairs(), in, step, out, step, vectors, in);
    kernels.turn_out(out, vectors, to, to_row, rows, pairs);
    for (int i = 0; i < rows; ++i) {
      if (!even())
        narrow(wide + i * 2 * n, y + i * out_row());
      else if (kind == FourierKind::to_half)
        kernels.fold(plan, way, y + i * out_row(), y + i * out_row(), 0, pairs / 2 + 1);
    }
  }

  // ---- columns ------------------------------------------------------------------------------------------------------------

  /// `width` of the `inner` transforms that lie side by side, over z of block_room() pairs.
  void side_by_side(const Workers& workers, const T* x, T* y, int64_t inner, int width, T* z) const {
    const int64_t step = 2 * inner, room = 2 * n * block_rows();
    if (plan.steps == 0) {
      T *row = z, *rest = z + 2 * n;
      for (int i = 0; i < width; ++i) {
        for (int64_t k = 0; k < n; ++k) memcpy(row + 2 * k, x + k * step + 2 * i, 2 * sizeof(T));
        pairs(workers, row, row, rest);
        for (int64_t k = 0; k < n; ++k) memcpy(y + k * step + 2 * i, row + 2 * k, 2 * sizeof(T));
      }
      return;
    }
    const int vectors = width > kernels.lanes ? kVectors : 1;
    if (width == vectors * kernels.lanes) return kernels.columns(plan, way, x, step, y, step, vectors, z);
    T *in = z, *out = z + room;
    const int64_t own = 2 * kernels.lanes * vectors;
    const size_t used = static_cast<size_t>(2 * width) * sizeof(T), left = static_cast<size_t>(own) * sizeof(T) - used;
    for (int64_t k = 0; k < n; ++k) {
      memcpy(in + k * own, x + k * step, used);
      memset(reinterpret_cast<char*>(in + k * own) + used, 0, left);
    }
    const bool over = plan.steps % 2 == 1 && plan.steps > 1;  // what is read first must not be written before it has been read
    kernels.columns(plan, way, in, own, out, own, vectors, over ? in : z + 2 * room);
    for (int64_t k = 0; k < n; ++k) memcpy(y + k * step, out + k * own, used);
  }
};

/// body(own workers, unit, memory) for each unit: each on one thread of its own where there are enough of them, else on all.
template <class T, class F>
void each_unit(const Workers& workers, int64_t units, int64_t cost, T* memory, int64_t elements, int64_t lots, const F& body) {
  constexpr int64_t kThreaded = 1 << 14;
  int64_t work;
  const bool large = __builtin_mul_overflow(units, cost, &work) || work >= kThreaded;
  lots = std::min(lots, units);
  if (!large || workers.threads == 1 || lots < 2 || (cost >= kThreadedRow && units < workers.threads)) {
    for (int64_t i = 0; i < units && !workers.interrupted(); ++i) body(workers, i, memory);
    return;
  }
  Workers own = workers;
  own.threads = 1;
  workers.parallel_for(lots, 1, [&](int64_t first, int64_t last) {
    for (int64_t lot = first; lot < last; ++lot) {
      for (int64_t i = lot * units / lots; i < (lot + 1) * units / lots && !workers.interrupted(); ++i) {
        body(own, i, memory + lot * elements);
      }
    }
  });
}

template <class T>
bool transform_all(const Workers& workers, FourierPlans& plans, const FourierKernels<T>& kernels,
                   const FourierKernels<double>& exact, const RoutineCall& c) {
  const auto kind = static_cast<FourierKind>(c.flags & kFourierKind);
  const int64_t outer = c.sizes[0], n = c.sizes[1], inner = c.sizes[2], room = c.sizes[3], lots = c.sizes[4];
  if (outer == 0 || inner == 0 || n == 0) return true;
  const bool halves = kind != FourierKind::complex && n % 2 == 0;
  FourierPlans::Use<T> use(plans, halves ? n / 2 : n, halves, kernels, exact);
  if (!use.plan()) return false;
  const double size = static_cast<double>(n);
  const auto norm = static_cast<FourierNorm>(c.flags >> kFourierNorm & 3);
  const T scale = static_cast<T>(norm == FourierNorm::none    ? 1.0
                                 : norm == FourierNorm::whole ? 1.0 / size
                                                              : 1.0 / __builtin_sqrt(size));
  const T sides = !(c.flags & kFourierAdjoint) ? T(1) : kind == FourierKind::to_half ? T(2) : T(0.5);
  const Transform<T> t{
      kernels, *use.plan(), {kind == FourierKind::from_half || (c.flags & kFourierInverse) != 0, scale, sides}, kind, n};
  const T* x = static_cast<const T*>(c.at[0]);
  T *y = static_cast<T*>(c.at[1]), *z = static_cast<T*>(c.at[2]);
  if (inner > 1) {
    const int64_t width = t.block_rows(), blocks = (inner + width - 1) / width;
    each_unit(workers, outer * blocks, n * width, z, 2 * room, lots, [&](const Workers& own, int64_t i, T* memory) {
      const int64_t first = i % blocks * width, at = 2 * (i / blocks * n * inner + first);
      t.side_by_side(own, x + at, y + at, inner, static_cast<int>(std::min(width, inner - first)), memory);
    });
  } else if (t.plan.steps == 1) {
    const int64_t rows = t.block_rows();
    each_unit(workers, (outer + rows - 1) / rows, n * rows, z, 2 * room, lots, [&](const Workers&, int64_t i, T* memory) {
      t.block(x + i * rows * t.in_row(), y + i * rows * t.out_row(), static_cast<int>(std::min(rows, outer - i * rows)), memory);
    });
  } else {
    each_unit(workers, outer, n, z, 2 * room, lots,
              [&](const Workers& own, int64_t i, T* memory) { t.row(own, x + i * t.in_row(), y + i * t.out_row(), memory); });
  }
  return true;
}

inline bool run(const Workers& workers, FourierPlans& plans, const FourierLevel& level, const RoutineCall& c) {
  return static_cast<DType>(c.dtype) == DType::F32 ? transform_all<float>(workers, plans, *level.f32, *level.f64, c)
                                                   : transform_all<double>(workers, plans, *level.f64, *level.f64, c);
}

}  // namespace tfl::fourier
