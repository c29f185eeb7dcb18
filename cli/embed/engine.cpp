#include "cli/embed/engine.h"

#include "codegen/gpu/emulator.h"
#include "codegen/jit/code_text.h"
#include "frontend/core/tensor_api.h"
#include "runtime/gpu/devices.h"

namespace tfl::embed {

void complete(Interp& interp, ProgramContext& context) {
  if (interp.tensors) {
    interp.tensors->prepare_graph = [](Context& c, ir::Function& f) -> Result<void> {
      ProgramContext& program = static_cast<ProgramContext&>(c);
      if (program.passes)
        TFL_TRY(optimizer::run_pipeline(c, f, *program.passes, {.verify = true}));
      else
        TFL_TRY(optimizer::optimize(c, f, 1));
      if (program.gpu_report) *program.gpu_report += codegen::gpu_report(c, *ir::clone(f));
      return program.jit.prepare(c, f);
    };
  }
  gpu::Devices& devices = context.devices();
  devices.make_emulator = codegen::make_emulator;
  devices.run_operation = [](Context& c, gpu::Device& device, Op op, std::span<const Tensor> operands, const Attrs& attrs,
                             Tensors& results) {
    return static_cast<ProgramContext&>(c).gpu_operations.run(c, device, op, operands, attrs, results);
  };
}

}  // namespace tfl::embed
