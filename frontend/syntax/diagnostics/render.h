// Diagnostics as text for a terminal or a file: the place, the message, the source line, a caret and the hint.
// This header must not know how diagnostics are found.
#pragma once

#include <string>
#include <vector>

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

/// model.tfl:3:9: error: expected ':' after the condition
///   3 | if x > 3
///     |         ^ write ':' here
std::string render_diagnostic(const Source& source, const Diagnostic& diagnostic, bool color);

/// All of them, with an empty line between.
std::string render_diagnostics(const Source& source, const std::vector<Diagnostic>& diagnostics, bool color);

/// The width of one character on a terminal: 0 for combining marks, 2 for East Asian wide ones, else 1.
int display_width(char32_t c);

}  // namespace tfl
