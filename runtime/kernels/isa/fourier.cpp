// Steps of Fourier transforms over vectors of pairs. Each lane is a transform of its own, so that all levels give the same bits.
#include "runtime/kernels/fourier/fourier_kernels.h"
#include "runtime/kernels/isa/fourier_butterflies.h"
#include "runtime/kernels/isa/fourier_roots.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

template <class T>
inline constexpr int kWidth = 2 * kPairs<T>;  // elements of a vector
inline constexpr int kMostVectors = 2;        // side by side in a step

/// What the results of a butterfly are multiplied by: nothing, the roots behind it, those behind the whole step, one number.
enum class Factor { none, inner, outer, scale };

/// One butterfly of a step: element i of vector v lies at x + i x_step + v kWidth.
template <class T>
struct Part {
  const T* x;
  int64_t x_step;
  T* y;
  int64_t y_step;
  int64_t m, s;
  int vectors;
  int radix;
  const T *roots, *spokes;
  FourierWay<T> way;
};

template <class T, int R, Factor F>
void run_part(const Part<T>& a) {
  using V = Pairs<T>;
  constexpr int w = kWidth<T>;
  const V by = quarter<T, w>(a.way.inverse);
  const Spin<V> spin{by, V(0) - by, a.spokes};
  const int n = R ? R : a.radix;
  const int64_t far = a.s * a.m * a.x_step, out = a.s * a.y_step;
  auto one = [&](int64_t p, auto turns) {
    constexpr bool kTurns = decltype(turns)::value;
    constexpr int kHeld = kTurns && R ? R : 1;
    const T* r = a.roots + (F == Factor::inner ? 2 * p * (n - 1) : 0);
    V c[kHeld], s[kHeld];
    if constexpr (kTurns && R) {
#pragma GCC unroll 8
      for (int k = 1; k < R; ++k) c[k] = V(r[2 * k - 2]), s[k] = by * V(r[2 * k - 1]);
    }
    for (int64_t q = 0; q < a.s; ++q) {
      for (int v = 0; v < a.vectors; ++v) {
        const T* x = a.x + (q + a.s * p) * a.x_step + v * w;
        T* y = a.y + (q + a.s * n * p) * a.y_step + v * w;
        V z[R ? R : kMostButterfly];
#pragma GCC unroll 8
        for (int k = 0; k < n; ++k) z[k] = V::load(x + k * far);
        if constexpr (R != 0)
          butterfly<R>(z, spin);
        else
          odd_butterfly(z, n, spin);
#pragma GCC unroll 8
        for (int k = 0; k < n; ++k) {
          if constexpr (kTurns && R != 0) {
            if (k > 0) z[k] = turned(z[k], c[k], s[k]);
          } else if constexpr (kTurns) {
            if (k > 0) z[k] = turned(z[k], V(r[2 * k - 2]), by * V(r[2 * k - 1]));
          }
          if constexpr (F == Factor::outer) {
            const T* root = a.roots + 2 * (q + a.s * k);
            z[k] = turned(z[k], V(root[0]), by * V(root[1]));
          }
          if constexpr (F == Factor::scale) z[k] = z[k] * V(a.way.scale);
          z[k].store(y + k * out);
        }
      }
    }
  };
  one(0, std::false_type());
  for (int64_t p = 1; p < a.m; ++p) one(p, std::bool_constant<F == Factor::inner>());
}

template <class T, int R>
void run_part(Factor factor, const Part<T>& a) {
  switch (factor) {
    case Factor::none: return run_part<T, R, Factor::none>(a);
    case Factor::inner: return run_part<T, R, Factor::inner>(a);
    case Factor::outer: return run_part<T, R, Factor::outer>(a);
    case Factor::scale: return run_part<T, R, Factor::scale>(a);
  }
}

template <class T>
void run_part(Factor factor, Part<T> a) {
  if (factor != Factor::outer && a.x_step == a.vectors * kWidth<T> && a.y_step == a.x_step) {  // one loop in place of two
    a.s *= a.vectors;
    a.x_step = a.y_step = kWidth<T>;
    a.vectors = 1;
  }
  switch (a.radix) {
    case 2: return run_part<T, 2>(factor, a);
    case 3: return run_part<T, 3>(factor, a);
    case 4: return run_part<T, 4>(factor, a);
    case 5: return run_part<T, 5>(factor, a);
    case 7: return run_part<T, 7>(factor, a);
    case 8: return run_part<T, 8>(factor, a);
    default: return run_part<T, 0>(factor, a);
  }
}

/// Room for the elements of a step.
template <class T>
struct Room {
  alignas(64) T a[kMostRadix * kMostVectors * kWidth<T>];
  alignas(64) T b[kMostRadix * kMostVectors * kWidth<T>];
};

/// A transform of length `step.radix` from x to y; without y to one of the two in `room`, which comes back.
template <class T>
T* run_step(const FourierStep<T>& step, const FourierWay<T>& way, Factor last, const T* roots, const T* x, int64_t x_step, T* y,
            int64_t y_step, int vectors, Room<T>& room) {
  const int64_t near = vectors * kWidth<T>;
  int64_t m = step.radix, s = 1;
  for (int i = 0; i < step.parts; ++i) {
    const bool ends = i + 1 == step.parts;
    T* to = ends && y ? y : i % 2 ? room.b : room.a;
    const int64_t to_step = ends && y ? y_step : near;
    m /= step.part[i];
    run_part<T>(ends ? last : Factor::inner,
                {x, x_step, to, to_step, m, s, vectors, step.part[i], ends ? roots : step.inner[i], step.spokes[i], way});
    s *= step.part[i];
    x = to;
    x_step = to_step;
  }
  return const_cast<T*>(x);
}

/// The roots behind a step for one p, for all k.
template <class T>
const T* roots_of(const FourierStep<T>& step, int64_t p, bool grouped, T* room) {
  const int64_t g = p / kRootGroup, lane = p % kRootGroup;
  if (!step.coarse) {
    if (!grouped) return step.roots + 2 * p * step.radix;
    for (int64_t k = 0; k < step.radix; ++k) {
      const T* from = step.roots + 2 * ((g * step.radix + k) * kRootGroup + lane);
      room[2 * k] = from[0];
      room[2 * k + 1] = from[1];
    }
    return room;
  }
  using One = Vec<T, 1>;
  for (int64_t k = 0; k < step.radix; ++k) {
    const T *from = step.roots + 2 * (k * kRootGroup + lane), *by = step.coarse + 2 * (g * step.radix + k);
    room[2 * k] = fma(One(from[1]), One(-by[1]), One(from[0] * by[0])).get();
    room[2 * k + 1] = fma(One(from[0]), One(by[1]), One(from[1] * by[0])).get();
  }
  return room;
}

template <class T>
void copy_in(const T* x, int64_t x_step, int64_t n, int pairs, T* to) {
  for (int64_t i = 0; i < n; ++i) Pairs<T>::load_partial(x + i * x_step, 2 * pairs).store(to + i * kWidth<T>);
}
template <class T>
void copy_out(const T* from, int64_t n, int pairs, T* y, int64_t y_step) {
  for (int64_t i = 0; i < n; ++i) Pairs<T>::load(from + i * kWidth<T>).store_partial(y + i * y_step, 2 * pairs);
}

template <class T>
void next(const FourierStep<T>& step, const FourierWay<T>& way, bool ends, const T* x, T* y, int64_t first, int64_t last) {
  constexpr int w = kWidth<T>, c = kPairs<T>;
  Room<T> room;
  T own[2 * kMostRadix];
  const int64_t far = 2 * step.s * step.m, out = 2 * step.s;
  const Factor factor = step.m > 1 ? Factor::outer : ends ? Factor::scale : Factor::none;
  while (first < last) {
    const int64_t p = first / step.s, q = first % step.s, end = last - first < step.s - q ? last : first + step.s - q;
    const T* roots = step.m > 1 ? roots_of(step, p, false, own) : nullptr;
    const T* from = x + 2 * first;
    T* to = y + 2 * (q + step.s * step.radix * p);
    int64_t left = end - first;
    while (left >= c) {
      const int vectors = left >= kMostVectors * c ? kMostVectors : 1;
      run_step<T>(step, way, factor, roots, from, far, to, out, vectors, room);
      from += vectors * w;
      to += vectors * w;
      left -= vectors * c;
    }
    if (left > 0) {
      T* half = room.a + kMostRadix * w;
      copy_in(from, far, step.radix, static_cast<int>(left), half);
      T* done = run_step<T>(step, way, factor, roots, half, w, nullptr, 0, 1, room);
      copy_out(done, step.radix, static_cast<int>(left), to, out);
    }
    first = end;
  }
}

/// `pairs` lanes of vector v of a first step to their places: element k of lane p becomes element k of row p.
template <class T>
void turn_step(const FourierStep<T>& step, const Pairs<T>& by, const T* z, int vectors, int v, int64_t p, int pairs, T* y) {
  using V = Pairs<T>;
  constexpr int w = kWidth<T>, c = kPairs<T>;
  const int64_t radix = step.radix, group = p / kRootGroup, lane = p % kRootGroup;
  for (int64_t k = 0; k < radix; k += c) {
    const int rows = radix - k < c ? static_cast<int>(radix - k) : c;
    V a[c];
#pragma GCC unroll 8
    for (int i = 0; i < c; ++i) {
      const int64_t at = k + (i < rows ? i : 0);
      a[i] = V::load(z + (at * vectors + v) * w);
      if (step.m > 1) {
        V root;
        if (step.coarse) {
          const T* other = step.coarse + 2 * (group * radix + at);
          V fine = V::load(step.roots + 2 * (at * kRootGroup + lane));
          root = fma(swapped(fine), alternating<T, w>(-other[1], other[1]), fine * V(other[0]));
        } else {
          root = V::load(step.roots + 2 * ((group * radix + at) * kRootGroup + lane));
        }
        a[i] = turned(a[i], doubled<0>(root), by * doubled<1>(root));
      }
    }
    transpose(a);
    T* to = y + 2 * (p * radix + k);
    if (rows == c && pairs == c) {
#pragma GCC unroll 8
      for (int i = 0; i < c; ++i) a[i].store(to + 2 * i * radix);
    } else {
      for (int i = 0; i < pairs; ++i) a[i].store_partial(to + 2 * i * radix, 2 * rows);
    }
  }
}

template <class T>
void first(const FourierStep<T>& step, const FourierWay<T>& way, bool ends, const T* x, T* y, int64_t first, int64_t last) {
  constexpr int w = kWidth<T>, c = kPairs<T>;
  Room<T> room;
  const Pairs<T> by = quarter<T, w>(way.inverse);
  const Factor factor = ends ? Factor::scale : Factor::none;
  while (first < last) {
    const int64_t left = last - first;
    if (left >= c) {
      const int vectors = left >= kMostVectors * c ? kMostVectors : 1;
      T* done = run_step<T>(step, way, factor, nullptr, x + 2 * first, 2 * step.m, nullptr, 0, vectors, room);
      for (int v = 0; v < vectors; ++v) turn_step(step, by, done, vectors, v, first + v * c, c, y);
      first += vectors * c;
    } else {
      T* half = room.a + kMostRadix * w;
      copy_in(x + 2 * first, 2 * step.m, step.radix, static_cast<int>(left), half);
      T* done = run_step<T>(step, way, factor, nullptr, half, w, nullptr, 0, 1, room);
      turn_step(step, by, done, 1, 0, first, static_cast<int>(left), y);
      first = last;
    }
  }
}

template <class T>
void columns(const FourierPlan<T>& plan, const FourierWay<T>& way, const T* x, int64_t x_step, T* y, int64_t y_step, int vectors,
             T* z) {
  Room<T> room;
  T own[2 * kMostRadix];
  const int64_t z_step = vectors * kWidth<T>;
  for (int j = 0; j < plan.steps; ++j) {
    const FourierStep<T>& step = plan.step[j];
    const bool last = j + 1 == plan.steps, to_y = (plan.steps - j) % 2 == 1;
    T* to = to_y ? y : z;
    const int64_t to_step = to_y ? y_step : z_step;
    const Factor factor = !last ? Factor::outer : Factor::scale;
    for (int64_t p = 0; p < step.m; ++p) {
      const T* roots = last ? nullptr : roots_of(step, p, j == 0, own);
      for (int64_t q = 0; q < step.s; ++q) {
        run_step<T>(step, way, factor, roots, x + (q + step.s * p) * x_step, step.s * step.m * x_step,
                    to + (q + step.s * step.radix * p) * to_step, step.s * to_step, vectors, room);
      }
    }
    x = to;
    x_step = to_step;
  }
}

template <class T>
void turn_in(const T* x, int64_t x_row, int rows, int64_t n, T* out, int vectors) {
  using V = Pairs<T>;
  constexpr int w = kWidth<T>, c = kPairs<T>;
  for (int v = 0; v < vectors; ++v, rows -= c, x += c * x_row) {
    for (int64_t k = 0; k < n; k += c) {
      const int many = n - k < c ? static_cast<int>(n - k) : c;
      V a[c];
      if (many == c && rows >= c) {
#pragma GCC unroll 8
        for (int i = 0; i < c; ++i) a[i] = V::load(x + i * x_row + 2 * k);
      } else {
        for (int i = 0; i < c; ++i) a[i] = i < rows ? V::load_partial(x + i * x_row + 2 * k, 2 * many) : V(0);
      }
      transpose(a);
      for (int i = 0; i < many; ++i) a[i].store(out + ((k + i) * vectors + v) * w);
    }
  }
}

template <class T>
void turn_out(const T* in, int vectors, T* y, int64_t y_row, int rows, int64_t n) {
  using V = Pairs<T>;
  constexpr int w = kWidth<T>, c = kPairs<T>;
  for (int v = 0; v < vectors; ++v, rows -= c, y += c * y_row) {
    for (int64_t k = 0; k < n; k += c) {
      const int many = n - k < c ? static_cast<int>(n - k) : c;
      V a[c];
      for (int i = 0; i < c; ++i) a[i] = V::load(in + ((k + (i < many ? i : 0)) * vectors + v) * w);
      transpose(a);
      if (many == c && rows >= c) {
#pragma GCC unroll 8
        for (int i = 0; i < c; ++i) a[i].store(y + i * y_row + 2 * k);
      } else {
        for (int i = 0; i < c && i < rows; ++i) a[i].store_partial(y + i * y_row + 2 * k, 2 * many);
      }
    }
  }
}

// Pairs k and n - k of the two spectra, for vectors of any width.
template <class V>
TFL_INLINE void fold_pairs(const V& low, const V& high, const V& c, const V& s, const V& by, elem_of<V> scale, V& to_low,
                           V& to_high) {
  using T = elem_of<V>;
  const V conjugate = alternating<T, V::lanes>(T(1), T(-1));
  V sum = fma(high, conjugate, low), difference = fma(high, V(0) - conjugate, low);
  V t = swapped(turned(difference, c, by * s));
  to_low = fma(t, by, sum) * V(scale);
  to_high = fma(t, V(0) - by, sum) * (conjugate * V(scale));
}

// Roots [k, k + pairs) of the plan.
template <class V>
TFL_INLINE V half_roots(const FourierPlan<elem_of<V>>& plan, int64_t k) {
  using T = elem_of<V>;
  if (!plan.half_coarse) return V::load(plan.half + 2 * k);
  V fine = V::load(plan.half + 2 * (k % kFineRoots));
  const T* other = plan.half_coarse + 2 * (k / kFineRoots);
  return fma(swapped(fine), alternating<T, V::lanes>(-other[1], other[1]), fine * V(other[0]));
}

template <class T>
void fold(const FourierPlan<T>& plan, const FourierWay<T>& way, const T* x, T* y, int64_t first, int64_t last) {
  using V = Pairs<T>;
  constexpr int c = kPairs<T>;
  const int64_t n = plan.n;
  const T scale = way.inverse ? way.sides : way.scale * T(0.5) * way.sides;
  int64_t k = first;
  if (k == 0) {
    T a = x[0], b = way.inverse ? x[2 * n] : x[1];
    if (way.inverse) {
      y[0] = a + b;
      y[1] = a - b;
    } else {
      y[0] = (a + b) * way.scale;
      y[1] = T(0);
      y[2 * n] = (a - b) * way.scale;
      y[2 * n + 1] = T(0);
    }
    ++k;
  }
  auto some = [&]<class P>(const P*) {
    constexpr int pairs = P::lanes / 2;
    const P by = quarter<T, P::lanes>(way.inverse);
    P low = P::load(x + 2 * k), high = turned_round(P::load(x + 2 * (n - k - pairs + 1)));
    P root = half_roots<P>(plan, k), to_low, to_high;
    fold_pairs(low, high, doubled<0>(root), doubled<1>(root), by, scale, to_low, to_high);
    to_low.store(y + 2 * k);
    turned_round(to_high).store(y + 2 * (n - k - pairs + 1));
    k += pairs;
  };
  using One = Vec<T, 2>;
  while (k < last && k % c) some(static_cast<const One*>(nullptr));
  while (k + c <= last && 2 * (k + c - 1) < n) some(static_cast<const V*>(nullptr));
  while (k < last) some(static_cast<const One*>(nullptr));
}

template <class T>
void multiply(const FourierWay<T>& way, const T* x, const T* roots, T* y, int64_t n) {
  using V = Pairs<T>;
  constexpr int w = kWidth<T>, c = kPairs<T>;
  const V by = quarter<T, w>(way.inverse), scale(way.scale);
  for (int64_t i = 0; i < n; i += c) {
    const int many = n - i < c ? static_cast<int>(n - i) : c;
    V a = many == c ? V::load(x + 2 * i) : V::load_partial(x + 2 * i, 2 * many);
    V r = many == c ? V::load(roots + 2 * i) : V::load_partial(roots + 2 * i, 2 * many);
    a = turned(a, doubled<0>(r), by * doubled<1>(r)) * scale;
    if (many == c)
      a.store(y + 2 * i);
    else
      a.store_partial(y + 2 * i, 2 * many);
  }
}

template <class T>
inline constexpr FourierKernels<T> kLoops = {roots<T>,   first<T>,    next<T>, columns<T>, kPairs<T>,
                                             turn_in<T>, turn_out<T>, fold<T>, multiply<T>};

}  // namespace

extern const FourierLevel kFourierLevel;
const FourierLevel kFourierLevel = {&kLoops<float>, &kLoops<double>};

}  // namespace TFL_ISA
}  // namespace tfl
