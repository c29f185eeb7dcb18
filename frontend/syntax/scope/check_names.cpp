#include <algorithm>
#include <iterator>

#include "frontend/syntax/scope/scope.h"

namespace tfl::scope {
namespace {

struct Refused {
  std::string_view name, instead;
};

constexpr Refused kRefused[] = {
    {"exec", "write the code in the script, or import a .tfl file beside it"},
    {"eval", "call a function, or read data with json.loads"},
    {"compile", "import a .tfl file, or use tf.function to compile a function"},
};

}  // namespace

void check_names(const ScopeTree& tree, std::vector<Diagnostic>& diagnostics) {
  if (tree.scopes.front().star_import) return;  // who knows what it brings
  for (const Scope& scope : tree.scopes) {
    for (const Symbol& sym : scope.symbols) {
      bool global = sym.storage == Storage::Global || sym.storage == Storage::Namespace;
      bool own = sym.storage == Storage::Namespace && sym.bound;
      if (!global || own || !sym.used || sym.first_use.line == 0 || tree.module_names.contains(sym.name)) continue;
      auto refused = std::find_if(std::begin(kRefused), std::end(kRefused), [&](const Refused& r) { return r.name == sym.name; });
      if (refused != std::end(kRefused))
        diagnostics.push_back(make_diagnostic(DiagnosticId::RefusedBuiltin, sym.first_use, {sym.name, refused->instead}));
    }
  }
}

}  // namespace tfl::scope
