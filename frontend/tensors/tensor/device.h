// Where tensors are and where operations run, as scripts see it: names of devices, what tf.device scopes ask for.
// This header must not know what kinds of GPUs there are (runtime/gpu).
#pragma once

#include "frontend/core/tensor_api.h"
#include "runtime/gpu/devices.h"

namespace tfl {

/// "/job:localhost/replica:0/task:0/device:CPU:0", or the GPU that the tensor belongs to; of no tensor, the CPU.
std::string device_name(const Tensor& t);

/// What a tf.device scope, or logging of placements, makes of eager operations. It stands at the end of the chain
/// of sinks, and only while one of the two is there.
struct Placement final : Sink {
  std::string scope;        // "/job:localhost/replica:0/task:0/device:GPU:0"; empty: there is none
  int ordinal = gpu::kCpu;  // where operations run
  std::string refused;      // why none can be run here; empty: they can
  bool logs = false;
  Result<void> apply(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<Value, 2>& results) override;
  Result<Value> read_variable(Interp&, VariableObject* v) override;
  Result<void> assign_variable(Interp&, VariableObject* v, Assignment how, const Value& value) override;
  void node_made(Interp&, std::span<const Value>, ir::Node*, std::span<const Value>) override {}
  Result<void> call(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) override;

 private:
  void log(Interp&, std::string_view operation) const;
};

/// A value that is made without an operation (a constant, a variable's first value) goes where the scope says.
Result<Tensor> placed(Interp&, Tensor t, std::string_view made_by);

/// tensor.cpu() and tensor.gpu(index): the same elements on that device.
Result<Value> tensor_to_cpu(Interp&, Value* args);
Result<Value> tensor_to_gpu(Interp&, Value* args);

/// What a traced function has for a device when a scope inside asks for a GPU that there is not, and no other device may do the work;
/// and the number of that GPU.
inline int refused_device(int index) { return gpu::kCpu - 1 - index; }
inline int refused_index(int device) { return gpu::kCpu - 1 - device; }

/// The GPU where one of the operands of a function lies, when no scope says where functions run; kCpu else.
int where_operands_are(Interp&, std::span<const Value> operands);

/// For the time it lives, functions run on this device.
class PlacedOn {
 public:
  PlacedOn(Interp& interp, int ordinal);
  ~PlacedOn();
  PlacedOn(const PlacedOn&) = delete;
  PlacedOn& operator=(const PlacedOn&) = delete;

 private:
  gpu::Devices& devices_;
  int before_;
  bool chosen_before_;
};

std::span<const NativeDef> device_natives();

}  // namespace tfl
