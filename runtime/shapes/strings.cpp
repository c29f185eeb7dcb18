// Shape rules of the operations on strings.
#include "runtime/shapes/elementwise_rules.h"
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Result<void> check_string(InferCall& call, size_t operand) {
  return check_same_dtype(op_info(call.op).tf_name, operand, DType::String, call.operands[operand].type.dtype);
}

Result<void> check_unit(InferCall& call) {
  std::string_view unit = call.attrs.get_text(Attr::unit);
  if (unit.empty() || unit == "BYTE" || unit == "UTF8_CHAR") return {};
  return invalid(call.op, "Value for attr 'unit' of \"{}\" is not in the list of allowed values: \"BYTE\", \"UTF8_CHAR\"", unit);
}

Result<void> same_shape(InferCall& call, DType dtype) {
  TensorType out = call.operands[0].type;
  out.dtype = dtype;
  return give(call, out);
}

Result<void> strings_to(InferCall& call, DType dtype) {
  TFL_TRY(check_string(call, 0));
  TFL_TRY(check_unit(call));
  return same_shape(call, dtype);
}

}  // namespace

Result<void> infer_string_length(InferCall& call) { return strings_to(call, DType::I32); }
Result<void> infer_string_upper(InferCall& call) { return strings_to(call, DType::String); }
Result<void> infer_string_lower(InferCall& call) { return strings_to(call, DType::String); }
Result<void> infer_string_strip(InferCall& call) { return strings_to(call, DType::String); }

Result<void> infer_string_join(InferCall& call) {
  TensorType out = ranked(DType::String, {});
  for (size_t i = 0; i < call.operands.size(); ++i) {
    TFL_TRY(check_string(call, i));
    const TensorType& x = call.operands[i].type;
    if (!x.ranked) {
      out.ranked = false;
    } else if (out.ranked && !x.dims.empty()) {
      if (out.dims.empty()) {
        out.dims = x.dims;
        continue;
      }
      bool fits = out.dims.size() == x.dims.size();
      for (size_t k = 0; fits && k < x.dims.size(); ++k) {
        fits = may_equal(out.dims[k], x.dims[k]);
        out.dims[k] = merge(out.dims[k], x.dims[k]);
      }
      if (!fits) return invalid(call.op, "Input shapes do not match: {} vs. {}", shape_words(out.dims), shape_words(x.dims));
    }
  }
  if (!out.ranked) out.dims.clear();
  return give(call, out);
}

Result<void> infer_reduce_join(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  const TensorType& x = call.operands[0].type;
  if (!x.ranked) return give(call, unranked(DType::String));
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  int64_t rank = static_cast<int64_t>(x.dims.size());
  SmallVec<bool, 6> reduced(x.dims.size(), axes == nullptr);
  if (axes) {
    for (int64_t a : *axes) {
      int64_t front = front_axis(a, rank);
      if (front < 0)
        return fail(ErrorKind::OutOfRangeError,
                    "Invalid reduction dimension {} for input with {} dimension(s) [Op:ReduceJoin] name: ", a, rank);
      if (reduced[static_cast<size_t>(front)]) return invalid(call.op, "Duplicate reduction dimension {}", a);
      reduced[static_cast<size_t>(front)] = true;
    }
  }
  Dims dims;
  for (size_t i = 0; i < x.dims.size(); ++i) {
    if (!reduced[i])
      dims.push_back(x.dims[i]);
    else if (call.attrs.get_bool(Attr::keepdims))
      dims.push_back(1);
  }
  return give(call, ranked(DType::String, dims));
}

Result<void> infer_substr(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  TFL_TRY(check_unit(call));
  const TensorType &x = call.operands[0].type, &pos = call.operands[1].type, &len = call.operands[2].type;
  TFL_TRY(check_index_dtype(call.op, "T", pos.dtype, false));
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 2, pos.dtype, len.dtype));
  if (!x.ranked || !pos.ranked || !len.ranked) return give(call, unranked(DType::String));
  bool same = pos.dims.size() == len.dims.size();
  for (size_t i = 0; same && i < pos.dims.size(); ++i) same = may_equal(pos.dims[i], len.dims[i]);
  if (!same)
    return invalid(call.op, "pos and len should have the same shape, got: {} vs. {}", shape_words(pos.dims),
                   shape_words(len.dims));
  Dims dims = x.dims;
  if (!broadcast_dims(dims, pos.dims)) {
    return invalid(call.op, "Incompatible shapes: {} vs. {}", shape_words(x.dims), shape_words(pos.dims));
  }
  return give(call, ranked(DType::String, dims));
}

Result<void> infer_as_string(InferCall& call) {
  DType d = call.operands[0].type.dtype;
  std::string_view fill = call.attrs.get_text(Attr::fill);
  bool scientific = call.attrs.get_bool(Attr::scientific), shortest = call.attrs.get_bool(Attr::shortest);
  if (scientific && shortest) return invalid(call.op, "Cannot select both scientific and shortest notation");
  if (fill.size() > 1) return invalid(call.op, "Fill string must be one or fewer characters");
  if (!fill.empty() && fill != " " && fill != "+" && fill != "-" && fill != "0" && fill != "#")
    return invalid(call.op, "Fill argument not supported: \"{}\"", fill);
  if (!is_floating(d) && !is_complex(d)) {
    if (scientific || shortest)
      return invalid(call.op, "scientific and shortest format not supported for datatype {}", dtype_tf_name(d));
    if (call.attrs.get_int(Attr::precision, -1) >= 0)
      return invalid(call.op, "precision not supported for datatype {}", dtype_tf_name(d));
  }
  if (call.attrs.get_int(Attr::precision, -1) > 500 || call.attrs.get_int(Attr::width, -1) > 10000)
    return invalid(call.op, "width or precision is too large");
  return same_shape(call, DType::String);
}

Result<void> infer_string_to_number(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  DType d = call.attrs.get_dtype(Attr::dtype, DType::F32);
  if (d != DType::F32 && d != DType::F64 && d != DType::I32 && d != DType::I64 && d != DType::U32 && d != DType::U64) {
    return invalid(
        call.op,
        "Value for attr 'out_type' of {} is not in the list of allowed values: float, double, int32, int64, uint32, uint64",
        dtype_tf_name(d));
  }
  return same_shape(call, d);
}

namespace {

/// Parts of all strings in one vector; or, with the mode `counts`, how many each string has.
Result<void> parts_of_strings(InferCall& call, DType dtype) {
  TFL_TRY(check_string(call, 0));
  const TensorType& x = call.operands[0].type;
  if (call.attrs.get_text(Attr::mode) != "counts")
    return give(call, ranked(call.attrs.get_text(Attr::mode) == "offsets" ? DType::I64 : dtype, {-1}));
  int64_t count = x.ranked ? 1 : -1;
  for (int64_t d : x.dims) count = d < 0 || count < 0 ? -1 : count * d;
  return give(call, ranked(DType::I64, {count}));
}

}  // namespace

Result<void> infer_string_split(InferCall& call) { return parts_of_strings(call, DType::String); }
Result<void> infer_bytes_split(InferCall& call) { return parts_of_strings(call, DType::String); }
Result<void> infer_unicode_decode(InferCall& call) { return parts_of_strings(call, DType::I32); }

Result<void> infer_unicode_encode(InferCall& call) {
  TFL_TRY(check_same_dtype("UnicodeEncode", 0, DType::I32, call.operands[0].type.dtype));
  TensorType out = call.operands[0].type;
  out.dtype = DType::String;
  if (out.ranked && out.dims.empty()) return invalid(call.op, "input must have a rank of at least 1");
  if (out.ranked) out.dims.pop_back();
  return give(call, out);
}

Result<void> infer_string_format(InferCall& call) { return give(call, ranked(DType::String, {})); }

}  // namespace tfl
