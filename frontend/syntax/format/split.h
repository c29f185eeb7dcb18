// A line that is too long becomes several. This header must not know about statements or empty lines.
#pragma once

#include "frontend/syntax/format/leaf.h"

namespace tfl::format {

/// The lines that `line` is written as, in order; some may be too long all the same.
std::vector<Line> split(const Line& line, LeafPool& pool, bool force_parentheses = false);

}  // namespace tfl::format
