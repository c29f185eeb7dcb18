#include "ir/gradient/adjoint.h"

#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

Result<Tensor> make_literal(Context& context, DType dtype, double value) {
  Tensor t = TFL_TRY(scalar(context, DType::F64, value));
  return dtype == DType::F64 ? Result<Tensor>(std::move(t)) : apply1(context, Op::cast, {std::move(t)}, Attrs().set_dtype(Attr::dtype, dtype));
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
X zeros_of_r(RuleCall& c, size_t i) {
  const ir::Type& type = c.result_type(i);
  return type.kind == ir::TypeKind::Array ? zero_array(type.tensor, c.r_size(i)) : zeros(c, type.tensor, c.r_shape(i), 0.0);
}

X RuleCall::sum_so_far(size_t i, size_t first) {
  X sum = repeated(i, first) ? X() : gathered(i);
  return sum ? sum : zeros_of_x(*this, i, kEmptySum);
}

X g_or_zeros(RuleCall& c, size_t i) {
  X g = c.g(i);
  return g ? g : zeros_of_r(c, i);
}

}  // namespace tfl::gradient
