// The module `_nprandom`: filling arrays from NumPy's generators, whose state is an array that these functions change.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "frontend/core/native_module.h"
#include "frontend/tensors/numpy/array.h"
#include "frontend/tensors/numpy/generators.h"
#include "runtime/kernels/parallel.h"
#include "runtime/ops/op.h"

namespace tfl {

namespace {

Failure bad_state() { return fail(ErrorKind::TypeError, "this is no generator state"); }

Result<Mt19937> mt_of(Interp& interp, const Value& v) {
  if (!v.is(Kind::NdArray)) return bad_state();
  Tensor* t = TFL_TRY(array_for_write(interp, v.as<NdArrayObject>()));
  if (t->dtype() != DType::U32 || t->size() != 626 || !t->contiguous()) return bad_state();
  return Mt19937{t->data<uint32_t>(), t->data<uint32_t>()[624]};
}
Result<Pcg64> pcg_of(Interp& interp, const Value& v) {
  if (!v.is(Kind::NdArray)) return bad_state();
  Tensor* t = TFL_TRY(array_for_write(interp, v.as<NdArrayObject>()));
  if (t->dtype() != DType::U64 || t->size() != 6 || !t->contiguous()) return bad_state();
  return Pcg64{t->data<uint64_t>()};
}
Result<Tensor> room(Interp& interp, DType dtype, const Value& count) {
  int64_t n = TFL_TRY(to_index(interp, count));
  if (n < 0) return fail(ErrorKind::ValueError, "negative dimensions are not allowed");
  return Tensor::empty(interp.context, dtype, Dims{n});
}

/// one(i) for i in [0, n), each drawing from the generator that has this state. An interrupt leaves the state as it was.
template <class One>
Result<void> draw(Interp& interp, const Value& state, int64_t n, const One& one) {
  constexpr int64_t kPart = 1 << 15;
  if (n <= kPart) {
    for (int64_t i = 0; i < n; ++i) one(i);
    return {};
  }
  Tensor* words = TFL_TRY(array_for_write(interp, state.as<NdArrayObject>()));
  const std::vector<std::byte> before(words->raw(), words->raw() + words->bytes());
  for (int64_t first = 0; first < n; first += kPart) {
    for (int64_t i = first; i < std::min(n, first + kPart); ++i) one(i);
    if (auto stop = check_whole(interp.context); !stop) {
      std::copy(before.begin(), before.end(), words->raw());
      return stop;
    }
  }
  return {};
}

/// Integers in [0, range] by the generator's own way of bounding them: args are its state, how many, and the range.
template <class G>
Result<Value> integers(Interp& interp, Result<G> (*generator_of)(Interp&, const Value&), Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::I64, args[1]));
  G g = TFL_TRY(generator_of(interp, args[0]));
  auto range = static_cast<uint64_t>(TFL_TRY(to_index(interp, args[2])));
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) { out.data<int64_t>()[i] = static_cast<int64_t>(g.bounded(range)); }));
  return ndarray_value(interp, out);
}

Result<Value> mt_seed(Interp& interp, Value* args) {
  Mt19937 g = TFL_TRY(mt_of(interp, args[0]));
  int64_t s = TFL_TRY(to_index(interp, args[1]));
  if (s < 0 || s > 0xFFFFFFFFll) return fail(ErrorKind::ValueError, "Seed must be between 0 and 2**32 - 1");
  g.seed(static_cast<uint32_t>(s));
  return Value::none();
}
Result<Value> mt_uniform(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F64, args[1]));
  Mt19937 g = TFL_TRY(mt_of(interp, args[0]));
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) { out.data<double>()[i] = g.next_double(); }));
  return ndarray_value(interp, out);
}
/// Integers in [0, range] by masked rejection.
Result<Value> mt_integers(Interp& interp, Value* args) { return integers(interp, mt_of, args); }
/// Pairs of the polar method; `kept` is the second of the last pair or None. Gives (array, kept).
Result<Value> mt_gauss(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F64, args[1]));
  Mt19937 g = TFL_TRY(mt_of(interp, args[0]));
  Value kept = args[2];
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) {
    if (kept.is_float()) {
      out.data<double>()[i] = kept.as_float();
      kept = Value::none();
      return;
    }
    double x, y, r;
    do {
      x = 2.0 * g.next_double() - 1.0;
      y = 2.0 * g.next_double() - 1.0;
      r = x * x + y * y;
    } while (r >= 1.0 || r == 0.0);
    double f = std::sqrt(-2.0 * std::log(r) / r);
    kept = Value::real(f * x);
    out.data<double>()[i] = f * y;
  }));
  return interp.tuple({ndarray_value(interp, out), kept});
}

/// seed(state, words): entropy as a list of 32-bit words.
Result<Value> pcg_seed(Interp& interp, Value* args) {
  std::vector<Value> items = TFL_TRY(to_vector(interp, args[1]));
  std::vector<uint32_t> entropy;
  for (const Value& v : items) entropy.push_back(static_cast<uint32_t>(TFL_TRY(to_index(interp, v))));
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  g.seed(entropy);
  return Value::none();
}
Result<Value> pcg_uniform(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F64, args[1]));
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) { out.data<double>()[i] = g.next_double(); }));
  return ndarray_value(interp, out);
}
Result<Value> pcg_uniform32(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F32, args[1]));
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  TFL_TRY(draw(interp, args[0], out.size(),
               [&](int64_t i) { out.data<float>()[i] = static_cast<float>(g.next32() >> 8) * (1.0f / 16777216.0f); }));
  return ndarray_value(interp, out);
}
Result<Value> pcg_integers(Interp& interp, Value* args) { return integers(interp, pcg_of, args); }
Result<Value> pcg_normal(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F64, args[1]));
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  const Ziggurat& layers = normal_layers();
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) { out.data<double>()[i] = g.normal(layers); }));
  return ndarray_value(interp, out);
}
Result<Value> pcg_exponential(Interp& interp, Value* args) {
  Tensor out = TFL_TRY(room(interp, DType::F64, args[1]));
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  const Ziggurat& layers = exponential_layers();
  TFL_TRY(draw(interp, args[0], out.size(), [&](int64_t i) { out.data<double>()[i] = g.exponential(layers); }));
  return ndarray_value(interp, out);
}

/// The places that a shuffle of n items leaves them in, as an int64 array: from the last down to `first`, each swaps with one at or below it.
template <class Draw>
Result<Value> shuffled(Interp& interp, const Value& state, const Value& count, const Value& first, Draw&& below) {
  Tensor out = TFL_TRY(room(interp, DType::I64, count));
  int64_t from = TFL_TRY(to_index(interp, first));
  int64_t* p = out.data<int64_t>();
  in_order(interp.context, out.size(), [&](int64_t i) { p[i] = i; });
  const int64_t last = out.size() - 1;
  TFL_TRY(draw(interp, state, last - std::max<int64_t>(from, 1) + 1,
               [&](int64_t i) { std::swap(p[last - i], p[below(static_cast<uint64_t>(last - i))]); }));
  return ndarray_value(interp, out);
}
Result<Value> pcg_shuffle(Interp& interp, Value* args) {
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  return shuffled(interp, args[0], args[1], args[2], [&](uint64_t i) { return g.bounded(i); });
}
/// Generator.shuffle and permutation: as many bits as the bound has, until they are within it.
Result<Value> pcg_permutation(Interp& interp, Value* args) {
  Pcg64 g = TFL_TRY(pcg_of(interp, args[0]));
  return shuffled(interp, args[0], args[1], Value::integer(1), [&](uint64_t i) {
    uint64_t mask = ~uint64_t{0} >> std::countl_zero(i);
    while (true) {
      uint64_t v = (i <= 0xFFFFFFFFu ? g.next32() : g.next64()) & mask;
      if (v <= i) return v;
    }
  });
}
Result<Value> mt_shuffle(Interp& interp, Value* args) {
  Mt19937 g = TFL_TRY(mt_of(interp, args[0]));
  return shuffled(interp, args[0], args[1], args[2], [&](uint64_t i) { return g.bounded(i); });
}

constexpr NativeDef kRandom[] = {
    function("mt_seed", "state, seed, /", mt_seed),
    function("mt_uniform", "state, n, /", mt_uniform),
    function("mt_integers", "state, n, range, /", mt_integers),
    function("mt_gauss", "state, n, kept, /", mt_gauss),
    function("mt_shuffle", "state, n, first, /", mt_shuffle),
    function("pcg_seed", "state, words, /", pcg_seed),
    function("pcg_uniform", "state, n, /", pcg_uniform),
    function("pcg_uniform32", "state, n, /", pcg_uniform32),
    function("pcg_integers", "state, n, range, /", pcg_integers),
    function("pcg_normal", "state, n, /", pcg_normal),
    function("pcg_exponential", "state, n, /", pcg_exponential),
    function("pcg_shuffle", "state, n, first, /", pcg_shuffle),
    function("pcg_permutation", "state, n", pcg_permutation),
};

}  // namespace

Result<void> init_nprandom(Interp& interp, Module& module) {
  define_all(interp, module, kRandom);
  return {};
}

}  // namespace tfl
