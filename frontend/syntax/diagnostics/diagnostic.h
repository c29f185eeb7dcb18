// What is wrong with a source before it runs: the registry of diagnostics (diagnostics.def) and one found instance.
// This header must not know about tokens, trees or terminals; render.h makes text of a Diagnostic.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/ast/ast.h"

namespace tfl {

enum class Severity : uint8_t { Error, Warning };

enum class DiagnosticId : uint16_t {
#define TFL_DIAGNOSTIC(id, severity, message, hint) id,
#include "frontend/syntax/diagnostics/diagnostics.def"
#undef TFL_DIAGNOSTIC
};

/// Something said beside the main message, about another place when `span.line` is not 0.
struct Note {
  Span span;
  std::string message;
};

struct Diagnostic {
  DiagnosticId id;
  Severity severity;
  Span span;
  std::string message;
  std::string hint;  // what to write instead; empty when there is nothing to say
  std::vector<Note> notes;
};

/// An instance of a row: `{0}`, `{1}` … in its message and hint become `args`.
Diagnostic make_diagnostic(DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {});

std::string_view diagnostic_name(DiagnosticId id);
size_t diagnostic_count();

/// Sorts by place and drops what is said twice about one place.
void sort_diagnostics(std::vector<Diagnostic>& diagnostics);
bool has_errors(const std::vector<Diagnostic>& diagnostics);

}  // namespace tfl
