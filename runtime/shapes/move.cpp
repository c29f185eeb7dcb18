// Shape rules of the operations that move elements to other places.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

Result<void> infer_concat(InferCall& call) {
  int64_t axis = call.attrs.get_int(Attr::axis);
  const TensorType& first = call.operands[0].type;
  for (size_t i = 1; i < call.operands.size(); ++i)
    TFL_TRY(check_same_dtype("ConcatV2", i, first.dtype, call.operands[i].type.dtype));
  if (call.operands.size() == 1) return give(call, first);
  const TensorType* shaped = nullptr;  // the first operand of known rank
  size_t shaped_at = 0;
  for (size_t i = 0; i < call.operands.size() && !shaped; ++i) {
    if (call.operands[i].type.ranked) shaped = &call.operands[shaped_at = i].type;
  }
  if (!shaped) return give(call, unranked(first.dtype));
  int64_t rank = static_cast<int64_t>(shaped->dims.size());
  if (rank == 0) return invalid(call.op, "ConcatOp : Can't concatenate scalars (use tf.stack instead)");
  int64_t front = front_axis(axis, rank);
  if (front < 0)
    return invalid(call.op, "ConcatOp : Expected concatenating dimensions in the range [{}, {}), but got {}", -rank, rank, axis);
  TensorType out = ranked(first.dtype, shaped->dims);
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const TensorType& t = call.operands[i].type;
    if (i == shaped_at) continue;
    if (!t.ranked) {
      out.dims[front] = -1;
      continue;
    }
    if (static_cast<int64_t>(t.dims.size()) != rank) {
      return invalid(call.op, "ConcatOp : Ranks of all input tensors should match: shape[{}] = {} vs. shape[{}] = {}", shaped_at,
                     shape_words(shaped->dims), i, shape_words(t.dims));
    }
    for (int64_t d = 0; d < rank; ++d) {
      if (d == front) {
        int64_t total = -1;
        if (known(out.dims[d]) && known(t.dims[d]) && __builtin_add_overflow(out.dims[d], t.dims[d], &total)) {
          return invalid(call.op, "ConcatOp : Sizes overflow along dimension {}", d);
        }
        out.dims[d] = total;
        continue;
      }
      if (!may_equal(out.dims[d], t.dims[d])) {
        return invalid(call.op, "ConcatOp : Dimension {} in both shapes must be equal: shape[{}] = {} vs. shape[{}] = {}", d,
                       shaped_at, shape_words(shaped->dims), i, shape_words(t.dims));
      }
      out.dims[d] = merge(out.dims[d], t.dims[d]);
    }
  }
  return give(call, std::move(out));
}

Result<void> infer_stack(InferCall& call) {
  int64_t axis = call.attrs.get_int(Attr::axis);
  const TensorType& first = call.operands[0].type;
  TensorType out = unranked(first.dtype);
  size_t shaped_at = 0;
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const TensorType& t = call.operands[i].type;
    TFL_TRY(check_same_dtype("Pack", i, first.dtype, t.dtype));
    if (!t.ranked) continue;
    if (!out.ranked) {
      out = t;
      shaped_at = i;
      continue;
    }
    bool same = t.dims.size() == out.dims.size();
    for (size_t d = 0; same && d < t.dims.size(); ++d) same = may_equal(t.dims[d], out.dims[d]);
    if (!same) {
      return invalid(call.op, "Shapes of all inputs must match: values[{}].shape = {} != values[{}].shape = {}", shaped_at,
                     shape_words(call.operands[shaped_at].type.dims), i, shape_words(t.dims));
    }
    for (size_t d = 0; d < t.dims.size(); ++d) out.dims[d] = merge(out.dims[d], t.dims[d]);
  }
  if (!out.ranked) return give(call, std::move(out));
  int64_t rank = static_cast<int64_t>(out.dims.size()) + 1;
  int64_t front = front_axis(axis, rank);
  if (front < 0) return invalid(call.op, "axis = {} not in [{}, {})", axis, -rank, rank);
  out.dims.insert(static_cast<size_t>(front), static_cast<int64_t>(call.operands.size()));
  return give(call, std::move(out));
}

Result<void> infer_tile(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& m = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tmultiples", m.dtype, false));
  if (m.ranked && m.dims.size() != 1)
    return invalid(call.op, "Expected multiples to be 1-D, but got shape {}", shape_words(m.dims));
  if (x.ranked && m.ranked && known(m.dims[0]) && m.dims[0] != static_cast<int64_t>(x.dims.size())) {
    return invalid(call.op, "Expected multiples argument to be a vector of length {} but got length {}", x.dims.size(),
                   m.dims[0]);
  }
  std::optional<Dims> multiples = integers(call.operands[1]);
  for (size_t i = 0; multiples && i < multiples->size(); ++i) {
    if ((*multiples)[i] < 0) return invalid(call.op, "Expected multiples[{}] >= 0, but got {}", i, (*multiples)[i]);
  }
  if (!x.ranked) return give(call, multiples ? ranked(x.dtype, Dims(multiples->size(), -1)) : unranked(x.dtype));
  Dims dims = x.dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t times = multiples ? (*multiples)[i] : -1;
    if (!known(dims[i]) || !known(times)) {
      dims[i] = times == 0 ? 0 : times == 1 ? dims[i] : -1;
    } else if (__builtin_mul_overflow(dims[i], times, &dims[i])) {
      return invalid(call.op, "Expected a non-negative size, got {}", dims[i]);
    }
  }
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_pad(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& p = call.operands[1].type;
  std::string_view mode = call.attrs.get_text(Attr::mode);
  bool constant = mode.empty() || mode == "CONSTANT", reflect = mode == "REFLECT";
  std::string_view name = !constant ? "MirrorPad" : call.operands.size() > 2 ? "PadV2" : "Pad";
  if (!constant && !reflect && mode != "SYMMETRIC") {
    return invalid_in(
        name,
        fmt::format("Value for attr 'mode' of \"{}\" is not in the list of allowed values: \"REFLECT\", \"SYMMETRIC\"", mode));
  }
  constexpr DType kIndex[] = {DType::I32, DType::I64};
  TFL_TRY(check_dtype(name, "Tpaddings", p.dtype, kIndex));
  if (call.operands.size() > 2) {
    TFL_TRY(check_same_dtype(name, 2, x.dtype, call.operands[2].type.dtype));
    const TensorType& v = call.operands[2].type;
    if (v.ranked && !v.dims.empty())
      return invalid_in(name, fmt::format("constant_values must be a scalar. Found: {}", shape_words(v.dims)));
  }
  if (p.ranked && (p.dims.size() != 2 || !may_equal(p.dims[1], 2))) {
    return invalid_in(name, fmt::format("paddings must be a matrix with 2 columns: {}", shape_words(p.dims)));
  }
  if (x.ranked && p.ranked && !may_equal(p.dims[0], static_cast<int64_t>(x.dims.size()))) {
    if (constant)
      return invalid_in(name, fmt::format("The first dimension of paddings must be the rank of inputs{} {}", shape_words(p.dims),
                                          shape_words(x.dims)));
    return invalid_in(
        name, fmt::format("The first dimension of paddings must be the rank of inputs{}, [{}]", shape_words(x.dims), p.dims[0]));
  }
  if (!x.ranked) return give(call, p.ranked && known(p.dims[0]) ? ranked(x.dtype, Dims(static_cast<size_t>(p.dims[0]), -1)) : x);
  Dims dims = x.dims;
  if (!call.operands[1].value) {
    for (int64_t& d : dims) d = -1;
    return give(call, ranked(x.dtype, std::move(dims)));
  }
  const Tensor& value = call.operands[1].value;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto at = [&](int64_t column) {
      int64_t offset = static_cast<int64_t>(i) * value.strides()[0] + column * value.strides()[1];
      return value.dtype() == DType::I64 ? value.data<int64_t>()[offset] : int64_t{value.data<int32_t>()[offset]};
    };
    int64_t before = at(0), after = at(1);
    if (before < 0 || after < 0)
      return invalid_in(name, fmt::format("{}addings must be non-negative: {} {}", constant ? "P" : "p", before, after));
    if (!known(dims[i])) {
      if (before != 0 || after != 0) dims[i] = -1;
      continue;
    }
    if (reflect && (before >= dims[i] || after >= dims[i]) && (before || after)) {
      return invalid_in(
          name, fmt::format("paddings must be less than the dimension size: {}, {} not less than {}", before, after, dims[i]));
    }
    if (!constant && !reflect && (before > dims[i] || after > dims[i])) {
      return invalid_in(name, fmt::format("paddings must be no greater than the dimension size: {}, {} greater than {}", before,
                                          after, dims[i]));
    }
    if (__builtin_add_overflow(dims[i], before, &dims[i]) || __builtin_add_overflow(dims[i], after, &dims[i])) {
      return invalid_in(name, "Padded size overflows");
    }
  }
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_roll(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& shift = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tshift", shift.dtype, false));
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  int64_t count = axes ? static_cast<int64_t>(axes->size()) : 0;
  if (x.ranked && x.dims.empty()) return invalid(call.op, "input must be 1-D or higher");
  if (shift.ranked) {
    if (shift.dims.size() > 1)
      return invalid(call.op, "shift must be a scalar or a 1-D vector. Found: {}", shape_words(shift.dims));
    if (!may_equal(shift.dims.empty() ? 1 : shift.dims[0], count))
      return invalid(call.op, "shift and axis must have the same size");
  }
  for (int64_t i = 0; x.ranked && i < count; ++i) {
    int64_t rank = static_cast<int64_t>(x.dims.size()), axis = (*axes)[i];
    if (front_axis(axis, rank) < 0) return invalid(call.op, "axis {} is out of range", axis < 0 ? axis + rank : axis);
  }
  return give(call, x);
}

}  // namespace tfl
