// Choosing the steps of a transform, and computing its roots of unity.
#include "runtime/kernels/fourier/fourier_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/kernels/fourier/fourier_kernels.h"

namespace tfl {

namespace {

int64_t largest_prime(int64_t n) {
  int64_t most = 1;
  for (int64_t p = 2; p * p <= n; ++p) {
    while (n % p == 0) n /= p, most = p;
  }
  return n > most ? n : most;
}

// ---- steps -------------------------------------------------------------------------------------------------------------------

constexpr int64_t kAlone = 64;  // shorter transforms are one step

/// The butterflies of a step: eights, with fours where twos are left, and odd primes.
int butterflies(int64_t radix, uint8_t* part) {
  int count = 0, twos = 0;
  while (radix % 2 == 0) radix /= 2, ++twos;
  if (twos % 3 == 1 && twos > 1) {
    part[count++] = 4;
    part[count++] = 4;
    twos -= 4;
  } else if (twos % 3) {
    part[count++] = twos % 3 == 1 ? 2 : 4;
    twos -= twos % 3;
  }
  for (; twos > 0; twos -= 3) part[count++] = 8;
  for (int64_t p = 3; radix > 1; p += 2) {
    while (radix % p == 0) radix /= p, part[count++] = static_cast<uint8_t>(p);
  }
  if (count == 0) part[count++] = 1;
  return count;
}

/// What an element of a step costs, in additions of a vector.
int64_t step_cost(int64_t radix) {
  uint8_t part[8];
  int64_t cost = 8;
  for (int i = butterflies(radix, part) - 1; i >= 0; --i) {
    cost += part[i] <= 4 ? 6 : part[i] == 8 ? 8 : part[i] + 6;
  }
  return cost;
}

struct Choice {
  int64_t cost = INT64_MAX;
  int64_t radix[kMostSteps];
};

/// The cheapest factors of `rest` for steps j, j + 1 ... `steps` - 1, vectors being as wide as a group of roots on every processor.
void choose(int64_t n, int64_t rest, int j, int steps, int64_t cost, int64_t* radix, Choice& best) {
  if (cost >= best.cost || rest < 2) return;
  const int64_t s = n / rest;
  int64_t least = rest;  // so that the others can take what is left
  for (int i = j + 1; i < steps; ++i) least = (least + kMostRadix - 1) / kMostRadix;
  for (int64_t r = j + 1 == steps ? rest : least < 2 ? 2 : least; r <= kMostRadix && r <= rest; ++r) {
    if (rest % r) continue;
    const int64_t lanes = j == 0 ? n / r : s, padded = (lanes + kRootGroup - 1) / kRootGroup * kRootGroup;
    radix[j] = r;
    const int64_t whole = cost + step_cost(r) * padded * 4096 / lanes + (j == 0 ? r : 0);
    if (j + 1 == steps) {
      if (whole < best.cost) {
        best.cost = whole;
        memcpy(best.radix, radix, sizeof best.radix);
      }
      return;
    }
    choose(n, rest / r, j + 1, steps, whole, radix, best);
  }
}

/// The number of steps, whose radices come back in `radix`.
int steps_of(int64_t n, int64_t* radix) {
  auto attempt = [&](int steps) {
    Choice best;
    int64_t trial[kMostSteps] = {};
    choose(n, n, 0, steps, 0, trial, best);
    if (best.cost == INT64_MAX) return false;
    memcpy(radix, best.radix, sizeof best.radix);
    return true;
  };
  if (n < kAlone) return radix[0] = n, 1;
  if (attempt(2)) return 2;
  if (n <= kMostRadix) return radix[0] = n, 1;
  for (int steps = 3; steps <= kMostSteps; ++steps) {
    if (attempt(steps)) return steps;
  }
  return 0;
}

// ---- tables ------------------------------------------------------------------------------------------------------------------

/// Counts elements in a first pass, writes them in a second one.
template <class T>
struct Tables {
  T* memory;  // null: count
  const FourierKernels<T>& kernels;
  int64_t used = 0;

  /// `count` roots of n: at(i) for i < count.
  template <class F>
  const T* roots(int64_t n, int64_t count, const F& at) {
    T* out = take(count);
    for (int64_t first = 0; memory && first < count;) {
      int64_t some[256], many = count - first < 256 ? count - first : 256;
      for (int64_t i = 0; i < many; ++i) some[i] = at(first + i);
      kernels.roots(n, some, many, out + 2 * first);
      first += many;
    }
    return out;
  }
  T* take(int64_t pairs) {
    T* at = memory ? memory + used : nullptr;
    used += (2 * pairs + 2 * kRootGroup + 31) / 32 * 32;  // vectors may be read where the last pairs are
    return at;
  }
};

template <class T>
void fill_step(FourierStep<T>& step, int64_t radix, int64_t s, int64_t n, bool first, Tables<T>& tables) {
  step = {};
  step.radix = radix;
  step.s = s;
  step.m = n / (s * radix);
  step.parts = butterflies(radix, step.part);
  int64_t m = radix;
  for (int i = 0; i < step.parts; ++i) {
    const int64_t r = step.part[i], whole = m;
    m /= r;
    if (m > 1) {
      step.inner[i] = tables.roots(whole, m * (r - 1), [=](int64_t j) { return j / (r - 1) * (j % (r - 1) + 1); });
    }
    if (r % 2) step.spokes[i] = tables.roots(r, r, [](int64_t j) { return j; });
  }
  if (step.m == 1) return;
  const int64_t all = radix * step.m, groups = (step.m + kRootGroup - 1) / kRootGroup;
  auto grouped = [=](int64_t j) {
    const int64_t lane = j % kRootGroup, k = j / kRootGroup % radix, g = j / kRootGroup / radix;
    return (g * kRootGroup + lane) * k % all;
  };
  if (all > kRootTable) {
    step.roots = tables.roots(all, radix * kRootGroup, grouped);
    step.coarse = tables.roots(all, groups * radix, [=](int64_t j) { return j / radix * kRootGroup * (j % radix) % all; });
  } else if (first) {
    step.roots = tables.roots(all, groups * radix * kRootGroup, grouped);
  } else {
    step.roots = tables.roots(all, all, [=](int64_t j) { return j / radix * (j % radix); });
  }
}

template <class T>
void fill_plan(FourierPlan<T>& plan, int64_t n, bool real, Tables<T>& tables) {
  plan = {};
  plan.n = n;
  if (!fourier_padded(n)) {
    int64_t radix[kMostSteps], s = 1;
    plan.steps = steps_of(n, radix);
    for (int j = 0; j < plan.steps; ++j) {
      fill_step(plan.step[j], radix[j], s, n, j == 0, tables);
      s *= radix[j];
    }
  }
  if (!real) return;
  const int64_t count = n / 2 + 1;
  if (count > kRootTable) {
    plan.half = tables.roots(2 * n, kFineRoots, [](int64_t k) { return k; });
    plan.half_coarse = tables.roots(2 * n, count / kFineRoots + 1, [](int64_t k) { return k * kFineRoots; });
  } else {
    plan.half = tables.roots(2 * n, count, [](int64_t k) { return k; });
  }
}

/// All steps of one row on this thread: from x to y, over z. A single step has its lanes to itself.
void plain_row(const FourierKernels<double>& kernels, const FourierPlan<double>& plan, const double* x, double* y, double* z) {
  const FourierWay<double> way{false, 1};
  for (int j = 0; j < plan.steps; ++j) {
    const FourierStep<double>& step = plan.step[j];
    double* to = (plan.steps - j) % 2 ? y : z;
    const bool ends = j + 1 == plan.steps;
    if (j == 0)
      kernels.first(step, way, ends, x, to, 0, step.m);
    else
      kernels.next(step, way, ends, x, to, 0, step.s * step.m);
    x = to;
  }
}

void* take_memory(size_t bytes) {
  void* memory = nullptr;
  return posix_memalign(&memory, 64, bytes) == 0 ? memory : nullptr;
}

/// exp(-pi i k^2 / n) and the spectrum of its conjugate, both ends of which are equal, around a length of `padded`.
bool fill_convolution(const FourierKernels<double>& exact, int64_t n, int64_t padded, double* chirp, double* filter) {
  for (int64_t first = 0, square = 0; first < n;) {
    int64_t some[256], many = n - first < 256 ? n - first : 256;
    for (int64_t i = 0; i < many; ++i) {
      some[i] = square;
      square = (square + 2 * (first + i) + 1) % (2 * n);
    }
    exact.roots(2 * n, some, many, chirp + 2 * first);
    first += many;
  }
  Tables<double> counted{nullptr, exact};
  FourierPlan<double> plan;
  fill_plan(plan, padded, false, counted);
  auto* memory = static_cast<double*>(take_memory(static_cast<size_t>(counted.used + 4 * padded) * sizeof(double)));
  if (!memory) return false;
  double *x = memory + counted.used, *z = x + 2 * padded;
  Tables<double> tables{memory, exact};
  fill_plan(plan, padded, false, tables);
  memset(x, 0, static_cast<size_t>(2 * padded) * sizeof(double));
  for (int64_t k = 0; k < n; ++k) {
    x[2 * k] = chirp[2 * k];
    x[2 * k + 1] = chirp[2 * k + 1];  // the conjugate of c - i s
    if (k > 0) memcpy(x + 2 * (padded - k), x + 2 * k, 2 * sizeof(double));
  }
  plain_row(exact, plan, x, filter, z);
  for (int64_t k = 0; k < padded; ++k) {
    filter[2 * k] /= static_cast<double>(padded);
    filter[2 * k + 1] /= -static_cast<double>(padded);  // as a pair for c - i s
  }
  free(memory);
  return true;
}

}  // namespace

int64_t fourier_padded(int64_t n) {
  if (n <= kMostButterfly || largest_prime(n) <= kMostButterfly) return 0;
  const int64_t wanted = 2 * n - 1;
  int64_t two = 64, best = INT64_MAX;
  while (two < wanted) two *= 2;
  for (int64_t eighths : {8, 9, 10, 12, 15, 16}) {
    const int64_t m = two / 16 * eighths;
    if (m >= wanted && m < best) best = m;
  }
  return best;
}

// ---- what is kept ------------------------------------------------------------------------------------------------------------

struct FourierPlans::Entry {
  Entry* next;
  int64_t n;
  bool real, wide, kept;
  size_t bytes;
};

FourierPlans::~FourierPlans() {
  for (Entry* e = first_.load(); e;) {
    Entry* next = e->next;
    free(e);
    e = next;
  }
}

namespace {

/// An entry; its tables lie behind it.
template <class T>
struct alignas(64) Made {
  FourierPlans::Entry entry;
  FourierPlan<T> plan, longer;

  /// Without memory of the tables they are only counted.
  void fill(int64_t n, bool real, int64_t padded, Tables<T>& tables) {
    fill_plan(plan, n, real, tables);
    if (!padded) return;
    fill_plan(longer, padded, false, tables);
    plan.longer = &longer;
    plan.chirp = tables.take(n);
    plan.filter = tables.take(padded);
  }
};

template <class T>
Made<T>* make_plan(int64_t n, bool real, const FourierKernels<T>& kernels, const FourierKernels<double>& exact) {
  const int64_t padded = fourier_padded(n);
  Tables<T> counted{nullptr, kernels};
  Made<T> trial;
  trial.fill(n, real, padded, counted);
  const size_t bytes = sizeof(Made<T>) + static_cast<size_t>(counted.used) * sizeof(T);
  auto* made = static_cast<Made<T>*>(take_memory(bytes));
  if (!made) return nullptr;
  made->entry = {nullptr, n, real, sizeof(T) == 8, false, bytes};
  Tables<T> tables{reinterpret_cast<T*>(made + 1), kernels};
  made->fill(n, real, padded, tables);
  if (!padded) return made;
  auto* exactly = static_cast<double*>(take_memory(static_cast<size_t>(2 * (n + padded)) * sizeof(double)));
  if (!exactly || !fill_convolution(exact, n, padded, exactly, exactly + 2 * n)) {
    free(exactly);
    free(made);
    return nullptr;
  }
  for (int64_t i = 0; i < 2 * n; ++i) const_cast<T*>(made->plan.chirp)[i] = static_cast<T>(exactly[i]);
  for (int64_t i = 0; i < 2 * padded; ++i) const_cast<T*>(made->plan.filter)[i] = static_cast<T>(exactly[2 * n + i]);
  free(exactly);
  return made;
}

}  // namespace

template <class T>
FourierPlans::Use<T>::Use(FourierPlans& plans, int64_t n, bool real, const FourierKernels<T>& kernels,
                          const FourierKernels<double>& exact) {
  for (Entry* e = plans.first_.load(std::memory_order_acquire); e; e = e->next) {
    if (e->n == n && e->wide == (sizeof(T) == 8) && (e->real || !real)) {
      entry_ = e;
      break;
    }
  }
  if (!entry_) {
    Made<T>* made = make_plan(n, real, kernels, exact);
    if (!made) return;
    entry_ = &made->entry;
    if (plans.bytes_.fetch_add(entry_->bytes) + entry_->bytes <= kKept) {
      entry_->kept = true;
      Entry* first = plans.first_.load();
      do {
        entry_->next = first;
      } while (!plans.first_.compare_exchange_weak(first, entry_, std::memory_order_release));
    } else {
      plans.bytes_.fetch_sub(entry_->bytes);
    }
  }
  plan_ = &reinterpret_cast<const Made<T>*>(entry_)->plan;
}

template <class T>
FourierPlans::Use<T>::~Use() {
  if (entry_ && !entry_->kept) free(entry_);
}

template class FourierPlans::Use<float>;
template class FourierPlans::Use<double>;

}  // namespace tfl
