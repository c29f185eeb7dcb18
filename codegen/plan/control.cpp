#include "codegen/plan/builder.h"

namespace tfl::plan {

void BlockBuilder::make_cond(const ir::Node&) { b.fail(); }
void BlockBuilder::make_loop(const ir::Node&) { b.fail(); }

}  // namespace tfl::plan
