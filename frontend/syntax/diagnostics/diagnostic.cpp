#include "frontend/syntax/diagnostics/diagnostic.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace tfl {
namespace {

struct Row {
  std::string_view name;
  Severity severity;
  std::string_view message;
  std::string_view hint;
};

constexpr Row kRows[] = {
#define TFL_DIAGNOSTIC(id, severity, message, hint) {#id, Severity::severity, message, hint},
#include "frontend/syntax/diagnostics/diagnostics.def"
#undef TFL_DIAGNOSTIC
};

std::string fill(std::string_view pattern, std::initializer_list<std::string_view> args) {
  std::string out;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '{' && i + 2 < pattern.size() && pattern[i + 2] == '}' && pattern[i + 1] >= '0' && pattern[i + 1] <= '9') {
      auto index = static_cast<size_t>(pattern[i + 1] - '0');
      if (index < args.size()) out += args.begin()[index];
      i += 2;
    } else {
      out += pattern[i];
    }
  }
  return out;
}

auto place(const Diagnostic& d) { return std::tuple(d.span.line, d.span.column); }

}  // namespace

Diagnostic make_diagnostic(DiagnosticId id, Span span, std::initializer_list<std::string_view> args) {
  const Row& row = kRows[static_cast<size_t>(id)];
  return {id, row.severity, span, fill(row.message, args), fill(row.hint, args), {}};
}

std::string_view diagnostic_name(DiagnosticId id) { return kRows[static_cast<size_t>(id)].name; }
size_t diagnostic_count() { return std::size(kRows); }

void sort_diagnostics(std::vector<Diagnostic>& diagnostics) {
  // They are few and nearly sorted, and must stay in order where they share a place.
  auto before = [](const Diagnostic& a, const Diagnostic& b) { return place(a) < place(b); };
  for (auto it = diagnostics.begin(); it != diagnostics.end(); ++it) {
    std::rotate(std::upper_bound(diagnostics.begin(), it, *it, before), it, it + 1);
  }
  auto same = [](const Diagnostic& a, const Diagnostic& b) { return place(a) == place(b) && a.message == b.message; };
  diagnostics.erase(std::unique(diagnostics.begin(), diagnostics.end(), same), diagnostics.end());
}

bool has_errors(const std::vector<Diagnostic>& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

}  // namespace tfl
