// How many empty lines stand between the lines of a file. This header must not know how lines are split.
#pragma once

#include <vector>

#include "frontend/syntax/format/leaf.h"

namespace tfl::format {

/// A line of the file before it is split, as far as empty lines ask.
struct Block {
  int depth = 0;
  uint32_t blank = 0;  // empty lines before it in the source
  bool comment = false, decorator = false, def = false, klass = false, import = false, docstring = false, stub_def = false;
  bool opens_block = false;
  std::string_view word;  // its statement
  bool kept = false;      // nothing of it is changed: empty lines neither
  // What comes out:
  uint32_t before = 0, after = 0;
};

void set_empty_lines(std::vector<Block>& blocks);

}  // namespace tfl::format
