// Groups of options that several commands have.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/arguments.h"

namespace tfl::cli {

/// Limits as they are written: 2G, 10s.
struct Limit {
  std::string memory, timeout;
};

void add_cpu(CLI::App& app, Arguments& out);
void add_color(CLI::App& app, Arguments& out);
/// --fix, of ONNX models.
void add_fixed(CLI::App& command, Arguments& out);
/// What a run may use and how traced functions are compiled.
void add_run_options(CLI::App& app, Arguments& out, Limit& limit);
/// Those of `tfl export`.
void add_export(CLI::App& command, Arguments& out);

}  // namespace tfl::cli
