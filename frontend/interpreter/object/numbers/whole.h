// Whole numbers while they are computed with, over libtommath: storage, parts, and the two operations that the library does too slowly
// for long numbers, product and quotient. All sizes are of 60-bit digits, the lowest first.
// This header must not know about host values.
#pragma once

#include <tommath.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace tfl {

static_assert(MP_DIGIT_BIT == 60);

/// Ends the process when the system has no memory: sizes are bounded before.
void whole_done(mp_err error);

/// An mp_int that owns its digits.
class Whole {
 public:
  Whole() { whole_done(mp_init(&n_)); }
  explicit Whole(int64_t v) : Whole() { mp_set_i64(&n_, v); }
  explicit Whole(const mp_int* v) : Whole() { whole_done(mp_copy(v, &n_)); }
  Whole(Whole&& o) noexcept : n_(o.n_) { o.n_.dp = nullptr; }
  Whole& operator=(Whole&& o) noexcept {
    mp_exch(&n_, &o.n_);
    return *this;
  }
  Whole(const Whole&) = delete;
  Whole& operator=(const Whole&) = delete;
  ~Whole() {
    if (n_.dp) mp_clear(&n_);
  }
  operator const mp_int*() const { return &n_; }
  mp_int* get() { return &n_; }
  const mp_int* operator->() const { return &n_; }
  bool zero() const { return n_.used == 0; }
  bool negative() const { return n_.sign == MP_NEG; }

 private:
  mp_int n_;
};

/// The digits [from, to) of a magnitude, where they lie: to be read only.
mp_int whole_part(const mp_int* n, int from, int to);
Whole shifted_left(const mp_int* n, int64_t bits);
/// Rounded down.
Whole shifted_right(const mp_int* n, int64_t bits);
int64_t bit_length(const mp_int* n);

/// Products, quotients and texts of any length. When `interrupt` is set the work ends early, with results that mean nothing: whoever uses
/// one asks `cut()` first.
class WholeMath {
 public:
  explicit WholeMath(const std::atomic<uint32_t>& interrupt) : interrupt_(interrupt) {}
  bool cut() const { return cut_; }
  bool poll() {
    if (interrupt_.load(std::memory_order_relaxed) != 0) cut_ = true;
    return cut_;
  }

  Whole multiply(const mp_int* a, const mp_int* b);
  /// Quotient and remainder of the magnitudes; b is not 0.
  void divide(const mp_int* a, const mp_int* b, Whole& quotient, Whole& remainder);
  /// Rounded down; the remainder has b's sign.
  void divide_floor(const mp_int* a, const mp_int* b, Whole& quotient, Whole& remainder);
  /// first * (first + 1) * ... * (first + count - 1)
  Whole product(const mp_int* first, int64_t count);
  /// base ** exponent
  Whole power(const mp_int* base, uint64_t exponent);
  /// Digits of the magnitude.
  std::string text(const mp_int* n, int base);
  /// Of digits alone.
  Whole read(std::string_view digits, int base);

 private:
  struct Powers;
  Whole multiply_magnitudes(const mp_int* a, const mp_int* b);
  void divide_two_by_one(const mp_int* a, const mp_int* b, int n, Whole& quotient, Whole& remainder);
  void divide_three_by_two(const mp_int* high, const mp_int* low, const mp_int* b, int half, Whole& quotient, Whole& remainder);
  void write(const mp_int* n, const Powers& powers, int level, char* end);
  Whole read_part(std::string_view digits, const Powers& powers);

  const std::atomic<uint32_t>& interrupt_;
  bool cut_ = false;
};

}  // namespace tfl
