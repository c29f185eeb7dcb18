// Running a script for what it defines and not for what it prints.
#pragma once

#include <string>

#include "cli/session.h"

namespace tfl::cli {

/// What the script prints goes to standard error while one of these lives: standard output is for what was asked for.
class OutputAside {
 public:
  explicit OutputAside(Interp& interp);
  ~OutputAside();
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  Interp& interp_;
  int saved_;
};

struct Ran {
  int code = 0;
  std::string text;
  Value names;  // of the module; empty when it did not come to run
};

/// Runs the script; `name` is its __name__. Errors have been reported.
Ran run_aside(Session& session, const std::string& file, const std::string& name, const std::vector<std::string>& fixed = {});

/// Calls a function of a library module.
Result<Value> ask_library(Interp& interp, std::string_view module, std::string_view function,
                          std::initializer_list<Value> arguments);

}  // namespace tfl::cli
