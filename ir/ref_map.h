// Tables whose keys are values of a graph.
#pragma once

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "ir/graph.h"

namespace tfl::ir {

struct RefHash {
  size_t operator()(Ref r) const { return std::hash<const void*>()(r.node) * 31 + r.index; }
};

template <class T>
using RefMap = std::unordered_map<Ref, T, RefHash>;
using RefSet = std::unordered_set<Ref, RefHash>;

}  // namespace tfl::ir
