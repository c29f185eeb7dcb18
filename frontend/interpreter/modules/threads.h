// Threads of a script. They run one at a time, on stacks of their own within one thread of the system, and give way where they wait: for a lock, for
// time to pass, for another's end.
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// Lets the other threads run, and sleeps at most until `end` (nanoseconds of the monotonic clock) when none of them can go on either. `first`: the
/// thread has done something since it last waited. False: there are no others.
Result<bool> let_others_run(Interp& interp, int64_t end, bool first);

}  // namespace tfl
