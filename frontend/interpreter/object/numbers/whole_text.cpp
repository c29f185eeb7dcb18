// Whole numbers as digits and back. Powers of two take their bits; other bases halve the number until a part is short.
#include <algorithm>
#include <vector>

#include "frontend/interpreter/object/numbers/whole.h"

namespace tfl {

namespace {

constexpr char kDigits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
constexpr int kShortLevel = 4;  // powers up to this one are taken off digit by digit

int bits_of(int base) { return base == 2 ? 1 : base == 4 ? 2 : base == 8 ? 3 : base == 16 ? 4 : base == 32 ? 5 : 0; }

int value_of(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

}  // namespace

/// base ** (places << i) for i = 0, 1, ...; the first fits one digit.
struct WholeMath::Powers {
  int base;
  int places = 0;  // characters of one digit
  mp_digit one = 1;
  std::vector<Whole> of;

  explicit Powers(int base_) : base(base_) {
    while (one <= MP_MASK / static_cast<mp_digit>(base)) {
      one *= static_cast<mp_digit>(base);
      ++places;
    }
    Whole first;
    mp_set_u64(first.get(), one);
    of.push_back(std::move(first));
  }
  void next(WholeMath& math) { of.push_back(math.multiply(of.back(), of.back())); }
};

std::string WholeMath::text(const mp_int* n, int base) {
  if (n->used == 0) return "0";
  if (const int bits = bits_of(base); bits != 0) {
    const int64_t length = (bit_length(n) + bits - 1) / bits;
    std::string out(static_cast<size_t>(length), '0');
    for (int64_t i = 0; i < length; ++i) {
      const int64_t at = i * bits;
      out[static_cast<size_t>(length - 1 - i)] = kDigits[n->dp[at / MP_DIGIT_BIT] >> (at % MP_DIGIT_BIT) & ((1u << bits) - 1)];
    }
    return out;
  }
  Powers powers(base);
  while (powers.of.back()->used * 2 <= n->used + 1 && !cut_) powers.next(*this);
  const auto level = static_cast<int>(powers.of.size()) - 1;
  if (cut_) return {};
  std::string out(static_cast<size_t>(powers.places) << (level + 1), '0');
  write(n, powers, level, out.data() + out.size());
  return out.substr(std::min(out.find_first_not_of('0'), out.size() - 1));
}

/// The (places << (level + 1)) digits of n end at `end`, which are zeros so far.
void WholeMath::write(const mp_int* n, const Powers& powers, int level, char* end) {
  if (n->used == 0 || poll()) return;
  if (level <= kShortLevel) {
    Whole rest(n);
    while (!rest.zero()) {
      mp_digit digit = 0;
      whole_done(mp_div_d(rest, powers.one, rest.get(), &digit));
      char* p = end;
      end -= powers.places;
      for (; digit != 0; digit /= static_cast<mp_digit>(powers.base)) *--p = kDigits[digit % static_cast<mp_digit>(powers.base)];
    }
    return;
  }
  Whole high, low;
  divide(n, powers.of[static_cast<size_t>(level)], high, low);
  if (cut_) return;
  write(low, powers, level - 1, end);
  write(high, powers, level - 1, end - (static_cast<int64_t>(powers.places) << level));
}

Whole WholeMath::read(std::string_view digits, int base) {
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  Whole r;
  if (const int bits = bits_of(base); bits != 0) {
    const auto count = static_cast<int64_t>(digits.size());
    const auto used = static_cast<int>(count * bits / MP_DIGIT_BIT + 1);
    whole_done(mp_grow(r.get(), used));
    std::fill_n(r.get()->dp, used, mp_digit{0});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = i * bits;
      r.get()->dp[at / MP_DIGIT_BIT] |= static_cast<mp_digit>(value_of(digits[static_cast<size_t>(count - 1 - i)]))
                                        << (at % MP_DIGIT_BIT);
    }
    r.get()->used = used;
    mp_clamp(r.get());
    return r;
  }
  Powers powers(base);
  while ((static_cast<size_t>(powers.places) << powers.of.size()) < digits.size() && !cut_) powers.next(*this);
  return read_part(digits, powers);
}

Whole WholeMath::read_part(std::string_view digits, const Powers& powers) {
  Whole r;
  if (poll()) return r;
  const auto places = static_cast<size_t>(powers.places);
  if (digits.size() <= places << kShortLevel) {
    while (!digits.empty()) {
      const size_t take = (digits.size() - 1) % places + 1;
      mp_digit part = 0;
      for (char c : digits.substr(0, take)) part = part * static_cast<mp_digit>(powers.base) + static_cast<mp_digit>(value_of(c));
      whole_done(mp_mul_d(r, powers.one, r.get()));
      whole_done(mp_add_d(r, part, r.get()));
      digits.remove_prefix(take);
    }
    return r;
  }
  size_t level = 0;
  while (places << (level + 1) < digits.size()) ++level;
  const size_t low = places << level;
  Whole high = read_part(digits.substr(0, digits.size() - low), powers);
  Whole rest = read_part(digits.substr(digits.size() - low), powers);
  if (cut_) return r;
  r = multiply(high, powers.of[level]);
  whole_done(mp_add(r, rest, r.get()));
  return r;
}

}  // namespace tfl
