// The end of a script: what it registered with the module atexit. Must not know how the script came to its end.
#pragma once

#include "runtime/support/result.h"

namespace tfl {

class Interp;

/// Calls the registered functions, last one first. Errors are told on stderr and change nothing; true when one was Ctrl-C. The end of
/// time is a failure.
Result<bool> run_exit_functions(Interp& interp);

}  // namespace tfl
