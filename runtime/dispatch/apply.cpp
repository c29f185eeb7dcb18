// Eager execution of one operation: check, allocate, compute. Elementwise operations come first and allocate nothing but their
// result, since a small one should cost no more than a few dozen nanoseconds.
#include <algorithm>

#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/ops/structural.h"
#include "runtime/shapes/elementwise_rules.h"
#include "runtime/support/check.h"
#include "runtime/tensor/text_type.h"

namespace tfl {

namespace {

struct StructuralFunctions {
  InferFunction infer;
  RunFunction run;
};
constexpr StructuralFunctions kStructural[] = {
#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) {infer_##name, run_##name},
#include "runtime/ops/structural.def"
#undef TFL_OP
};

Result<void> check_operand_count(Op op, size_t n) {
  const OpInfo& info = op_info(op);
  if (n >= static_cast<size_t>(info.min_operands) && (info.max_operands < 0 || n <= static_cast<size_t>(info.max_operands)))
    return {};
  return fail(ErrorKind::InternalError, "operation {} was given {} operands", info.name, n);
}

OperandInfo describe_operand(const Tensor& t) { return {{t.dtype(), true, Dims(t.dims())}, t}; }

// The sizes of the result, for operands that are not all of one shape.
Result<Dims> broadcast_operands(Op op, std::span<const Tensor> operands, const Attrs& attrs) {
  Dims dims;
  for (const Tensor& t : operands) {
    if (!broadcast_dims(dims, t.dims())) {
      SmallVec<TensorType, 4> types;
      for (const Tensor& o : operands) types.push_back({o.dtype(), true, Dims(o.dims())});
      return incompatible_shapes(op, types, attrs);
    }
  }
  return dims;
}

/// Do results have the types and sizes that the rule of their operation has said?
[[maybe_unused]] bool as_inferred(std::span<const TensorType> types, std::span<const Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const TensorType& type = types[i];
    if (results[i].dtype() != type.dtype) return false;
    if (!type.ranked) continue;
    if (type.dims.size() != results[i].dims().size()) return false;
    for (size_t k = 0; k < type.dims.size(); ++k) {
      if (type.dims[k] >= 0 && type.dims[k] != results[i].dims()[k]) return false;
    }
  }
  return true;
}

// An operand whose memory the result may take over: unshared, of the result's type and sizes, row-major.
Tensor* find_donor(std::span<Tensor> operands, DType dtype, std::span<const int64_t> dims) {
  for (Tensor& t : operands) {
    if (t.dtype() == dtype && t.contiguous() && t.unique() && !t.rep()->host &&
        std::equal(dims.begin(), dims.end(), t.dims().begin(), t.dims().end()))
      return &t;
  }
  return nullptr;
}

struct RowFacts {
  uint8_t arity;
  ResultType result;
  bool plain;   // operands of one element type
  bool checks;  // integers are looked at (elementwise_checks.def)
};
constexpr RowFacts kRows[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) \
  {arity, ResultType::result, TypeClass::types != TypeClass::choice, row_has_checks(Op::name)},
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

// The short way: contiguous operands of one element type that has a loop, of one shape but for rank-0 ones, small. Null when the
// operands are not of that kind, or refused: the long way finds the words.
[[gnu::always_inline]] inline Tensor apply_small(Context& context, Op op, TensorRep* const* operands, size_t n) {
  const RowFacts& row = kRows[static_cast<int>(op)];
  const TensorRep* shape = operands[0];
  DType dtype = shape->dtype;
  const ElementwiseLoop* loops = elementwise_loops(context.isa()).of[static_cast<int>(dtype)];
  if (!loops || !loops[static_cast<int>(op)] || !row.plain || n != row.arity) return {};
  for (size_t k = 0; k < n; ++k) {
    if (operands[k]->dtype != dtype || !operands[k]->contiguous) return {};
    if (operands[k]->rank > shape->rank) shape = operands[k];
  }
  if (shape->size > kSmallElements) return {};
  const std::byte* in[kMaxArity];
  int64_t step[kMaxArity];
  for (size_t k = 0; k < n; ++k) {
    TensorRep* rep = operands[k];
    if (rep->flags & kElsewhere) [[unlikely]]
      Tensor::fetch(rep);
    in[k] = rep->data;
    step[k] = rep->rank != 0;
    for (int i = 0; i < rep->rank; ++i) {
      if (rep->rank != shape->rank || rep->layout[i] != shape->layout[i]) return {};
    }
  }
  if (row.checks && shape->size && is_integer(dtype) && refused(op, Tensor::share(operands[1]))) [[unlikely]]
    return {};
  Result<Tensor> out = Tensor::empty(context, row.result == ResultType::same ? dtype : elementwise_result_type(op, dtype),
                                     {shape->dims(), shape->rank});
  if (!out) return {};  // the long way tells why
  if (shape->size) loops[static_cast<int>(op)](shape->size, out->raw(), in, step);
  return out.take();
}

Result<Tensor> apply_elementwise(Context& context, Op op, std::span<const Tensor> operands, std::span<Tensor> donors,
                                 const Attrs& attrs) {
  if (!operands.empty() && operands.size() <= kMaxArity && (donors.empty() || operands[0].bytes() <= kInlineBytes)) {
    TensorRep* reps[kMaxArity];
    for (size_t k = 0; k < operands.size(); ++k) reps[k] = operands[k].rep();
    if (Tensor out = apply_small(context, op, reps, operands.size())) [[likely]]
      return out;
  }
  const OpInfo& info = op_info(op);
  size_t n = operands.size();
  if (n != static_cast<size_t>(info.max_operands)) [[unlikely]]
    return check_operand_count(op, n).failure();

  DType dtype = operands[n - 1].dtype();
  bool plain = type_class_has(info.types, dtype) && info.types != TypeClass::choice && dtype != DType::String;
  for (size_t i = 0; plain && i + 1 < n; ++i) plain = operands[i].dtype() == dtype;
  if (!plain) {
    SmallVec<DType, 4> dtypes;
    for (const Tensor& t : operands) dtypes.push_back(t.dtype());
    dtype = TFL_TRY(check_elementwise_types(op, dtypes, attrs));
  }
  DType result_type = elementwise_result_type(op, dtype);

  bool same_sizes = true;
  for (size_t i = 1; same_sizes && i < n; ++i) {
    same_sizes =
        std::equal(operands[0].dims().begin(), operands[0].dims().end(), operands[i].dims().begin(), operands[i].dims().end());
  }
  Dims broadcast;
  if (!same_sizes) broadcast = TFL_TRY(broadcast_operands(op, operands, attrs));
  std::span<const int64_t> dims = same_sizes ? operands[0].dims() : broadcast.span();

  if (row_has_checks(op)) [[unlikely]] {
    bool empty = false;
    for (int64_t d : dims) empty |= d == 0;
    const ElementwiseRefusal* refusal = empty ? nullptr : refused(op, operands[1]);
    if (refusal) return op_failure(refusal->kind, op, attrs, refusal->text);
  }

  Tensor* donor = donors.empty() || dtype == DType::String ? nullptr : find_donor(donors, result_type, dims);
  Tensor out = donor ? *donor : TFL_TRY(Tensor::empty(context, result_type, dims));
  if (dtype == DType::String) [[unlikely]] {
    run_elementwise_strings(op, operands, out);
    hand_on_text_type(operands, {&out, 1}, op == Op::add);
  } else if (std::any_of(operands.begin(), operands.end(), reads_across)) {
    SmallVec<Tensor, kMaxArity> rows;
    for (const Tensor& t : operands) rows.push_back(reads_across(t) ? TFL_TRY(contiguous(context, t)) : t);
    run_elementwise(context, op, {rows.data(), rows.size()}, out);
    TFL_TRY(check_whole(context));
  } else {
    run_elementwise(context, op, operands, out);
    TFL_TRY(check_whole(context));
  }
  return out;
}

Result<void> infer_structural(InferCall& call) {
  if (is_control(call.op)) return fail(ErrorKind::InternalError, "operation {} runs in graphs only", op_info(call.op).name);
  TFL_TRY(check_operand_count(call.op, call.operands.size()));
  return kStructural[static_cast<int>(call.op) - kElementwiseCount].infer(call);
}

}  // namespace

Result<void> infer(Context& context, Op op, std::span<const OperandInfo> operands, const Attrs& attrs,
                   SmallVec<TensorType, 2>& results) {
  if (is_elementwise(op)) {
    TFL_TRY(check_operand_count(op, operands.size()));
    results.push_back(TFL_TRY(infer_elementwise(op, operands, attrs)));
    return {};
  }
  InferCall call{context, op, operands, attrs, results};
  return infer_structural(call);
}

Result<void> apply(Context& context, Op op, std::span<const Tensor> operands, const Attrs& attrs, Tensors& results) {
  if (is_elementwise(op)) {
    results.push_back(TFL_TRY(apply_elementwise(context, op, operands, {}, attrs)));
    return {};
  }
  SmallVec<OperandInfo, 4> infos;
  uint16_t text = 0;
  for (const Tensor& t : operands) {
    infos.push_back(describe_operand(t));
    text |= t.rep()->extra;
  }
  SmallVec<TensorType, 2> types;
  InferCall rule{context, op, {infos.data(), infos.size()}, attrs, types};
  TFL_TRY(infer_structural(rule));
  RunCall call{context, op, operands, attrs, {types.data(), types.size()}, results};
  size_t before = results.size();
  TFL_TRY(kStructural[static_cast<int>(op) - kElementwiseCount].run(call));
  TFL_TRY(check_whole(context));
  TFL_CHECK(results.size() - before == types.size(), op_info(op).name.data());
  TFL_DEBUG_CHECK(as_inferred({types.data(), types.size()}, {results.data() + before, results.size() - before}),
                  op_info(op).name.data());
  if (text) [[unlikely]]
    hand_on_text_type(operands, {results.data() + before, results.size() - before});
  return {};
}

Tensor apply_small_pair(Context& context, Op op, TensorRep* a, TensorRep* b) {
  TensorRep* operands[] = {a, b};
  return apply_small(context, op, operands, 2);
}

Result<void> apply_consuming(Context& context, Op op, std::span<Tensor> operands, const Attrs& attrs, Tensors& results) {
  if (!is_elementwise(op)) return apply(context, op, operands, attrs, results);
  results.push_back(TFL_TRY(apply_elementwise(context, op, operands, operands, attrs)));
  return {};
}

Result<Tensor> apply1(Context& context, Op op, std::initializer_list<Tensor> operands, const Attrs& attrs) {
  std::span<const Tensor> span(operands.begin(), operands.size());
  if (is_elementwise(op)) return apply_elementwise(context, op, span, {}, attrs);
  Tensors results;
  TFL_TRY(apply(context, op, span, attrs, results));
  return std::move(results[0]);
}

}  // namespace tfl
