// Conversion of arguments: __index__, __int__, __float__ of anything, and int() and float() of numbers and text.
#include "frontend/core/attributes.h"
#include "frontend/core/big_int.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/int_text.h"
#include "frontend/text/quote.h"

namespace tfl {

namespace {

/// Calls a special method of a script's class or one that a native type has in its table. Empty: there is none.
Result<Value> call_conversion(Interp& interp, const Value& v, Str* name) {
  if (!v.is_object()) return Value();
  const Value* entry = type_lookup(interp.type_of(v), name);
  if (!entry || entry->is_none()) return Value();
  return call_entry(interp, *entry, v, {});
}

Result<Value> require_int(Interp& interp, Value v, const char* method) {
  Number n = number_of(v);
  if (n.whole()) return n.value();
  return fail(ErrorKind::TypeError, "{} returned non-int (type {})", method, interp.type_name(v));
}

}  // namespace

Result<int64_t> to_index(Interp& interp, const Value& v) {
  if (v.is_int() || v.is_bool()) return v.as_int();
  Value i = TFL_TRY(to_index_value(interp, v));
  if (i.is(Kind::BigInt)) return fail(ErrorKind::OverflowError, "Python int too large to convert to C ssize_t");
  return i.as_int();
}

Result<Value> to_index_value(Interp& interp, const Value& v) {
  Number n = number_of(v);
  if (n.whole()) return n.value();
  Value r = TFL_TRY(call_conversion(interp, v, interp.sym.__index__));
  if (!r.is_empty()) return require_int(interp, r, "__index__");
  return fail(ErrorKind::TypeError, "'{}' object cannot be interpreted as an integer", interp.type_name(v));
}

Result<int64_t> to_clamped_index(Interp& interp, const Value& v) {
  Value i = TFL_TRY(to_index_value(interp, v));
  if (i.is(Kind::BigInt)) return int_negative(i) ? INT64_MIN : INT64_MAX;
  return i.as_int();
}

Result<double> to_double(Interp& interp, const Value& v) {
  if (v.is_float()) return v.as_float();
  Number n = number_of(v);
  if (n.is != Number::Is::Not) return n.checked_real();
  Value r = TFL_TRY(call_conversion(interp, v, interp.sym.__float__));
  if (!r.is_empty()) {
    Number f = number_of(r);
    if (f.is == Number::Is::Float) return f.f;
    return fail(ErrorKind::TypeError, "{}.__float__ returned non-float (type {})", interp.type_name(v), interp.type_name(r));
  }
  r = TFL_TRY(call_conversion(interp, v, interp.sym.__index__));
  if (!r.is_empty()) {
    Value i = TFL_TRY(require_int(interp, r, "__index__"));
    return exact_range_double(i);
  }
  return fail(ErrorKind::TypeError, "must be real number, not {}", interp.type_name(v));
}

Result<Value> to_int_value(Interp& interp, const Value& v) {
  if (v.is_int() || v.is_bool()) return Value::integer(v.as_int());
  if (v.is(Kind::Boxed)) {  // a class of the script may say otherwise
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__int__, {}));
    if (!r.is_empty()) return require_int(interp, r, "__int__");
  }
  Number n = number_of(v);
  if (n.whole()) return n.value();
  if (n.is == Number::Is::Float) return int_of_double(interp, n.f);
  if (interp.type_of(v)->script && (v.is_str() || v.is(Kind::Bytes))) {
    for (Str* name : {interp.sym.__int__, interp.sym.__index__}) {
      Value r = TFL_TRY(call_special(interp, v, name, {}));
      if (!r.is_empty()) return require_int(interp, r, name->text.c_str());
    }
  }
  if (v.is_str() || v.is(Kind::Bytes) || v.is(Kind::ByteArray)) {
    const std::string& text = v.is_str() ? text_of(v) : v.as<Bytes>()->data;
    return int_of_text(interp, text, 10, v.is_str() ? quote_text(text) : quote_bytes(text));
  }
  Value r = TFL_TRY(call_conversion(interp, v, interp.sym.__int__));
  if (!r.is_empty()) return require_int(interp, r, "__int__");
  r = TFL_TRY(call_conversion(interp, v, interp.sym.__index__));
  if (!r.is_empty()) return require_int(interp, r, "__index__");
  r = TFL_TRY(call_conversion(interp, v, interp.sym.__trunc__));
  if (!r.is_empty()) return require_int(interp, r, "__trunc__");
  return fail(ErrorKind::TypeError, "int() argument must be a string, a bytes-like object or a real number, not '{}'",
              interp.type_name(v));
}

}  // namespace tfl
