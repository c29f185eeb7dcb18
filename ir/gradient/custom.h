// The gradient of a node that carries one of its own (ir/custom_gradient.h): the nodes of its second branch, inlined.
#pragma once

#include "ir/gradient/rules.h"

namespace tfl::gradient {

void custom_rule(RuleCall& c);

}  // namespace tfl::gradient
