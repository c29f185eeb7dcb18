// Shape rules of patterns, hashes, encodings and file formats in strings.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

Result<void> check_string(InferCall& call, size_t operand) {
  return check_same_dtype(op_info(call.op).tf_name, operand, DType::String, call.operands[operand].type.dtype);
}

Result<void> strings_to(InferCall& call, DType dtype) {
  TFL_TRY(check_string(call, 0));
  TensorType out = call.operands[0].type;
  out.dtype = dtype;
  return give(call, out);
}

}  // namespace

Result<void> infer_regex_replace(InferCall& call) { return strings_to(call, DType::String); }
Result<void> infer_regex_full_match(InferCall& call) { return strings_to(call, DType::Bool); }
Result<void> infer_encode_base64(InferCall& call) { return strings_to(call, DType::String); }
Result<void> infer_decode_base64(InferCall& call) { return strings_to(call, DType::String); }

Result<void> infer_string_to_hash_bucket(InferCall& call) {
  if (call.attrs.get_int(Attr::num_buckets) < 1)
    return invalid(call.op, "Value for attr 'num_buckets' of {} must be at least minimum 1",
                   call.attrs.get_int(Attr::num_buckets));
  return strings_to(call, DType::I64);
}

Result<void> infer_decode_raw(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  DType dtype = call.attrs.get_dtype(Attr::dtype);
  if (dtype == DType::String) return invalid(call.op, "Value for attr 'out_type' of string is not in the list of allowed values");
  const TensorType& x = call.operands[0].type;
  if (!x.ranked) return give(call, unranked(dtype));
  int64_t length = call.attrs.get_int(Attr::fixed_length, -1), size = static_cast<int64_t>(dtype_size(dtype));
  if (length >= 0 && length % size != 0)
    return invalid(call.op, "fixed_length ({}) must be a multiple of the size of out_type ({})", length, size);
  if (call.attrs.find(Attr::fixed_length) && length <= 0)
    return invalid(call.op, "fixed_length must be greater than zero, but got {}", length);
  Dims dims = x.dims;
  dims.push_back(length >= 0 ? length / size : -1);
  return give(call, ranked(dtype, std::move(dims)));
}

Result<void> infer_decode_csv(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  if (call.attrs.get_text(Attr::separator).size() != 1) return invalid(call.op, "field_delim should be only 1 char");
  const Dims* columns = call.attrs.get_ints(Attr::select_columns);
  size_t defaults = call.operands.size() - 1;
  if (columns && !columns->empty()) {
    if (columns->size() != defaults) return invalid(call.op, "select_cols should match output size");
    for (size_t i = 0; i < columns->size(); ++i) {
      if ((*columns)[i] < 0) return invalid(call.op, "select_cols should be non-negative indices");
      if (i > 0 && (*columns)[i] <= (*columns)[i - 1])
        return invalid(call.op, "select_cols should be strictly increasing indices");
    }
  }
  constexpr DType kAllowed[] = {DType::F32, DType::F64, DType::I32, DType::I64, DType::String};
  for (size_t i = 1; i <= defaults; ++i) {
    const TensorType& d = call.operands[i].type;
    TFL_TRY(check_dtype(op_info(call.op).tf_name, "OUT_TYPE", d.dtype, kAllowed));
    if (d.ranked && (d.dims.size() > 1 || (d.dims.size() == 1 && d.dims[0] > 1)))
      return invalid(call.op, "Shape of a default must be a length-0 or length-1 vector, or a scalar.");
    TensorType out = call.operands[0].type;
    out.dtype = d.dtype;
    TFL_TRY(give(call, out));
  }
  return {};
}

Result<void> infer_decode_image(InferCall& call) {
  TFL_TRY(check_string(call, 0));
  const TensorType& x = call.operands[0].type;
  if (x.ranked && !x.dims.empty()) return invalid(call.op, "`contents` must be scalar but got shape{}", shape_words(x.dims));
  int64_t channels = call.attrs.get_int(Attr::channels);
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    return invalid(call.op, "channels must be 0, 1, 3, or 4, got {}", channels);
  return give(call, ranked(call.attrs.get_dtype(Attr::dtype, DType::U8), Dims{-1, -1, channels == 0 ? -1 : channels}));
}

Result<void> infer_encode_image(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  bool png = call.attrs.get_text(Attr::format) == "png";
  constexpr DType kAllowed[] = {DType::U8, DType::U16};
  TFL_TRY(check_dtype(png ? "EncodePng" : "EncodeJpeg", "T", x.dtype, std::span<const DType>(kAllowed).first(png ? 2 : 1)));
  if (!x.ranked) return give(call, ranked(DType::String, {}));
  if (x.dims.size() < 3 || (!png && x.dims.size() != 3))
    return invalid(call.op, "image must be 3-dimensional{}", shape_words(x.dims));
  int64_t channels = x.dims.back();
  bool fits = png ? channels >= 1 && channels <= 4 : channels == 1 || channels == 3;
  if (known(channels) && !fits)
    return invalid(call.op, "image must have {} channels, got {}", png ? "1, 2, 3, or 4" : "1 or 3", shape_words(x.dims));
  Dims out = x.dims;
  out.resize(out.size() - 3);
  return give(call, ranked(DType::String, std::move(out)));
}

}  // namespace tfl
