// Several processes of one job: starting them on this machine, and what each of them prints.
#pragma once

#include "cli/arguments.h"

namespace tfl::cli {

/// Starts the workers that were asked for (this process becomes their launcher) or, in one of them, sees to its output. An exit code when
/// something is wrong, else -1.
int arrange_workers(const Arguments& arguments);

}  // namespace tfl::cli
