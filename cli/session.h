// One interpreter with the limits, permissions and signals that the command line asks for.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "cli/arguments.h"
#include "cli/embed/engine.h"
#include "cli/embed/model_script.h"
#include "frontend/core/interp.h"
#include "frontend/interpreter/compile/compile.h"

namespace tfl::cli {

using embed::is_model_file;
using embed::is_onnx;
using embed::ProgramContext;

inline constexpr int kExitUncaught = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFoundBefore = 3;
inline constexpr int kExitTimeout = 4;
inline constexpr int kExitInterrupted = 130;

void print(std::FILE* stream, std::string_view text);

/// "tfl: error: ...", a line of its own on standard error.
void say_error(std::string_view text);
/// The folder that a file is in.
std::string folder_of(const std::string& path);

/// Whether messages get colour: the flag, NO_COLOR, and whether standard error is a terminal.
bool use_color(const Arguments& arguments);

/// The whole text of a file, or of standard input for "-"; of a model's file the script it stands for (cli/embed/model_script.h). On failure
/// prints why and gives false.
bool read_source(const std::string& path, std::string& text, const std::vector<std::string>& fixed = {});

struct Signalled;

class Session {
 public:
  /// `file` is the script (its folder is where imports look); empty for none.
  Session(const Arguments& arguments, const std::string& file);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  ProgramContext context;
  Interp interp;

  /// A module object ready to run as `name`, registered in sys.modules.
  Value main_module(const std::string& name, const std::string& file);
  /// The exit code of an error that reached the top; prints the traceback.
  int report(Error& error);
  /// What the script has registered with atexit; the exit code after that of what came before.
  int run_exit_functions(int code);
  /// The end of a program: the system takes back what the process has, faster than objects would one by one. Returns where somebody
  /// looks at what is destroyed: sanitizers, tools that are told of machine code, the driver of a GPU.
  int leave(int code);
  /// Writes what standard output holds back. The code, or that of a failure when there was none yet and the output could not be written.
  int finish(int code);

 private:
  /// An error of this script ends all workers of the job; returns where there are no others.
  void tell_others(const std::string& text, int code);
  /// Waits for the ends of their scripts.
  int leave_others(int code);

  const Arguments& arguments_;
  std::unique_ptr<Signalled> signalled_;
};

}  // namespace tfl::cli
