#include "frontend/interpreter/modules/math_whole.h"

#include "frontend/core/big_int.h"
#include "frontend/core/protocol.h"

namespace tfl {

namespace {

Value zero() { return Value::integer(0); }
bool below_zero(const Value& v) { return int_negative(v); }

Result<Value> math_gcd(Interp& interp, Value* args) {
  Value acc = zero();
  for (const Value& v : args[0].as<Tuple>()->span()) {
    Value n = TFL_TRY(to_index_value(interp, v));
    acc = TFL_TRY(int_gcd(interp, acc, n));
  }
  return acc;
}

Result<Value> math_lcm(Interp& interp, Value* args) {
  Value acc = Value::integer(1);
  for (const Value& v : args[0].as<Tuple>()->span()) {
    Value n = TFL_TRY(to_index_value(interp, v));
    if (int_compare(acc, zero()) == 0) continue;  // what follows must be ints all the same
    Value common = TFL_TRY(int_gcd(interp, acc, n));
    Value part = TFL_TRY(int_binary(interp, BinaryOp::FloorDiv, acc, common));
    acc = TFL_TRY(int_binary(interp, BinaryOp::Mul, part, n));
    if (below_zero(acc)) acc = TFL_TRY(int_negate(interp, acc));
  }
  return acc;
}

Result<Value> math_factorial(Interp& interp, Value* args) {
  if (args[0].is_float()) return fail(ErrorKind::TypeError, "'float' object cannot be interpreted as an integer");
  Value n = TFL_TRY(to_index_value(interp, args[0]));
  if (below_zero(n)) return fail(ErrorKind::ValueError, "factorial() not defined for negative values");
  if (n.is(Kind::BigInt)) return fail(ErrorKind::OverflowError, "factorial() argument should not exceed {}", INT64_MAX);
  return int_product(interp, Value::integer(1), n);
}

/// n * (n - 1) * ... of k factors.
Result<Value> falling(Interp& interp, const Value& n, const Value& k) {
  Value after = TFL_TRY(int_binary(interp, BinaryOp::Sub, n, k));
  Value first = TFL_TRY(int_binary(interp, BinaryOp::Add, after, Value::integer(1)));
  return int_product(interp, first, n);
}

Result<void> check_choice(const Value& n, const Value& k) {
  if (below_zero(n)) return fail(ErrorKind::ValueError, "n must be a non-negative integer");
  if (below_zero(k)) return fail(ErrorKind::ValueError, "k must be a non-negative integer");
  return {};
}

Result<Value> math_comb(Interp& interp, Value* args) {
  Value n = TFL_TRY(to_index_value(interp, args[0]));
  Value k = TFL_TRY(to_index_value(interp, args[1]));
  TFL_TRY(check_choice(n, k));
  Value rest = TFL_TRY(int_binary(interp, BinaryOp::Sub, n, k));
  if (below_zero(rest)) return zero();
  if (int_compare(rest, k) < 0) k = rest;
  if (k.is(Kind::BigInt)) return fail(ErrorKind::OverflowError, "min(n - k, k) must not exceed {}", INT64_MAX);
  if (!n.is(Kind::BigInt)) {  // as long as 64 bits last
    __int128 r = 1;
    int64_t i = 1;
    for (; i <= k.as_int() && r <= INT64_MAX; ++i) r = r * (n.as_int() - k.as_int() + i) / i;
    if (i > k.as_int()) return int_value(interp, r);
  }
  Value above = TFL_TRY(falling(interp, n, k));
  Value below = TFL_TRY(int_product(interp, Value::integer(1), k));
  return int_binary(interp, BinaryOp::FloorDiv, above, below);
}

Result<Value> math_perm(Interp& interp, Value* args) {
  if (args[1].is_none()) return math_factorial(interp, args);
  Value n = TFL_TRY(to_index_value(interp, args[0]));
  Value k = TFL_TRY(to_index_value(interp, args[1]));
  TFL_TRY(check_choice(n, k));
  if (int_compare(n, k) < 0) return zero();
  if (k.is(Kind::BigInt)) return fail(ErrorKind::OverflowError, "k must not exceed {}", INT64_MAX);
  return falling(interp, n, k);
}

Result<Value> math_isqrt(Interp& interp, Value* args) {
  Value n = TFL_TRY(to_index_value(interp, args[0]));
  if (below_zero(n)) return fail(ErrorKind::ValueError, "isqrt() argument must be nonnegative");
  return int_square_root(interp, n);
}

constexpr NativeDef kFunctions[] = {
    function("comb", "n, k, /", math_comb), function("factorial", "x, /", math_factorial),
    function("gcd", "*integers", math_gcd), function("isqrt", "n, /", math_isqrt),
    function("lcm", "*integers", math_lcm), function("perm", "n, k=None, /", math_perm),
};

}  // namespace

std::span<const NativeDef> math_whole_functions() { return kFunctions; }

}  // namespace tfl
