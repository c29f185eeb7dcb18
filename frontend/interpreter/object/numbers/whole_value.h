// Between host values and Whole. For the files that compute with ints of any size.
#pragma once

#include "frontend/core/big_int.h"
#include "frontend/interpreter/object/numbers/whole.h"

namespace tfl {

/// An int, bool or BigInt as what the library reads, where it lies.
class Operand {
 public:
  explicit Operand(const Value& v);
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  operator const mp_int*() const { return &n_; }
  const mp_int* operator->() const { return &n_; }

 private:
  mp_int n_;
  mp_digit small_[2];
};

/// MemoryError when a number of so many digits would pass the memory limit.
Result<void> guard_digits(Interp& interp, int64_t digits);
/// The error of what stopped the work, if something did.
Result<void> check_cut(Interp& interp, const WholeMath& math);
Value int_of_whole(Interp& interp, const Whole& w);
Result<Value> finished(Interp& interp, const WholeMath& math, const Whole& w);

}  // namespace tfl
