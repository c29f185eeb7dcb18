// Line tables of machine code, so that a debugger or a profiler shows the lines of a script. This header must not know plans.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/DebugLoc.h>
#include <llvm/IR/Module.h>

#include <string>
#include <unordered_map>

#include "codegen/llvm/compile.h"

namespace tfl::codegen {

class Lines {
 public:
  Lines(llvm::Module& module, const LineTable& table);
  /// Where `location` is, inside `function`, which becomes a function of the line tables. Never empty.
  llvm::DebugLoc at(llvm::Function& function, uint32_t location);
  /// To be called when every function has its code.
  void finish() { builder_.finalize(); }

 private:
  llvm::DIFile* file(const std::string& path);
  llvm::DISubprogram* subprogram(llvm::Function& function, const LineTable::Line& first);

  const LineTable& table_;
  LineTable::Line first_;  // the first that is known
  llvm::DIBuilder builder_;
  llvm::DISubroutineType* type_;
  std::unordered_map<std::string, llvm::DIFile*> files_;
};

}  // namespace tfl::codegen
