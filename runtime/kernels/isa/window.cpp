// Loops over channels: a vector of channels stays in registers while the rows of a window pass.
#include <limits>

#include "runtime/kernels/window_kernels.h"
#include "runtime/math/vec.h"

namespace tfl {
inline namespace TFL_ISA {

namespace {

// body(position, lanes as a type, count): whole vectors, four at a time where they are, then the rest.
template <class T, class F>
TFL_INLINE void each_vector(int64_t channels, F body) {
  constexpr int n = kLanes<T>;
  int64_t c = 0;
  for (; c + n <= channels; c += n) body(c, n);
  if (c < channels) body(c, static_cast<int>(channels - c));
}

template <class T>
TFL_INLINE Vec<T, kLanes<T>> read(const T* p, int count) {
  using V = Vec<T, kLanes<T>>;
  return count == kLanes<T> ? V::load(p) : V::load_partial(p, count);
}
template <class V, class T>
TFL_INLINE void write(const V& v, T* p, int count) {
  if (count == V::lanes) {
    v.store(p);
  } else {
    v.store_partial(p, count);
  }
}

template <class V>
TFL_INLINE V chain(const V& a, const V& b, const V& c) {
  if constexpr (std::is_floating_point_v<elem_of<V>>)
    return fma(a, b, c);
  else
    return c + a * b;
}

template <class T>
void multiply_add(int64_t channels, int64_t count, const T* const* x, const T* const* w, T* out, bool add) {
  using V = Vec<T, kLanes<T>>;
  constexpr int n = kLanes<T>;
  int64_t c = 0;
  // Four chains at a time: one alone waits for each of its steps.
  for (; c + 4 * n <= channels; c += 4 * n) {
    V s0(0), s1(0), s2(0), s3(0);
    for (int64_t i = 0; i < count; ++i) {
      const T* a = x[i] + c;
      const T* b = w[i] + c;
      s0 = chain(V::load(a), V::load(b), s0);
      s1 = chain(V::load(a + n), V::load(b + n), s1);
      s2 = chain(V::load(a + 2 * n), V::load(b + 2 * n), s2);
      s3 = chain(V::load(a + 3 * n), V::load(b + 3 * n), s3);
    }
    T* to = out + c;
    if (add) {
      s0 = V::load(to) + s0;
      s1 = V::load(to + n) + s1;
      s2 = V::load(to + 2 * n) + s2;
      s3 = V::load(to + 3 * n) + s3;
    }
    s0.store(to);
    s1.store(to + n);
    s2.store(to + 2 * n);
    s3.store(to + 3 * n);
  }
  each_vector<T>(channels - c, [&](int64_t at, int lanes) {
    at += c;
    V sum(0);
    for (int64_t i = 0; i < count; ++i) sum = chain(read(x[i] + at, lanes), read(w[i] + at, lanes), sum);
    if (add) sum = read(out + at, lanes) + sum;
    write(sum, out + at, lanes);
  });
}

template <class T>
constexpr T kLowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

template <class T>
void largest(int64_t channels, int64_t count, const T* const* rows, T* out) {
  using V = Vec<T, kLanes<T>>;
  each_vector<T>(channels, [&](int64_t c, int lanes) {
    V most(kLowest<T>);
    for (int64_t i = 0; i < count; ++i) {
      V x = read(rows[i] + c, lanes);
      most = select(x > most, x, most);
    }
    write(most, out + c, lanes);
  });
}

template <class T>
void where_largest(int64_t channels, int64_t count, const T* const* rows, int32_t* out) {
  using V = Vec<T, kLanes<T>>;
  using I = Vec<signed_of<T>, kLanes<T>>;
  each_vector<T>(channels, [&](int64_t c, int lanes) {
    V most(kLowest<T>);
    I at(0);
    for (int64_t i = 0; i < count; ++i) {
      V x = read(rows[i] + c, lanes);
      auto better = x > most;
      most = select(better, x, most);
      at = select(better, I(i), at);
    }
    write(convert<int32_t>(at), out + c, lanes);
  });
}

template <class T>
void average(int64_t channels, int64_t count, const T* const* rows, T divisor, T* out) {
  using V = Vec<T, kLanes<T>>;
  each_vector<T>(channels, [&](int64_t c, int lanes) {
    V sum(0);
    for (int64_t i = 0; i < count; ++i) sum = sum + read(rows[i] + c, lanes);
    if constexpr (std::is_floating_point_v<T>) sum = sum / V(divisor);
    write(sum, out + c, lanes);
  });
}

template <class T>
void weighted(int64_t channels, int64_t count, const T* const* rows, const T* factors, T* out) {
  using V = Vec<T, kLanes<T>>;
  each_vector<T>(channels, [&](int64_t c, int lanes) {
    V sum(0);
    for (int64_t i = 0; i < count; ++i) sum = sum + read(rows[i] + c, lanes) * V(factors[i]);
    write(sum, out + c, lanes);
  });
}

template <class T>
constexpr WindowLoops<T> kLoops = {&multiply_add<T>, &largest<T>, &where_largest<T>, &average<T>, &weighted<T>};

}  // namespace

extern const WindowKernels kWindowKernels;
constexpr WindowKernels kWindowKernels = {&kLoops<float>, &kLoops<double>, &kLoops<int32_t>, &kLoops<int64_t>};

}  // namespace TFL_ISA
}  // namespace tfl
