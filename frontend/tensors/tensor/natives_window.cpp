// Natives of convolutions, pooling, changing the size of images, patterns and what strings hold (hashes, numbers, images, records).
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"
#include "runtime/formats/safetensors.h"

namespace tfl {

namespace {

/// strides, dilations (or window sizes), padding, explicit paddings: sizes for the spatial axes alone.
Result<Attrs> window_attrs(Interp& interp, const Value* args, Attr second) {
  Attrs attrs;
  attrs.set_ints(Attr::strides, TFL_TRY(to_axes(interp, args[0]))).set_ints(second, TFL_TRY(to_axes(interp, args[1])));
  std::string padding = TFL_TRY(str_text(interp, args[2]));
  if (padding == "EXPLICIT") attrs.set_ints(Attr::explicit_paddings, TFL_TRY(to_axes(interp, args[3])));
  attrs.set_text(Attr::padding, padding);
  return attrs;
}

template <Op op>
Result<Value> convolve(Interp& interp, Value* args) {
  Value operands[2] = {args[0], args[1]};
  TFL_TRY(unify_operands(interp, operands));
  return apply_list(interp, op, operands, TFL_TRY(window_attrs(interp, args + 2, Attr::dilations)));
}

template <Op op>
Result<Value> to_input(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0]));
  Value values[2] = {args[1], args[2]};
  TFL_TRY(unify_operands(interp, values));
  return apply_op(interp, op, {sizes, values[0], values[1]}, TFL_TRY(window_attrs(interp, args + 3, Attr::dilations)));
}

template <Op op>
Result<Value> to_filter(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[1]));
  Value values[2] = {args[0], args[2]};
  TFL_TRY(unify_operands(interp, values));
  return apply_op(interp, op, {values[0], sizes, values[1]}, TFL_TRY(window_attrs(interp, args + 3, Attr::dilations)));
}

template <Op op>
Result<Value> pool(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, op, {x}, TFL_TRY(window_attrs(interp, args + 1, Attr::ksize)));
}

Result<Value> max_pool_grad(Interp& interp, Value* args) {
  Value operands[3] = {args[0], args[1], args[2]};
  TFL_TRY(unify_operands(interp, operands));
  return apply_list(interp, Op::max_pool_grad, operands, TFL_TRY(window_attrs(interp, args + 3, Attr::ksize)));
}

Result<Value> avg_pool_grad(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(shape_operand(interp, args[0]));
  Value g = TFL_TRY(to_tensor(interp, args[1]));
  return apply_op(interp, Op::avg_pool_grad, {sizes, g}, TFL_TRY(window_attrs(interp, args + 2, Attr::ksize)));
}

Result<Value> max_pool_with_argmax(Interp& interp, Value* args) {
  Value operands[1] = {TFL_TRY(to_tensor(interp, args[0]))};
  Attrs attrs = TFL_TRY(window_attrs(interp, args + 1, Attr::ksize));
  attrs.set_bool(Attr::include_batch, TFL_TRY(truth(interp, args[5])))
      .set_dtype(Attr::dtype, TFL_TRY(optional_dtype(interp, args[6], DType::I64)));
  return apply_many(interp, Op::max_pool_with_argmax, operands, attrs);
}

Result<Attrs> resize_attrs(Interp& interp, const Value* args) {
  Attrs attrs;
  attrs.set_bool(Attr::half_pixel_centers, TFL_TRY(truth(interp, args[0])))
      .set_bool(Attr::align_corners, TFL_TRY(truth(interp, args[1])));
  return attrs;
}

template <Op op>
Result<Value> resize(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value size = TFL_TRY(op == Op::resize_bilinear_grad ? to_tensor(interp, args[1]) : index_operand(interp, args[1]));
  return apply_op(interp, op, {x, size}, TFL_TRY(resize_attrs(interp, args + 2)));
}

// ------------------------------------------------------------------------------------------------------------- strings

Result<std::string> text_of(Interp& interp, const Value& v) {
  Value t = TFL_TRY(string_operand(interp, v));
  Tensor text = TFL_TRY(to_concrete(interp, t));
  if (text.dtype() != DType::String || text.size() != 1)
    return fail(ErrorKind::InvalidArgumentError, "a scalar string is needed, not {}", describe(text));
  return *text.data<std::string>();
}

Result<Value> regex_replace(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_text(Attr::pattern, TFL_TRY(text_of(interp, args[1]))).set_text(Attr::rewrite, TFL_TRY(text_of(interp, args[2])));
  attrs.set_bool(Attr::replace_global, TFL_TRY(truth(interp, args[3])));
  return apply_op(interp, Op::regex_replace, {x}, attrs);
}

Result<Value> regex_full_match(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  return apply_op(interp, Op::regex_full_match, {x}, Attrs().set_text(Attr::pattern, TFL_TRY(text_of(interp, args[1]))));
}

Result<Value> hash_bucket(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_int(Attr::num_buckets, TFL_TRY(to_index(interp, args[1]))).set_text(Attr::mode, TFL_TRY(str_text(interp, args[2])));
  if (!args[3].is_none()) attrs.set_ints(Attr::k, TFL_TRY(to_axes(interp, args[3])));
  return apply_op(interp, Op::string_to_hash_bucket, {x}, attrs);
}

Result<Value> encode_base64(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  return apply_op(interp, Op::encode_base64, {x}, Attrs().set_bool(Attr::pad, TFL_TRY(truth(interp, args[1]))));
}

Result<Value> decode_base64(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  return apply_op(interp, Op::decode_base64, {x});
}

Result<Value> decode_raw(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[1]))).set_bool(Attr::little_endian, TFL_TRY(truth(interp, args[2])));
  if (!args[3].is_none()) attrs.set_int(Attr::fixed_length, TFL_TRY(to_index(interp, args[3])));
  return apply_op(interp, Op::decode_raw, {x}, attrs);
}

/// _decode_csv(records, defaults, field_delim, use_quotes, na_value, select_columns)
Result<Value> decode_csv(Interp& interp, Value* args) {
  std::vector<Value> operands = TFL_TRY(to_vector(interp, args[1]));
  for (Value& v : operands) v = TFL_TRY(to_tensor(interp, v));
  operands.insert(operands.begin(), TFL_TRY(string_operand(interp, args[0])));
  Attrs attrs;
  attrs.set_text(Attr::separator, TFL_TRY(text_of(interp, args[2]))).set_bool(Attr::use_quotes, TFL_TRY(truth(interp, args[3])));
  attrs.set_text(Attr::na_value, TFL_TRY(text_of(interp, args[4])));
  if (!args[5].is_none()) attrs.set_ints(Attr::select_columns, TFL_TRY(to_axes(interp, args[5])));
  return apply_many(interp, Op::decode_csv, operands, attrs);
}

Result<Value> decode_image(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_int(Attr::channels, TFL_TRY(to_index(interp, args[1]))).set_dtype(Attr::dtype, TFL_TRY(to_dtype(interp, args[2])));
  return apply_op(interp, Op::decode_image, {x}, attrs);
}

Result<Value> encode_image(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs;
  attrs.set_text(Attr::format, TFL_TRY(str_text(interp, args[1]))).set_int(Attr::quality, TFL_TRY(to_index(interp, args[2])));
  return apply_op(interp, Op::encode_image, {x}, attrs);
}

/// _read_safetensors(bytes): a list of (name, tensor) and one of (key, text).
Result<Value> read_safetensors(Interp& interp, Value* args) {
  std::string held;
  if (!args[0].is(Kind::Bytes)) held = TFL_TRY(text_of(interp, args[0]));
  std::string_view file = args[0].is(Kind::Bytes) ? std::string_view(args[0].as<Bytes>()->data) : std::string_view(held);
  SafeTensorIndex index = TFL_TRY(read_safetensors_index(file));
  std::vector<Value> tensors, metadata;
  for (const SafeTensorEntry& e : index.entries) {
    Tensor t = TFL_TRY(read_safetensor(interp.context, file, index, e));
    tensors.push_back(interp.tuple({interp.str(e.name), Value::of(std::move(t))}));
  }
  for (const auto& [key, text] : index.metadata) metadata.push_back(interp.tuple({interp.str(key), interp.str(text)}));
  return interp.tuple({interp.list(std::move(tensors)), interp.list(std::move(metadata))});
}

/// _write_safetensors(names, tensors, keys, texts): bytes.
Result<Value> write_safetensors_native(Interp& interp, Value* args) {
  std::vector<Value> lists[4];
  for (size_t i = 0; i < 4; ++i) lists[i] = TFL_TRY(to_vector(interp, args[i]));
  if (lists[0].size() != lists[1].size() || lists[2].size() != lists[3].size())
    return fail(ErrorKind::ValueError, "as many names as tensors are needed");
  std::vector<std::pair<std::string, Tensor>> tensors;
  std::vector<std::pair<std::string, std::string>> metadata;
  for (size_t i = 0; i < lists[0].size(); ++i)
    tensors.emplace_back(TFL_TRY(str_text(interp, lists[0][i])), TFL_TRY(to_concrete(interp, lists[1][i])));
  for (size_t i = 0; i < lists[2].size(); ++i)
    metadata.emplace_back(TFL_TRY(str_text(interp, lists[2][i])), TFL_TRY(str_text(interp, lists[3][i])));
  return interp.bytes(TFL_TRY(write_safetensors(interp.context, tensors, metadata)));
}

constexpr const char* kForward = "x, filter, strides, dilations, padding, explicit";
constexpr const char* kInput = "sizes, filter, gradient, strides, dilations, padding, explicit";
constexpr const char* kFilter = "x, sizes, gradient, strides, dilations, padding, explicit";
constexpr const char* kPool = "x, strides, ksize, padding, explicit";

constexpr NativeDef kWindowNatives[] = {
    function("_conv2d", kForward, convolve<Op::conv2d>),
    function("_conv3d", kForward, convolve<Op::conv3d>),
    function("_depthwise_conv2d", kForward, convolve<Op::depthwise_conv2d>),
    function("_conv2d_backprop_input", kInput, to_input<Op::conv2d_backprop_input>),
    function("_conv3d_backprop_input", kInput, to_input<Op::conv3d_backprop_input>),
    function("_depthwise_conv2d_backprop_input", kInput, to_input<Op::depthwise_conv2d_backprop_input>),
    function("_conv2d_backprop_filter", kFilter, to_filter<Op::conv2d_backprop_filter>),
    function("_conv3d_backprop_filter", kFilter, to_filter<Op::conv3d_backprop_filter>),
    function("_depthwise_conv2d_backprop_filter", kFilter, to_filter<Op::depthwise_conv2d_backprop_filter>),
    function("_max_pool", kPool, pool<Op::max_pool>),
    function("_avg_pool", kPool, pool<Op::avg_pool>),
    function("_max_pool_grad", "x, result, gradient, strides, ksize, padding, explicit", max_pool_grad),
    function("_avg_pool_grad", "sizes, gradient, strides, ksize, padding, explicit", avg_pool_grad),
    function("_max_pool_with_argmax", "x, strides, ksize, padding, explicit, include_batch, dtype", max_pool_with_argmax),
    function("_resize_bilinear", "images, size, half_pixel_centers=True, align_corners=False", resize<Op::resize_bilinear>),
    function("_resize_nearest", "images, size, half_pixel_centers=True, align_corners=False", resize<Op::resize_nearest>),
    function("_resize_bilinear_grad", "gradient, images, half_pixel_centers=True, align_corners=False",
             resize<Op::resize_bilinear_grad>),
    function("_resize_nearest_grad", "gradient, size, half_pixel_centers=True, align_corners=False",
             resize<Op::resize_nearest_grad>),
    function("_regex_replace", "input, pattern, rewrite, replace_global", regex_replace),
    function("_regex_full_match", "input, pattern", regex_full_match),
    function("_hash_bucket", "input, num_buckets, mode, key", hash_bucket),
    function("_encode_base64", "input, pad", encode_base64),
    function("_decode_base64", "input", decode_base64),
    function("_decode_raw", "input, dtype, little_endian, fixed_length", decode_raw),
    function("_decode_csv", "records, defaults, field_delim, use_quotes, na_value, select_columns", decode_csv),
    function("_decode_image", "contents, channels, dtype", decode_image),
    function("_read_safetensors", "file", read_safetensors),
    function("_write_safetensors", "names, tensors, keys, texts", write_safetensors_native),
    function("_encode_image", "image, format, quality", encode_image),
};

}  // namespace

std::span<const NativeDef> window_natives() { return kWindowNatives; }

}  // namespace tfl
