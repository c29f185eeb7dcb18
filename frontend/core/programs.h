// Other programs: a script may start them where the user has said so (frontend/interpreter/modules/process.cpp).
#pragma once

#include "frontend/core/interp.h"

namespace tfl {

/// From now on the script may run other programs.
Result<void> allow_programs(Interp& interp);

}  // namespace tfl
