// One style for source texts: Black's, where it has one. Comments and the syntax tree are kept; a text that does not parse is left alone.
// This header must not know about files or terminals.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

/// Physical lines [first, last], counted from 1.
struct LineRange {
  uint32_t first = 0, last = 0;
};

struct FormatOptions {
  uint32_t line_length = 88;
  bool magic_trailing_comma = true;  // a comma before a closing bracket keeps one item a line
  bool normal_quotes = true;         // double quotes where that takes no more backslashes
  std::vector<LineRange> ranges;     // statements that touch none of them are left as they are; empty: all are formatted
};

struct FormatResult {
  std::string text;                     // formatted; as it was where there are errors
  std::vector<Diagnostic> diagnostics;  // what keeps the text from being parsed
  std::string problem;                  // the formatted text would mean something else: nothing is changed, and this says where
  bool ok() const { return !has_errors(diagnostics) && problem.empty(); }
};

FormatResult format_source(const Source& source, const FormatOptions& options = {});

}  // namespace tfl
