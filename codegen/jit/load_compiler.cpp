// Finds and loads libtfl_llvm.so when the first plan is compiled.
#include <string>

#include "codegen/llvm/compile.h"
#include "runtime/core/context.h"
#include "runtime/support/shared_library.h"

namespace tfl::codegen {

namespace {

struct Compiler {
  CompilerEntry entry = nullptr;
  std::string error;
};

Compiler load() {
  Compiler made;
  made.entry = reinterpret_cast<CompilerEntry>(entry_beside_program("libtfl_llvm.so", kCompilerEntry, made.error));
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
