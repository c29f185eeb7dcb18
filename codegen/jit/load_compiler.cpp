// Finds and loads libtfl_llvm.so when the first plan is compiled.
#include <dlfcn.h>
#include <unistd.h>

#include <string>

#include "codegen/llvm/compile.h"
#include "runtime/context.h"

namespace tfl::codegen {

namespace {

struct Compiler {
  CompilerEntry entry = nullptr;
  std::string error;
};

// The folder that the program's file lies in, with a slash at its end.
std::string program_folder() {
  std::string path(4096, '\0');
  ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return path.substr(0, path.rfind('/') + 1);
}

Compiler load() {
  Compiler made;
  std::string folder = program_folder();
  // As it is built, as it is installed, and for a program in a folder of the build's.
  for (const char* place : {"", "../lib/tfl/", "../"}) {
    std::string path = folder + place + "libtfl_llvm.so";
    if (access(path.c_str(), R_OK) != 0) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* reason = dlerror();
      made.error = std::string("cannot load ") + path + ": " + (reason ? reason : "unknown reason");
      return made;
    }
    made.entry = reinterpret_cast<CompilerEntry>(dlsym(library, kCompilerEntry));
    if (!made.entry) made.error = path + " has no function " + kCompilerEntry;
    return made;
  }
  made.error = "libtfl_llvm.so was not found beside the program in " + folder + " or in " + folder + "../lib/tfl";
  return made;
}

}  // namespace

std::string_view cpu_name(Cpu cpu) {
  switch (cpu) {
    case Cpu::x86_64_v3: return "x86-64-v3";
    case Cpu::x86_64_v4: return "x86-64-v4";
    case Cpu::aarch64: return "aarch64";
  }
  return "";
}

Cpu this_cpu() { return best_isa_level() == IsaLevel::v4 ? Cpu::x86_64_v4 : Cpu::x86_64_v3; }

std::optional<Cpu> cpu_from_name(std::string_view name) {
  if (name.empty()) return this_cpu();
  for (Cpu cpu : {Cpu::x86_64_v3, Cpu::x86_64_v4, Cpu::aarch64}) {
    if (name == cpu_name(cpu)) return cpu;
  }
  return std::nullopt;
}

void compile_plan(const CompileRequest& request, CompileResult& result) {
  static const Compiler compiler = load();  // once; it cannot be unloaded while another thread compiles
  if (!compiler.entry) {
    result.error = compiler.error;
    return;
  }
  compiler.entry(&request, &result);
}

}  // namespace tfl::codegen
