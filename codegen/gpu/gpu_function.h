// Runs a plan on a GPU, as codegen/jit/native_function.h does on the CPU: the frame and the slots are the device's memory, results stay
// there until somebody looks. Nothing is waited for unless a scalar or a failure must be known. Where the device has graphs, all launches
// of a function are one, with its branches and loops. This header must not know what the device is, nor where code comes from.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "codegen/abi.h"
#include "codegen/gpu/gpu_code.h"
#include "codegen/load/plan_facts.h"
#include "runtime/core/context.h"
#include "runtime/gpu/devices.h"

namespace tfl::codegen {

/// Threads of a block that runs a segment.
uint32_t segment_threads(const plan::Block& segment);
/// Whether the frame is read when the run is over: for scalars and failures, and so that loops have ended.
bool looks_back(const plan::Plan& plan, bool can_fail);

class GpuFunction {
 public:
  /// `constants` are those of the plan, row-major. The device must outlive this.
  static Result<std::unique_ptr<GpuFunction>> load(gpu::Device& device, GpuSchedule schedule, const GpuCode& code,
                                                   std::vector<Tensor> constants);
  ~GpuFunction();
  GpuFunction(const GpuFunction&) = delete;
  GpuFunction& operator=(const GpuFunction&) = delete;

  /// As ir::Native::run: false when the plan declines these inputs, an operation would raise, or the device has failed; `why` says it.
  bool run(Context& context, std::span<const Tensor> inputs, std::span<Tensor> results, std::string& why);

  gpu::Device& device() const { return device_; }

 private:
  struct Call;  // one run

  GpuFunction(gpu::Device& device, GpuSchedule schedule, const GpuCode& code, std::vector<Tensor> constants);

  gpu::Device& device_;
  GpuSchedule schedule_;
  std::vector<GpuUnits> units_;
  std::vector<Tensor> constants_;
  PlanFacts facts_;
  struct Phase {
    std::string name;
    size_t units;  // number in units_
  };
  std::vector<std::string> segments_, kernels_, products_;  // names
  std::vector<std::vector<Phase>> routines_;
  size_t all_units_ = 0;
  std::vector<uint32_t> threads_;  // of segments
  std::vector<gpu::Address> constant_addresses_;
  std::unique_ptr<gpu::Module> module_;
  bool looks_back_ = false;  // the frame is read when the run is over: scalars, failures
  // What calls share, which follow one another on the device: the frame, and all launches as one graph.
  gpu::Address frame_ = 0;
  std::unique_ptr<gpu::Graph> graph_;
  std::vector<int64_t> blocks_;  // of each launch, when it was made
  uint32_t calls_ = 0;           // in a row with these
  bool records_ = false;         // the launches can be a graph
  bool loops_ = false;           // over launches
};

}  // namespace tfl::codegen
