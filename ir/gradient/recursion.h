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
//
// A function that it calls may call itself, too, and lead back to it. Such functions thread one list of stacks, that of the outermost,
// through each call of one of them, and each is differentiated where it is called, again and again as the outermost is.
// This header must not know about tapes.
#pragma once

#include "ir/gradient/function.h"

namespace tfl::gradient {

struct Found;

/// A function that is being differentiated, where it calls itself.
struct Recursion {
  const ir::Function* original = nullptr;
  Recursion* around = nullptr;  // of the function that calls this one, where this one leads back to it or to one further out
  ir::Function* forward = nullptr;
  ir::Function* backward = nullptr;
  std::vector<bool> wanted;  // parameters and results with a gradient in some call
  std::vector<Reach> seeded;
  bool more = false;             // one was found that was not known when this attempt began
  std::shared_ptr<Found> found;  // what has been differentiated on the way, each only once
  Derivative known;              // seeds, gradient_of and presence_of as the attempt before has found them
  std::vector<ir::Type> stacks;  // of the outermost: by number, as the attempt before has found them
  std::vector<ir::Type> made;    // of the outermost: in this attempt

  Recursion& outermost() { return around ? around->outermost() : *this; }
  int new_number(const ir::Type& type) {
    std::vector<ir::Type>& all = outermost().made;
    all.push_back(type);
    return static_cast<int>(all.size() - 1);
  }
};

/// Whether `f` or what it calls calls `f`.
bool calls_itself(const ir::Function& f);
/// differentiate() for functions that do: the function as others call it begins with empty stacks and hands out what they have become.
Result<std::shared_ptr<const Derivative>> differentiate_recursive(Context& context, const ir::Function& f,
                                                                  std::vector<bool> wanted, std::vector<Reach> seeded);
/// The rule of a call of such a function, from inside itself or from elsewhere.
void recursive_call_rule(RuleCall& c);

}  // namespace tfl::gradient
