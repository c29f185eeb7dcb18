// Text, truth, hash and length of any value.
#include "frontend/core/attributes.h"
#include "frontend/core/big_int.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/keys.h"

namespace tfl {

namespace {

Result<Value> require_str(Interp& interp, Value v, const char* method) {
  if (v.is_str()) return v;
  return fail(ErrorKind::TypeError, "{} returned non-string (type {})", method, interp.type_name(v));
}

}  // namespace

Result<Value> repr(Interp& interp, const Value& v) {
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  Type* type = interp.type_of(v);
  if (type->script) {
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__repr__, {}));
    if (!r.is_empty()) return require_str(interp, std::move(r), "__repr__");
  }
  if (type->slots->repr) return type->slots->repr(interp, v);
  return object_slots.repr(interp, v);
}

Result<Value> to_str(Interp& interp, const Value& v) {
  Type* type = interp.type_of(v);
  if (!type->script) {
    if (type == interp.types.str) return v;
    if (type->slots->str) return type->slots->str(interp, v);
    return repr(interp, v);
  }
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while calling a Python object");
  // Whichever of __str__ and __repr__ is defined nearer; a native str slot counts where the native type stands.
  Value r = TFL_TRY(call_special(interp, v, interp.sym.__str__, {}));
  if (!r.is_empty()) return require_str(interp, std::move(r), "__str__");
  if (type->slots->str) return type->slots->str(interp, v);
  return repr(interp, v);
}

Result<std::string> repr_text(Interp& interp, const Value& v) {
  Value s = TFL_TRY(repr(interp, v));
  return s.as<Str>()->text;
}

Result<std::string> str_text(Interp& interp, const Value& v) {
  Value s = TFL_TRY(to_str(interp, v));
  return s.as<Str>()->text;
}

Result<Value> format_value(Interp& interp, const Value& v, std::string_view spec) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__format__, {interp.str(std::string(spec))}));
    if (!r.is_empty()) {
      if (r.is_str()) return r;
      return fail(ErrorKind::TypeError, "__format__ must return a str, not {}", interp.type_name(r));
    }
  }
  // A NumPy scalar is formatted as the host number it stands for, with or without a specification: float32 0.1 has more digits than its `str`.
  if (spec.empty() && !v.is_tensor() && !v.is(Kind::NumPyScalar) && !v.is(Kind::NdArray)) return to_str(interp, v);
  if (type->slots->format) return type->slots->format(interp, v, spec);
  return fail(ErrorKind::TypeError, "unsupported format string passed to {}.__format__", type->name->text);
}

Result<bool> truth(Interp& interp, const Value& v) {
  switch (v.tag()) {
    case Tag::Bool: return v.as_bool();
    case Tag::Int: return v.as_int() != 0;
    case Tag::Float: return v.as_float() != 0;
    case Tag::None:
    case Tag::Empty: return false;
    case Tag::Object: break;
  }
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__bool__, {}));
    if (!r.is_empty()) {
      if (r.is_bool()) return r.as_bool();
      return fail(ErrorKind::TypeError, "__bool__ should return bool, returned {}", interp.type_name(r));
    }
    if (script_lookup(interp, type, interp.sym.__len__)) {
      int64_t n = TFL_TRY(length(interp, v));
      return n != 0;
    }
  }
  if (type->slots->truth) return type->slots->truth(interp, v);
  if (type->slots->length) {
    int64_t n = TFL_TRY(type->slots->length(interp, v));
    return n != 0;
  }
  return true;
}

Result<uint64_t> hash_value(Interp& interp, const Value& v) {
  switch (v.tag()) {
    case Tag::Bool:
    case Tag::Int: return hash_int(v.as_int());
    case Tag::Float: return hash_double(v.as_float());
    case Tag::None:
    case Tag::Empty: return uint64_t{0xfca86420};
    case Tag::Object: break;
  }
  Type* type = interp.type_of(v);
  if (type == interp.types.str) return str_hash(v.as<Str>());
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep("");
  if (type->script) {
    if (const Value* entry = script_lookup(interp, type, interp.sym.__hash__)) {
      if (entry->is_none()) return fail(ErrorKind::TypeError, "unhashable type: '{}'", interp.type_name(v));
      Value r = TFL_TRY(call_entry(interp, Value(*entry), v, {}));
      r = unboxed(r);
      if (r.is(Kind::BigInt)) return int_hash_value(r);
      if (!r.is_int() && !r.is_bool()) return fail(ErrorKind::TypeError, "__hash__ method should return an integer");
      return static_cast<uint64_t>(r.as_int() == -1 ? -2 : r.as_int());
    }
  }
  if (type->slots->hash) return type->slots->hash(interp, v);
  return fail(ErrorKind::TypeError, "unhashable type: '{}'", interp.type_name(v));
}

Result<int64_t> length(Interp& interp, const Value& v) {
  Type* type = interp.type_of(v);
  if (type->script) {
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while calling a Python object");
    Value r = TFL_TRY(call_special(interp, v, interp.sym.__len__, {}));
    if (!r.is_empty()) {
      int64_t n = TFL_TRY(to_index(interp, r));
      if (n < 0) return fail(ErrorKind::ValueError, "__len__() should return >= 0");
      return n;
    }
  }
  if (type->slots->length) return type->slots->length(interp, v);
  return fail(ErrorKind::TypeError, "object of type '{}' has no len()", type->name->text);
}

bool is_callable(Interp& interp, const Value& v) {
  switch (v.kind()) {
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type:
    case Kind::StaticMethod: return true;
    default: break;
  }
  Type* type = interp.type_of(v);
  return type->slots->call || script_lookup(interp, type, interp.sym.__call__);
}

}  // namespace tfl
