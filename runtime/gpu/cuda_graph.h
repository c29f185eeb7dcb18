// Graphs of launches on NVIDIA's driver, made node by node, with parts that depend on what is computed. This header must not know
// streams or memory.
#pragma once

#include <memory>
#include <vector>

#include "runtime/gpu/cuda_driver.h"
#include "runtime/gpu/device.h"

namespace tfl::gpu {

/// A graph, and what the driver made of it to be launched.
struct CudaGraph final : Graph {
  CudaGraph(std::shared_ptr<const cuda::Driver> d, cuda::ContextHandle* c) : driver(std::move(d)), context(c) {}
  ~CudaGraph() override;
  std::shared_ptr<const cuda::Driver> driver;
  cuda::ContextHandle* context;
  cuda::GraphHandle* graph = nullptr;
  cuda::GraphExecHandle* handle = nullptr;
  bool repeats = false;  // some part may go on without an end
};

/// Writes one graph: nodes run one after the other, as in a stream. The context must be current in all calls.
class CudaGraphWriter {
 public:
  CudaGraphWriter(std::shared_ptr<const cuda::Driver> driver, cuda::ContextHandle* context)
      : driver_(std::move(driver)), context_(context) {}

  Result<void> begin();
  Result<void> launch(cuda::FunctionHandle* function, unsigned blocks, unsigned threads, unsigned shared_bytes,
                      void** parameters);
  /// `kernel` is that of condition_code(); `stop`: what the device reads to know that nobody waits any more.
  Result<void> begin_part(cuda::FunctionHandle* kernel, const Condition& condition, Address stop);
  Result<void> end_part();
  Result<std::unique_ptr<Graph>> end();

 private:
  struct Level {
    cuda::GraphHandle* graph;
    cuda::NodeHandle* last;  // null: the graph is empty
    Condition condition;     // of a part
    cuda::ConditionHandle handle;
  };
  Result<void> set(cuda::ConditionHandle handle, const Condition& condition, bool begins);
  Result<void> check(cuda::Status status);

  std::shared_ptr<const cuda::Driver> driver_;
  cuda::ContextHandle* context_;
  cuda::FunctionHandle* kernel_ = nullptr;
  Address stop_ = 0;
  std::unique_ptr<CudaGraph> made_;
  std::vector<Level> levels_;
};

/// PTX of the kernel that looks at a condition, and its name.
const char* condition_code();
inline constexpr const char* kConditionKernel = "tfl_condition";

}  // namespace tfl::gpu
