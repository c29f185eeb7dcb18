#include "codegen/llvm/emit/lines.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Function.h>

namespace tfl::codegen {

Lines::Lines(llvm::Module& module, const LineTable& table) : table_(table), builder_(module) {
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  for (const LineTable::Line& line : table.lines) {
    if (first_.file.empty() && !line.file.empty()) first_ = line;
  }
  if (first_.file.empty()) first_.file = "unknown";
  builder_.createCompileUnit(llvm::dwarf::DW_LANG_C, file(first_.file), "tfl", true, "", 0, "",
                             llvm::DICompileUnit::LineTablesOnly);
  type_ = builder_.createSubroutineType(builder_.getOrCreateTypeArray({}));
}

llvm::DIFile* Lines::file(const std::string& path) {
  llvm::DIFile*& made = files_[path];
  if (!made) made = builder_.createFile(path, "");
  return made;
}

llvm::DISubprogram* Lines::subprogram(llvm::Function& function, const LineTable::Line& first) {
  if (llvm::DISubprogram* made = function.getSubprogram()) return made;
  // A plan holds operations of one function and of what it calls; the first line that is asked for says whose the code is.
  std::string name = first.function.empty() ? function.getName().str() : first.function + ": " + function.getName().str();
  llvm::DIFile* in = file(first.file);
  llvm::DISubprogram* made = builder_.createFunction(in, name, function.getName(), in, first.line, type_, first.line,
                                                     llvm::DINode::FlagArtificial, llvm::DISubprogram::SPFlagDefinition);
  function.setSubprogram(made);
  return made;
}

llvm::DebugLoc Lines::at(llvm::Function& function, uint32_t location) {
  bool known = location < table_.lines.size() && !table_.lines[location].file.empty();
  const LineTable::Line& line = known ? table_.lines[location] : first_;
  llvm::DISubprogram* within = subprogram(function, line);
  llvm::DIScope* scope = within;
  if (known && within->getFile() != file(line.file)) scope = builder_.createLexicalBlockFile(within, file(line.file));
  return llvm::DILocation::get(function.getContext(), known ? line.line : 0, 0, scope);
}

}  // namespace tfl::codegen
