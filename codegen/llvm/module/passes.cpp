#include "codegen/llvm/module/passes.h"

#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/BasicAliasAnalysis.h>
#include <llvm/Analysis/BlockFrequencyInfo.h>
#include <llvm/Analysis/BranchProbabilityInfo.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/MemoryDependenceAnalysis.h>
#include <llvm/Analysis/MemorySSA.h>
#include <llvm/Analysis/OptimizationRemarkEmitter.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ProfileSummaryInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScopedNoAliasAA.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/PassManager.h>
#include <llvm/Transforms/IPO/AlwaysInliner.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopRotation.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

namespace tfl::codegen {

namespace {

// What the passes ask about a function. LLVM's PassBuilder would register the analyses of every pass that there is.
struct Analyses {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::ModuleAnalysisManager modules;

  explicit Analyses(llvm::TargetMachine& machine) {
    llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
    library.disableAllFunctions();  // there is no C library in an object of ours
    functions.registerPass([&] {
      llvm::AAManager aliases;
      aliases.registerFunctionAnalysis<llvm::BasicAA>();
      aliases.registerFunctionAnalysis<llvm::ScopedNoAliasAA>();
      return aliases;
    });
    functions.registerPass([] { return llvm::BasicAA(); });
    functions.registerPass([] { return llvm::ScopedNoAliasAA(); });
    functions.registerPass([] { return llvm::AssumptionAnalysis(); });
    functions.registerPass([] { return llvm::BlockFrequencyAnalysis(); });
    functions.registerPass([] { return llvm::BranchProbabilityAnalysis(); });
    functions.registerPass([] { return llvm::DominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::LoopAnalysis(); });
    functions.registerPass([] { return llvm::MemorySSAAnalysis(); });
    functions.registerPass([] { return llvm::OptimizationRemarkEmitterAnalysis(); });
    functions.registerPass([] { return llvm::PostDominatorTreeAnalysis(); });
    functions.registerPass([] { return llvm::ScalarEvolutionAnalysis(); });
    functions.registerPass([&] { return machine.getTargetIRAnalysis(); });
    functions.registerPass([&] { return llvm::TargetLibraryAnalysis(library); });
    functions.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    functions.registerPass([&] { return llvm::ModuleAnalysisManagerFunctionProxy(modules); });
    functions.registerPass([&] { return llvm::LoopAnalysisManagerFunctionProxy(loops); });
    loops.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    loops.registerPass([&] { return llvm::FunctionAnalysisManagerLoopProxy(functions); });
    modules.registerPass([] { return llvm::PassInstrumentationAnalysis(); });
    modules.registerPass([] { return llvm::ProfileSummaryAnalysis(); });
    modules.registerPass([&] { return llvm::FunctionAnalysisManagerModuleProxy(functions); });
  }
};

llvm::SimplifyCFGOptions tidy() {
  return llvm::SimplifyCFGOptions().convertSwitchRangeToICmp(true).convertSwitchToLookupTable(false).needCanonicalLoops(true);
}

}  // namespace

void optimize_module(llvm::Module& module, llvm::TargetMachine& machine) {
  Analyses analyses(machine);
  llvm::LoopPassManager loops;
  loops.addPass(llvm::LoopRotatePass());
  loops.addPass(llvm::LICMPass(llvm::LICMOptions()));

  llvm::FunctionPassManager passes;
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::SimplifyCFGPass(tidy()));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::createFunctionToLoopPassAdaptor(std::move(loops), /*UseMemorySSA=*/true, /*UseBlockFrequencyInfo=*/false));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(llvm::InstCombinePass());
  passes.addPass(llvm::SimplifyCFGPass(tidy()));
  passes.addPass(llvm::ADCEPass());

  llvm::ModulePassManager whole;
  whole.addPass(llvm::AlwaysInlinerPass(/*InsertLifetime=*/false));
  whole.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(passes)));
  whole.addPass(llvm::GlobalDCEPass());
  whole.run(module, analyses.modules);
}

}  // namespace tfl::codegen
