// Ints of any size as text and as bytes.
#include <algorithm>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/numbers/whole_value.h"
#include "frontend/text/int_text.h"

namespace tfl {

namespace {

constexpr double kBitsOfDigit = 3.3219280948873623;  // log2(10)

}  // namespace

Result<std::string> int_magnitude_text(Interp& interp, const Value& v, int base) {
  if (!v.is(Kind::BigInt)) return int_digits(v.as_int(), base);
  Operand n(v);
  TFL_TRY(guard_memory(interp, static_cast<size_t>(bit_length(n)) * 2));
  WholeMath math(interp.context.interrupt);
  std::string text = math.text(n, base);
  TFL_TRY(check_cut(interp, math));
  return text;
}

Result<std::string> int_text(Interp& interp, const Value& v) {
  if (!v.is(Kind::BigInt)) return std::to_string(v.as_int());
  const auto most = interp.max_str_digits;
  auto limit_error = [&] {
    return fail(ErrorKind::ValueError,
                "Exceeds the limit ({} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase "
                "the limit",
                most);
  };
  if (most > 0 && static_cast<double>(int_bit_length(v)) > (static_cast<double>(most) + 1) * kBitsOfDigit) return limit_error();
  std::string text = TFL_TRY(int_magnitude_text(interp, v, 10));
  if (most > 0 && static_cast<int64_t>(text.size()) > most) return limit_error();
  return v.as<BigInt>()->negative ? "-" + text : text;
}

Result<std::string> int_prefixed_text(Interp& interp, const Value& v, int base) {
  if (!v.is(Kind::BigInt)) return int_prefixed(v.as_int(), base);
  std::string text = TFL_TRY(int_magnitude_text(interp, v, base));
  return std::string(v.as<BigInt>()->negative ? "-" : "") + (base == 16 ? "0x" : base == 8 ? "0o" : "0b") + text;
}

Result<Value> int_of_digits(Interp& interp, std::string_view digits, int base, bool negative) {
  const bool power_of_two = (base & (base - 1)) == 0;
  const auto most = interp.max_str_digits;
  if (!power_of_two && most > 0 && static_cast<int64_t>(digits.size()) > most) {
    return fail(ErrorKind::ValueError,
                "Exceeds the limit ({} digits) for integer string conversion: value has {} digits; use "
                "sys.set_int_max_str_digits() to increase the limit",
                most, digits.size());
  }
  TFL_TRY(guard_memory(interp, digits.size() * 4));
  WholeMath math(interp.context.interrupt);
  Whole w = math.read(digits, base);
  TFL_TRY(check_cut(interp, math));
  if (negative && !w.zero()) w.get()->sign = MP_NEG;
  return int_of_whole(interp, w);
}

Result<Value> int_of_text(Interp& interp, std::string_view text, int base, std::string_view shown) {
  IntText parts;
  int64_t v = 0;
  switch (parse_int(text, base, v, &parts)) {
    case IntParse::Ok: return Value::integer(v);
    case IntParse::Large: return int_of_digits(interp, parts.digits, parts.base, parts.negative);
    case IntParse::Malformed: break;
  }
  return fail(ErrorKind::ValueError, "invalid literal for int() with base {}: {}", base, shown);
}

Value int_literal(Interp& interp, std::string_view text) {
  IntText parts;
  int64_t v = 0;
  if (parse_int(text, 0, v, &parts) != IntParse::Large) return Value::integer(v);
  WholeMath math(interp.context.interrupt);
  return int_of_whole(interp, math.read(parts.digits, parts.base));
}

Value int_of_stored(Interp& interp, std::span<const uint64_t> digits, bool negative) {
  Whole w;
  whole_done(mp_grow(w.get(), static_cast<int>(digits.size()) + 1));
  for (size_t i = 0; i < digits.size(); ++i) w.get()->dp[i] = digits[i] & MP_MASK;
  w.get()->used = static_cast<int>(digits.size());
  mp_clamp(w.get());
  if (negative && !w.zero()) w.get()->sign = MP_NEG;
  return int_of_whole(interp, w);
}

Result<Value> int_of_bytes(Interp& interp, std::string_view bytes, bool is_signed) {
  const bool negative = is_signed && !bytes.empty() && (bytes.back() & 0x80);
  while (!bytes.empty() && static_cast<unsigned char>(bytes.back()) == (negative ? 0xFF : 0)) bytes.remove_suffix(1);
  TFL_TRY(guard_digits(interp, static_cast<int64_t>(bytes.size() * 8 / MP_DIGIT_BIT)));
  // A negative number is -(~bits + 1).
  Whole w;
  const auto used = static_cast<int>(bytes.size() * 8 / MP_DIGIT_BIT) + 1;
  whole_done(mp_grow(w.get(), used));
  std::fill_n(w.get()->dp, used, mp_digit{0});
  for (size_t i = 0; i < bytes.size(); ++i) {
    const mp_digit byte = static_cast<unsigned char>(negative ? ~bytes[i] : bytes[i]);
    const size_t at = i * 8 / MP_DIGIT_BIT, bit = i * 8 % MP_DIGIT_BIT;
    w.get()->dp[at] |= byte << bit & MP_MASK;
    if (bit > MP_DIGIT_BIT - 8) w.get()->dp[at + 1] |= byte >> (MP_DIGIT_BIT - bit);
  }
  w.get()->used = used;
  mp_clamp(w.get());
  if (negative) {
    whole_done(mp_add_d(w, 1, w.get()));
    w.get()->sign = MP_NEG;
  }
  return int_of_whole(interp, w);
}

Result<std::string> int_to_bytes(Interp& interp, const Value& v, size_t length, bool is_signed) {
  Operand n(v);
  const bool negative = n->sign == MP_NEG;
  if (negative && !is_signed) return fail(ErrorKind::OverflowError, "can't convert negative int to unsigned");
  Whole size(n);
  size.get()->sign = MP_ZPOS;
  if (negative) whole_done(mp_sub_d(size, 1, size.get()));  // ~v
  const int64_t bits = bit_length(size) + (is_signed ? 1 : 0);
  if (bits > 0 && !(bits == 1 && is_signed && length == 0 && !negative) && static_cast<size_t>((bits + 7) / 8) > length)
    return fail(ErrorKind::OverflowError, "int too big to convert");
  TFL_TRY(guard_memory(interp, length));
  std::string out(length, '\0');
  for (size_t i = 0; i < length && static_cast<int64_t>(i * 8) < bit_length(size); ++i) {
    const size_t at = i * 8 / MP_DIGIT_BIT, bit = i * 8 % MP_DIGIT_BIT;
    mp_digit byte = size->dp[at] >> bit;
    if (bit > MP_DIGIT_BIT - 8 && static_cast<int>(at) + 1 < size->used) byte |= size->dp[at + 1] << (MP_DIGIT_BIT - bit);
    out[i] = static_cast<char>(byte);
  }
  if (negative) {
    for (char& c : out) c = static_cast<char>(~c);
  }
  return out;
}

}  // namespace tfl
