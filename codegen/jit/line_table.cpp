#include "codegen/jit/line_table.h"

namespace tfl::codegen {

LineTable line_table(const ir::Function& function) {
  LineTable table;
  const ir::Locations& locations = *function.locations;
  ir::walk(function.body, [&](const ir::Node& n) {
    if (n.location == 0 || n.location >= locations.size()) return;
    if (n.location >= table.lines.size()) table.lines.resize(n.location + 1);
    const ir::Location& l = locations[n.location];
    table.lines[n.location] = {l.file, l.function, l.line};
  });
  return table;
}

}  // namespace tfl::codegen
