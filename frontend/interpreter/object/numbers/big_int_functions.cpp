// Ints of any size: divisors, roots, products of many.
#include <numeric>

#include "frontend/interpreter/object/numbers/whole_value.h"

namespace tfl {

Result<Value> int_gcd(Interp& interp, const Value& a, const Value& b) {
  if (a.is_int() && b.is_int() && a.as_int() != INT64_MIN && b.as_int() != INT64_MIN)
    return Value::integer(std::gcd(a.as_int(), b.as_int()));
  Operand x(a), y(b);
  WholeMath math(interp.context.interrupt);
  mp_int xm = whole_part(x, 0, x->used), ym = whole_part(y, 0, y->used);
  Whole m(&xm), n(&ym), q, r;
  constexpr int kShort = 64;  // digits: the library's own algorithm is quick enough
  while (!n.zero() && std::min(m->used, n->used) > kShort && !math.poll()) {
    math.divide(m, n, q, r);
    m = std::move(n);
    n = std::move(r);
    r = Whole();
  }
  TFL_TRY(check_cut(interp, math));
  if (n.zero()) return int_of_whole(interp, m);
  if (m->used > kShort || n->used > kShort) {  // one long step, then both are short
    if (m->used < n->used) std::swap(m, n);
    if (n.zero()) return int_of_whole(interp, m);
    math.divide(m, n, q, r);
    m = std::move(r);
    TFL_TRY(check_cut(interp, math));
  }
  whole_done(mp_gcd(m, n, q.get()));
  return int_of_whole(interp, q);
}

Result<Value> int_square_root(Interp& interp, const Value& v) {
  Operand n(v);
  if (n->used == 0) return Value::integer(0);
  // Newton's method on ever more leading bits of n: each step doubles how many bits of the root are right, and none is too many.
  WholeMath math(interp.context.interrupt);
  const int64_t half = (bit_length(n) - 1) / 2;
  Whole root(1), q, r;
  int64_t known = 0;
  for (int step = 63 - (half ? __builtin_clzll(static_cast<uint64_t>(half)) : 63); half && step >= 0 && !math.poll(); --step) {
    const int64_t before = known;
    known = half >> step;
    Whole leading = shifted_right(n, 2 * half - before - known + 1);
    math.divide(leading, root, q, r);
    root = shifted_left(root, known - before - 1);
    whole_done(mp_add(root, q, root.get()));
  }
  Whole square = math.multiply(root, root);
  TFL_TRY(check_cut(interp, math));
  if (mp_cmp(square, n) == MP_GT) whole_done(mp_sub_d(root, 1, root.get()));
  return int_of_whole(interp, root);
}

Result<Value> int_product(Interp& interp, const Value& first, const Value& last) {
  Operand low(first), high(last);
  Whole count;
  whole_done(mp_sub(high, low, count.get()));
  whole_done(mp_add_d(count, 1, count.get()));
  if (count.negative() || count.zero()) return Value::integer(1);
  int64_t digits = 0;
  if (bit_length(count) > 62 || __builtin_mul_overflow(mp_get_i64(count), bit_length(high) / MP_DIGIT_BIT + 1, &digits)) {
    return fail(ErrorKind::MemoryError, "");
  }
  TFL_TRY(guard_digits(interp, digits / 4));
  WholeMath math(interp.context.interrupt);
  Whole r = math.product(low, mp_get_i64(count));
  return finished(interp, math, r);
}

}  // namespace tfl
