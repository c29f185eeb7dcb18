// Shape rules of the operations that only look at their operand in another way: reshape, transpose, broadcast, metadata.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

Result<void> infer_identity(InferCall& call) { return give(call, call.operands[0].type); }
Result<void> infer_stop_gradient(InferCall& call) { return give(call, call.operands[0].type); }

Result<void> infer_ensure_shape(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const Dims* wanted = call.attrs.get_ints(Attr::shape);
  if (!wanted) return give(call, x);
  if (!x.ranked) return give(call, ranked(x.dtype, *wanted));
  bool fits = wanted->size() == x.dims.size();
  Dims dims;
  for (size_t i = 0; fits && i < x.dims.size(); ++i) {
    fits = may_equal(x.dims[i], (*wanted)[i]);
    dims.push_back(merge(x.dims[i], (*wanted)[i]));
  }
  if (!fits)
    return invalid(call.op, "Shape of tensor input {} is not compatible with expected shape {}.", shape_words(x.dims),
                   shape_words(*wanted));
  return give(call, ranked(x.dtype, std::move(dims)));
}

namespace {

// A shape operand that is not known: as many unknown sizes as it has elements.
Result<void> give_unknown(InferCall& call, DType dtype, const TensorType& shape) {
  if (!shape.ranked || shape.dims.size() != 1 || !known(shape.dims[0])) return give(call, unranked(dtype));
  return give(call, ranked(dtype, Dims(static_cast<size_t>(shape.dims[0]), -1)));
}

Result<int64_t> output_type(InferCall& call) {
  DType dtype = call.attrs.get_dtype(Attr::dtype, DType::I32);
  TFL_TRY(check_index_dtype(call.op, "out_type", dtype, false));
  return static_cast<int64_t>(dtype);
}

}  // namespace

Result<void> infer_reshape(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& shape = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tshape", shape.dtype, false));
  if (shape.ranked && shape.dims.size() > 1) return invalid(call.op, "sizes input must be 1-D, not {}", shape_words(shape.dims));
  std::optional<Dims> wanted = integers(call.operands[1]);
  if (!wanted) return give_unknown(call, x.dtype, shape);
  int64_t open = -1, wanted_size = 1;
  bool zero = false, overflow = false;
  for (size_t i = 0; i < wanted->size(); ++i) {
    int64_t d = (*wanted)[i];
    if (d == -1) {
      if (open >= 0) return invalid(call.op, "Only one input size may be -1, not both {} and {}", open, i);
      open = static_cast<int64_t>(i);
    } else if (d < 0) {
      return invalid(call.op, "Size {} must be non-negative, not {}", i, d);
    } else if (d == 0) {
      zero = true;
    } else {
      overflow |= __builtin_mul_overflow(wanted_size, d, &wanted_size);
    }
  }
  if (overflow) {
    std::string text = "[";
    for (size_t i = 0; i < wanted->size(); ++i) text += fmt::format("{}{}", i ? ", " : "", (*wanted)[i]);
    return invalid(call.op, "Shape {}] has too many elements", text);
  }
  Dims dims = *wanted;
  if (!x.ranked) return give(call, ranked(x.dtype, std::move(dims)));
  if (!all_known(x.dims)) {
    // With one unknown size on each side and equal products of the rest the two unknown ones are the same.
    int64_t unknowns = 0, which = 0, rest = 1;
    for (int64_t d : x.dims) {
      if (known(d)) {
        if (__builtin_mul_overflow(rest, d, &rest)) rest = 0;
      } else {
        ++unknowns;
        which = d;
      }
    }
    if (open >= 0 && unknowns == 1 && !zero && rest == wanted_size) dims[open] = which;
    return give(call, ranked(x.dtype, std::move(dims)));
  }
  int64_t have = TFL_TRY(product(call.op, x.dims));
  if (open >= 0) {
    // TensorFlow leaves sizes of zero out of the division, so that [-1, 0] of nothing is [1, 0].
    int64_t divisor = wanted_size, dividend = have;
    if (zero) {
      dividend = 1;
      for (int64_t d : x.dims) dividend *= d == 0 ? 1 : d;
      if (have != 0) {
        return invalid(call.op, "Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}",
                       have, 0);
      }
    }
    if (dividend % divisor != 0) {
      return invalid(call.op, "Input to reshape is a tensor with {} values, but the requested shape requires a multiple of {}",
                     have, divisor);
    }
    dims[open] = dividend / divisor;
  } else {
    int64_t size = zero ? 0 : wanted_size;
    if (size != have)
      return invalid(call.op, "Input to reshape is a tensor with {} values, but the requested shape has {}", have, size);
  }
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_transpose(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  std::optional<Dims> perm;
  if (call.operands.size() > 1) {
    const TensorType& p = call.operands[1].type;
    TFL_TRY(check_index_dtype(call.op, "Tperm", p.dtype, false));
    if (p.ranked && p.dims.size() != 1) return invalid(call.op, "perm must be rank 1, got shape {}", shape_words(p.dims));
    perm = integers(call.operands[1]);
    if (!perm) {
      if (!x.ranked) return give_unknown(call, x.dtype, p);
      return give(call, ranked(x.dtype, Dims(x.dims.size(), -1)));
    }
  } else if (const Dims* attr = call.attrs.get_ints(Attr::perm)) {
    perm = *attr;
  }
  if (!x.ranked) return perm ? give(call, ranked(x.dtype, Dims(perm->size(), -1))) : give(call, unranked(x.dtype));
  int64_t rank = static_cast<int64_t>(x.dims.size());
  Dims dims;
  if (!perm) {
    for (int64_t i = rank; i-- > 0;) dims.push_back(x.dims[i]);
    return give(call, ranked(x.dtype, std::move(dims)));
  }
  if (static_cast<int64_t>(perm->size()) != rank) {
    return invalid(call.op, "transpose expects a vector of size {}. But input(1) is a vector of size {}", rank, perm->size());
  }
  SmallVec<uint8_t, 8> seen(static_cast<size_t>(rank), 0);
  for (int64_t p : *perm) {
    int64_t axis = front_axis(p, rank);
    if (axis < 0) return invalid(call.op, "{} is out of range [0 .. {})", p, rank);
    seen[axis] = 1;
    dims.push_back(x.dims[axis]);
  }
  for (int64_t i = 0; i < rank; ++i) {
    if (seen[i]) continue;
    std::string list;
    for (size_t j = 0; j < perm->size(); ++j) list += fmt::format("{}{}", j ? "," : "", (*perm)[j]);
    return invalid(call.op, "{} is missing from {{{}}}.", i, list);
  }
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_expand_dims(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  if (!x.ranked) return give(call, x);
  int64_t rank = static_cast<int64_t>(x.dims.size()), axis = call.attrs.get_int(Attr::axis);
  if (axis < -rank - 1 || axis > rank)
    return invalid(call.op, "Tried to expand dim index {} for tensor with {} dimensions.", axis, rank);
  Dims dims = x.dims;
  dims.insert(static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis), 1);
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_squeeze(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  if (!x.ranked) return give(call, x);
  int64_t rank = static_cast<int64_t>(x.dims.size());
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  SmallVec<uint8_t, 8> drop(static_cast<size_t>(rank), 0);
  bool chosen = axes && !axes->empty();
  for (size_t i = 0; chosen && i < axes->size(); ++i) {
    int64_t axis = front_axis((*axes)[i], rank);
    if (axis < 0) return invalid(call.op, "Tried to squeeze dim index {} for tensor with {} dimensions.", (*axes)[i], rank);
    if (known(x.dims[axis]) && x.dims[axis] != 1) {
      return invalid(call.op, "Can not squeeze dim[{}], expected a dimension of 1, got {}", axis, x.dims[axis]);
    }
    drop[axis] = 1;
  }
  if (!chosen && !all_known(x.dims)) return give(call, unranked(x.dtype));
  Dims dims;
  for (int64_t i = 0; i < rank; ++i) {
    if (chosen ? !drop[i] : x.dims[i] != 1) dims.push_back(x.dims[i]);
  }
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_broadcast_to(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& shape = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tidx", shape.dtype, false));
  std::optional<Dims> wanted = integers(call.operands[1]);
  if (!wanted) return give_unknown(call, x.dtype, shape);
  for (int64_t d : *wanted) {
    if (d < 0) return invalid(call.op, "Dimension {} must be >= 0", d);
  }
  int64_t n = 1;
  bool zero = false;
  for (int64_t d : *wanted) zero |= d == 0;
  for (int64_t d : *wanted) {
    if (!zero && __builtin_mul_overflow(n, d, &n))
      return invalid(call.op, "Shape {} would have more than 2**63 - 1 elements", shape_words(*wanted));
  }
  if (!x.ranked) return give(call, ranked(x.dtype, *wanted));
  if (x.dims.size() > wanted->size()) {
    return invalid(call.op, "Rank of input ({}) must be no greater than rank of output shape ({}).", x.dims.size(),
                   wanted->size());
  }
  size_t lead = wanted->size() - x.dims.size();
  for (size_t i = 0; i < x.dims.size(); ++i) {
    int64_t d = x.dims[i];
    if (known(d) && d != 1 && d != (*wanted)[lead + i]) {
      return invalid(call.op, "Incompatible shapes: {} vs. {}", shape_words(x.dims), shape_words(*wanted));
    }
  }
  return give(call, ranked(x.dtype, *wanted));
}

Result<void> infer_reverse(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  if (!x.ranked || !axes) return give(call, x);
  int64_t rank = static_cast<int64_t>(x.dims.size());
  SmallVec<uint8_t, 8> seen(static_cast<size_t>(rank), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    int64_t axis = front_axis((*axes)[i], rank);
    if (axis < 0) return invalid(call.op, "'axis'[{}] = {} is out of valid range [0, {}", i, (*axes)[i], rank - 1);
    if (seen[axis]) return invalid(call.op, "axis {} specified more than once.", axis);
    seen[axis] = 1;
  }
  return give(call, x);
}

Result<void> infer_shape(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  DType dtype = static_cast<DType>(TFL_TRY(output_type(call)));
  return give(call, ranked(dtype, Dims{x.ranked ? static_cast<int64_t>(x.dims.size()) : -1}));
}
Result<void> infer_size(InferCall& call) {
  DType dtype = static_cast<DType>(TFL_TRY(output_type(call)));
  return give(call, ranked(dtype, Dims{}));
}
Result<void> infer_rank(InferCall& call) { return give(call, ranked(DType::I32, Dims{})); }

}  // namespace tfl
