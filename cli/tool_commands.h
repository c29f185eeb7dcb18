// The commands of the program that are TFL source in stdlib/tools: their names, what they are for, and their modules.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "frontend/core/interp.h"

namespace tfl::cli {

struct ToolCommand {
  const char *name, *about, *module;
  Value (*natives)(Interp&) = nullptr;  // the module that `main` gets; null: that of processes
  // With this word it looks at scripts that nobody has started: no files are written, standard output included, and it ends soon.
  const char* closed_with = nullptr;
};

std::span<const ToolCommand> tool_commands();

/// This program with these arguments, and its exit code.
int run_self(const std::vector<std::string>& words);

/// A module of functions that start this program again and wait for it: start, read, poll, wait, stop. Scripts cannot import it.
Value processes_module(Interp& interp);

}  // namespace tfl::cli
