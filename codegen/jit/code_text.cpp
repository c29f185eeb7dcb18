#include "codegen/jit/code_text.h"

#include <fmt/core.h>

#include <optional>
#include <vector>

#include "codegen/gpu/gpu_code.h"
#include "codegen/llvm/gpu/launches.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"

namespace tfl::codegen {

namespace {

size_t count_launches(const GpuSchedule& schedule, const std::vector<GpuStep>& steps) {
  size_t n = 0;
  for (const GpuStep& s : steps) {
    if (s.kind == GpuStep::Kind::routine)
      n += static_cast<size_t>(gpu_launches(schedule.plan.routines[schedule.module.routines[s.index]]));
    else
      n += s.blocks.empty();
    for (const auto& block : s.blocks) n += count_launches(schedule, block);
  }
  return n;
}

}  // namespace

std::string ptx_text(plan::Plan plan, std::string_view target) {
  GpuSchedule schedule = gpu_schedule(std::move(plan));
  if (!schedule.supported) return "// calls a routine that GPUs do not have: it runs on the CPU\n";
  GpuCode code;
  std::string error = compile_gpu(schedule, target, Cpu::x86_64_v3, code);
  if (!error.empty()) return "// runs on the CPU: " + error + "\n";
  std::string text, steps = schedule_text(schedule);
  for (size_t at = 0; at < steps.size();) {
    size_t end = steps.find('\n', at);
    text += "//   " + steps.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text + code.image;
}

std::string gpu_report(Context& context, ir::Function& f) {
  std::string text;
  plan::outline(context, f, [&](const std::shared_ptr<ir::Function>& cluster) {
    std::optional<plan::Plan> plan = plan::build_plan(context, *cluster);
    if (!plan) {
      text += fmt::format("{}: the CPU runs it as a graph\n", cluster->name);
      return;
    }
    GpuSchedule schedule = gpu_schedule(std::move(*plan));
    size_t launches = count_launches(schedule, schedule.steps);
    text += fmt::format("{}: {} launch{}\n", cluster->name, launches, launches == 1 ? "" : "es");
    for (const GpuControl& c : control_of(schedule)) {
      const ir::Location& at = (*cluster->locations)[c.location];
      text += fmt::format("  {}{}: {}\n", c.is_loop ? "loop" : "branch", at.line ? fmt::format(" (line {})", at.line) : "",
                          c.over_launches ? "a conditional node of a CUDA graph, without the host (with a driver for CUDA 12.3 "
                                            "or older the host reads the condition back)"
                                          : "inside one kernel, by one block of threads");
    }
  });
  return text;
}

Result<std::string> code_text(Context& context, ir::Function& f, CodeText what, Cpu cpu) {
  std::vector<std::shared_ptr<ir::Function>> clusters;
  plan::outline(context, f, [&](const std::shared_ptr<ir::Function>& made) { clusters.push_back(made); });
  const char* comment = what == CodeText::llvm ? "; " : what == CodeText::ptx ? "// " : "# ";
  std::string text;
  for (const std::shared_ptr<ir::Function>& cluster : clusters) {
    if (!text.empty()) text += '\n';
    std::optional<plan::Plan> plan = plan::build_plan(context, *cluster, what != CodeText::ptx);
    if (!plan) {
      text += comment + cluster->name + " has no plan: it is run as a graph\n";
      continue;
    }
    if (what == CodeText::ptx) {
      text += comment + cluster->name + "\n" + ptx_text(std::move(*plan), kGpuTarget);
      continue;
    }
    plan::share_kernels(*plan);
    if (what == CodeText::plan) {
      text += plan::plan_text(*plan);
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
