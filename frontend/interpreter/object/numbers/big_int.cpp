// Ints of any size: what Python's operators mean for them, computed by Whole. Results that fit 64 bits become unboxed again.
#include "frontend/core/big_int.h"

#include <cmath>
#include <numeric>

#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/whole.h"
#include "frontend/interpreter/object/numbers/whole_value.h"

namespace tfl {

namespace {

Failure too_large_float(const char* what) { return fail(ErrorKind::OverflowError, "{}", what); }

/// The 64 highest bits of a magnitude of more than that, with all below as their lowest bit; `shift` is what they were shifted by.
uint64_t top_bits(const mp_int* n, int64_t& shift) {
  shift = bit_length(n) - 64;
  Whole top = shifted_right(n, 0);
  top.get()->sign = MP_ZPOS;
  top = shifted_right(top, shift);
  uint64_t bits = mp_get_mag_u64(top);
  for (int64_t i = 0; i < shift / MP_DIGIT_BIT; ++i) {
    if (n->dp[i] != 0) return bits | 1;
  }
  const int64_t rest = shift % MP_DIGIT_BIT;
  return n->dp[shift / MP_DIGIT_BIT] & ((mp_digit{1} << rest) - 1) ? bits | 1 : bits;
}

/// Both sides scaled so that the quotient has 55 bits or more, whose one rounding the rest decides; fewer where it is subnormal.
Result<Value> true_division(Interp& interp, const mp_int* a, const mp_int* b) {
  if (a->used == 0) return Value::real(b->sign == MP_NEG ? -0.0 : 0.0);
  const int64_t size = bit_length(a) - bit_length(b);
  if (size > 1024) return too_large_float("integer division result too large for a float");
  int64_t shift = 60 - size;
  if (shift > 1076) shift = 1076;
  WholeMath math(interp.context.interrupt);
  if (shift > 0) TFL_TRY(guard_digits(interp, a->used + shift / MP_DIGIT_BIT));
  Whole n = shift > 0 ? shifted_left(a, shift) : Whole(a), d = shift < 0 ? shifted_left(b, -shift) : Whole(b), q, r;
  math.divide(n, d, q, r);
  TFL_TRY(check_cut(interp, math));
  uint64_t bits = mp_get_mag_u64(q);
  if (!r.zero()) bits |= 1;
  double v = std::ldexp(static_cast<double>(bits), static_cast<int>(-shift));
  if (std::isinf(v)) return too_large_float("integer division result too large for a float");
  return Value::real(a->sign == b->sign ? v : -v);
}

Result<Value> float_power(Interp& interp, const Value& a, const Value& b) {
  double x = TFL_TRY(exact_range_double(a));
  double y = TFL_TRY(exact_range_double(b));
  if (x == 0) return fail(ErrorKind::ZeroDivisionError, "0.0 cannot be raised to a negative power");
  (void)interp;
  return Value::real(std::pow(x, y));
}

Result<Value> power(Interp& interp, const Value& a, const Value& b) {
  if (int_negative(b)) return float_power(interp, a, b);
  Operand base(a);
  const int64_t bits = bit_length(base);
  if (bits <= 1) {  // 0, 1, -1
    if (int_compare(b, Value::integer(0)) == 0) return Value::integer(1);
    return Value::integer(a.as_int() == -1 && !(int_low_bits(b) & 1) ? 1 : a.as_int());
  }
  int64_t most = 0;
  if (b.is(Kind::BigInt) || __builtin_mul_overflow(bits, b.as_int(), &most)) return fail(ErrorKind::MemoryError, "");
  TFL_TRY(guard_digits(interp, most / MP_DIGIT_BIT));
  WholeMath math(interp.context.interrupt);
  Whole r = math.power(base, static_cast<uint64_t>(b.as_int()));
  return finished(interp, math, r);
}

Result<Value> shift(Interp& interp, bool left, const Value& a, const Value& b) {
  if (int_negative(b)) return fail(ErrorKind::ValueError, "negative shift count");
  Operand n(a);
  if (n->used == 0) return Value::integer(0);
  if (!left) {
    if (b.is(Kind::BigInt)) return Value::integer(int_negative(a) ? -1 : 0);
    return int_of_whole(interp, shifted_right(n, b.as_int()));
  }
  if (b.is(Kind::BigInt)) {
    constexpr int64_t kSizes = 65;  // bits of a count that CPython has a size for
    if (int_bit_length(b) <= kSizes) return fail(ErrorKind::MemoryError, "");
    return fail(ErrorKind::OverflowError, "too many digits in integer");
  }
  TFL_TRY(guard_digits(interp, n->used + b.as_int() / MP_DIGIT_BIT));
  return int_of_whole(interp, shifted_left(n, b.as_int()));
}

Result<Value> quotient(Interp& interp, BinaryOp op, const mp_int* a, const mp_int* b) {
  if (b->used == 0)
    return fail(ErrorKind::ZeroDivisionError,
                op == BinaryOp::Mod ? "integer modulo by zero" : "integer division or modulo by zero");
  TFL_TRY(guard_digits(interp, a->used));
  WholeMath math(interp.context.interrupt);
  Whole q, r;
  math.divide_floor(a, b, q, r);
  return finished(interp, math, op == BinaryOp::Mod ? r : q);
}

}  // namespace

Result<void> guard_digits(Interp& interp, int64_t digits) {
  constexpr int64_t kMost = int64_t{1} << 29;
  constexpr size_t kCopies = 3;  // the result as it is computed and as it is kept, and what is computed on the way
  if (digits > kMost) return fail(ErrorKind::MemoryError, "");
  return guard_memory(interp, static_cast<size_t>(digits) * sizeof(mp_digit) * kCopies);
}

Result<void> check_cut(Interp& interp, const WholeMath& math) {
  if (!math.cut()) return {};
  TFL_TRY(interp.check_interrupt());
  return fail(ErrorKind::KeyboardInterrupt, "");
}

Operand::Operand(const Value& v) {
  if (v.is(Kind::BigInt)) {
    auto* b = v.as<BigInt>();
    n_ = {b->used, b->used, b->negative ? MP_NEG : MP_ZPOS, b->digits};
    return;
  }
  const int64_t i = v.as_int();
  const uint64_t u = i < 0 ? uint64_t{0} - static_cast<uint64_t>(i) : static_cast<uint64_t>(i);
  small_[0] = u & MP_MASK;
  small_[1] = u >> MP_DIGIT_BIT;
  const int used = small_[1] ? 2 : small_[0] ? 1 : 0;
  n_ = {used, 2, i < 0 ? MP_NEG : MP_ZPOS, small_};
}

Value int_of_whole(Interp& interp, const Whole& w) {
  const mp_int* n = w;
  if (n->used <= 1 || (n->used == 2 && n->dp[1] < 16)) {
    uint64_t u = mp_get_mag_u64(n);
    if (n->sign == MP_NEG ? u <= uint64_t{1} << 63 : u < uint64_t{1} << 63)
      return Value::integer(static_cast<int64_t>(n->sign == MP_NEG ? uint64_t{0} - u : u));
  }
  auto used = static_cast<size_t>(n->used);
  BigInt* b = interp.allocate<BigInt>(interp.types.int_, sizeof(BigInt) + (used - 1) * sizeof(uint64_t));
  b->kind = static_cast<uint8_t>(Kind::BigInt);
  b->negative = n->sign == MP_NEG;
  b->used = n->used;
  std::copy_n(n->dp, used, b->digits);
  return Value::adopt(b);
}

Result<Value> finished(Interp& interp, const WholeMath& math, const Whole& w) {
  TFL_TRY(check_cut(interp, math));
  return int_of_whole(interp, w);
}

Value int_value(Interp& interp, uint64_t v) {
  if (v <= INT64_MAX) return Value::integer(static_cast<int64_t>(v));
  Whole w;
  mp_set_u64(w.get(), v);
  return int_of_whole(interp, w);
}

Value int_value(Interp& interp, __int128 v) {
  if (v >= INT64_MIN && v <= INT64_MAX) return Value::integer(static_cast<int64_t>(v));
  auto u = v < 0 ? static_cast<unsigned __int128>(0) - static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
  Whole high, low;
  mp_set_u64(high.get(), static_cast<uint64_t>(u >> 64));
  mp_set_u64(low.get(), static_cast<uint64_t>(u));
  Whole w = shifted_left(high, 64);
  whole_done(mp_add(w, low, w.get()));
  if (v < 0) w.get()->sign = MP_NEG;
  return int_of_whole(interp, w);
}

Result<Value> int_of_double(Interp& interp, double v) {
  if (std::isnan(v)) return fail(ErrorKind::ValueError, "cannot convert float NaN to integer");
  if (std::isinf(v)) return fail(ErrorKind::OverflowError, "cannot convert float infinity to integer");
  if (v >= -9223372036854775808.0 && v < 9223372036854775808.0) return Value::integer(static_cast<int64_t>(v));
  int exponent;
  const double mantissa = std::frexp(v, &exponent);
  Whole w(static_cast<int64_t>(std::ldexp(mantissa, 53)));
  return int_of_whole(interp, shifted_left(w, exponent - 53));
}

double int_to_double(const Value& v) {
  if (!v.is(Kind::BigInt)) return static_cast<double>(v.as_int());
  Operand n(v);
  double d;
  if (bit_length(n) > 1024) {
    d = HUGE_VAL;
  } else if (bit_length(n) <= 64) {
    d = static_cast<double>(mp_get_mag_u64(n));
  } else {
    int64_t shift;
    const uint64_t bits = top_bits(n, shift);
    d = std::ldexp(static_cast<double>(bits), static_cast<int>(shift));
  }
  return n->sign == MP_NEG ? -d : d;
}

Result<double> exact_range_double(const Value& v) {
  double d = int_to_double(v);
  if (std::isinf(d)) return fail(ErrorKind::OverflowError, "int too large to convert to float");
  return d;
}

bool int_to_u64(const Value& v, uint64_t& out) {
  if (int_negative(v)) return false;
  if (!v.is(Kind::BigInt)) {
    out = static_cast<uint64_t>(v.as_int());
    return true;
  }
  Operand n(v);
  if (bit_length(n) > 64) return false;
  out = mp_get_mag_u64(n);
  return true;
}

bool int_negative(const Value& v) { return v.is(Kind::BigInt) ? v.as<BigInt>()->negative : v.as_int() < 0; }

uint64_t int_low_bits(const Value& v) {
  if (!v.is(Kind::BigInt)) return static_cast<uint64_t>(v.as_int());
  const BigInt* b = v.as<BigInt>();
  const uint64_t low = b->digits[0] | (b->used > 1 ? b->digits[1] << 60 : 0);
  return b->negative ? uint64_t{0} - low : low;
}

Result<Value> int_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  Operand x(a), y(b);
  Whole r;
  switch (op) {
    case BinaryOp::Add:
      TFL_TRY(guard_digits(interp, std::max(x->used, y->used)));
      whole_done(mp_add(x, y, r.get()));
      break;
    case BinaryOp::Sub:
      TFL_TRY(guard_digits(interp, std::max(x->used, y->used)));
      whole_done(mp_sub(x, y, r.get()));
      break;
    case BinaryOp::Mul: {
      TFL_TRY(guard_digits(interp, int64_t{x->used} + y->used));
      WholeMath math(interp.context.interrupt);
      const bool square = a.identical(b);
      Whole p = math.multiply(x, square ? static_cast<const mp_int*>(x) : static_cast<const mp_int*>(y));
      return finished(interp, math, p);
    }
    case BinaryOp::Div:
      if (y->used == 0) return fail(ErrorKind::ZeroDivisionError, "division by zero");
      return true_division(interp, x, y);
    case BinaryOp::FloorDiv:
    case BinaryOp::Mod: return quotient(interp, op, x, y);
    case BinaryOp::Pow: return power(interp, a, b);
    case BinaryOp::LShift:
    case BinaryOp::RShift: return shift(interp, op == BinaryOp::LShift, a, b);
    case BinaryOp::BitAnd: whole_done(mp_and(x, y, r.get())); break;
    case BinaryOp::BitOr: whole_done(mp_or(x, y, r.get())); break;
    case BinaryOp::BitXor: whole_done(mp_xor(x, y, r.get())); break;
    case BinaryOp::MatMul: return interp.not_implemented;
  }
  return int_of_whole(interp, r);
}

Result<Value> int_negate(Interp& interp, const Value& v) {
  if (!v.is(Kind::BigInt) && v.as_int() != INT64_MIN) return Value::integer(-v.as_int());
  Operand n(v);
  TFL_TRY(guard_digits(interp, n->used));
  Whole w(n);
  w.get()->sign = n->sign == MP_NEG ? MP_ZPOS : MP_NEG;
  return int_of_whole(interp, w);
}

Result<Value> int_divmod(Interp& interp, const Value& a, const Value& b) {
  Operand x(a), y(b);
  if (y->used == 0) return fail(ErrorKind::ZeroDivisionError, "integer division or modulo by zero");
  TFL_TRY(guard_digits(interp, x->used));
  WholeMath math(interp.context.interrupt);
  Whole q, r;
  math.divide_floor(x, y, q, r);
  TFL_TRY(check_cut(interp, math));
  Value quotient = int_of_whole(interp, q), rest = int_of_whole(interp, r);
  return interp.tuple({quotient, rest});
}

Result<Value> int_pow_mod(Interp& interp, const Value& base, const Value& exponent, const Value& modulus) {
  Operand b(base), e(exponent), m(modulus);
  if (m->used == 0) return fail(ErrorKind::ValueError, "pow() 3rd argument cannot be 0");
  WholeMath math(interp.context.interrupt);
  mp_int size = whole_part(m, 0, m->used);
  Whole factor, rest, q;
  math.divide_floor(b, &size, q, factor);
  if (e->sign == MP_NEG) {
    const bool unit = bit_length(&size) == 1;
    if (unit ? false : mp_invmod(factor, &size, rest.get()) != MP_OKAY)
      return fail(ErrorKind::ValueError, "base is not invertible for the given modulus");
    factor = std::move(rest);
  }
  Whole r(1);
  math.divide(Whole(1), &size, q, r);
  for (int64_t at = bit_length(e) - 1; at >= 0 && !math.cut(); --at) {
    Whole square = math.multiply(r, r);
    math.divide(square, &size, q, r);
    if (e->dp[at / MP_DIGIT_BIT] >> (at % MP_DIGIT_BIT) & 1) {
      Whole product = math.multiply(r, factor);
      math.divide(product, &size, q, r);
    }
    math.poll();
  }
  TFL_TRY(check_cut(interp, math));
  if (m->sign == MP_NEG && !r.zero()) whole_done(mp_add(r, m, r.get()));
  return int_of_whole(interp, r);
}

int int_compare(const Value& a, const Value& b) {
  if (!a.is(Kind::BigInt) && !b.is(Kind::BigInt)) return a.as_int() < b.as_int() ? -1 : a.as_int() > b.as_int();
  Operand x(a), y(b);
  return mp_cmp(x, y);
}

int int_compare_double(const Value& a, double b) {
  if (std::isnan(b)) return 2;
  Operand x(a);
  if (std::isinf(b)) return b > 0 ? -1 : 1;
  if (std::fabs(b) < 0x1p62 && a.is(Kind::BigInt)) return x->sign == MP_NEG ? -1 : 1;
  int exponent;
  const double mantissa = std::frexp(std::floor(b), &exponent);
  Whole w(static_cast<int64_t>(std::ldexp(mantissa, 53)));
  Whole y = exponent >= 53 ? shifted_left(w, exponent - 53) : shifted_right(w, 53 - exponent);
  const int order = mp_cmp(x, y);
  return order == 0 && b != std::floor(b) ? -1 : order;
}

uint64_t int_hash_value(const Value& v) {
  if (!v.is(Kind::BigInt)) return hash_int(v.as_int());
  const BigInt* b = v.as<BigInt>();
  uint64_t h = 0;
  for (int32_t i = b->used; i-- > 0;) {
    const auto shifted = static_cast<unsigned __int128>(h) << 60;
    h = static_cast<uint64_t>((shifted + b->digits[i]) % kHashModulus);
  }
  if (b->negative) h = uint64_t{0} - h;
  return h == ~uint64_t{0} ? ~uint64_t{1} : h;
}

int64_t int_bit_length(const Value& v) {
  Operand n(v);
  return bit_length(n);
}

int64_t int_bit_count(const Value& v) {
  Operand n(v);
  int64_t count = 0;
  for (int i = 0; i < n->used; ++i) count += __builtin_popcountll(n->dp[i]);
  return count;
}

Result<Value> int_round(Interp& interp, const Value& v, int64_t digits) {
  if (digits >= 0) return v;
  Operand n(v);
  // Fewer decimal digits than that have nothing left.
  if (-digits > bit_length(n) / 3 + 1) return Value::integer(0);
  WholeMath math(interp.context.interrupt);
  Whole unit = math.power(Whole(10), static_cast<uint64_t>(-digits)), q, r;
  math.divide_floor(n, unit, q, r);
  TFL_TRY(check_cut(interp, math));
  Whole down, twice;
  whole_done(mp_sub(n, r, down.get()));
  whole_done(mp_mul_2(r, twice.get()));
  const int order = mp_cmp_mag(twice, unit);
  const bool odd = q->used > 0 && (q->dp[0] & 1);
  if (order == MP_GT || (order == MP_EQ && odd)) whole_done(mp_add(down, unit, down.get()));
  return int_of_whole(interp, down);
}

}  // namespace tfl
