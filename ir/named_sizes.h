// The sizes that a function's parameters give one name, checked where it is entered. This header must not know how functions run.
#pragma once

#include "ir/datum.h"
#include "ir/graph.h"

namespace tfl::ir {

class NamedSizes {
 public:
  explicit NamedSizes(const Function& f);
  bool empty() const { return pairs_.empty(); }
  /// InvalidArgumentError unless sizes of one name are equal.
  Result<void> check(const Function& f, std::span<const Datum> inputs) const;

 private:
  struct Pair {
    uint32_t input, axis, other_input, other_axis;
    size_t symbol;
  };
  std::vector<Pair> pairs_;
};

}  // namespace tfl::ir
