// How many elements arrays that grow may have in a run of machine code (plan::Plan::room). This header must not know what runs it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/tensor/tensor.h"

namespace tfl::codegen {

class Room {
 public:
  Room() = default;
  explicit Room(const plan::Plan& plan);

  int64_t size() const { return size_; }
  /// More, after a run on `inputs` for which it was not enough; false when there is no more.
  bool grow(std::span<const Tensor> inputs);

 private:
  int64_t size_ = 0, element_bytes_ = 1;  // of the largest element
  std::vector<int64_t> constants_;        // integers that the code knows
};

}  // namespace tfl::codegen
