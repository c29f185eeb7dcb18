#include "frontend/interpreter/object/numbers/whole.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tfl {

namespace {

constexpr int kDirectProduct = 1200;  // digits: libtommath multiplies two such in less than a millisecond
constexpr int kDirectQuotient = 40;
constexpr int64_t kDigitBits = MP_DIGIT_BIT;

/// to[at ...] += n, magnitudes; `to` has room for the carry.
void add_at(mp_int* to, const mp_int* n, int at) {
  mp_digit carry = 0;
  for (int i = 0; i < n->used || carry; ++i) {
    mp_digit sum = to->dp[at + i] + (i < n->used ? n->dp[i] : 0) + carry;
    to->dp[at + i] = sum & MP_MASK;
    carry = sum >> kDigitBits;
  }
}

/// high * 2 ** (60 * digits) + low, magnitudes; low has no more than `digits`.
Whole joined(const mp_int* high, const mp_int* low, int digits) {
  Whole r;
  if (high->used == 0) {
    whole_done(mp_copy(low, r.get()));
    r.get()->sign = MP_ZPOS;
    return r;
  }
  whole_done(mp_grow(r.get(), high->used + digits));
  mp_int* n = r.get();
  std::copy_n(low->dp, low->used, n->dp);
  std::fill_n(n->dp + low->used, digits - low->used, mp_digit{0});
  std::copy_n(high->dp, high->used, n->dp + digits);
  n->used = high->used + digits;
  return r;
}

}  // namespace

void whole_done(mp_err error) {
  if (error == MP_OKAY) return;
  std::fputs("tfl: out of memory\n", stderr);
  std::_Exit(70);
}

mp_int whole_part(const mp_int* n, int from, int to) {
  from = std::min(from, n->used);
  to = std::min(to, n->used);
  while (to > from && n->dp[to - 1] == 0) --to;
  mp_int part;
  part.used = to - from;
  part.alloc = part.used;
  part.sign = MP_ZPOS;
  part.dp = n->dp + from;
  return part;
}

int64_t bit_length(const mp_int* n) {
  if (n->used == 0) return 0;
  return (n->used - 1) * kDigitBits + (64 - __builtin_clzll(n->dp[n->used - 1]));
}

Whole shifted_left(const mp_int* n, int64_t bits) {
  Whole r(n);
  if (n->used == 0) return r;
  whole_done(mp_grow(r.get(), n->used + static_cast<int>(bits / kDigitBits) + 1));
  whole_done(mp_lshd(r.get(), static_cast<int>(bits / kDigitBits)));
  whole_done(mp_mul_2d(r, static_cast<int>(bits % kDigitBits), r.get()));
  return r;
}

Whole shifted_right(const mp_int* n, int64_t bits) {
  const bool negative = n->sign == MP_NEG;
  Whole r;
  if (bits >= bit_length(n)) {
    if (negative && n->used) mp_set_i64(r.get(), -1);
    return r;
  }
  auto digits = static_cast<int>(bits / kDigitBits);
  auto rest = static_cast<int>(bits % kDigitBits);
  bool lost = negative && std::any_of(n->dp, n->dp + digits, [](mp_digit d) { return d != 0; });
  lost = lost || (negative && (n->dp[digits] & ((mp_digit{1} << rest) - 1)) != 0);
  mp_int part = whole_part(n, digits, n->used);
  whole_done(mp_div_2d(&part, rest, r.get(), nullptr));
  if (lost) whole_done(mp_add_d(r, 1, r.get()));
  if (negative && !r.zero()) r.get()->sign = MP_NEG;
  return r;
}

// ----------------------------------------------------------------------------------------------------------- products

Whole WholeMath::multiply(const mp_int* a, const mp_int* b) {
  Whole r = multiply_magnitudes(a, b);
  if (a->sign != b->sign && !r.zero()) r.get()->sign = MP_NEG;
  return r;
}

Whole WholeMath::multiply_magnitudes(const mp_int* a, const mp_int* b) {
  if (a->used < b->used) std::swap(a, b);
  Whole r;
  if (a->used <= kDirectProduct || b->used <= 1) {
    mp_int x = whole_part(a, 0, a->used), y = whole_part(b, 0, b->used);
    whole_done(a == b ? mp_sqr(&x, r.get()) : mp_mul(&x, &y, r.get()));
    return r;
  }
  if (poll()) return r;
  mp_int* sum = r.get();
  whole_done(mp_grow(sum, a->used + b->used + 1));
  std::fill_n(sum->dp, a->used + b->used + 1, mp_digit{0});
  sum->used = a->used + b->used + 1;
  if (b->used * 2 <= a->used || b->used <= kDirectProduct) {
    // Piece by piece, each about as long as the shorter one.
    const int piece = std::max(b->used, kDirectProduct);
    for (int at = 0; at < a->used && !cut_; at += piece) {
      mp_int part = whole_part(a, at, at + piece);
      add_at(sum, multiply_magnitudes(&part, b), at);
    }
  } else {
    // Karatsuba: three products of halves.
    const int half = (a->used + 1) / 2;
    mp_int a0 = whole_part(a, 0, half), a1 = whole_part(a, half, a->used);
    mp_int b0 = whole_part(b, 0, half), b1 = whole_part(b, half, b->used);
    const bool square = a == b;
    Whole low = square ? multiply_magnitudes(&a0, &a0) : multiply_magnitudes(&a0, &b0);
    Whole high = square ? multiply_magnitudes(&a1, &a1) : multiply_magnitudes(&a1, &b1);
    Whole x, y;
    whole_done(mp_add(&a0, &a1, x.get()));
    if (!square) whole_done(mp_add(&b0, &b1, y.get()));
    Whole middle = square ? multiply_magnitudes(x, x) : multiply_magnitudes(x, y);
    if (cut_) return r;
    whole_done(mp_sub(middle, low, middle.get()));
    whole_done(mp_sub(middle, high, middle.get()));
    add_at(sum, low, 0);
    add_at(sum, middle, half);
    add_at(sum, high, 2 * half);
  }
  mp_clamp(sum);
  return r;
}

Whole WholeMath::product(const mp_int* first, int64_t count) {
  constexpr int64_t kFew = 16;
  if (count > kFew) {
    Whole low = product(first, count / 2);
    Whole middle(count / 2);
    whole_done(mp_add(first, middle, middle.get()));
    if (poll()) return low;
    Whole high = product(middle, count - count / 2);
    return multiply(low, high);
  }
  Whole r(1), factor(first);
  for (int64_t i = 0; i < count; ++i) {
    whole_done(mp_mul(r, factor, r.get()));
    whole_done(mp_add_d(factor, 1, factor.get()));
  }
  return r;
}

Whole WholeMath::power(const mp_int* base, uint64_t exponent) {
  Whole r(1);
  for (int bit = 63 - (exponent ? __builtin_clzll(exponent) : 63); bit >= 0 && !cut_; --bit) {
    r = multiply(r, r);
    if (exponent >> bit & 1) r = multiply(r, base);
  }
  return r;
}

// ---------------------------------------------------------------------------------------------------------- quotients

void WholeMath::divide(const mp_int* a, const mp_int* b, Whole& quotient, Whole& remainder) {
  mp_int x = whole_part(a, 0, a->used), y = whole_part(b, 0, b->used);
  if (mp_cmp_mag(a, b) == MP_LT) {
    quotient = Whole();
    remainder = Whole(&x);
    return;
  }
  if (b->used == 1) {
    mp_digit rest = 0;
    Whole q;
    whole_done(mp_div_d(&x, b->dp[0], q.get(), &rest));
    quotient = std::move(q);
    remainder = Whole();
    mp_set_u64(remainder.get(), rest);
    return;
  }
  if (a->used <= 2 * kDirectQuotient) {
    Whole q, r;
    whole_done(mp_div(&x, &y, q.get(), r.get()));
    quotient = std::move(q);
    remainder = std::move(r);
    return;
  }
  // Pieces as long as the divisor, from the top; its highest bit is made 1 first.
  const int shift = static_cast<int>(kDigitBits - (64 - __builtin_clzll(b->dp[b->used - 1])));
  Whole divisor = shifted_left(&y, shift), dividend = shifted_left(&x, shift);
  const int n = std::max(divisor->used, kDirectQuotient);
  Whole q, rest, part;
  whole_done(mp_grow(q.get(), dividend->used));
  std::fill_n(q.get()->dp, dividend->used, mp_digit{0});
  q.get()->used = dividend->used;
  for (int at = (dividend->used - 1) / n * n; at >= 0 && !poll(); at -= n) {
    mp_int piece = whole_part(dividend, at, at + n);
    Whole both = joined(rest, &piece, n);
    if (divisor->used == n) {
      divide_two_by_one(both, divisor, n, part, rest);
    } else {
      whole_done(mp_div(both, divisor, part.get(), rest.get()));
    }
    std::copy_n(part->dp, part->used, q.get()->dp + at);
  }
  if (cut_) return;
  mp_clamp(q.get());
  quotient = std::move(q);
  remainder = shifted_right(rest, shift);
}

/// Burnikel and Ziegler, Fast Recursive Division, 1998: a < b * 2 ** (60 n), b of n digits with its highest bit set.
void WholeMath::divide_two_by_one(const mp_int* a, const mp_int* b, int n, Whole& quotient, Whole& remainder) {
  if (poll()) return;
  if (n <= kDirectQuotient || a->used <= n) {
    Whole q, r;
    whole_done(mp_div(a, b, q.get(), r.get()));
    quotient = std::move(q);
    remainder = std::move(r);
    return;
  }
  if (n % 2) {
    Whole x = shifted_left(a, kDigitBits), y = shifted_left(b, kDigitBits), r;
    divide_two_by_one(x, y, n + 1, quotient, r);
    remainder = shifted_right(r, kDigitBits);
    return;
  }
  const int half = n / 2;
  mp_int top = whole_part(a, n, a->used), next = whole_part(a, half, n), last = whole_part(a, 0, half);
  Whole high, low, rest;
  divide_three_by_two(&top, &next, b, half, high, rest);
  divide_three_by_two(rest, &last, b, half, low, remainder);
  quotient = joined(high, low, half);
}

/// high * 2 ** (60 half) + low over b of twice `half` digits.
void WholeMath::divide_three_by_two(const mp_int* high, const mp_int* low, const mp_int* b, int half, Whole& quotient,
                                    Whole& remainder) {
  mp_int b1 = whole_part(b, half, 2 * half), b0 = whole_part(b, 0, half);
  mp_int top = whole_part(high, half, high->used);
  Whole q, r;
  if (mp_cmp_mag(&top, &b1) == MP_LT) {
    divide_two_by_one(high, &b1, half, q, r);
  } else {
    whole_done(mp_2expt(q.get(), half * MP_DIGIT_BIT));
    whole_done(mp_sub_d(q, 1, q.get()));
    Whole most = shifted_left(&b1, int64_t{half} * kDigitBits);
    whole_done(mp_sub(high, most, r.get()));
    whole_done(mp_add(r, &b1, r.get()));
  }
  if (cut_) return;
  Whole product = multiply(q, &b0);
  r = joined(r, low, half);
  whole_done(mp_sub(r, product, r.get()));
  while (r.negative() && !cut_) {
    whole_done(mp_sub_d(q, 1, q.get()));
    whole_done(mp_add(r, b, r.get()));
  }
  quotient = std::move(q);
  remainder = std::move(r);
}

void WholeMath::divide_floor(const mp_int* a, const mp_int* b, Whole& quotient, Whole& remainder) {
  const bool opposite = a->sign != b->sign;
  divide(a, b, quotient, remainder);
  if (cut_) return;
  if (opposite) {
    if (!remainder.zero()) {
      whole_done(mp_add_d(quotient, 1, quotient.get()));
      mp_int y = whole_part(b, 0, b->used);
      whole_done(mp_sub(&y, remainder, remainder.get()));
    }
    if (!quotient.zero()) quotient.get()->sign = MP_NEG;
  }
  if (b->sign == MP_NEG && !remainder.zero()) remainder.get()->sign = MP_NEG;
}

}  // namespace tfl
