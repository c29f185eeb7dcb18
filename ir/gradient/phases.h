// Iterations of a loop that have a gradient for a value. In `for ...: y = f(x); x = g(x)` only the last y is a result: written out, earlier
// f(x) have no gradient and the last g(x) has none. The gradient's body is one for all iterations and would send zeros there, which are
// zeros no longer where they meet an infinity. So what an iteration does not have is left out of its sums, and the forward values that are
// read for it are not seen there, by the gradient of the gradient neither.
#pragma once

#include "ir/gradient/block_adjoint.h"

namespace tfl::gradient {

class Phases {
 public:
  /// Bit j: the iteration that the gradient's loop runs as its j-th; the bit after those that are told apart stands for all others.
  using Mask = uint32_t;
  static constexpr size_t kTold = 6;

  /// `has[j]`: the variables that have a gradient when the j-th iteration begins; the last entry holds for the others, too.
  explicit Phases(const std::vector<std::vector<bool>>& has) : has_(has) {}
  bool always() const { return has_.size() == 1; }
  Mask all() const { return (Mask{1} << has_.size()) - 1; }
  /// The iterations in which variable k has a gradient.
  Mask of_variable(size_t k) const;

  /// How many iterations the gradient's loop has before it, and had at the beginning.
  void count(X left, X total) { left_ = left, total_ = total; }
  /// What else has to hold for a gradient to be there: the loop itself stands in an iteration of another.
  void within(X condition) { within_ = condition; }

  /// A scalar: whether this is one of the iterations of `mask`. Empty: no need to ask.
  X when(Mask mask);

  Mask mask(ir::Ref value) const;
  void set(ir::Ref value, Mask mask, bool zero_elsewhere = false) { known_[value] = {mask, zero_elsewhere}; }
  /// The gradient `g` of `value` in the iterations of `wanted`; `other` where it has none.
  X filled(ir::Ref value, X g, Mask wanted, double other);
  /// The sum of `before`, if not empty, and `g`, which is there in the iterations of `mask`.
  X sum(ir::Ref value, X before, X g, Mask mask);
  /// `after` where `mask` holds, else `before`, what `value` had.
  X replaced(ir::Ref value, X before, X after, Mask mask);

 private:
  struct Known {
    Mask mask;
    bool zero_elsewhere;
  };
  X chosen(Mask mask, X here, X elsewhere);

  std::vector<std::vector<bool>> has_;
  ir::RefMap<Known> known_;
  X left_, total_, within_;
  std::vector<std::pair<Mask, X>> conditions_;
};

}  // namespace tfl::gradient
