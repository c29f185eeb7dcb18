// float: construction, operators, text, methods.
#include "frontend/core/attributes.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/format_spec.h"
#include "frontend/text/quote.h"

namespace tfl {

namespace {

Result<double> float_of(Interp& interp, const Value& v) {
  if (v.is_str() || v.is(Kind::Bytes) || v.is(Kind::ByteArray)) {
    if (interp.type_of(v)->script) {  // which may say itself what number it is
      Value own = TFL_TRY(call_special(interp, v, interp.sym.__float__, {}));
      if (own.is_empty()) own = TFL_TRY(call_special(interp, v, interp.sym.__index__, {}));
      if (!own.is_empty()) return to_double(interp, own);
    }
    const std::string& text = v.is_str() ? text_of(v) : v.as<Bytes>()->data;
    if (auto d = parse_float(text)) return *d;
    return fail(ErrorKind::ValueError, "could not convert string to float: {}",
                v.is_str() ? quote_text(text) : quote_bytes(text));
  }
  if (v.is(Kind::Boxed)) {
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__float__, {}));
    if (!r.is_empty()) return to_double(interp, r);
  }
  auto d = to_double(interp, v);
  if (!d && d.error().kind == ErrorKind::TypeError && !d.error().payload &&
      d.error().message.starts_with("must be real number")) {
    return fail(ErrorKind::TypeError, "float() argument must be a string or a real number, not '{}'", interp.type_name(v));
  }
  return d;
}

Result<Value> float_construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "float", args, {"x"}, 0, 1, out));
  double v = 0;
  if (!out[0].is_empty()) v = TFL_TRY(float_of(interp, out[0]));
  if (type == interp.types.float_) return Value::real(v);
  auto* box = interp.allocate<Boxed>(type);
  box->value = Value::real(v);
  return Value::adopt(box);
}

double self_float(const Value& v) { return number_of(v).f; }

Result<Value> repr_slot(Interp& interp, const Value& self) { return interp.str(float_repr(self_float(self))); }

Result<Value> format_slot(Interp& interp, const Value& self, std::string_view spec) {
  if (spec.empty()) return to_str(interp, self);
  std::string_view name = interp.type_name(self);
  FormatSpec f = TFL_TRY(parse_format_spec(spec, 0, '>', name));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(std::max(f.width, f.precision) + 1)));
  std::string text = TFL_TRY(format_real(f, self_float(self), name));
  return interp.str(std::move(text));
}

Result<uint64_t> hash_slot(Interp&, const Value& self) { return hash_double(self_float(self)); }
Result<bool> truth_slot(Interp&, const Value& self) { return self_float(self) != 0; }

Result<Value> unary_slot(Interp& interp, UnaryOp op, const Value& self) {
  double v = self_float(self);
  switch (op) {
    case UnaryOp::Minus: return Value::real(-v);
    case UnaryOp::Plus: return Value::real(v);
    case UnaryOp::Not: return Value::boolean(v == 0);
    case UnaryOp::Invert: break;
  }
  return fail(ErrorKind::TypeError, "bad operand type for unary ~: '{}'", interp.type_name(self));
}

// ------------------------------------------------------------------------------------------------------ methods

Result<Value> is_integer(Interp&, Value* a) {
  double v = self_float(a[0]);
  return Value::boolean(std::isfinite(v) && v == std::floor(v));
}
Result<Value> itself(Interp&, Value* a) { return Value::real(self_float(a[0])); }
Result<Value> imaginary(Interp&, Value*) { return Value::real(0.0); }
Result<Value> hex(Interp& interp, Value* a) { return interp.str(float_hex(self_float(a[0]))); }

Result<Value> fromhex(Interp& interp, Value* a) {
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "bad argument type for built-in operation");
  bool overflow = false;
  auto v = parse_float_hex(text_of(a[1]), overflow);
  if (overflow) return fail(ErrorKind::OverflowError, "hexadecimal value too large to represent as a float");
  if (!v) return fail(ErrorKind::ValueError, "invalid hexadecimal floating-point string");
  (void)interp;
  return Value::real(*v);
}

Result<Value> as_integer_ratio(Interp& interp, Value* a) {
  double v = self_float(a[0]);
  if (std::isinf(v)) return fail(ErrorKind::OverflowError, "cannot convert Infinity to integer ratio");
  if (std::isnan(v)) return fail(ErrorKind::ValueError, "cannot convert NaN to integer ratio");
  int e;
  double m = std::frexp(v, &e);
  for (int i = 0; i < 300 && m != std::floor(m); ++i) {
    m *= 2;
    --e;
  }
  // v = m * 2**e with whole m, odd where e is negative
  Value numerator = TFL_TRY(int_of_double(interp, m)), denominator = Value::integer(1);
  Value power = TFL_TRY(int_binary(interp, BinaryOp::LShift, denominator, Value::integer(std::abs(e))));
  if (e >= 0)
    numerator = TFL_TRY(int_binary(interp, BinaryOp::Mul, numerator, power));
  else
    denominator = power;
  return interp.tuple({numerator, denominator});
}

template <double (*F)(double)>
Result<Value> whole(Interp& interp, Value* a) {
  return int_of_double(interp, F(self_float(a[0])));
}
double floor_of(double v) { return std::floor(v); }
double ceil_of(double v) { return std::ceil(v); }
double trunc_of(double v) { return std::trunc(v); }

Result<Value> round_method(Interp& interp, Value* a) {
  double v = self_float(a[0]);
  if (a[1].is_none()) return int_of_double(interp, std::nearbyint(v));
  int64_t digits = TFL_TRY(to_clamped_index(interp, a[1]));
  double r = round_decimal(v, digits);
  if (std::isinf(r) && std::isfinite(v)) return fail(ErrorKind::OverflowError, "rounded value too large to represent");
  return Value::real(r);
}

constexpr NativeDef kMethods[] = {
    method("is_integer", "self, /", is_integer),
    method("as_integer_ratio", "self, /", as_integer_ratio),
    method("conjugate", "self, /", itself),
    method("hex", "self, /", hex),
    class_method("fromhex", "cls, string, /", fromhex),
    method("__round__", "self, ndigits=None, /", round_method),
    method("__trunc__", "self, /", whole<trunc_of>),
    method("__floor__", "self, /", whole<floor_of>),
    method("__ceil__", "self, /", whole<ceil_of>),
    method("__int__", "self, /", whole<trunc_of>),
    method("__float__", "self, /", itself),
    getter("real", itself),
    getter("imag", imaginary),
};

}  // namespace

extern const Slots float_slots;

const Slots float_slots = {.kind = Kind::Boxed,
                           .destroy = destroy_object<Boxed>,
                           .construct = float_construct,
                           .repr = repr_slot,
                           .format = format_slot,
                           .hash = hash_slot,
                           .truth = truth_slot,
                           .unary = unary_slot,
                           .binary = number_binary,
                           .compare = number_compare};

std::span<const NativeDef> float_methods() { return kMethods; }

}  // namespace tfl
