#include "frontend/interpreter/vm/exit.h"

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"

namespace tfl {

Result<bool> run_exit_functions(Interp& interp) {
  Value module = dict_get_str(interp.modules.as<Dict>(), interp.intern("atexit"));
  if (!module.is(Kind::Module) || interp.stopped) return false;
  auto run = find_attr(interp, module, interp.intern("_run_exitfuncs"));
  if (!run || run->is_empty()) return false;
  Value interrupted = TFL_TRY(interp.call(*run, {}));
  return truth(interp, interrupted);
}

}  // namespace tfl
