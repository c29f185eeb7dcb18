// A gradient that the user gave (tf.custom_gradient), as a graph holds it: a cond that always takes its first branch. That branch gives
// the outputs and then the inputs; the other one gives what stands for the outputs' gradients (parameters, where the first has outputs)
// and then the gradient of each input. Optimising a graph that runs leaves only the first; differentiating one inlines the second.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

/// Makes a cond of that form what this header says; it has `outputs` outputs.
void mark_custom(Node& node, size_t outputs);
bool is_custom(const Node& node);
/// Whether such a node is of the form that this header tells; graphs from files may say so and be of another.
bool custom_fits(const Node& node);
/// The operand of `node` that is its j-th input: the first branch gives it, or reads it when it is a variable.
size_t custom_input(const Node& node, size_t j);
/// Whether a gradient may flow from the results of `node` to operand i: of a custom gradient only to its inputs.
bool flows_to(const Node& node, size_t i);

}  // namespace tfl::ir
