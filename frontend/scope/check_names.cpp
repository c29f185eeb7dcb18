#include <algorithm>
#include <iterator>

#include "frontend/diagnostics/suggest.h"
#include "frontend/scope/scope.h"

namespace tfl::scope {
namespace {

struct Refused {
  std::string_view name, instead;
};

constexpr Refused kRefused[] = {
    {"exec", "write the code in the script, or import a .tfl file beside it"},
    {"eval", "call a function, or read data with json.loads"},
    {"compile", "import a .tfl file, or use tf.function to compile a function"},
    {"globals", "keep the values in a dict of your own"},
    {"locals", "keep the values in a dict of your own"},
    {"memoryview", "slice the bytes, or use tf.io.decode_raw"},
    {"bytearray", "use bytes, or a list of int"},
    {"complex", "keep the real and the imaginary part as two floats"},
};

/// Names a module has without binding them.
constexpr std::string_view kModuleNames[] = {"__name__",        "__file__",     "__doc__",    "__builtins__", "__debug__",
                                             "__annotations__", "__package__",  "__loader__", "__spec__",     "__class__",
                                             "__module__",      "__qualname__", "_"};

}  // namespace

void check_names(const ScopeTree& tree, const std::vector<std::string_view>& known, bool unknown,
                 std::vector<Diagnostic>& diagnostics) {
  if (tree.scopes.front().star_import) return;  // who knows what it brings
  std::vector<std::string_view> candidates;
  for (const Scope& scope : tree.scopes) {
    for (const Symbol& sym : scope.symbols) {
      bool global = sym.storage == Storage::Global || sym.storage == Storage::Namespace;
      bool own = sym.storage == Storage::Namespace && sym.bound;
      if (!global || own || !sym.used || sym.first_use.line == 0 || tree.module_names.contains(sym.name)) continue;
      auto refused = std::find_if(std::begin(kRefused), std::end(kRefused), [&](const Refused& r) { return r.name == sym.name; });
      if (refused != std::end(kRefused)) {
        diagnostics.push_back(make_diagnostic(DiagnosticId::RefusedBuiltin, sym.first_use, {sym.name, refused->instead}));
        continue;
      }
      if (!unknown || std::binary_search(known.begin(), known.end(), sym.name)) continue;
      if (std::find(std::begin(kModuleNames), std::end(kModuleNames), sym.name) != std::end(kModuleNames)) continue;
      if (candidates.empty()) {
        candidates = known;
        for (const auto& [name, bound] : tree.module_names) candidates.push_back(name);
        std::sort(candidates.begin(), candidates.end());
      }
      std::vector<std::string_view> here = candidates;
      for (const Symbol& local : scope.symbols) {
        if (local.bound && local.name != ".0") here.push_back(local.name);
      }
      std::string_view close = suggest(sym.name, here);
      DiagnosticId id = close.empty() ? DiagnosticId::UnknownName : DiagnosticId::UnknownNameSuggest;
      diagnostics.push_back(make_diagnostic(id, sym.first_use, {sym.name, close}));
    }
  }
}

}  // namespace tfl::scope
