// Gradients of elementwise operations: the formulas in the rows, evaluated on values that put each primitive through the
// operation table, so that a gradient can be differentiated in turn.
#include "ir/gradient/compose.h"
#include "ir/gradient/presence.h"
#include "ir/gradient/rules.h"
#include "runtime/ops/facts.h"

namespace tfl::gradient {

namespace {

// The names that formulas use. X is V of the formulas: a literal, or a value on the gradient's side.
using Formula = X;

// Every row's operation by its name, and what formulas call otherwise.
#define TFL_FUNCTION_1(name, op) \
  [[maybe_unused]] X name(X x) { return emit(Op::op, {x}); }
#define TFL_FUNCTION_2(name, op) \
  [[maybe_unused]] X name(X x, X y) { return emit(Op::op, {x, y}); }
#define TFL_FUNCTION_3(name, op) \
  [[maybe_unused]] X name(X x, X y, X z) { return emit(Op::op, {x, y, z}); }
#define TFL_ELEMENTWISE(name, tf_name, arity, ...) TFL_FUNCTION_##arity(name, name)
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
TFL_FUNCTION_2(floor_div, floordiv)
TFL_FUNCTION_2(truncate_div, truncatediv)
#undef TFL_FUNCTION_1
#undef TFL_FUNCTION_2
#undef TFL_FUNCTION_3
#define TFL_OPERATOR(sign, op) \
  [[maybe_unused]] X operator sign(X x, X y) { return emit(Op::op, {x, y}); }
TFL_OPERATOR(>, greater)
TFL_OPERATOR(>=, greater_equal)
TFL_OPERATOR(<, less)
TFL_OPERATOR(<=, less_equal)
TFL_OPERATOR(==, equal)
TFL_OPERATOR(!=, not_equal)
TFL_OPERATOR(&, logical_and)
TFL_OPERATOR(|, logical_or)
#undef TFL_OPERATOR

// Both choices may be literals or of another shape than the result: the gradient of what was broadcast is summed afterwards.
X select(X mask, X a, X b) { return emit(Op::where, {mask, a, b}); }

// Where a base has a logarithm that a power's gradient is made of.
X has_logarithm(X x) { return is_complex(x.dtype()) ? x != X(0) : x > X(0); }

X lbeta(X x, X y) { return lgamma(x) + lgamma(y) - lgamma(x + y); }

// The slope of 0.5 x (1 + tanh(c (x + k x^3))), c = sqrt(2 / pi), k = 0.044715.
X gelu_tanh_slope(X x) {
  X c(0.79788456080286536), k(0.044715);
  X x2 = x * x;
  X t = tanh(c * (x + k * x * x2));
  return X(0.5) * (X(1) + t) + X(0.5) * x * (X(1) - t * t) * c * (X(1) + X(3 * 0.044715) * x2);
}

// z / |z| moves across the gradient's direction only; of real numbers it does not move.
X sign_slope(RuleCall& c, X g) {
  X r = c.r(0), zero(0.0);
  X along = emit(Op::real, {g * conjugate(r)});
  return (g - r * emit(Op::complex, {along, zero})) / emit(Op::complex, {emit(Op::complex_abs, {c.x(0)}), zero});
}

// What TensorFlow differentiates without conjugates.
constexpr bool is_conjugated(Op op) {
  return op != Op::xlogy && op != Op::xlog1py && op != Op::xdivy && op != Op::multiply_no_nan;
}

struct None {};
constexpr None none;

// Roots and the reciprocal have a slope without bound at 0; where no gradient flows in, none flows out, as in TensorFlow.
bool stops_at_zero(Op op) { return op_facts(op).stops_at_zero; }

// One formula for each operand, of which only those asked for are evaluated.
template <class F>
void give(RuleCall& c, size_t i, F formula) {
  if (!c.wanted(i)) return;
  if constexpr (!std::is_same_v<decltype(formula()), None>) {
    X gradient = formula();
    if (gradient.is_literal()) gradient = zeros_of_x(c, i);
    if (stops_at_zero(c.op)) gradient = select(c.g() == X(0), X(0), gradient);
    c.give_unbroadcast(i, gradient);
  }
}

// Forward values are read when a formula names them, and not before: what is not read need not be kept.
struct Operand {
  RuleCall& c;
  size_t i;
  bool conjugated;
  operator X() const { return conjugated ? conjugate(c.x(i)) : c.x(i); }  // NOLINT: stands for the value in a formula
};
struct ResultValue {
  RuleCall& c;
  bool conjugated;
  operator X() const { return conjugated ? conjugate(c.r(0)) : c.r(0); }  // NOLINT
};
#define TFL_LAZY(op)                                                                                   \
  template <class A, class B>                                                                          \
    requires((std::is_same_v<A, Operand> || std::is_same_v<A, ResultValue> || std::is_same_v<A, X>) && \
             (std::is_same_v<B, Operand> || std::is_same_v<B, ResultValue> || std::is_same_v<B, X>) && \
             !(std::is_same_v<A, X> && std::is_same_v<B, X>))                                          \
  X operator op(const A& a, const B& b) {                                                              \
    return X(a) op X(b);                                                                               \
  }
TFL_LAZY(+)
TFL_LAZY(-)
TFL_LAZY(*)
TFL_LAZY(/)
TFL_LAZY(>)
TFL_LAZY(>=)
TFL_LAZY(<)
TFL_LAZY(<=)
TFL_LAZY(==)
TFL_LAZY(!=)
#undef TFL_LAZY

#define TFL_FIRST(a, ...) a
#define TFL_SECOND(a, b, ...) b
#define TFL_THIRD(a, b, c, ...) c
#define TFL_UNPACK(...) __VA_ARGS__
#define TFL_PICK(which, ...) which(__VA_ARGS__)

// A formula that names an operand which the operation does not have belongs to a row of greater arity.
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...)                             \
  [[maybe_unused]] void rule_##name(RuleCall& call) {                                                           \
    using V [[maybe_unused]] = X;                                                                               \
    [[maybe_unused]] X g = call.g();                                                                            \
    constexpr bool same = ResultType::result == ResultType::same && is_conjugated(Op::name);                    \
    [[maybe_unused]] Operand x{call, 0, same}, y{call, 1, same}, z{call, 2, same};                              \
    [[maybe_unused]] ResultValue r{call, same};                                                                 \
    if (!g) return;                                                                                             \
    give(call, 0, [&] { return TFL_PICK(TFL_FIRST, TFL_UNPACK gradients, none, none, none); });                 \
    if (arity > 1) give(call, 1, [&] { return TFL_PICK(TFL_SECOND, TFL_UNPACK gradients, none, none, none); }); \
    if (arity > 2) give(call, 2, [&] { return TFL_PICK(TFL_THIRD, TFL_UNPACK gradients, none, none, none); });  \
  }
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE

constexpr bool has_gradient(std::string_view gradients) {
  size_t i = 0;
  while (i < gradients.size()) {
    while (i < gradients.size() && (gradients[i] == '(' || gradients[i] == ',' || gradients[i] == ' ' || gradients[i] == ')'))
      ++i;
    if (i == gradients.size()) return false;
    if (gradients.substr(i, 4) != "none") return true;
    i += 4;
  }
  return false;
}

constexpr Rule kRules[] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) \
  has_gradient(#gradients) ? rule_##name : nullptr,
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

void sign_rule(RuleCall& c) {
  if (!is_complex(c.operand_type(0).tensor.dtype)) return rule_sign(c);
  X g = c.g();
  if (g && c.wanted(0)) c.give(0, sign_slope(c, g));
}

// What was chosen gets the gradient, and the other nothing.
void choice_rule(RuleCall& c) {
  if (!chooses(c.op, c.attrs)) return rule_where(c);
  X condition = c.wanted(1) || c.wanted(2) ? c.x(0) : X();
  if (!condition) return;
  c.give(1, c.g(), Presence::when(condition));
  if (c.wanted(2)) c.give(2, c.g(), Presence::when(emit(Op::logical_not, {condition})));
}

}  // namespace

Rule elementwise_rule(Op op) {
  if (op == Op::sign) return sign_rule;
  if (op == Op::where) return choice_rule;
  return static_cast<size_t>(op) < std::size(kRules) ? kRules[static_cast<size_t>(op)] : nullptr;
}

}  // namespace tfl::gradient
