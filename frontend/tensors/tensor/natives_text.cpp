// Natives on string tensors.
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

Result<Value> string_operand(Interp& interp, const Value& v) {
  if (is_tensor_like(v)) return to_tensor(interp, v);
  ToTensor wanted;
  wanted.dtype = DType::String;
  return to_tensor(interp, v, wanted);
}

namespace {

Result<std::string> text_argument(Interp& interp, const Value& v, std::string_view name) {
  if (v.is_str()) return v.as<Str>()->text;
  if (v.is(Kind::Bytes)) return v.as<Bytes>()->data;
  if (v.is_none() || v.is_empty()) return std::string();
  if (dtype_of(interp, v) == DType::String) {
    Tensor t = TFL_TRY(to_concrete(interp, v));
    if (t.rank() == 0) return *t.data<std::string>();
  }
  std::string text = TFL_TRY(repr_text(interp, v));
  return fail(ErrorKind::TypeError, "Expected string for argument '{}' not {}.", name, text);
}

template <Op op>
Result<Value> mapped(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  return apply_op(interp, op, {x});
}

Result<Value> length(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  return apply_op(interp, Op::string_length, {x}, Attrs().set_text(Attr::unit, TFL_TRY(text_argument(interp, args[1], "unit"))));
}

Result<Value> join(Interp& interp, Value* args) {
  std::string separator = TFL_TRY(text_argument(interp, args[1], "separator"));
  std::vector<Value> items = TFL_TRY(to_vector(interp, args[0]));
  for (Value& v : items) v = TFL_TRY(string_operand(interp, v));
  return apply_list(interp, Op::string_join, items, Attrs().set_text(Attr::separator, separator));
}

Result<Value> reduce_join(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs;
  attrs.set_text(Attr::separator, TFL_TRY(text_argument(interp, args[3], "separator")));
  if (!args[1].is_none()) attrs.set_ints(Attr::axes, TFL_TRY(to_axes(interp, args[1])));
  attrs.set_bool(Attr::keepdims, TFL_TRY(truth(interp, args[2])));
  return apply_op(interp, Op::reduce_join, {x}, attrs);
}

Result<Value> substr(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Value numbers[2] = {args[1], args[2]};
  TFL_TRY(unify_operands(interp, numbers));
  return apply_op(interp, Op::substr, {x, numbers[0], numbers[1]},
                  Attrs().set_text(Attr::unit, TFL_TRY(text_argument(interp, args[3], "unit"))));
}

Result<Value> as_string(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs;
  attrs.set_int(Attr::precision, TFL_TRY(to_index(interp, args[1])));
  attrs.set_bool(Attr::scientific, TFL_TRY(truth(interp, args[2]))).set_bool(Attr::shortest, TFL_TRY(truth(interp, args[3])));
  attrs.set_int(Attr::width, TFL_TRY(to_index(interp, args[4])))
      .set_text(Attr::fill, TFL_TRY(text_argument(interp, args[5], "fill")));
  return apply_op(interp, Op::as_string, {x}, attrs);
}

Result<Value> to_number(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  DType dtype = TFL_TRY(optional_dtype(interp, args[1], DType::F32));
  return apply_op(interp, Op::string_to_number, {x}, Attrs().set_dtype(Attr::dtype, dtype));
}

/// What an operation that takes strings apart gives: the parts, or (`counts`) how many each string has, or where they begin.
Result<void> set_mode(Interp& interp, const Value& mode, Attrs& attrs) {
  std::string text = TFL_TRY(text_argument(interp, mode, "mode"));
  if (!text.empty()) attrs.set_text(Attr::mode, text);
  return {};
}

Result<Value> split_strings(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_text(Attr::separator, TFL_TRY(text_argument(interp, args[1], "sep")))
      .set_int(Attr::limit, TFL_TRY(to_index(interp, args[2])));
  TFL_TRY(set_mode(interp, args[3], attrs));
  return apply_op(interp, Op::string_split, {x}, attrs);
}

Result<Value> split_units(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  attrs.set_text(Attr::unit, TFL_TRY(text_argument(interp, args[1], "unit")));
  TFL_TRY(set_mode(interp, args[2], attrs));
  return apply_op(interp, Op::bytes_split, {x}, attrs);
}

Result<Value> unicode_decode(Interp& interp, Value* args) {
  Value x = TFL_TRY(string_operand(interp, args[0]));
  Attrs attrs;
  TFL_TRY(set_mode(interp, args[1], attrs));
  return apply_op(interp, Op::unicode_decode, {x}, attrs);
}

Result<Value> unicode_encode(Interp& interp, Value* args) {
  ToTensor wanted;
  wanted.preferred = DType::I32;
  Value x = TFL_TRY(to_tensor(interp, args[0], wanted));
  return apply_op(interp, Op::unicode_encode, {x});
}

/// _string_format(template, inputs, placeholder, summarize)
Result<Value> format(Interp& interp, Value* args) {
  std::vector<Value> items = TFL_TRY(to_vector(interp, args[1]));
  for (Value& v : items) v = TFL_TRY(to_tensor(interp, v));
  Attrs attrs;
  attrs.set_text(Attr::template_text, TFL_TRY(text_argument(interp, args[0], "template")));
  attrs.set_text(Attr::placeholder, TFL_TRY(text_argument(interp, args[2], "placeholder")))
      .set_int(Attr::summarize, TFL_TRY(to_index(interp, args[3])));
  return apply_list(interp, Op::string_format, items, attrs);
}

constexpr NativeDef kTextNatives[] = {
    function("_string_length", "input, unit", length),
    function("_string_upper", "input", mapped<Op::string_upper>),
    function("_string_lower", "input", mapped<Op::string_lower>),
    function("_string_strip", "input", mapped<Op::string_strip>),
    function("_string_join", "inputs, separator", join),
    function("_reduce_join", "inputs, axis, keepdims, separator", reduce_join),
    function("_substr", "input, pos, len, unit", substr),
    function("as_string", "input, precision=-1, scientific=False, shortest=False, width=-1, fill='', name=None", as_string),
    function("_to_number", "input, out_type", to_number),
    function("_string_split", "input, sep, maxsplit, mode=''", split_strings),
    function("_split_units", "input, unit, mode=''", split_units),
    function("_unicode_decode", "input, mode=''", unicode_decode),
    function("_unicode_encode", "input", unicode_encode),
    function("_string_format", "template, inputs, placeholder, summarize", format),
};

}  // namespace

std::span<const NativeDef> text_natives() { return kTextNatives; }

}  // namespace tfl
