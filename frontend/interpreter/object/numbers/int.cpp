// int and bool: construction, operators, text, methods.
#include <algorithm>

#include "frontend/core/big_int.h"
#include "frontend/core/buffer.h"
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

Result<Value> int_from_text(Interp& interp, const Value& text, int64_t base) {
  if (base != 0 && (base < 2 || base > 36)) return fail(ErrorKind::ValueError, "int() base must be >= 2 and <= 36, or 0");
  bool is_str = text.is_str();
  if (!is_str && !text.is(Kind::Bytes) && !text.is(Kind::ByteArray))
    return fail(ErrorKind::TypeError, "int() can't convert non-string with explicit base");
  const std::string& s = is_str ? text_of(text) : text.as<Bytes>()->data;
  return int_of_text(interp, s, static_cast<int>(base), is_str ? quote_text(s) : quote_bytes(s));
}

Result<Value> int_construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "int", args, {"x", "base"}, 0, 1, out));
  Value number = Value::integer(0);
  if (!out[1].is_empty()) {
    if (out[0].is_empty()) return fail(ErrorKind::TypeError, "int() missing string argument");
    int64_t base = TFL_TRY(to_index(interp, out[1]));
    number = TFL_TRY(int_from_text(interp, out[0], base));
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

Result<Value> int_repr(Interp& interp, const Value& self) {
  Number n = number_of(self);
  if (n.is != Number::Is::Big) return interp.str(std::to_string(n.i));
  return interp.ascii(TFL_TRY(int_text(interp, n.value())));
}
Result<Value> bool_repr(Interp& interp, const Value& self) { return interp.str(std::string(self.as_bool() ? "True" : "False")); }

Result<Value> int_format(Interp& interp, const Value& self, std::string_view spec) {
  if (spec.empty()) return to_str(interp, self);
  std::string_view name = interp.type_name(self);
  FormatSpec f = TFL_TRY(parse_format_spec(spec, 'd', '>', name));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(std::max(f.width, f.precision) + 1)));
  Number n = number_of(self);
  if (n.is != Number::Is::Big) return interp.str(TFL_TRY(format_integer(f, n.i, name)));
  if (f.type == 'c') return fail(ErrorKind::OverflowError, "Python int too large to convert to C long");
  const int base = integer_base(f.type);
  if (base == 0) return interp.str(TFL_TRY(format_real(f, TFL_TRY(n.checked_real()), name)));
  std::string digits;
  if (base == 10) {
    digits = TFL_TRY(int_text(interp, n.value()));
    if (digits[0] == '-') digits.erase(0, 1);
  } else {
    digits = TFL_TRY(int_magnitude_text(interp, n.value(), base));
  }
  return interp.str(TFL_TRY(format_digits(f, n.big->negative, std::move(digits))));
}

Result<uint64_t> int_hash(Interp&, const Value& self) {
  Number n = number_of(self);
  return n.is == Number::Is::Big ? int_hash_value(n.value()) : hash_int(n.i);
}
Result<bool> int_truth(Interp&, const Value& self) {
  Number n = number_of(self);
  return n.is == Number::Is::Big || n.i != 0;
}

void int_destroy(Object* o) {
  if (o->kind != static_cast<uint8_t>(Kind::BigInt)) return destroy_object<Boxed>(o);
  auto used = static_cast<size_t>(static_cast<BigInt*>(o)->used);
  Heap::release(o, sizeof(BigInt) + (used - 1) * sizeof(uint64_t));
}

Result<Value> int_unary(Interp& interp, UnaryOp op, const Value& self) {
  Number n = number_of(self);
  switch (op) {
    case UnaryOp::Minus: return int_negate(interp, n.value());
    case UnaryOp::Plus: return n.value();
    case UnaryOp::Invert:
      if (n.is != Number::Is::Big) return Value::integer(~n.i);
      return int_binary(interp, BinaryOp::Sub, Value::integer(-1), n.value());
    case UnaryOp::Not: break;
  }
  return Value::boolean(n.is != Number::Is::Big && n.i == 0);
}

// ------------------------------------------------------------------------------------------------------ methods

Value self_int(const Value* a) { return number_of(a[0]).value(); }

Result<Value> bit_length(Interp&, Value* a) { return Value::integer(int_bit_length(self_int(a))); }
Result<Value> bit_count(Interp&, Value* a) { return Value::integer(int_bit_count(self_int(a))); }
Result<Value> int_itself(Interp&, Value* a) { return self_int(a); }
Result<Value> int_zero(Interp&, Value*) { return Value::integer(0); }
Result<Value> int_one(Interp&, Value*) { return Value::integer(1); }
Result<Value> int_ratio(Interp& interp, Value* a) { return interp.tuple({self_int(a), Value::integer(1)}); }

Result<Value> round_method(Interp& interp, Value* a) {
  if (a[1].is_none()) return self_int(a);
  Value digits = TFL_TRY(to_index_value(interp, a[1]));
  if (digits.is(Kind::BigInt)) return int_negative(digits) ? Value::integer(0) : self_int(a);
  return int_round(interp, self_int(a), digits.as_int());
}

Result<bool> is_big_endian(Interp& interp, const Value& order) {
  if (!order.is_str()) return fail(ErrorKind::TypeError, "argument 'byteorder' must be str, not {}", interp.type_name(order));
  if (text_of(order) == "big") return true;
  if (text_of(order) == "little") return false;
  return fail(ErrorKind::ValueError, "byteorder must be either 'little' or 'big'");
}

Result<Value> to_bytes(Interp& interp, Value* a) {
  int64_t length = TFL_TRY(to_index(interp, a[1]));
  bool big = TFL_TRY(is_big_endian(interp, a[2]));
  bool is_signed = TFL_TRY(truth(interp, a[3]));
  if (length < 0) return fail(ErrorKind::ValueError, "length argument must be non-negative");
  std::string out = TFL_TRY(int_to_bytes(interp, self_int(a), static_cast<size_t>(length), is_signed));
  if (big) std::reverse(out.begin(), out.end());
  return interp.bytes(std::move(out));
}

Result<Value> from_bytes(Interp& interp, Value* a) {
  std::string data;
  if (is_bytes_like(a[1])) {
    Value held = TFL_TRY(bytes_like(interp, a[1]));
    data = held.as<Bytes>()->data;
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
  if (big) std::reverse(data.begin(), data.end());
  Value made = TFL_TRY(int_of_bytes(interp, data, is_signed));
  if (a[0].is(Kind::Type) && a[0].as<Type>() != interp.types.int_) return interp.call(a[0], {made});
  return made;
}

constexpr NativeDef kIntMethods[] = {
    method("bit_length", "self, /", bit_length),
    method("bit_count", "self, /", bit_count),
    method("conjugate", "self, /", int_itself),
    method("as_integer_ratio", "self, /", int_ratio),
    method("to_bytes", "self, /, length=1, byteorder='big', *, signed=False", to_bytes),
    class_method("from_bytes", "cls, /, bytes, byteorder='big', *, signed=False", from_bytes),
    method("__round__", "self, ndigits=None, /", round_method),
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
                         .destroy = int_destroy,
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
