// Single operations on GPUs, for scripts that run eagerly there: each is a function of one node, compiled once for
// the types of its operands. This header must not know LLVM.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "codegen/gpu/gpu_cluster.h"

namespace tfl::codegen {

class GpuOperations {
 public:
  explicit GpuOperations(GpuOptions options) : options_(std::move(options)) {}

  /// False when the operation does not run on this device with these operands, or would raise: `results` is as it
  /// was.
  bool run(Context& context, gpu::Device& device, Op op, std::span<const Tensor> operands, const Attrs& attrs, Tensors& results);

 private:
  struct Operation {
    std::shared_ptr<ir::Function> function;  // null: GPUs do not have it
    SmallVec<uint32_t, 4> parameters;        // which operands it takes; the others are constants
    size_t results = 0;
    GpuCluster code;
  };
  void make(Context& context, Op op, std::span<const Tensor> operands, const Attrs& attrs, Operation& made) const;

  GpuOptions options_;
  std::unordered_map<std::string, Operation> known_;  // by operation, attributes, types and constants
};

}  // namespace tfl::codegen
