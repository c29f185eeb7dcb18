// From "the parser stopped at this token, where these would have fitted" to a sentence a user can act on.
// This header must not know how parsing goes on afterwards.
#pragma once

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/parse/layout.h"

namespace tfl::parse {

struct SyntaxFailure;

/// Why line `line` of `layout` is no statement. `token` is the place in layout.tokens where the parser stopped, the line's end when
/// it stopped there.
Diagnostic explain(const Source& source, const Layout& layout, size_t line, size_t token, const SyntaxFailure& failure);

/// The same for the one line that lay_out_expression made.
Diagnostic explain_expression(const Source& source, const Layout& layout, const SyntaxFailure& failure);

}  // namespace tfl::parse
