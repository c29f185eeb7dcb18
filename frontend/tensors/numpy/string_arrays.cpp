#include "frontend/tensors/numpy/string_arrays.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "frontend/core/native_module.h"
#include "frontend/core/protocol.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/text/quote.h"
#include "frontend/text/utf8.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// Characters of text, bytes of bytes.
int64_t width_of(const std::string& s, TextKind kind) {
  return kind == TextKind::text || kind == TextKind::text_objects ? utf8::count(s) : static_cast<int64_t>(s.size());
}

/// Characters that NumPy gives a number of that type as text, however short it is.
uint16_t number_width(DType d) {
  if (d == DType::Bool) return 5;
  if (!is_integer(d)) return 32;
  constexpr uint16_t kSigned[] = {4, 6, 11, 21}, kUnsigned[] = {3, 5, 10, 20};
  int log = dtype_size(d) == 1 ? 0 : dtype_size(d) == 2 ? 1 : dtype_size(d) == 4 ? 2 : 3;
  return is_unsigned(d) ? kUnsigned[log] : kSigned[log];
}

template <class F>
Result<void> for_each_string(Interp& interp, const Tensor& t, F&& visit) {
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  const auto* strings = row_major.data<std::string>();
  for (int64_t i = 0; i < t.size(); ++i) TFL_TRY(visit(i, strings[i]));
  return {};
}

/// The width of an array of these row-major strings.
uint16_t widest(const Tensor& t, TextKind kind) {
  int64_t width = 1;
  for (int64_t i = 0; i < t.size(); ++i) width = std::max(width, width_of(t.data<std::string>()[i], kind));
  return static_cast<uint16_t>(std::min<int64_t>(width, kUnboundedWidth));
}

/// What the leaves of nested lists are.
struct Leaves {
  bool text = false, bytes = false, number = false, other = false;
  uint16_t width = 0;  // of arrays, and of numbers as text: NumPy's for the whole type, however short these are

  void look(Interp& interp, const Value& v, int depth) {
    if (depth > 64) return;
    if (v.is(Kind::List)) {
      for (const Value& x : v.as<List>()->items) look(interp, x, depth + 1);
    } else if (v.is(Kind::Tuple)) {
      for (const Value& x : v.as<Tuple>()->span()) look(interp, x, depth + 1);
    } else if (v.is_str()) {
      text = true;
    } else if (v.is(Kind::Bytes)) {
      bytes = true;
    } else if (v.is(Kind::NdArray) && v.as<NdArrayObject>()->array.dtype() == DType::String) {
      TextType type = text_type(v.as<NdArrayObject>()->array);
      (type.is_text() ? text : bytes) = true;
      width = std::max(width, type.width);
    } else if (v.is_bool() || v.is_int() || v.is_float() || v.is(Kind::NumPyScalar)) {
      number = true;
      DType d = v.is_bool()    ? DType::Bool
                : v.is_int()   ? DType::I64
                : v.is_float() ? DType::F64
                               : v.as<NumPyScalarObject>()->value.dtype();
      width = std::max(width, number_width(d));
    } else {
      other = true;
    }
  }
};

Result<Value> texts_of(Interp& interp, const Value& v) {
  if (!v.is(Kind::List) && !v.is(Kind::Tuple)) return interp.str(TFL_TRY(str_text(interp, v)));
  std::span<const Value> items = v.is(Kind::List) ? std::span<const Value>(v.as<List>()->items) : v.as<Tuple>()->span();
  std::vector<Value> out;
  out.reserve(items.size());
  for (const Value& item : items) out.push_back(TFL_TRY(texts_of(interp, item)));
  return interp.list(std::move(out));
}

/// The failure of text that is no bytes, or of bytes that are no text, for NumPy converts them as ASCII.
Failure not_ascii(const std::string& s, bool text) {
  auto at = std::find_if(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
  if (text) {
    std::string_view rest = std::string_view(s).substr(static_cast<size_t>(at - s.begin()));
    std::string shown = escape_non_ascii(rest.substr(0, utf8::size_of(static_cast<unsigned char>(rest[0]))));
    return fail(ErrorKind::UnicodeEncodeError,
                "'ascii' codec can't encode character '{}' in position {}: ordinal not in range(128)", shown, at - s.begin());
  }
  return fail(ErrorKind::UnicodeDecodeError, "'ascii' codec can't decode byte 0x{:02x} in position {}: ordinal not in range(128)",
              static_cast<unsigned char>(*at), at - s.begin());
}

}  // namespace

void find_text_type(Interp& interp, const Value& v, Tensor& t) {
  if (is_tensor_like(v)) return;
  Leaves leaves;
  leaves.look(interp, v, 0);
  if (leaves.other || (!leaves.text && !leaves.bytes) || (leaves.text && leaves.bytes && !all_ascii(t))) return;
  TextKind kind = leaves.text ? TextKind::text : TextKind::bytes;
  set_text_type(t, {kind, std::max(leaves.width, widest(t, kind))});
}

std::optional<TextType> wanted_text_type(Interp& interp, const Value& dtype) {
  if (dtype.is(Kind::DType)) {
    const auto* d = dtype.as<DTypeObject>();
    if (d->dtype != DType::String) return {};
    return d->numpy ? d->text : TextType{TextKind::bytes_objects, 0};
  }
  if (dtype.is(Kind::Type)) {
    const Type* t = dtype.as<Type>();
    for (const Type* base = t; base; base = base->base) {
      if (base == interp.types.str) return TextType{TextKind::text, 0};
      if (base == interp.types.bytes) return TextType{TextKind::bytes, 0};
    }
    if (t == interp.types.object) return TextType{TextKind::text_objects, 0};
    return {};
  }
  if (!dtype.is_str()) return {};
  std::string_view name = dtype.as<Str>()->text;
  if (name == "str") return TextType{TextKind::text, 0};
  if (name == "bytes") return TextType{TextKind::bytes, 0};
  if (name == "object") return TextType{TextKind::text_objects, 0};
  if (!name.empty() && (name[0] == '<' || name[0] == '|' || name[0] == '=')) name.remove_prefix(1);
  if (name == "O") return TextType{TextKind::text_objects, 0};
  if (name.empty() || (name[0] != 'U' && name[0] != 'S')) return {};
  TextType type{name[0] == 'U' ? TextKind::text : TextKind::bytes, 0};
  for (char c : name.substr(1)) {
    if (c < '0' || c > '9') return {};
    type.width = static_cast<uint16_t>(std::min<int>(type.width * 10 + (c - '0'), kUnboundedWidth));
  }
  return type;
}

Result<Tensor> with_text_type(Interp& interp, const Tensor& t, TextType type) {
  TextType now = text_type(t);
  if (type.width == 0 && type.kind == now.kind) type.width = now.width;
  if (now == type) return t;
  bool coded = TFL_TRY(has_object_codes(interp, t));
  if (now.kind == TextKind::bytes_objects && type.kind == TextKind::text_objects)
    type.kind = now.kind;  // objects stay what they are
  Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::String, t.dims()));
  auto* to = out.data<std::string>();
  bool cuts = type.fixed() && type.width != 0 && type.width != kUnboundedWidth;
  TFL_TRY(for_each_string(interp, t, [&](int64_t i, const std::string& stored) -> Result<void> {
    std::string s = stored;
    if (coded && type.fixed()) s = TFL_TRY(str_text(interp, TFL_TRY(object_of(interp, stored))));
    if (now.kind == TextKind::bytes && type.kind == TextKind::text_objects)
      s = "\xFF"
          "b" +
          stored;
    if (type.fixed() && now.is_text() != type.is_text() &&
        std::any_of(s.begin(), s.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; })) {
      return not_ascii(s, now.is_text());
    }
    to[i] = s;
    if (cuts && width_of(s, type.kind) > type.width)
      to[i].resize(type.kind == TextKind::text ? utf8::offset(s, type.width) : type.width);
    return {};
  }));
  if (type.fixed() && type.width == 0) type.width = widest(out, type.kind);
  if (!type.fixed()) type.width = 0;
  set_text_type(out, type);
  return out;
}

Result<Tensor> to_text(Interp& interp, const Tensor& t, TextType type) {
  if (t.dtype() == DType::String) return with_text_type(interp, t, type);
  if (!type.fixed()) return numbers_as_objects(interp, t);
  Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::String, t.dims()));
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  for (int64_t i = 0; i < t.size(); ++i) {
    Value element = numpy_scalar_value(interp, Tensor::view(interp.context, row_major, {}, {}, i));
    out.data<std::string>()[i] = TFL_TRY(str_text(interp, element));
  }
  if (type.width == 0) type.width = t.size() ? number_width(t.dtype()) : 1;
  set_text_type(out, {type.kind, kUnboundedWidth});
  return with_text_type(interp, out, type);
}

Result<Tensor> text_to_store(Interp& interp, const Tensor& t, const Tensor& target) {
  TextType type = text_type(target);
  Tensor out = TFL_TRY(to_text(interp, t, type));
  if (t.dtype() == DType::String && type.kind == TextKind::bytes_objects && text_type(t).is_text()) {
    return fail(ErrorKind::TypeError, "an array of objects holds {} here and cannot take {} in TFL", "bytes", "str");
  }
  return out;
}

Result<Tensor> from_text(Interp& interp, const Tensor& t, DType dtype) {
  Tensor out = TFL_TRY(Tensor::empty(interp.context, dtype, t.dims()));
  size_t size = dtype_size(dtype);
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  TFL_TRY(for_each_string(interp, row_major, [&](int64_t i, const std::string& s) -> Result<void> {
    std::byte* at = out.raw() + static_cast<size_t>(i) * size;
    Tensor one = Tensor::view(interp.context, row_major, {}, {}, i);
    Value element = TFL_TRY(text_element(interp, one));
    if (dtype == DType::Bool) {
      *reinterpret_cast<bool*>(at) = is_object_code(s) ? TFL_TRY(truth(interp, element)) : !s.empty();
    } else if (is_floating(dtype) && element.is_none()) {
      store_double(dtype, std::numeric_limits<double>::quiet_NaN(), at);
    } else if (is_floating(dtype)) {
      store_double(dtype, TFL_TRY(interp.call(Value::share(interp.types.float_), {element})).as_float(), at);
    } else {
      store_int(dtype, TFL_TRY(interp.call(Value::share(interp.types.int_), {element})).as_int(), at);
    }
    return {};
  }));
  return out;
}

Result<std::optional<Tensor>> mixed_text(Interp& interp, const Value& v) {
  Leaves leaves;
  leaves.look(interp, v, 0);
  if (!leaves.text || !leaves.number || leaves.bytes || leaves.other) return std::optional<Tensor>();
  Tensor t = TFL_TRY(to_concrete(interp, TFL_TRY(texts_of(interp, v))));
  set_text_type(t, {TextKind::text, std::max(leaves.width, widest(t, TextKind::text))});
  return std::optional<Tensor>(t);
}

Value text_dtype_value(Interp& interp, TextType type) {
  if (!type.fixed() && type.kind == TextKind::bytes_objects) return numpy_dtype_value(interp, DType::String);
  auto* d = interp.allocate<DTypeObject>(interp.types.dtype);
  d->dtype = DType::String;
  d->numpy = true;
  d->text = type;
  return Value::adopt(d);
}

Result<Value> text_element(Interp& interp, const Tensor& t) {
  TextType type = text_type(t);
  const std::string& s = *t.data<std::string>();
  if (type.kind == TextKind::text_objects) return object_of(interp, s);
  Value plain = type.is_text() ? interp.str(s) : interp.bytes(s);
  if (!type.fixed()) return plain;
  Value module = TFL_TRY(interp.import_module("numpy"));
  Value made = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern(type.is_text() ? "str_" : "bytes_"));
  return interp.call(made, {plain});
}

std::string fixed_bytes(const Tensor& t) {
  TextType type = text_type(t);
  size_t unit = type.kind == TextKind::text ? 4 : 1, width = std::max<size_t>(type.width, 1);
  if (type.width == kUnboundedWidth) {
    for (int64_t i = 0; i < t.size(); ++i)
      width = std::max(width, static_cast<size_t>(width_of(t.data<std::string>()[i], type.kind)));
  }
  std::string out(static_cast<size_t>(t.size()) * width * unit, '\0');
  for (int64_t i = 0; i < t.size(); ++i) {
    const std::string& s = t.data<std::string>()[i];
    char* at = out.data() + static_cast<size_t>(i) * width * unit;
    if (unit == 1) {
      std::memcpy(at, s.data(), std::min(s.size(), width));
    } else {
      std::u32string wide = utf8::decode(s);
      std::memcpy(at, wide.data(), 4 * std::min(wide.size(), width));
    }
  }
  return out;
}

Result<Tensor> from_fixed_bytes(Interp& interp, std::string_view bytes, TextType type, std::span<const int64_t> dims) {
  size_t unit = type.kind == TextKind::text ? 4 : 1, step = unit * type.width;
  int64_t n = TFL_TRY(element_count(dims));
  if (n && (step == 0 || static_cast<uint64_t>(n) > bytes.size() / step))
    return fail(ErrorKind::ValueError, "the data end after {} of {} elements", step ? bytes.size() / step : 0, n);
  Tensor out = TFL_TRY(Tensor::empty(interp.context, DType::String, dims));
  for (int64_t i = 0; i < n; ++i) {
    std::string_view element = bytes.substr(static_cast<size_t>(i) * step, step);
    std::string& to = out.data<std::string>()[i];
    if (unit == 1) {
      to = element.substr(0, element.find_last_not_of('\0') + 1);
      continue;
    }
    std::u32string wide(type.width, U'\0');
    std::memcpy(wide.data(), element.data(), step);
    wide.resize(wide.find_last_not_of(U'\0') + 1);
    if (std::any_of(wide.begin(), wide.end(), [](char32_t c) { return c > 0x10FFFF; }))
      return fail(ErrorKind::ValueError, "the data are no text: a code point is beyond U+10FFFF");
    to = utf8::encode(wide);
  }
  set_text_type(out, type);
  return out;
}

}  // namespace tfl
