// Natives of random numbers: bare samples of the stateless operations, and seeds of the stateful ones.
#include <sys/random.h>

#include <ctime>

#include "frontend/object/native.h"
#include "frontend/tensor/natives.h"
#include "frontend/trace/scope.h"

namespace tfl {

namespace {

/// Seeds are two integers.
Result<Value> seed_operand(Interp& interp, const Value& v) {
  ToTensor wanted;
  wanted.preferred = DType::I32;
  if (v.is(Kind::List) || v.is(Kind::Tuple)) {
    std::vector<Value> items = TFL_TRY(to_vector(interp, v));
    for (const Value& item : items) {
      if (item.is_int() && item.as_int() != static_cast<int32_t>(item.as_int())) wanted.preferred = DType::I64;
    }
  }
  return to_tensor(interp, v, wanted);
}

template <Op op>
Result<Value> sample(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0]));
  Value seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, op, {sizes, seed}, Attrs().set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[2]))));
}

/// _stateless_uniform_int(shape, seed, low, high): low and high are tensors of the result's type.
Result<Value> sample_int(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0]));
  Value seed = TFL_TRY(seed_operand(interp, args[1]));
  Value low = TFL_TRY(to_tensor(interp, args[2])), high = TFL_TRY(to_tensor(interp, args[3]));
  return apply_op(interp, Op::stateless_uniform_int, {sizes, seed, low, high});
}

/// _stateless_gamma(shape, seed, alpha, width) and the like: the parameters are tensors.
Result<Value> sample_gamma(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_gamma, {sizes, seed, args[2]}, Attrs().set_int(Attr::width, TFL_TRY(to_index(interp, args[3]))));
}
Result<Value> sample_poisson(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_poisson, {sizes, seed, args[2]}, Attrs().set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[3]))));
}
Result<Value> sample_binomial(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_binomial, {sizes, seed, args[2], args[3]}, Attrs().set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[4]))));
}
Result<Value> sample_truncated(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_truncated, {sizes, seed, args[2], args[3], args[4], args[5]});
}

Result<Value> set_seed(Interp& interp, Value* args) {
  TensorState& state = *interp.tensors;
  state.random_calls = 0;
  state.seeded = !args[0].is_none();
  if (state.seeded) state.seed = static_cast<uint64_t>(TFL_TRY(to_index(interp, args[0])));
  return Value::none();
}

Result<uint64_t> entropy(Interp&) {
  uint64_t bits = 0;
  if (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) bits = static_cast<uint64_t>(std::time(nullptr));
  return bits | 1;
}

/// _next_seed(seed): two integers for the next stateful operation. They depend on the global seed, on the operation's own and on
/// how many came before; without any seed, on the system's source of chance.
Result<Value> next_seed(Interp& interp, Value* args) {
  TensorState& state = *interp.tensors;
  if (current_scope(interp)) {
    Attrs attrs;
    attrs.set_int(Attr::seed, args[0].is_none() ? -1 : TFL_TRY(to_index(interp, args[0])));
    ir::Node* node = TFL_TRY(append_node(interp, Op::next_seed, {}, attrs));
    return symbolic_value(interp, tracer_of(interp).scope, {node, 0});
  }
  uint64_t own = args[0].is_none() ? 0 : static_cast<uint64_t>(TFL_TRY(to_index(interp, args[0]))) + 1;
  if (!state.seeded && own == 0 && state.seed == 0) state.seed = TFL_TRY(entropy(interp));
  uint64_t count = ++state.random_calls;
  auto half = [&](uint64_t v) { return Value::integer(static_cast<int64_t>(v)); };
  return interp.tuple({half(state.seed ^ (own * 0x9E3779B97F4A7C15u)), half(count)});
}

constexpr NativeDef kRandomNatives[] = {
    function("_stateless_uniform", "shape, seed, dtype", sample<Op::stateless_uniform>),
    function("_stateless_normal", "shape, seed, dtype", sample<Op::stateless_normal>),
    function("_stateless_truncated_normal", "shape, seed, dtype", sample<Op::stateless_truncated_normal>),
    function("_stateless_uniform_full_int", "shape, seed, dtype", sample<Op::stateless_uniform_full_int>),
    function("_stateless_uniform_int", "shape, seed, low, high", sample_int),
    function("_stateless_gamma", "shape, seed, alpha, width", sample_gamma),
    function("_stateless_poisson", "shape, seed, rate, dtype", sample_poisson),
    function("_stateless_binomial", "shape, seed, counts, probs, dtype", sample_binomial),
    function("_stateless_truncated", "shape, seed, means, deviations, lowest, highest", sample_truncated),
    function("_set_seed", "seed", set_seed),
    function("_next_seed", "seed", next_seed),
};

}  // namespace

std::span<const NativeDef> random_natives() { return kRandomNatives; }

}  // namespace tfl
