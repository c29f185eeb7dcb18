// `tfl check`: errors that are certain to be raised, found without running the script. Names, attributes and arguments of the library are
// looked up in the library itself; the script's own functions are asked for their parameters; what consists of constants alone is computed.
// Only what is certain is reported: nothing that the script may catch, guard or put in place while it runs.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "frontend/core/interp.h"
#include "frontend/syntax/scope/scope.h"

namespace tfl::check {

/// Told of each expression whose value, or at least its type, is certain.
using Seen = std::function<void(const ast::Expr&, const Value&, bool own)>;

/// `code` is what `module` was compiled to.
void check_program(Interp&, const ast::Module& module, scope::ScopeTree& scopes, const Value& code,
                   std::vector<Diagnostic>& diagnostics, const Seen* seen = nullptr);

}  // namespace tfl::check
