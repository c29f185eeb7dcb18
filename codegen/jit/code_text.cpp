#include "codegen/jit/code_text.h"

#include <optional>
#include <vector>

#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"

namespace tfl::codegen {

Result<std::string> code_text(Context& context, ir::Function& f, CodeText what, Cpu cpu) {
  std::vector<std::shared_ptr<ir::Function>> clusters;
  plan::outline(context, f, [&](const std::shared_ptr<ir::Function>& made) { clusters.push_back(made); });
  const char* comment = what == CodeText::llvm ? "; " : "# ";
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
