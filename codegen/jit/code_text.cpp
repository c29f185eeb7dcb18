#include "codegen/jit/code_text.h"

#include <optional>
#include <vector>

#include "codegen/gpu/gpu_code.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"

namespace tfl::codegen {

namespace {

// What is launched, as comments, and the kernels.
Result<std::string> ptx_text(plan::Plan plan) {
  GpuSchedule schedule = gpu_schedule(std::move(plan));
  if (!schedule.supported) return std::string("// calls a routine that GPUs do not have: it runs on the CPU\n");
  GpuCode code;
  std::string error = compile_gpu(schedule, kGpuTarget, Cpu::x86_64_v3, code);
  if (!error.empty()) return "// runs on the CPU: " + error + "\n";
  std::string text, steps = schedule_text(schedule);
  for (size_t at = 0; at < steps.size();) {
    size_t end = steps.find('\n', at);
    text += "//   " + steps.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text + code.image;
}

}  // namespace

Result<std::string> code_text(Context& context, ir::Function& f, CodeText what, Cpu cpu) {
  std::vector<std::shared_ptr<ir::Function>> clusters;
  plan::outline(context, f, [&](const std::shared_ptr<ir::Function>& made) { clusters.push_back(made); });
  const char* comment = what == CodeText::llvm ? "; " : what == CodeText::ptx ? "// " : "# ";
  std::string text;
  for (const std::shared_ptr<ir::Function>& cluster : clusters) {
    if (!text.empty()) text += '\n';
    std::optional<plan::Plan> plan = plan::build_plan(context, *cluster);
    if (!plan) {
      text += comment + cluster->name + " has no plan: it is run as a graph\n";
      continue;
    }
    if (what == CodeText::plan) {
      text += plan::plan_text(*plan);
      continue;
    }
    if (what == CodeText::ptx) {
      text += comment + cluster->name + "\n" + TFL_TRY(ptx_text(std::move(*plan)));
      continue;
    }
    CompileRequest request;
    request.plan = &*plan;
    request.cpu = cpu;
    request.output = what == CodeText::llvm ? CompileRequest::Output::llvm : CompileRequest::Output::assembly;
    CompileResult result;
    compile_plan(request, result);
    if (!result.error.empty()) return fail(ErrorKind::InternalError, std::move(result.error));
    text += comment + cluster->name + "\n" + result.bytes;
  }
  if (what == CodeText::plan) text += plan::outside_text(context, f);
  if (text.empty()) text = std::string(comment) + f.name + " has nothing that becomes machine code\n";
  return text;
}

}  // namespace tfl::codegen
