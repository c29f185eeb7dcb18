// Constant folding: -1, 2 * 3, 10 ** 6, (1, "a", None), "-" * 20. What would raise or overflow is left to run time.
#include <cmath>

#include "frontend/core/big_int.h"
#include "frontend/core/complex_value.h"
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {
namespace {

using namespace ast;

constexpr int kMaxFoldDepth = 16;
constexpr size_t kMaxFoldedText = 4096;

bool looks_like_name(std::string_view text) {
  if (text.empty() || text.size() > 64) return false;
  for (char c : text) {
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!word) return false;
  }
  return true;
}

Value literal(Interp& interp, const Constant* c) {
  switch (c->constant) {
    case ConstantKind::None: return Value::none();
    case ConstantKind::True: return Value::boolean(true);
    case ConstantKind::False: return Value::boolean(false);
    case ConstantKind::Ellipsis: return interp.ellipsis;
    case ConstantKind::Int: return c->text.empty() ? Value::integer(c->integer) : int_literal(interp, c->text);
    case ConstantKind::Float: return Value::real(c->real);
    case ConstantKind::Imaginary: return complex_value(interp, 0, c->real);
    case ConstantKind::String:
      return looks_like_name(c->text) ? interp.str(interp.intern(c->text)) : interp.str(std::string(c->text));
    case ConstantKind::Bytes: return interp.bytes(std::string(c->text));
  }
  return {};
}

Value fold_power(int64_t base, int64_t exponent) {
  if (exponent < 0) return {};
  int64_t result = 1;
  while (exponent > 0) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) return {};
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return {};
  }
  return Value::integer(result);
}

Value fold_int(BinaryOp op, int64_t a, int64_t b) {
  int64_t r = 0;
  switch (op) {
    case BinaryOp::Add: return __builtin_add_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::Sub: return __builtin_sub_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::Mul: return __builtin_mul_overflow(a, b, &r) ? Value() : Value::integer(r);
    case BinaryOp::FloorDiv:
    case BinaryOp::Mod: {
      if (b == 0 || b == -1) return {};
      int64_t quotient = a / b, rest = a % b;
      if (rest != 0 && (rest < 0) != (b < 0)) --quotient, rest += b;
      return Value::integer(op == BinaryOp::Mod ? rest : quotient);
    }
    case BinaryOp::Pow: return fold_power(a, b);
    case BinaryOp::LShift:
      if (b < 0 || b > 62 || a < 0 || a > (INT64_MAX >> b)) return {};
      return Value::integer(a << b);
    case BinaryOp::RShift: return b < 0 || b > 63 ? Value() : Value::integer(a >> b);
    case BinaryOp::BitAnd: return Value::integer(a & b);
    case BinaryOp::BitOr: return Value::integer(a | b);
    case BinaryOp::BitXor: return Value::integer(a ^ b);
    case BinaryOp::Div:
    case BinaryOp::MatMul: break;
  }
  return {};
}

constexpr int64_t kExact = int64_t{1} << 53;  // quotients of larger integers need care: left to run time

Value fold_float(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::Add: return Value::real(a + b);
    case BinaryOp::Sub: return Value::real(a - b);
    case BinaryOp::Mul: return Value::real(a * b);
    case BinaryOp::Div: return b == 0 ? Value() : Value::real(a / b);
    default: return {};
  }
}

Value fold_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  auto small = [](const Value& v) { return v.is_float() || (v.is_int() && v.as_int() <= kExact && v.as_int() >= -kExact); };
  auto number = [](const Value& v) { return v.is_float() ? v.as_float() : static_cast<double>(v.as_int()); };
  if (a.is_int() && b.is_int() && op != BinaryOp::Div) return fold_int(op, a.as_int(), b.as_int());
  if (small(a) && small(b)) return fold_float(op, number(a), number(b));
  if (a.is_str() && b.is_str() && op == BinaryOp::Add) {
    std::string text = a.as<Str>()->text + b.as<Str>()->text;
    if (text.size() <= kMaxFoldedText) return interp.str(std::move(text));
  }
  if (a.is_str() && b.is_int() && op == BinaryOp::Mul) {
    const std::string& piece = a.as<Str>()->text;
    int64_t times = b.as_int();
    if (times < 0 || static_cast<size_t>(times) > kMaxFoldedText || piece.size() * static_cast<size_t>(times) > kMaxFoldedText)
      return {};
    std::string text;
    for (int64_t i = 0; i < times; ++i) text += piece;
    return interp.str(std::move(text));
  }
  return {};
}

Value fold_unary(Interp& interp, UnaryOp op, const Value& v) {
  switch (op) {
    case UnaryOp::Minus:
      if (v.is_float()) return Value::real(-v.as_float());
      if (v.is_int() && v.as_int() != INT64_MIN) return Value::integer(-v.as_int());
      if (v.is(Kind::BigInt)) {
        auto negated = int_negate(interp, v);
        if (negated) return negated.take();
      }
      return {};
    case UnaryOp::Plus: return v.is_float() || v.is_int() ? v : Value();
    case UnaryOp::Invert: return v.is_int() ? Value::integer(~v.as_int()) : Value();
    case UnaryOp::Not:
      if (v.is_none()) return Value::boolean(true);
      return v.is_bool() || v.is_int() ? Value::boolean(v.as_int() == 0) : Value();
  }
  return {};
}

Value fold_at(Interp& interp, const Expr* e, int depth) {
  if (depth > kMaxFoldDepth) return {};
  switch (e->kind) {
    case ExprKind::Constant: return literal(interp, as<Constant>(e));
    case ExprKind::Name: return as<Name>(e)->id == "__debug__" ? Value::boolean(true) : Value();
    case ExprKind::Unary: {
      Value v = fold_at(interp, as<Unary>(e)->operand, depth + 1);
      return v.is_empty() ? v : fold_unary(interp, as<Unary>(e)->op, v);
    }
    case ExprKind::Binary: {
      Value right = fold_at(interp, as<Binary>(e)->right, depth + 1);
      if (right.is_empty()) return {};
      Value left = fold_at(interp, as<Binary>(e)->left, depth + 1);
      return left.is_empty() ? left : fold_binary(interp, as<Binary>(e)->op, left, right);
    }
    case ExprKind::Tuple: {
      std::vector<Value> items;
      for (const Expr* item : as<Tuple>(e)->items) {
        items.push_back(fold_at(interp, item, depth + 1));
        if (items.back().is_empty()) return {};
      }
      return items.empty() ? interp.empty_tuple : interp.tuple(std::span<const Value>(items));
    }
    default: return {};
  }
}

}  // namespace

Value fold(Interp& interp, const Expr* e) { return fold_at(interp, e, 0); }

}  // namespace tfl::compile
