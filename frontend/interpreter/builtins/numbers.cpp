// Built-in functions of numbers and characters.
#include "frontend/core/attributes.h"
#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/int_text.h"
#include "frontend/text/utf8.h"

namespace tfl::builtin {

namespace {

/// A special method of the value's type, native or of a script. Empty: there is none.
Result<Value> call_on_type(Interp& interp, const Value& v, Str* name, std::initializer_list<Value> args) {
  const Value* entry = type_lookup(interp.type_of(v), name);
  if (!entry || entry->is_none()) return Value();
  return call_entry(interp, *entry, v, args);
}

}  // namespace

Result<Value> abs_(Interp& interp, Value* a) {
  const Value& v = a[0];
  if (v.is_float()) return Value::real(std::fabs(v.as_float()));
  if (v.is(Kind::Boxed) || v.is(Kind::BigInt) || !v.is_object()) {
    Value made = TFL_TRY(call_special(interp, v, interp.sym.__abs__, {}));
    if (!made.is_empty()) return made;
    Number n = number_of(v);
    if (n.is == Number::Is::Float) return Value::real(std::fabs(n.f));
    if (n.whole()) return int_negative(n.value()) ? int_negate(interp, n.value()) : n.value();
  }
  Value made = TFL_TRY(call_on_type(interp, v, interp.sym.__abs__, {}));
  if (!made.is_empty()) return made;
  return fail(ErrorKind::TypeError, "bad operand type for abs(): '{}'", interp.type_name(v));
}

Result<Value> round_(Interp& interp, Value* a) {
  const Value& v = a[0];
  if (v.is_float() && a[1].is_none()) {
    return int_of_double(interp, std::nearbyint(v.as_float()));
  }
  Value made = a[1].is_none() ? TFL_TRY(call_on_type(interp, v, interp.sym.__round__, {}))
                              : TFL_TRY(call_on_type(interp, v, interp.sym.__round__, {a[1]}));
  if (!made.is_empty()) return made;
  return fail(ErrorKind::TypeError, "type {} doesn't define __round__ method", interp.type_name(v));
}

Result<Value> divmod_(Interp& interp, Value* a) {
  const Value &x = a[0], &y = a[1];
  Type *tx = interp.type_of(x), *ty = interp.type_of(y);
  const Value* own = script_lookup(interp, tx, interp.sym.__divmod__);
  bool below = ty->is_subtype_of(tx);
  // The numbers' own operation comes before a reflected one of no subclass; ints leave floats to the other side.
  bool takes = !own && !(number_of(x).whole() && number_of(y).is == Number::Is::Float);
  Value r = interp.not_implemented;
  auto reflected = [&]() -> Result<Value> {
    const Value* entry = tx == ty ? nullptr : script_lookup(interp, ty, interp.sym.__rdivmod__);
    return entry ? call_entry(interp, Value(*entry), y, {x}) : Result<Value>(interp.not_implemented);
  };
  if (below) r = TFL_TRY(reflected());
  if (not_implemented(interp, r) && own) r = TFL_TRY(call_entry(interp, Value(*own), x, {y}));
  if (not_implemented(interp, r) && takes) r = TFL_TRY(number_divmod(interp, x, y));
  if (not_implemented(interp, r) && !below) r = TFL_TRY(reflected());
  if (!not_implemented(interp, r)) return r;
  r = TFL_TRY(number_divmod(interp, x, y));
  if (!not_implemented(interp, r)) return r;
  // Arrays: floor division and modulo each for itself.
  auto native = [&](const Value& v) {
    return v.is_object() && !interp.type_of(v)->script && !v.is(Kind::Boxed) && interp.type_of(v)->slots->binary &&
           (v.is(Kind::NdArray) || v.is(Kind::NumPyScalar));
  };
  if (native(x) || native(y)) {
    Value q = TFL_TRY(binary(interp, BinaryOp::FloorDiv, x, y));
    Value m = TFL_TRY(binary(interp, BinaryOp::Mod, x, y));
    return interp.tuple({q, m});
  }
  return fail(ErrorKind::TypeError, "unsupported operand type(s) for divmod(): '{}' and '{}'", interp.type_name(x),
              interp.type_name(y));
}

Result<Value> pow_(Interp& interp, Value* a) {
  if (a[2].is_none()) {
    auto r = binary(interp, BinaryOp::Pow, a[0], a[1]);
    if (!r && r.error().kind == ErrorKind::TypeError && !r.error().payload &&
        r.error().message.starts_with("unsupported operand type(s) for **:")) {
      return fail(ErrorKind::TypeError, "unsupported operand type(s) for ** or pow(): '{}' and '{}'", interp.type_name(a[0]),
                  interp.type_name(a[1]));
    }
    return r;
  }
  Number x = number_of(a[0]), y = number_of(a[1]), m = number_of(a[2]);
  using Is = Number::Is;
  if (x.whole() && y.whole() && m.whole()) return int_pow_mod(interp, x.value(), y.value(), m.value());
  Value r = TFL_TRY(call_special(interp, a[0], interp.sym.__pow__, {a[1], a[2]}));
  if (!r.is_empty() && !not_implemented(interp, r)) return r;
  if (x.is != Is::Not && y.is != Is::Not && m.is != Is::Not) {
    return fail(ErrorKind::TypeError, "pow() 3rd argument not allowed unless all arguments are integers");
  }
  return fail(ErrorKind::TypeError, "unsupported operand type(s) for ** or pow(): '{}', '{}', '{}'", interp.type_name(a[0]),
              interp.type_name(a[1]), interp.type_name(a[2]));
}

namespace {

Result<Value> in_base(Interp& interp, const Value& v, int base) {
  Value i = TFL_TRY(to_index_value(interp, v));
  return interp.ascii(TFL_TRY(int_prefixed_text(interp, i, base)));
}

}  // namespace

Result<Value> bin_(Interp& interp, Value* a) { return in_base(interp, a[0], 2); }
Result<Value> oct_(Interp& interp, Value* a) { return in_base(interp, a[0], 8); }
Result<Value> hex_(Interp& interp, Value* a) { return in_base(interp, a[0], 16); }

Result<Value> chr_(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(to_clamped_index(interp, a[0]));
  if (i < INT32_MIN || i > INT32_MAX) {
    return fail(ErrorKind::OverflowError, "Python int too large to convert to C int");
  }
  if (i < 0 || i > 0x10FFFF) return fail(ErrorKind::ValueError, "chr() arg not in range(0x110000)");
  std::string out;
  utf8::append(out, static_cast<char32_t>(i));
  return interp.str(std::move(out));
}

Result<Value> ord_(Interp& interp, Value* a) {
  if (a[0].is_str()) {
    int64_t n = str_length(a[0].as<Str>());
    if (n == 1) return Value::integer(static_cast<int64_t>(utf8::first(text_of(a[0]))));
    return fail(ErrorKind::TypeError, "ord() expected a character, but string of length {} found", n);
  }
  if (a[0].is(Kind::Bytes) || a[0].is(Kind::ByteArray)) {
    const std::string& s = a[0].as<Bytes>()->data;
    if (s.size() == 1) return Value::integer(static_cast<unsigned char>(s[0]));
    return fail(ErrorKind::TypeError, "ord() expected a character, but string of length {} found", s.size());
  }
  return fail(ErrorKind::TypeError, "ord() expected string of length 1, but {} found", interp.type_name(a[0]));
}

}  // namespace tfl::builtin
