// Ints of any size as host values. An int that fits 64 bits is always unboxed, what does not is a BigInt (object.h); these functions
// take and give both, bools as ints. Sizes are checked before memory is taken, and an interrupt cuts long work short.
// This header must not know about the library that computes.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "frontend/core/interp.h"

namespace tfl {

/// An int, a bool or a BigInt; an instance of a class derived from int is none (unboxed() first).
inline bool is_whole(const Value& v) { return v.is_int() || v.is_bool() || v.is(Kind::BigInt); }

Value int_value(Interp& interp, uint64_t v);
Value int_value(Interp& interp, __int128 v);
/// What int(v) is for a float; ValueError for NaN, OverflowError for infinities.
Result<Value> int_of_double(Interp& interp, double v);
/// The nearest double, infinite beyond the largest.
double int_to_double(const Value& v);
/// The same; OverflowError beyond the largest.
Result<double> exact_range_double(const Value& v);
/// False: negative, or more than 64 bits.
bool int_to_u64(const Value& v, uint64_t& out);
bool int_negative(const Value& v);
/// The int as in two's complement of 64 bits, whatever lies above.
uint64_t int_low_bits(const Value& v);

/// a op b of two ints, as Python has it.
Result<Value> int_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Result<Value> int_negate(Interp& interp, const Value& v);
Result<Value> int_divmod(Interp& interp, const Value& a, const Value& b);
Result<Value> int_pow_mod(Interp& interp, const Value& base, const Value& exponent, const Value& modulus);
/// Sign of a - b.
int int_compare(const Value& a, const Value& b);
/// Sign of a - b, exactly; 2 when b is NaN.
int int_compare_double(const Value& a, double b);
uint64_t int_hash_value(const Value& v);
int64_t int_bit_length(const Value& v);
int64_t int_bit_count(const Value& v);
/// v rounded to a multiple of 10 ** -digits, ties to even; digits < 0.
Result<Value> int_round(Interp& interp, const Value& v, int64_t digits);

/// Never negative.
Result<Value> int_gcd(Interp& interp, const Value& a, const Value& b);
/// The root of what is not negative, rounded down.
Result<Value> int_square_root(Interp& interp, const Value& v);
/// first * (first + step) * ... * last, whose step is 1 or 2; 1 when there is none.
Result<Value> int_product(Interp& interp, const Value& first, const Value& last);

/// Digits of the magnitude in `base` (2 .. 36), lower case, without sign or prefix; no limit on their number.
Result<std::string> int_magnitude_text(Interp& interp, const Value& v, int base);
/// str(v). ValueError beyond interp.max_str_digits.
Result<std::string> int_text(Interp& interp, const Value& v);
/// hex(), oct(), bin(): sign, prefix, digits.
Result<std::string> int_prefixed_text(Interp& interp, const Value& v, int base);
/// The int of digits in `base` without anything else between them; ValueError beyond interp.max_str_digits.
Result<Value> int_of_digits(Interp& interp, std::string_view digits, int base, bool negative);
/// int(text, base); `shown` is how the error writes the text.
Result<Value> int_of_text(Interp& interp, std::string_view text, int base, std::string_view shown);

/// An integer literal as it is written, of any length.
Value int_literal(Interp& interp, std::string_view text);
/// Of digits as a BigInt has them; what is no digit is cut to one.
Value int_of_stored(Interp& interp, std::span<const uint64_t> digits, bool negative);

/// The int of bytes in two's complement (or without sign), the lowest first.
Result<Value> int_of_bytes(Interp& interp, std::string_view little_endian, bool is_signed);
/// `length` bytes of v, the lowest first; OverflowError when it does not fit.
Result<std::string> int_to_bytes(Interp& interp, const Value& v, size_t length, bool is_signed);

}  // namespace tfl
