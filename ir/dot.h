// A graph as Graphviz text, to look at. This header must not know how a graph is made.
#pragma once

#include "ir/graph.h"

namespace tfl::ir {

struct DotOptions {
  bool constants = true;  // as boxes of their own; small ones stand in the label of their user
  bool types = true;      // on the edges
};
/// Regions and called functions are clusters.
std::string to_dot(const Function& f, const DotOptions& options = {});

}  // namespace tfl::ir
