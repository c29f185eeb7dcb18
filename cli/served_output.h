// Modules of natives for the commands that serve others and show them what a script writes: the notebook kernel and the debugger for editors.
#pragma once

#include "frontend/core/interp.h"

namespace tfl::cli {

/// open, bind, beat, poll, receive, send, take_output, drain: stdlib/tools/_kernel.tfl.
Value kernel_module(Interp& interp);
/// take_output, send, drain: stdlib/tools/_debug_adapter.tfl.
Value debugger_module(Interp& interp);
/// Standard output and error are what they were.
void give_back_output();

}  // namespace tfl::cli
