#include <fmt/core.h>

#include "codegen/plan/native_ops.h"
#include "codegen/plan/outline.h"

namespace tfl::plan {

namespace {

void tell(Context& context, const ir::Function& f, const ir::Block& b, std::string& out) {
  for (const auto& n : b.nodes) {
    if (n->op == Op::constant || (n->op == Op::call && n->target()->name.starts_with(f.name + "."))) continue;
    std::string why = why_not_native(context, *n);
    if (why.empty()) why = is_view(n->op) ? "a view of what no cluster computes" : "alone it is no faster";
    const ir::Location& l = (*f.locations)[n->location];
    out += fmt::format("# {}{}{}{}: {}\n", op_info(n->op).name, n->name.empty() ? "" : " ", n->name,
                       l.line ? fmt::format(" (line {})", l.line) : "", why);
    for (const auto& region : n->regions) tell(context, f, *region, out);
  }
}

}  // namespace

std::string outside_text(Context& context, const ir::Function& f) {
  std::string out;
  tell(context, f, f.body, out);
  return out;
}

}  // namespace tfl::plan
