#include "ir/gradient/adjoint.h"

#include "ir/gradient/presence.h"
#include "ir/gradient/rules.h"
#include "ir/mutants.h"

namespace tfl::gradient {

namespace {

Result<Tensor> make_literal(Context& context, DType dtype, double value) {
  Tensor t = TFL_TRY(scalar(context, DType::F64, value));
  return dtype == DType::F64 ? Result<Tensor>(std::move(t))
                             : apply1(context, Op::cast, {std::move(t)}, Attrs().set_dtype(Attr::dtype, dtype));
}

}  // namespace

X literal(Adjoint& a, DType dtype, double value) {
  Result<Tensor> t = make_literal(a.context(), dtype, value);
  if (!t) {
    a.fail_with(t.failure());
    return {};
  }
  return X(&a, a.constant(t.take()));
}

X literal_like(const X& like, double value) { return like ? literal(*like.adjoint(), like.dtype(), value) : X(); }

X zeros_of_type(Adjoint& a, const ir::Type& type, const X& like, double value) {
  if (type.kind == ir::TypeKind::Array) return emit(Op::array_zeros_like, {like});
  X zero = literal(a, type.tensor.dtype, value);
  if (known(type.tensor)) return emit(Op::fill, {int_vector(a, type.tensor.dims), zero});
  return emit(Op::fill, {emit(Op::shape, {like}, Attrs().set_dtype(Attr::dtype, DType::I32)), zero});
}

std::vector<X> emit_many(Op op, std::span<const X> operands, const Attrs& attrs) {
  const X* typed = nullptr;
  for (const X& x : operands) {
    if (!x.is_literal() && !x) return {};
    // The last operand decides: the first of a choice is a mask.
    if (!x.is_literal()) typed = &x;
  }
  if (!typed) return {};
  Adjoint& a = *typed->adjoint();
  if (a.failed()) return {};
  SmallVec<V, 4> ids;
  for (const X& x : operands) {
    X value = x.is_literal() ? literal_like(*typed, x.literal()) : x;
    if (!value) return {};
    ids.push_back(value.id());
  }
  SmallVec<V, 2> results;
  Result<void> done = a.apply(op, {ids.data(), ids.size()}, attrs, results);
  if (!done) {
    a.fail_with(done.failure());
    return {};
  }
  std::vector<X> out;
  for (V v : results) out.push_back(X(&a, v));
  return out;
}

X emit(Op op, std::initializer_list<X> operands, const Attrs& attrs) {
  std::vector<X> out = emit_many(op, {operands.begin(), operands.size()}, attrs);
  return out.empty() ? X() : out[0];
}

X int_vector(Adjoint& a, std::span<const int64_t> values) {
  int64_t n = static_cast<int64_t>(values.size());
  Result<Tensor> t = Tensor::empty(a.context(), DType::I32, {&n, 1});
  if (!t) {
    a.fail_with(t.failure());
    return {};
  }
  for (size_t i = 0; i < values.size(); ++i) t->data<int32_t>()[i] = static_cast<int32_t>(values[i]);
  return X(&a, a.constant(t.take()));
}

X int_scalar(Adjoint& a, int64_t value) {
  Result<Tensor> t = scalar(a.context(), DType::I32, static_cast<int32_t>(value));
  if (!t) {
    a.fail_with(t.failure());
    return {};
  }
  return X(&a, a.constant(t.take()));
}

V Adjoint::first_of_sum(V g) { return type(g).is_tensor() ? emit(Op::identity, {X(this, g)}).id() : g; }

Presence Adjoint::known(const X& condition) { return Presence::when(condition); }

void RuleCall::find_own() {
  own_ = Presence::never();
  for (size_t i = 0; i < result_count(); ++i) {
    const Sum& sum = flowing(i);
    if (sum.value) own_ = either(own_, sum.present);
  }
}

// There is no choosing between arrays: what is added to one must be zero where it means nothing.
bool RuleCall::adds_to_array() const {
  if (op_info(op).kind == OpKind::Elementwise || (node() && (!node()->regions.empty() || node()->target()))) return false;
  for (size_t i = 0; i < operand_count(); ++i) {
    if (operand_type(i).kind == ir::TypeKind::Array) return true;
  }
  return false;
}

Presence RuleCall::running(const Presence& p) const { return a.runs == kNone ? p : both(Presence::when(X(&a, a.runs)), p); }

X RuleCall::g(size_t i) const {
  const Sum& sum = flowing(i);
  if (sum.present.is_always() && a.runs == kNone) return sum.value;
  if (!adds_to_array() || !sum.value || !a.type(sum.value.id()).is_tensor()) return filled(sum, own_, Fill::Zero);
  return a.runs == kNone && sum.fill == Fill::Zero ? sum.value : choose(running(sum.present), sum.value, X(0.0));
}

void RuleCall::give(size_t i, X gradient, const Presence& present) {
  if (!gradient || !wanted(i)) return;
  bool tensor = a.type(gradient.id()).is_tensor();
  if (tensor && mutated("double gradient", op_info(op).name)) gradient = emit(Op::add, {gradient, gradient});
  Sum sum = {gradient, tensor ? both(own_, present) : Presence::always(), Fill::Unknown};
  Sum before = gathered(i);
  if (!before.value) sum.value = X(&a, a.first_of_sum(gradient.id()));
  put(i, merged(before, sum));
}

// Where nothing was there before, the elements of an array are there as the call's results are.
Sum RuleCall::with_elements(size_t i, Sum array) const {
  bool is_array = array.value && a.type(array.value.id()).kind == ir::TypeKind::Array;
  if (!is_array || array.elements || own_.is_always() || gathered(i).value) return array;
  array.elements = presences(emit(Op::array_size, {array.value}), running(own_));
  return array;
}

void RuleCall::give_array(size_t i, X gradient, X elements) {
  if (gradient && wanted(i))
    put(i, merged(gathered(i), with_elements(i, {gradient, Presence::always(), Fill::Unknown, elements})));
}

void RuleCall::replace(size_t i, const Sum& sum) {
  if (sum.value && wanted(i)) put(i, replaced(gathered(i), with_elements(i, sum), own_));
}

void RuleCall::put_sum(size_t i, const Sum& sum, size_t first) {
  repeated(i, first) ? give(i, sum.value, sum.present) : replace(i, sum);
}

void RuleCall::give_unbroadcast(size_t i, X gradient) {
  if (!gradient) return;
  const TensorType& want = operand_type(i).tensor;
  const TensorType& have = gradient.type();
  if (known(want) && known(have) && want.dims.span().size() == have.dims.span().size() &&
      std::equal(want.dims.begin(), want.dims.end(), have.dims.begin())) {
    return give(i, gradient);
  }
  give(i, emit(Op::sum_to_shape, {gradient, x_shape(i)}));
}

X zero_array(const TensorType& element, const X& size) {
  Attrs attrs;
  attrs.set_dtype(Attr::dtype, element.dtype).set_bool(Attr::grows, true);
  if (element.ranked) attrs.set_ints(Attr::shape, element.dims);
  return emit(Op::array_new, {size}, attrs);
}

namespace {

X zeros(RuleCall& c, const TensorType& type, const X& shape, double zero) {
  if (!shape) return {};
  return emit(Op::fill, {shape, literal(c.a, type.dtype, zero)});
}

}  // namespace

X zeros_of_x(RuleCall& c, size_t i, double zero) {
  const ir::Type& type = c.operand_type(i);
  if (type.kind == ir::TypeKind::Resource) return zeros_of_type(c.a, type, X(), zero);
  return type.kind == ir::TypeKind::Array ? zero_array(type.tensor, c.x_size(i)) : zeros(c, type.tensor, c.x_shape(i), zero);
}
X zeros_of_r(RuleCall& c, size_t i, double zero) {
  const ir::Type& type = c.result_type(i);
  return type.kind == ir::TypeKind::Array ? zero_array(type.tensor, c.r_size(i)) : zeros(c, type.tensor, c.r_shape(i), zero);
}

X RuleCall::sum_so_far(size_t i, size_t first) {
  X sum = repeated(i, first) ? X() : filled(gathered(i), own_, Fill::EmptySum);
  return sum ? sum : zeros_of_x(*this, i, kEmptySum);
}

X g_or_zeros(RuleCall& c, size_t i) {
  X g = c.g(i);
  return g ? g : zeros_of_r(c, i);
}

}  // namespace tfl::gradient
