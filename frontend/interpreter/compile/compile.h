// From source text to code: parse, scopes, bytecode. Everything found wrong is reported at once, before anything runs.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/core/code.h"
#include "frontend/core/interp.h"
#include "frontend/syntax/diagnostics/diagnostic.h"

namespace tfl {

struct CompileResult {
  Value code;  // Code of the module; Empty when there are errors
  std::vector<Diagnostic> diagnostics;
};

struct CompileOptions {
  bool show_results = false;  // REPL: an expression statement prints its value
  bool rewrite_asserts = false;
  bool check = false;  // `tfl check`: find what will certainly fail
  Value marks;         // a debugger: what its native is called with before each statement (debugger_marks)
  Value lines;         // coverage: a dict to which each line that can run is added, and in which it becomes true when it runs
  /// With `check`: is told each expression whose value or type is known. `own`: a function or class of the script, which cannot be called.
  const std::function<void(const ast::Expr&, const Value&, bool own)>* seen = nullptr;
};

CompileResult compile_module(Interp&, std::shared_ptr<const Source> source, const CompileOptions& = {});
/// For CompileOptions::marks, where a source is debugged or calls breakpoint(): a tuple of what the debugger knows of the run
/// (modules/debugging.cpp) and of its breakpoints in this source, a dict by line. Empty elsewhere.
Value debugger_marks(Interp&, const Source& source);
/// For CompileOptions::lines: the lines of a source where `tfl test --coverage` keeps them; Empty elsewhere.
Value covered_lines(Interp&, const Source& source);
/// The same for a script or module that is going to run: its code comes from the bytecode cache on disk when it is there, and
/// goes into it when it is not. Does without the cache where the interpreter's options say so.
CompileResult compile_cached(Interp&, std::shared_ptr<const Source> source, const CompileOptions& = {});

}  // namespace tfl
