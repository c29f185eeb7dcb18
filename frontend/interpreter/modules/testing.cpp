// What the test runner (stdlib/tools/_test_runner.tfl) needs from the host: files that hold tests, modules loaded from a path, what
// a test printed, tracebacks as text, results written to a file.
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "frontend/core/file_access.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/syntax/diagnostics/render.h"
#include "runtime/files/file.h"

namespace tfl {

namespace {

bool is_test_file(std::string_view name) {
  size_t dot = name.rfind('.');
  std::string_view extension = dot == name.npos ? std::string_view() : name.substr(dot);
  if (extension != ".tfl" && extension != ".py") return false;
  return name.starts_with("test_") || name.substr(0, dot).ends_with("_test");
}

void collect(const std::string& folder, int depth, std::vector<std::string>& found) {
  DIR* d = depth < 32 ? opendir(folder.c_str()) : nullptr;
  if (!d) return;
  std::vector<std::string> files, folders;
  while (dirent* entry = readdir(d)) {
    std::string_view name = entry->d_name;
    if (name.starts_with(".") || name == "build" || name == "node_modules" || name == "__pycache__") continue;
    std::string path = folder == "." ? std::string(name) : folder + "/" + std::string(name);
    struct stat s{};
    if (lstat(path.c_str(), &s) != 0) continue;
    if (S_ISDIR(s.st_mode))
      folders.push_back(path);
    else if (is_test_file(name))
      files.push_back(path);
  }
  closedir(d);
  std::sort(files.begin(), files.end());
  std::sort(folders.begin(), folders.end());
  found.insert(found.end(), files.begin(), files.end());
  for (const std::string& f : folders) collect(f, depth + 1, found);
}

/// find(path): the test files of a folder, or the file itself; None when there is no such path.
Result<Value> testing_find(Interp& interp, Value* args) {
  std::string path = text_of(args[0]);
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  struct stat s{};
  if (stat(path.c_str(), &s) != 0) return Value::none();
  std::vector<std::string> found;
  if (S_ISDIR(s.st_mode))
    collect(path, 0, found);
  else
    found.push_back(path);
  std::vector<Value> values;
  for (std::string& f : found) values.push_back(interp.str(std::move(f)));
  return interp.list(std::move(values));
}

/// load(path, name, plain=False): (module, None), or (None, text of the errors found before running). With `plain` asserts stay as they are, and
/// the module is in sys.modules.
Result<Value> testing_load(Interp& interp, Value* args) {
  const std::string& path = text_of(args[0]);
  std::string text;
  if (int error = read_whole_file(path, kMaxSourceBytes, text)) {
    return interp.tuple({Value::none(), interp.strf("cannot read {}: {}", path, std::strerror(error))});
  }
  auto source = std::make_shared<const Source>(path, std::move(text));
  CompileOptions options;
  const bool plain = TFL_TRY(truth(interp, args[2]));
  options.rewrite_asserts = !plain;
  options.lines = covered_lines(interp, *source);
  CompileResult compiled = compile_module(interp, source, options);
  if (compiled.code.is_empty())
    return interp.tuple({Value::none(), interp.str(render_diagnostics(*source, compiled.diagnostics, false))});
  Value module = interp.module(text_of(args[1]));
  module.as<Module>()->file = args[0];
  define(interp, *module.as<Module>(), "__file__", args[0]);
  if (plain) dict_set_str(interp.modules.as<Dict>(), interp.intern(text_of(args[1])), module);
  size_t slash = path.rfind('/');
  interp.options.script_folder = slash == std::string::npos ? "" : path.substr(0, slash);
  sandbox(interp).allow_modules(interp.options.script_folder);
  TFL_TRY(interp.run_module(compiled.code, module));
  return interp.tuple({module, Value::none()});
}

/// capture(): from now on standard output and error are kept; captured(): what was, as (out, err), and they are free again.
Result<Value> testing_capture(Interp& interp, Value*) {
  interp.streams.flush();
  interp.streams.capture_out = new std::string();
  interp.streams.capture_err = new std::string();
  return Value::none();
}
Result<Value> testing_captured(Interp& interp, Value*) {
  std::unique_ptr<std::string> out(std::exchange(interp.streams.capture_out, nullptr));
  std::unique_ptr<std::string> err(std::exchange(interp.streams.capture_err, nullptr));
  return interp.tuple({interp.str(out ? *out : std::string()), interp.str(err ? *err : std::string())});
}

Result<Value> testing_traceback(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Exception)) return fail(ErrorKind::TypeError, "traceback() needs an exception");
  return interp.str(interp.format_traceback(args[0]));
}

/// write(path, text): the file whole or not at all.
Result<Value> testing_write(Interp&, Value* args) {
  const std::string& path = text_of(args[0]);
  if (int error = write_whole_file(path, text_of(args[1])))
    return fail(ErrorKind::OSError, "[Errno {}] {}: '{}'", error, std::strerror(error), path);
  return Value::none();
}

Result<Value> testing_terminal_width(Interp&, Value*) {
  const char* columns = std::getenv("COLUMNS");
  int n = columns ? std::atoi(columns) : 0;
  return Value::integer(n >= 40 && n <= 400 ? n : 80);
}

/// example(text, line, module, name="<example>"): runs statements as a prompt does, in the module; None, the exception that ended them, or the text of what was
/// found before running.
Result<Value> testing_example(Interp& interp, Value* args) {
  auto source = std::make_shared<Source>(args[3].is_str() ? text_of(args[3]) : "<example>", text_of(args[0]));
  source->first_line = static_cast<uint32_t>(TFL_TRY(to_index(interp, args[1])));
  CompileOptions options;
  options.show_results = true;
  CompileResult compiled = compile_module(interp, source, options);
  if (compiled.code.is_empty()) return interp.str(render_diagnostics(*source, compiled.diagnostics, false));
  auto done = interp.run_module(compiled.code, args[2]);
  if (done) return Value::none();
  if (interp.stopped) return done.failure();
  return interp.exception_of(done.error());
}

constexpr NativeDef kTesting[] = {
    function("example", "text: str, line: int, module: module, name=None, /", testing_example),
    function("find", "path: str, /", testing_find),
    function("load", "path: str, name: str, plain=False, /", testing_load),
    function("capture", "", testing_capture),
    function("captured", "", testing_captured),
    function("traceback", "error: exception, /", testing_traceback),
    function("write", "path: str, text: str, /", testing_write),
    function("terminal_width", "", testing_terminal_width),
};

}  // namespace

Result<void> init_testing(Interp& interp, Module& module) {
  define_all(interp, module, kTesting);
  return {};
}

}  // namespace tfl
