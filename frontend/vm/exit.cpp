#include "frontend/vm/exit.h"

#include "frontend/object/attributes.h"
#include "frontend/object/exception.h"

namespace tfl {

void run_exit_functions(Interp& interp) {
  Value module = dict_get_str(interp.modules.as<Dict>(), interp.intern("atexit"));
  if (!module.is(Kind::Module) || interp.stopped) return;
  auto run = find_attr(interp, module, interp.intern("_run_exitfuncs"));
  if (!run || run->is_empty()) return;
  if (auto done = interp.call(*run, {}); !done) interp.streams.err(interp.format_traceback(interp.exception_of(done.error())));
}

}  // namespace tfl
