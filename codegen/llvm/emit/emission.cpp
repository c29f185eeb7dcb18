#include "codegen/llvm/emit/emission.h"

#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>

namespace tfl::codegen {

namespace {

// From this many instructions in one function on, what takes more than linear time is left out; far beyond, all that can be.
constexpr unsigned kLarge = 3000, kHuge = 60000;

unsigned largest_function(const llvm::Module& module) {
  unsigned most = 0;
  for (const llvm::Function& f : module) most = std::max(most, f.getInstructionCount());
  return most;
}

}  // namespace

// What TargetMachine::addPassesToEmitFile does, with the choice of passes in our hands.
bool emit_module(llvm::Module& module, llvm::TargetMachine& target, llvm::CodeGenFileType type, std::string& bytes) {
  auto& machine = static_cast<llvm::LLVMTargetMachine&>(target);  // as every target of LLVM is
  llvm::raw_string_ostream stream(bytes);
  llvm::buffer_ostream seekable(stream);
  llvm::legacy::PassManager passes;
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  passes.add(new llvm::TargetLibraryInfoWrapperPass(library));
  unsigned largest = largest_function(module);
  if (largest > kHuge) machine.setOptLevel(llvm::CodeGenOptLevel::None);
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  if (!config) return false;
  config->setDisableVerify(true);
  // One value for all equal constants of a large function lives through all of it: the register allocator would need quadratic time.
  if (largest > kLarge) config->disablePass(&llvm::MachineCSEID);
  passes.add(config);
  auto* machine_module = new llvm::MachineModuleInfoWrapperPass(&machine);
  passes.add(machine_module);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, seekable, nullptr, type, machine_module->getMMI().getContext())) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  passes.run(module);
  return true;
}

}  // namespace tfl::codegen
