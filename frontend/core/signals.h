// Signals that a script has handlers for: what check_interrupt does when one has come (frontend/interpreter/modules/signal.cpp).
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

inline constexpr uint32_t kInterruptSignal = 16;  // a bit of Context::interrupt: a signal came that the script has a handler for

/// Has the script a handler of its own for this signal?
bool handles_signal(Interp& interp, int number);
/// Calls the handler with (number, None).
Result<void> call_signal_handler(Interp& interp, int number);
/// The same for every signal that has come since.
Result<void> call_signal_handlers(Interp& interp);

}  // namespace tfl
