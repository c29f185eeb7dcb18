// The gradient of a function that calls itself. Forward and backward function call themselves as the function does. What the gradient reads
// of a call goes through stacks, as in a loop, and the stacks go through the calls:
//
//   f(x) = ... f(y) ...
//   -->
//   forward(x, stack) = ... r, s = forward(y, stack) ..., push(s, kept)
//   backward(g, sum, x, stack) = kept, s = pop(stack) ... gy, s = backward(gr, sums, y, s) ..., s
//
// Which stacks there are, and which parameters and results have gradients, is known when a body has been differentiated, but its calls
// of itself need it before: it is done again until nothing new is found.
// This header must not know about tapes.
#pragma once

#include "ir/gradient/function.h"

namespace tfl::gradient {

/// A function that is being differentiated, where it calls itself.
struct Recursion {
  ir::Function* forward = nullptr;
  ir::Function* backward = nullptr;
  std::vector<bool> wanted, seeded;   // parameters and results with a gradient in some call
  bool more = false;                  // one was found that was not known when this attempt began
  Derivative known;                   // seeds, gradient_of and untouched as the attempt before has found them
  std::vector<ir::Type> stacks;       // by number, as the attempt before has found them
  std::vector<ir::Type> made;         // in this attempt

  int new_number(const ir::Type& type) {
    made.push_back(type);
    return static_cast<int>(made.size() - 1);
  }
};

/// Whether `f` or what it calls calls `f`.
bool calls_itself(const ir::Function& f);
/// differentiate() for functions that do: the function as others call it begins with empty stacks and hands out what they have become.
Result<std::shared_ptr<const Derivative>> differentiate_recursive(Context& context, const ir::Function& f, std::vector<bool> wanted,
                                                                  std::vector<bool> seeded);
/// The rule of a call of such a function, from inside itself or from elsewhere.
void recursive_call_rule(RuleCall& c);

}  // namespace tfl::gradient
