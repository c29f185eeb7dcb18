// The commands of the program that are TFL source in stdlib/tools: their names, what they are for, and their modules.
#pragma once

#include <span>

#include "frontend/core/interp.h"

namespace tfl::cli {

struct ToolCommand {
  const char *name, *about, *module;
};

std::span<const ToolCommand> tool_commands();

/// A module of functions that start this program again and wait for it: start, read, poll, wait, stop. Scripts cannot import it.
Value processes_module(Interp& interp);

}  // namespace tfl::cli
