// tfl build --emit executable: a script, the modules it imports and the machine code of its traced functions as one program,
// which needs no TFL where it runs. It is a copy of this program that carries a bundle (runtime/files/bundle.h) of
//   main            the script's name          source/NAME, code/NAME   text and bytecode of the script and its modules
//   bytecode/KEY    what AutoGraph made of functions
//   object/KEY      machine code               identity/FILE            of the program that made it, for the keys
//   options         what the script may touch, one flag a line
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "cli/aside.h"
#include "cli/commands.h"
#include "cli/session.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/interpreter/vm/script_modules.h"
#include "frontend/syntax/diagnostics/render.h"
#include "runtime/files/bundle.h"
#include "runtime/files/cache_files.h"
#include "runtime/files/file.h"
#include "runtime/support/tools.h"

namespace tfl::cli {

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// Text and bytecode of one module of the script.
bool add_module(Interp& interp, Files& files, const std::string& path, const std::string& name) {
  std::string text;
  if (!read_source(path, text)) return false;
  files.emplace_back("source/" + name, text);
  auto source = std::make_shared<const Source>(name, std::move(text));
  CompileResult compiled = compile_module(interp, source);
  if (compiled.code.is_empty()) return false;
  if (compiled.diagnostics.empty()) files.emplace_back("code/" + name, serialise_code(interp, compiled.code));
  return true;
}

// The files of a cache, but for what the bundle has already.
void add_cache(Files& files, const std::string& folder, const std::string& prefix) {
  DIR* d = opendir(folder.c_str());
  if (!d) return;
  Files found;
  while (dirent* e = readdir(d)) {
    std::string bytes;
    if (e->d_name[0] == '.' || !read_cache_file(folder + "/" + e->d_name, SIZE_MAX / 2, bytes)) continue;
    if (std::none_of(files.begin(), files.end(), [&](const auto& f) { return f.second == bytes; }))
      found.emplace_back(prefix + e->d_name, std::move(bytes));
  }
  closedir(d);
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

// With objcopy the bundle is a section, which `strip` leaves alone, and the program loses its symbols.
bool join_with_objcopy(const ScratchFolder& scratch, const std::string& program, const std::string& bundle,
                       const std::string& out) {
  std::string objcopy = find_program({"objcopy", "llvm-objcopy", "llvm-objcopy-19"});
  if (objcopy.empty()) return false;
  return bool(run_program(scratch,
                          {objcopy, "--strip-all", std::string("--add-section=") + kBundleSection + "=" + bundle, program, out}));
}

// The program with its bundle, to its place.
Result<void> write_program(const ScratchFolder& scratch, const std::string& bundle, const std::string& out) {
  std::string program;
  int error = read_whole_file("/proc/self/exe", SIZE_MAX / 2, program);
  if (error == 0) {
    std::string plain = TFL_TRY(scratch.write("program", program)), packed = TFL_TRY(scratch.write("bundle", bundle)),
                joined = scratch.file("joined");
    program += bundle;
    if (std::string with_section;
        join_with_objcopy(scratch, plain, packed, joined) && read_whole_file(joined, SIZE_MAX / 2, with_section) == 0)
      program = std::move(with_section);
    error = write_whole_file(out, program, 0777);
  }
  if (error != 0) return fail(ErrorKind::OSError, "cannot write {}: {}", out, std::strerror(error));
  return {};
}

}  // namespace

int build_executable(const Arguments& given) {
  ScratchFolder scratch;  // for the caches of this build alone
  if (!scratch) {
    say_error(std::string("cannot make a temporary folder: ") + std::strerror(errno));
    return kExitUncaught;
  }
  const std::string& file = given.files[0];
  std::string base = base_name(file), stem = base.substr(0, base.rfind('.'));
  std::string name = given.build.name.empty() ? stem : given.build.name;
  Files files = {{"main", base}};
  {
    // The script runs once as a module; what it traces on the way, and every function with a signature, becomes machine code.
    setenv("XDG_CACHE_HOME", scratch.path().c_str(), 1);
    Arguments a = given;
    a.command = Command::Run;
    a.jit = "advance";
    a.use_cache = true;
    Session session(a, file);
    Ran ran = run_aside(session, file, "__build__");
    if (ran.names.is_empty() || ran.code != 0) return ran.code;
    Interp& interp = session.interp;
    Result<Value> compiled = [&] {
      OutputAside aside(interp);
      return ask_library(interp, "tensorflow._function.exports", "compile_declared", {ran.names});
    }();
    if (!compiled) return session.report(compiled.error());
    if (!add_module(interp, files, file, base)) return kExitUncaught;
    for (const Dict::Entry& e : interp.modules.as<Dict>()->entries) {
      if (!e.value.is(Kind::Module)) continue;
      const Module* m = e.value.as<Module>();
      bool package = is_script_package(interp, *m);
      if (package && !m->file.is_str()) files.emplace_back("source/" + bundled_name(*m), "");
      if (!m->file.is_str() || m->name->text == "__build__") continue;
      std::string path(text_of(m->file));
      if (access(path.c_str(), R_OK) == 0 && !add_module(interp, files, path, bundled_name(*m))) return kExitUncaught;
    }
  }
  add_cache(files, cache_folder("bytecode"), "bytecode/");
  add_cache(files, cache_folder("native"), "object/");
  for (const char* part : {"", "libtfl_llvm.so", "../lib/tfl/libtfl_llvm.so"})
    files.emplace_back(std::string("identity/") + part, std::to_string(program_identity(part)));
  std::string options;
  if (given.allow_all) options += "allow-all\n";
  if (given.allow_run) options += "allow-run\n";
  for (const std::string& p : given.allow_read) options += "allow-read " + p + "\n";
  for (const std::string& p : given.allow_write) options += "allow-write " + p + "\n";
  files.emplace_back("options", options);

  std::string folder = given.build.folder.empty() ? "." : given.build.folder, out = folder + "/" + name;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    say_error("cannot make the folder " + folder + ": " + error.message());
    return kExitUncaught;
  }
  if (auto done = write_program(scratch, pack_bundle(files), out); !done) {
    say_error(done.error().message);
    return kExitUncaught;
  }
  std::printf("%s\n", out.c_str());
  return 0;
}

int run_bundle(int argc, char** argv) {
  Arguments a;
  a.use_cache = false;  // what there is to cache is in the bundle
  auto name = bundled_file("main");
  auto text = name ? bundled_file("source/" + std::string(*name)) : std::nullopt;
  if (!text) {
    say_error("this program's bundle is damaged");
    return 70;
  }
  a.script.assign(argv, argv + argc);
  if (auto options = bundled_file("options")) {
    for (std::string_view rest = *options; !rest.empty();) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line == "allow-all")
        a.allow_all = true;
      else if (line == "allow-run")
        a.allow_run = true;
      else if (line.starts_with("allow-read "))
        a.allow_read.emplace_back(line.substr(11));
      else if (line.starts_with("allow-write "))
        a.allow_write.emplace_back(line.substr(12));
    }
  }
  Session session(a, std::string(*name));
  Interp& interp = session.interp;
  auto source = std::make_shared<const Source>(std::string(*name), std::string(*text));
  CompileResult compiled = compile_cached(interp, source);
  if (!compiled.diagnostics.empty()) interp.streams.err(render_diagnostics(*source, compiled.diagnostics, interp.options.color));
  if (compiled.code.is_empty()) return kExitFoundBefore;
  auto done = interp.run_module(compiled.code, session.main_module("__main__", std::string(*name)));
  return session.leave(session.run_exit_functions(done ? 0 : session.report(done.error())));
}

}  // namespace tfl::cli
