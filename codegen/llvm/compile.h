// From a plan to an object file, by LLVM. The code lies in a library of its own that is loaded when the first plan is compiled, so
// that a program which compiles nothing does not pay for LLVM. This header must not include LLVM.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "codegen/plan/plan.h"

namespace tfl::codegen {

enum class Cpu : uint8_t { x86_64_v3, x86_64_v4, aarch64 };
std::string_view cpu_name(Cpu cpu);  // "x86-64-v3", "x86-64-v4", "aarch64"
Cpu this_cpu();                      // the best that this machine has
/// The processor of that name; of no name: this one. None: there is no such processor.
std::optional<Cpu> cpu_from_name(std::string_view name);

/// Where the lines of machine code come from, for debuggers and profilers: by Expr::location and Step::location.
struct LineTable {
  struct Line {
    std::string file, function;
    uint32_t line = 0;
  };
  std::vector<Line> lines;  // by location; 0 is unknown
};

/// The part of a native library that is no plan: its exported functions, which hand their arguments to the library's runtime, and the
/// bytes that describe the library to it.
struct LibraryModule {
  struct Function {
    enum class Kind : uint8_t {
      plain,     // machine code that the interface calls
      stepwise,  // has no code of its own: the runtime runs its steps; results are allocated by it
      part       // machine code that is no function of the interface
    } kind = Kind::plain;
    std::string name;          // "predict"
    std::string entry;         // the symbol of its machine code
    std::string better_entry;  // and of that for x86-64-v4, which is taken where the processor has it; empty: there is none
    uint32_t arguments = 0, outputs = 0, open_sizes = 0;
    std::string flat_suffix;  // "f32"
    uint32_t number = 0;      // among those with machine code, or among the stepwise ones
  };
  std::string name;  // prefix of the symbols
  std::vector<Function> functions;
  bool has_state = false;
  std::string product, better_product;  // the runtime's functions that multiply matrices; empty where nothing does
  std::vector<std::string> routines;    // and its routines, by tfl::Routine; empty: those that nothing calls
  std::string gpu_description;          // of code for GPUs; empty: there is none
  std::string run_steps, print, range;  // and what runs functions with steps whose sizes are known, prints, and makes ranges
  std::string metadata;
  std::string description;  // the symbol of what the runtime reads, which lies in an object of its own
  uint64_t description_bytes = 0;
};

/// How many units a kernel for GPUs has: the product of sizes, each divided by `per` and rounded up, together divided by `per`.
struct GpuUnits {
  struct Factor {
    plan::Size size = 1;
    int64_t per = 1;
  };
  std::vector<Factor> factors;
  int64_t per = 1;
};

/// Code for a GPU instead of a CPU: kernels with these names, which take the address of a frame (codegen/abi.h) in the GPU's memory.
struct GpuModule {
  std::vector<plan::Block> segments;        // each is run by one block of threads: "segment0", ...
  std::vector<uint32_t> kernels, products;  // of the plan, each over many blocks: "kernel3", "product0"
  bool checks = false;                      // nothing may run after a segment that has failed
  bool emulated = false;                    // an object for a CPU (codegen/gpu/emulator.h), not PTX
  std::string target = "sm_80";
  std::vector<uint32_t> fused;     // products whose epilogue is in their kernel: each element as soon as it has its value
  std::vector<uint32_t> routines;  // of the plan, too, some of which are two launches: "routine1_0", "routine1_1"
};

/// How many launches a routine is; what the kernel of one of them is called.
inline int gpu_phases(Routine r) { return r == Routine::scatter || r == Routine::segment ? 2 : 1; }
inline std::string gpu_phase_name(uint32_t routine, int phase) {
  return "routine" + std::to_string(routine) + '_' + std::to_string(phase);
}

/// Windows that nothing is multiplied in.
inline bool is_pool(WindowKind k) {
  return k == WindowKind::max_pool || k == WindowKind::max_pool_grad || k == WindowKind::avg_pool ||
         k == WindowKind::avg_pool_grad;
}

/// Whether code with probes tells that it is at this step.
inline bool is_probed(const plan::Step& s) {
  using Kind = plan::Step::Kind;
  return s.kind == Kind::kernel || s.kind == Kind::product || s.kind == Kind::routine || s.kind == Kind::loop;
}

struct CompileRequest {
  const plan::Plan* plan = nullptr;
  const LibraryModule* library = nullptr;  // instead of a plan
  const GpuModule* gpu = nullptr;          // how the plan becomes code for a GPU
  const LineTable* lines = nullptr;        // may be null
  Cpu cpu = Cpu::x86_64_v3;
  bool probes = false;            // the frame tells which step runs and counts them (codegen/jit/code_profile.h)
  std::string entry = "tfl_run";  // its symbol; everything else is internal
  enum class Output : uint8_t { object, assembly, llvm } output = Output::object;
};
struct CompileResult {
  std::string bytes;            // an ELF object, or text
  std::vector<GpuUnits> units;  // of GpuModule::kernels, then products, then the launches of routines
  std::string error;            // not empty: an internal error, there are no bytes
};

/// Thread-safe.
void compile_plan(const CompileRequest& request, CompileResult& result);

/// The one function that the library exports, under this name; `compile_plan` of the program finds and calls it.
inline constexpr const char* kCompilerEntry = "tfl_llvm_compile";
using CompilerEntry = void (*)(const CompileRequest*, CompileResult*);

}  // namespace tfl::codegen
