// int and bool: construction, operators, text, methods.
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/format_spec.h"
#include "frontend/text/int_text.h"
#include "frontend/text/quote.h"

namespace tfl {

namespace {

/// A number as an instance of `type`: unboxed, or boxed for a class that a script derived from it.
Value as_type(Interp& interp, Type* type, Type* native, Value number) {
  if (type == native) return number;
  auto* box = interp.allocate<Boxed>(type);
  box->value = std::move(number);
  return Value::adopt(box);
}

Result<Value> int_from_text(const Value& text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return fail(ErrorKind::ValueError, "int() base must be >= 2 and <= 36, or 0");
  bool is_str = text.is_str();
  if (!is_str && !text.is(Kind::Bytes)) return fail(ErrorKind::TypeError, "int() can't convert non-string with explicit base");
  const std::string& s = is_str ? text_of(text) : text.as<Bytes>()->data;
  int64_t v = 0;
  IntParse parsed = parse_int(s, static_cast<int>(base), v);
  if (parsed == IntParse::Ok) return Value::integer(v);
  std::string shown = is_str ? quote_text(s) : quote_bytes(s);
  if (parsed == IntParse::Overflow)
    return fail(ErrorKind::OverflowError, "integer overflow: int({}) does not fit in 64 bits", shown);
  return fail(ErrorKind::ValueError, "invalid literal for int() with base {}: {}", base, shown);
}

Result<Value> int_construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "int", args, {"x", "base"}, 0, 1, out));
  Value number = Value::integer(0);
  if (!out[1].is_empty()) {
    if (out[0].is_empty()) return fail(ErrorKind::TypeError, "int() missing string argument");
    int64_t base = TFL_TRY(to_index(interp, out[1]));
    number = TFL_TRY(int_from_text(out[0], base));
  } else if (!out[0].is_empty()) {
    number = TFL_TRY(to_int_value(interp, out[0]));
  }
  return as_type(interp, type, interp.types.int_, std::move(number));
}

Result<Value> bool_construct(Interp& interp, Type*, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "bool", args, {"x"}, 0, 1, out));
  if (out[0].is_empty()) return Value::boolean(false);
  bool b = TFL_TRY(truth(interp, out[0]));
  return Value::boolean(b);
}

Result<Value> int_repr(Interp& interp, const Value& self) { return interp.str(std::to_string(number_of(self).i)); }
Result<Value> bool_repr(Interp& interp, const Value& self) { return interp.str(std::string(self.as_bool() ? "True" : "False")); }

Result<Value> int_format(Interp& interp, const Value& self, std::string_view spec) {
  if (spec.empty()) return to_str(interp, self);
  std::string_view name = interp.type_name(self);
  FormatSpec f = TFL_TRY(parse_format_spec(spec, 'd', '>', name));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(std::max(f.width, f.precision) + 1)));
  std::string text = TFL_TRY(format_integer(f, number_of(self).i, name));
  return interp.str(std::move(text));
}

Result<uint64_t> int_hash(Interp&, const Value& self) { return hash_int(number_of(self).i); }
Result<bool> int_truth(Interp&, const Value& self) { return number_of(self).i != 0; }

Result<Value> int_unary(Interp&, UnaryOp op, const Value& self) {
  int64_t v = number_of(self).i;
  switch (op) {
    case UnaryOp::Minus:
      if (v == INT64_MIN) return fail(ErrorKind::OverflowError, "integer overflow: -({}) does not fit in 64 bits", v);
      return Value::integer(-v);
    case UnaryOp::Plus: return Value::integer(v);
    case UnaryOp::Invert: return Value::integer(~v);
    case UnaryOp::Not: break;
  }
  return Value::boolean(v == 0);
}

// ------------------------------------------------------------------------------------------------------ methods

int64_t self_int(const Value* a) { return number_of(a[0]).i; }

Result<Value> bit_length(Interp&, Value* a) {
  int64_t v = self_int(a);
  uint64_t u = v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return Value::integer(u == 0 ? 0 : 64 - __builtin_clzll(u));
}
Result<Value> bit_count(Interp&, Value* a) {
  int64_t v = self_int(a);
  uint64_t u = v < 0 ? uint64_t{0} - static_cast<uint64_t>(v) : static_cast<uint64_t>(v);
  return Value::integer(__builtin_popcountll(u));
}
Result<Value> int_itself(Interp&, Value* a) { return Value::integer(self_int(a)); }
Result<Value> int_zero(Interp&, Value*) { return Value::integer(0); }
Result<Value> int_one(Interp&, Value*) { return Value::integer(1); }
Result<Value> int_ratio(Interp& interp, Value* a) { return interp.tuple({Value::integer(self_int(a)), Value::integer(1)}); }

Result<Value> int_round(Interp& interp, Value* a) {
  if (a[1].is_none()) return Value::integer(self_int(a));
  int64_t digits = TFL_TRY(to_index(interp, a[1]));
  int64_t v = TFL_TRY(round_int(self_int(a), digits));
  return Value::integer(v);
}

Result<bool> is_big_endian(Interp& interp, const Value& order) {
  if (!order.is_str()) return fail(ErrorKind::TypeError, "argument 'byteorder' must be str, not {}", interp.type_name(order));
  if (text_of(order) == "big") return true;
  if (text_of(order) == "little") return false;
  return fail(ErrorKind::ValueError, "byteorder must be either 'little' or 'big'");
}

Result<Value> to_bytes(Interp& interp, Value* a) {
  int64_t v = self_int(a);
  int64_t length = TFL_TRY(to_index(interp, a[1]));
  bool big = TFL_TRY(is_big_endian(interp, a[2]));
  bool is_signed = TFL_TRY(truth(interp, a[3]));
  if (length < 0) return fail(ErrorKind::ValueError, "length argument must be non-negative");
  if (v < 0 && !is_signed) return fail(ErrorKind::OverflowError, "can't convert negative int to unsigned");
  if (length < 8) {
    bool fits;
    if (length == 0)
      fits = v == 0;
    else if (is_signed)
      fits = v >= -(int64_t{1} << (8 * length - 1)) && v < (int64_t{1} << (8 * length - 1));
    else
      fits = v < (int64_t{1} << (8 * length));
    if (!fits) return fail(ErrorKind::OverflowError, "int too big to convert");
  }
  TFL_TRY(guard_memory(interp, static_cast<size_t>(length)));
  std::string out(static_cast<size_t>(length), v < 0 ? '\xff' : '\0');
  for (int64_t i = 0; i < length && i < 8; ++i) {
    auto byte = static_cast<char>(static_cast<uint64_t>(v) >> (8 * i));
    out[static_cast<size_t>(big ? length - 1 - i : i)] = byte;
  }
  return interp.bytes(std::move(out));
}

Result<Value> from_bytes(Interp& interp, Value* a) {
  std::string data;
  if (a[1].is(Kind::Bytes)) {
    data = a[1].as<Bytes>()->data;
  } else {
    if (a[1].is_str() || (!interp.type_of(a[1])->script && !iter(interp, a[1])))
      return fail(ErrorKind::TypeError, "cannot convert '{}' object to bytes", interp.type_name(a[1]));
    TFL_TRY(for_each(interp, a[1], [&](Value item) -> Result<bool> {
      int64_t byte = TFL_TRY(to_index(interp, item));
      if (byte < 0 || byte > 255) return fail(ErrorKind::ValueError, "bytes must be in range(0, 256)");
      data += static_cast<char>(byte);
      return true;
    }));
  }
  bool big = TFL_TRY(is_big_endian(interp, a[2]));
  bool is_signed = TFL_TRY(truth(interp, a[3]));
  if (!big) data.assign(std::string(data.rbegin(), data.rend()));
  bool negative = is_signed && !data.empty() && (data[0] & 0x80);
  uint64_t v = negative ? ~uint64_t{0} : 0;
  bool fits = true;
  for (char c : data) {
    auto top = static_cast<unsigned char>(v >> 56);
    fits &= top == (negative ? 0xFF : 0);
    v = v << 8 | static_cast<unsigned char>(c);
  }
  if (!fits || (negative ? static_cast<int64_t>(v) >= 0 : static_cast<int64_t>(v) < 0)) {
    return fail(ErrorKind::OverflowError, "integer overflow: the bytes do not fit in 64 bits");
  }
  return Value::integer(static_cast<int64_t>(v));
}

constexpr NativeDef kIntMethods[] = {
    method("bit_length", "self, /", bit_length),
    method("bit_count", "self, /", bit_count),
    method("conjugate", "self, /", int_itself),
    method("as_integer_ratio", "self, /", int_ratio),
    method("to_bytes", "self, /, length=1, byteorder='big', *, signed=False", to_bytes),
    class_method("from_bytes", "cls, /, bytes, byteorder='big', *, signed=False", from_bytes),
    method("__round__", "self, ndigits=None, /", int_round),
    method("__trunc__", "self, /", int_itself),
    method("__floor__", "self, /", int_itself),
    method("__ceil__", "self, /", int_itself),
    method("__index__", "self, /", int_itself),
    method("__int__", "self, /", int_itself),
    getter("real", int_itself),
    getter("imag", int_zero),
    getter("numerator", int_itself),
    getter("denominator", int_one),
};

}  // namespace

extern const Slots int_slots, bool_slots;

const Slots int_slots = {.kind = Kind::Boxed,
                         .destroy = destroy_object<Boxed>,
                         .construct = int_construct,
                         .repr = int_repr,
                         .format = int_format,
                         .hash = int_hash,
                         .truth = int_truth,
                         .unary = int_unary,
                         .binary = number_binary,
                         .compare = number_compare};

const Slots bool_slots = {.kind = Kind::Boxed,
                          .destroy = destroy_object<Boxed>,
                          .construct = bool_construct,
                          .repr = bool_repr,
                          .format = int_format,
                          .hash = int_hash,
                          .truth = int_truth,
                          .unary = int_unary,
                          .binary = number_binary,
                          .compare = number_compare};

std::span<const NativeDef> int_methods() { return kIntMethods; }

}  // namespace tfl
