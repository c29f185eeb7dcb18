#include "codegen/llvm/module/target.h"

#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/CodeGen.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetOptions.h>

#include <mutex>

namespace tfl::codegen {

namespace {

struct Processor {
  const char* triple;
  const char* name;
  const char* features;
};

Processor processor(Cpu cpu) {
  switch (cpu) {
    case Cpu::x86_64_v3: return {"x86_64-unknown-linux-gnu", "x86-64-v3", ""};
    // Vectors of 512 bits are asked for by name, so the back end must not split them.
    case Cpu::x86_64_v4: return {"x86_64-unknown-linux-gnu", "x86-64-v4", "-prefer-256-bit"};
    case Cpu::aarch64: return {"aarch64-unknown-linux-gnu", "generic", ""};
  }
  return {};
}

}  // namespace

namespace {

std::unique_ptr<llvm::TargetMachine> make(const Processor& p, std::string& error) {
  static std::once_flag initialised;  // LLVM's list of targets is one per process
  std::call_once(initialised, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(p.triple, error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // x*y + z is two roundings
  options.FunctionSections = false;
  options.DataSections = false;
  options.TrapUnreachable = true;
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      p.triple, p.name, p.features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
  if (!machine) error = "no code can be made for this processor";
  return machine;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_target(Cpu cpu, std::string& error) { return make(processor(cpu), error); }

// PTX 7.0 is the first version that knows sm_80: older drivers take it, too.
std::unique_ptr<llvm::TargetMachine> make_gpu_target(const std::string& name, std::string& error) {
  return make({"nvptx64-nvidia-cuda", name.c_str(), name == "sm_80" ? "+ptx70" : ""}, error);
}

}  // namespace tfl::codegen
