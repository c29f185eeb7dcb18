// Natives of random numbers: bare samples of the stateless operations, and seeds of the stateful ones.
#include <cmath>

#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/natives.h"
#include "frontend/tensors/tensor/workers.h"

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

/// _stateless_permutation(size, seed): the order of a shuffle.
Result<Value> sample_order(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, interp.list({args[0]})));
  Value seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_permutation, {sizes, seed});
}

/// _stateless_uniform_int(shape, seed, low, high): low and high are tensors of the result's type.
Result<Value> sample_int(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0]));
  Value seed = TFL_TRY(seed_operand(interp, args[1]));
  Value low = TFL_TRY(to_tensor(interp, args[2])), high = TFL_TRY(to_tensor(interp, args[3]));
  return apply_op(interp, Op::stateless_uniform_int, {sizes, seed, low, high});
}

/// _stateless_gamma(shape, seed, alpha) and the like: the parameters are tensors.
Result<Value> sample_gamma(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_gamma, {sizes, seed, args[2]});
}
Result<Value> sample_poisson(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_poisson, {sizes, seed, args[2]},
                  Attrs().set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[3]))));
}
Result<Value> sample_binomial(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_binomial, {sizes, seed, args[2], args[3]},
                  Attrs().set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[4]))));
}
Result<Value> sample_truncated(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0])), seed = TFL_TRY(seed_operand(interp, args[1]));
  return apply_op(interp, Op::stateless_truncated, {sizes, seed, args[2], args[3], args[4], args[5]});
}

Result<Value> set_seed(Interp& interp, Value* args) {
  std::optional<int64_t> seed;
  uint64_t generator = 0;
  if (args[0].is_float()) {
    // A float's remainder is cut to an int, as TensorFlow does, and Python's generator begins with its hash.
    double real = TFL_TRY(to_double(interp, args[0]));
    if (!(std::abs(real) < 9.2e18)) return fail(ErrorKind::OverflowError, "cannot convert {} to a seed", real);
    constexpr double kSeeds = 2147483647.0;
    double rest = std::fmod(real, kSeeds);
    seed = static_cast<int64_t>(rest < 0 ? rest + kSeeds : rest);
    generator = TFL_TRY(hash_value(interp, Value::real(real)));
  } else if (!args[0].is_none()) {
    seed = TFL_TRY(to_index(interp, args[0]));
    // Python takes an int without its sign.
    generator = *seed < 0 ? -static_cast<uint64_t>(*seed) : static_cast<uint64_t>(*seed);
  }
  // What Python's generator refuses it gets as an int.
  if (!args[1].is_none()) generator = static_cast<uint64_t>(std::abs(TFL_TRY(to_index(interp, args[1]))));
  interp.tensors->random.set_seed(seed, generator);
  forget_replica_streams(interp);
  return Value::none();
}

/// _next_state(kernel, seed, groups): the state of a generator for the next call of a stateful operation, which takes so many groups of
/// four words. `kernel`: what its stream belongs to, the operation and its types; `seed`: its own, or None.
Result<Value> next_state(Interp& interp, Value* args) {
  RandomStreams& streams = random_streams(interp);
  if (!args[0].is(Kind::Str)) return fail(ErrorKind::TypeError, "_next_state: the kernel is a str");
  std::string_view kernel = args[0].as<Str>()->text;
  std::optional<int64_t> own;
  if (!args[1].is_none()) own = TFL_TRY(to_index(interp, args[1]));
  if (Scope* scope = current_scope(interp)) {
    Attrs attrs;
    const int replica = current_replica(interp);
    attrs.set_text(Attr::stream, replica < 0 ? std::string(kernel) : fmt::format("replica {} {}", replica, kernel))
        .set_int(Attr::seed, own ? RandomStreams::truncated(*own) : -1);
    if (auto seeds = streams.graph_seeds(own, scope->draws))
      attrs.set_ints(Attr::graph_seeds, {(*seeds)[0], (*seeds)[1], ++streams.draws_in_graphs});
    if (!own) ++scope->draws;
    ToTensor wanted;
    wanted.dtype = DType::I64;
    Value groups = TFL_TRY(to_tensor(interp, args[2], wanted));
    ir::Node* node = TFL_TRY(append_node(interp, Op::next_seed, std::span(&groups, 1), attrs));
    return symbolic_value(interp, tracer_of(interp).scope, {node, 0});
  }
  RandomState state = streams.next(kernel, own, TFL_TRY(to_index(interp, args[2])));
  return interp.tuple({Value::integer(state[0]), Value::integer(state[1]), Value::integer(state[2])});
}

/// _next_own_seed(): what TensorFlow takes for the seed of an operation that was given none; in a graph, how many came before.
Result<Value> next_own_seed(Interp& interp, Value*) {
  if (Scope* scope = current_scope(interp)) return Value::integer(scope->draws++);
  return Value::integer(random_streams(interp).next_own_seed());
}

/// _any_seed(): two integers that nobody can repeat.
Result<Value> any_seed(Interp& interp, Value*) {
  RandomState state = random_streams(interp).unseeded();
  return interp.tuple({Value::integer(state[2]), Value::integer(state[1])});
}

constexpr NativeDef kRandomNatives[] = {
    function("_stateless_uniform", "shape, seed, dtype", sample<Op::stateless_uniform>),
    function("_stateless_normal", "shape, seed, dtype", sample<Op::stateless_normal>),
    function("_stateless_truncated_normal", "shape, seed, dtype", sample<Op::stateless_truncated_normal>),
    function("_stateless_uniform_full_int", "shape, seed, dtype", sample<Op::stateless_uniform_full_int>),
    function("_stateless_permutation", "size, seed", sample_order),
    function("_stateless_uniform_int", "shape, seed, low, high", sample_int),
    function("_stateless_gamma", "shape, seed, alpha", sample_gamma),
    function("_stateless_poisson", "shape, seed, rate, dtype", sample_poisson),
    function("_stateless_binomial", "shape, seed, counts, probs, dtype", sample_binomial),
    function("_stateless_truncated", "shape, seed, means, deviations, lowest, highest", sample_truncated),
    function("_set_seed", "seed, generator", set_seed),
    function("_next_state", "kernel, seed, groups", next_state),
    function("_next_own_seed", "", next_own_seed),
    function("_any_seed", "", any_seed),
};

}  // namespace

std::span<const NativeDef> random_natives() { return kRandomNatives; }

}  // namespace tfl
