// What the recorded formula of an elementwise operation says of it as a whole: what an element costs, and how often its value is
// rounded on the way. This header must not know a back end.
#pragma once

#include <cstdint>

namespace tfl {
enum class Op : uint16_t;
}

namespace tfl::formula {

struct Measure {
  uint8_t cost = 1;   // of one element, in cheap operations
  int roundings = 0;  // of floats, over all ways through the formula
};

/// Records the formula: some microseconds, of the longest ones some hundred.
Measure measure(Op op);

/// The same, remembered.
int64_t cost_of(Op op);

enum class Accuracy : uint8_t { exact, rounded_steps, ulp };
/// Exact: what IEEE 754 or integer arithmetic defines, to the bit. Rounded steps: a few of these. Ulp: docs/accuracy.md says how far it is.
Accuracy accuracy_of(Op op);

}  // namespace tfl::formula
