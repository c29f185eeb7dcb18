// Comparison and arithmetic of any values: the script's methods, reflected ones, the types' slots, CPython's errors.
#include "frontend/core/attributes.h"
#include "frontend/core/big_int.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/interpreter/object/operator_methods.h"

namespace tfl {

namespace {

struct OperatorNames {
  std::string_view symbol;
  Str* Symbols::* name;
  Str* Symbols::* reflected;
  Str* Symbols::* inplace;
};

const OperatorNames& names_of(BinaryOp op) {
  static constexpr OperatorNames kNames[] = {
      {"+", &Symbols::__add__, &Symbols::__radd__, &Symbols::__iadd__},
      {"-", &Symbols::__sub__, &Symbols::__rsub__, &Symbols::__isub__},
      {"*", &Symbols::__mul__, &Symbols::__rmul__, &Symbols::__imul__},
      {"/", &Symbols::__truediv__, &Symbols::__rtruediv__, &Symbols::__itruediv__},
      {"//", &Symbols::__floordiv__, &Symbols::__rfloordiv__, &Symbols::__ifloordiv__},
      {"%", &Symbols::__mod__, &Symbols::__rmod__, &Symbols::__imod__},
      {"**", &Symbols::__pow__, &Symbols::__rpow__, &Symbols::__ipow__},
      {"@", &Symbols::__matmul__, &Symbols::__rmatmul__, &Symbols::__imatmul__},
      {"<<", &Symbols::__lshift__, &Symbols::__rlshift__, &Symbols::__ilshift__},
      {">>", &Symbols::__rshift__, &Symbols::__rrshift__, &Symbols::__irshift__},
      {"&", &Symbols::__and__, &Symbols::__rand__, &Symbols::__iand__},
      {"|", &Symbols::__or__, &Symbols::__ror__, &Symbols::__ior__},
      {"^", &Symbols::__xor__, &Symbols::__rxor__, &Symbols::__ixor__},
  };
  return kNames[static_cast<int>(op)];
}

struct CompareNames {
  std::string_view symbol;
  Str* Symbols::* name;
  CompareOp reflected;
};

const CompareNames& names_of(CompareOp op) {
  static constexpr CompareNames kNames[] = {
      {"==", &Symbols::__eq__, CompareOp::Eq}, {"!=", &Symbols::__ne__, CompareOp::Ne}, {"<", &Symbols::__lt__, CompareOp::Gt},
      {"<=", &Symbols::__le__, CompareOp::Ge}, {">", &Symbols::__gt__, CompareOp::Lt},  {">=", &Symbols::__ge__, CompareOp::Le},
      {"is", nullptr, CompareOp::Is},          {"is not", nullptr, CompareOp::IsNot},   {"in", nullptr, CompareOp::In},
      {"not in", nullptr, CompareOp::NotIn},
  };
  return kNames[static_cast<int>(op)];
}

/// The native slot of one side, unless the script's methods stand in front of it.
Result<Value> native_binary(Interp& interp, Type* type, BinaryOp op, const Value& a, const Value& b) {
  if (!type->slots->binary) return interp.not_implemented;
  return type->slots->binary(interp, op, a, b);
}

Failure unsupported(Interp& interp, BinaryOp op, const Value& a, const Value& b, bool inplace) {
  std::string_view symbol = binary_symbol(op);
  if (op == BinaryOp::Pow && !inplace) symbol = "** or pow()";
  if (op == BinaryOp::RShift && !inplace && a.is(Kind::NativeFunction) &&
      a.as<NativeFunction>()->def->name == std::string_view("print")) {
    return fail(ErrorKind::TypeError,
                "unsupported operand type(s) for >>: 'builtin_function_or_method' and '{}'. Did you mean \"print(<message>, "
                "file=<output_stream>)\"?",
                interp.type_name(b));
  }
  return fail(ErrorKind::TypeError, "unsupported operand type(s) for {}{}: '{}' and '{}'", symbol, inplace ? "=" : "",
              interp.type_name(a), interp.type_name(b));
}

/// Whether the number a's own operations take b: those of ints leave what has a float to it.
bool knows(const Value& a, const Value& b) {
  const Value &x = unboxed(a), &y = unboxed(b);
  return !(is_whole(x) && y.is_float());
}

/// NotImplemented when neither side knows the operation.
Result<Value> try_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  Type* ta = interp.type_of(a);
  Type* tb = interp.type_of(b);
  if (!ta->script && !tb->script) {
    Value r = TFL_TRY(native_binary(interp, ta, op, a, b));
    if (!is_not_implemented(interp, r) || ta->slots == tb->slots) return r;
    return native_binary(interp, tb, op, a, b);
  }
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while calling a Python object");
  const OperatorNames& names = names_of(op);
  const Value* left = script_lookup(interp, ta, interp.sym.*names.name);
  const Value* right = ta == tb ? nullptr : script_lookup(interp, tb, interp.sym.*names.reflected);
  // A subclass that defines the reflected operation anew goes first.
  bool right_first = right && ((tb->is_subtype_of(ta) && right != script_lookup(interp, ta, interp.sym.*names.reflected)) ||
                               (!left && !knows(a, b)));
  if (right_first) {
    Value r = TFL_TRY(call_entry(interp, Value(*right), b, {a}));
    if (!is_not_implemented(interp, r)) return r;
    right = nullptr;
  }
  if (left) {
    Value r = TFL_TRY(call_entry(interp, Value(*left), a, {b}));
    if (!is_not_implemented(interp, r)) return r;
  } else {
    Value r = TFL_TRY(native_binary(interp, ta, op, a, b));
    if (!is_not_implemented(interp, r)) return r;
  }
  if (right_first || ta == tb) return interp.not_implemented;
  right = script_lookup(interp, tb, interp.sym.*names.reflected);
  if (right) return call_entry(interp, Value(*right), b, {a});
  // A number's own operation is still there behind a method of its subclass that declines.
  bool number = is_whole(b) || b.is_float();
  if (ta->slots == tb->slots && !(left && number)) return interp.not_implemented;
  return native_binary(interp, tb, op, a, b);
}

Result<Value> try_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  Type* ta = interp.type_of(a);
  Type* tb = interp.type_of(b);
  const CompareNames& names = names_of(op);
  CompareOp back = names.reflected;
  auto one_side = [&](Type* type, CompareOp how, const Value& x, const Value& y) -> Result<Value> {
    if (type->script) {
      Str* name = interp.sym.*names_of(how).name;
      if (const Value* entry = script_lookup(interp, type, name)) return call_entry(interp, Value(*entry), x, {y});
      if (how == CompareOp::Ne && !type->slots->compare) {  // as object does it; a native ancestor has its own !=
        if (const Value* entry = script_lookup(interp, type, interp.sym.__eq__)) {
          Value r = TFL_TRY(call_entry(interp, Value(*entry), x, {y}));
          if (is_not_implemented(interp, r)) return r;
          bool same = TFL_TRY(truth(interp, r));
          return Value::boolean(!same);
        }
      }
    }
    if (!type->slots->compare) return interp.not_implemented;
    return type->slots->compare(interp, how, x, y);
  };
  if (!ta->script && !tb->script) {
    Value r = TFL_TRY(one_side(ta, op, a, b));
    if (!is_not_implemented(interp, r) || ta->slots == tb->slots) return r;
    return one_side(tb, back, b, a);
  }
  bool right_first =
      tb != ta && tb->script && (tb->is_subtype_of(ta) || (!script_lookup(interp, ta, interp.sym.*names.name) && !knows(a, b)));
  if (right_first) {
    Value r = TFL_TRY(one_side(tb, back, b, a));
    if (!is_not_implemented(interp, r)) return r;
  }
  Value r = TFL_TRY(one_side(ta, op, a, b));
  if (!is_not_implemented(interp, r) || right_first) return r;
  return one_side(tb, back, b, a);
}

}  // namespace

Function* final_operator(Interp& interp, BinaryOp op, const Value& a, const Value& b, bool inplace) {
  Type* type = a.object()->type;
  if (type != b.object()->type || !type->script) return nullptr;
  const OperatorNames& names = names_of(op);
  if (inplace && script_lookup(interp, type, interp.sym.*names.inplace)) return nullptr;
  const Value* entry = script_lookup(interp, type, interp.sym.*names.name);
  return entry && entry->is(Kind::Function) ? entry->as<Function>() : nullptr;
}

std::string_view binary_symbol(BinaryOp op) { return names_of(op).symbol; }
std::string_view compare_symbol(CompareOp op) { return names_of(op).symbol; }

Result<Value> compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  switch (op) {
    case CompareOp::Is: return Value::boolean(a.identical(b));
    case CompareOp::IsNot: return Value::boolean(!a.identical(b));
    case CompareOp::In: return Value::boolean(TFL_TRY(contains(interp, b, a)));
    case CompareOp::NotIn: return Value::boolean(!TFL_TRY(contains(interp, b, a)));
    default: break;
  }
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" in comparison");
  Value r = TFL_TRY(try_compare(interp, op, a, b));
  if (!is_not_implemented(interp, r)) return r;
  if (op == CompareOp::Eq) return Value::boolean(a.identical(b));
  if (op == CompareOp::Ne) return Value::boolean(!a.identical(b));
  return fail(ErrorKind::TypeError, "'{}' not supported between instances of '{}' and '{}'", compare_symbol(op),
              interp.type_name(a), interp.type_name(b));
}

Result<bool> equals(Interp& interp, const Value& a, const Value& b) {
  if (a.identical(b) && !a.is_float()) return true;
  if (a.is_int() && b.is_int()) return a.as_int() == b.as_int();
  Type* ta = interp.type_of(a);
  Type* tb = interp.type_of(b);
  if (ta == interp.types.str && tb == ta) return a.as<Str>()->text == b.as<Str>()->text;
  if (a.is_float() && b.is_float()) return a.as_float() == b.as_float() || a.identical(b);
  Value r = TFL_TRY(compare(interp, CompareOp::Eq, a, b));
  return truth(interp, r);
}

Result<bool> less(Interp& interp, const Value& a, const Value& b) {
  if (a.is_int() && b.is_int()) return a.as_int() < b.as_int();
  if (a.is_float() && b.is_float()) return a.as_float() < b.as_float();
  Value r = TFL_TRY(compare(interp, CompareOp::Lt, a, b));
  return truth(interp, r);
}

namespace {

bool is_sequence(const Value& v) {
  return v.is_str() || v.is(Kind::List) || v.is(Kind::Tuple) || v.is(Kind::Bytes) || v.is(Kind::ByteArray);
}

/// Whether a *= sequence repeats the sequence: CPython asks the right side only where the left side's type has no table of what sequences do.
bool lets_repeat(Interp& interp, const Value& a) {
  const Type* type = interp.type_of(a);
  return !type->script && (a.is(Kind::Type) || (!type->slots->contains && !type->slots->length && !type->slots->get_item));
}

/// The operation as try_binary does it, and a sequence repeated by what has __index__.
Result<Value> binary_or_repeat(Interp& interp, BinaryOp op, const Value& a, const Value& b, bool inplace) {
  Value r = TFL_TRY(try_binary(interp, op, a, b));
  if (op != BinaryOp::Mul || !is_not_implemented(interp, r)) return r;
  bool left = is_sequence(a);
  if (!left && (!is_sequence(b) || (inplace && !lets_repeat(interp, a)))) return r;
  const Value& sequence = left ? a : b;
  const Value& times = left ? b : a;
  if (unboxed(times).is(Kind::BigInt))
    return fail(ErrorKind::OverflowError, "cannot fit '{}' into an index-sized integer", interp.type_name(times));
  if (!script_lookup(interp, interp.type_of(times), interp.sym.__index__)) return r;
  int64_t n = TFL_TRY(to_index(interp, times));
  const Slots& slots = *interp.type_of(sequence)->slots;
  if (inplace && slots.inplace) return slots.inplace(interp, op, sequence, Value::integer(n));
  return native_binary(interp, interp.type_of(sequence), op, sequence, Value::integer(n));
}

}  // namespace

Result<Value> binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  Value r = TFL_TRY(binary_or_repeat(interp, op, a, b, false));
  if (!is_not_implemented(interp, r)) return r;
  return binary_error(interp, op, a, b, false);
}

Failure binary_error(Interp& interp, BinaryOp op, const Value& a, const Value& b, bool inplace) {
  Kind ka = a.kind();
  if (op == BinaryOp::Add && is_sequence(a)) {
    if (ka == Kind::Bytes || ka == Kind::ByteArray)
      return fail(ErrorKind::TypeError, "can't concat {} to {}", interp.type_name(b), interp.type_name(a));
    std::string_view name = ka == Kind::Str ? "str" : ka == Kind::List ? "list" : "tuple";
    return fail(ErrorKind::TypeError, "can only concatenate {} (not \"{}\") to {}", name, interp.type_name(b), name);
  }
  // A sequence whose class has one of the two methods is multiplied by methods alone, of which the native one asks for an index.
  auto has = [&](const Value& v, Str* name) {
    return is_sequence(v) && script_lookup(interp, interp.type_of(v), name) != nullptr;
  };
  if (op == BinaryOp::Mul) {
    const bool b_mul = has(b, interp.sym.__mul__), b_rmul = has(b, interp.sym.__rmul__);
    const bool a_mul = has(a, interp.sym.__mul__), a_rmul = has(a, interp.sym.__rmul__);
    const Value* other = b_mul && !b_rmul ? &a : a_rmul && !a_mul ? &b : nullptr;
    if (other) return fail(ErrorKind::TypeError, "'{}' object cannot be interpreted as an integer", interp.type_name(*other));
    if (b_rmul && !is_sequence(a)) return unsupported(interp, op, a, b, inplace);
  }
  if (op == BinaryOp::Mul && (is_sequence(a) || (is_sequence(b) && (!inplace || lets_repeat(interp, a))))) {
    return fail(ErrorKind::TypeError, "can't multiply sequence by non-int of type '{}'",
                interp.type_name(is_sequence(a) ? b : a));
  }
  return unsupported(interp, op, a, b, inplace);
}

Result<Value> inplace(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  Type* type = interp.type_of(a);
  if (type->script) {
    const OperatorNames& names = names_of(op);
    if (const Value* entry = script_lookup(interp, type, interp.sym.*names.inplace)) {
      Value r = TFL_TRY(call_entry(interp, Value(*entry), a, {b}));
      if (!is_not_implemented(interp, r)) return r;
    } else if (type->slots->inplace && !script_lookup(interp, type, interp.sym.*names.name)) {
      Value r = TFL_TRY(type->slots->inplace(interp, op, a, b));
      if (!is_not_implemented(interp, r)) return r;
    }
  } else if (type->slots->inplace) {
    Value r = TFL_TRY(type->slots->inplace(interp, op, a, b));
    if (!is_not_implemented(interp, r)) return r;
  }
  Value r = TFL_TRY(binary_or_repeat(interp, op, a, b, true));
  if (!is_not_implemented(interp, r)) return r;
  return binary_error(interp, op, a, b, true);
}

Result<Value> unary(Interp& interp, UnaryOp op, const Value& v) {
  if (op == UnaryOp::Not) {
    bool yes = TFL_TRY(truth(interp, v));
    return Value::boolean(!yes);
  }
  Type* type = interp.type_of(v);
  if (type->script) {
    Str* name = op == UnaryOp::Minus ? interp.sym.__neg__ : op == UnaryOp::Plus ? interp.sym.__pos__ : interp.sym.__invert__;
    Value r = TFL_TRY(call_special(interp, v, name, {}));
    if (!r.is_empty()) return r;
  }
  if (type->slots->unary) {
    Value r = TFL_TRY(type->slots->unary(interp, op, v));
    if (!is_not_implemented(interp, r)) return r;
  }
  std::string_view symbol = op == UnaryOp::Minus ? "-" : op == UnaryOp::Plus ? "+" : "~";
  return fail(ErrorKind::TypeError, "bad operand type for unary {}: '{}'", symbol, interp.type_name(v));
}

}  // namespace tfl
