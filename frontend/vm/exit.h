// The end of a script: what it registered with the module atexit. Must not know how the script came to its end.
#pragma once

namespace tfl {

class Interp;

/// Calls the registered functions, last one first. Errors are told on stderr and change nothing.
void run_exit_functions(Interp& interp);

}  // namespace tfl
