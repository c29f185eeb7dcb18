// Threads of a script. They run one at a time, on stacks of their own within one thread of the system, and give way where they wait: for a lock, for
// time to pass, for another's end.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// Lets the other threads run, at most until `end` (nanoseconds of the monotonic clock) when none of them can go on either. False: there are none.
Result<bool> let_others_run(Interp& interp, int64_t end);

}  // namespace tfl
