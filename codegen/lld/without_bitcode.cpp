// The linker also links bitcode, for which it would bring every pass and every target of LLVM, a hundred megabytes. What is linked here is
// machine code: this takes the place of what bitcode needs, and of the targets that the linker starts up in any case.
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/Error.h>
#include <llvm/Support/MemoryBufferRef.h>

#include <memory>
#include <vector>

extern "C" {
#define TFL_NO_TARGET(part) \
  void LLVMInitialize##part() {}
#define LLVM_TARGET(name) TFL_NO_TARGET(name##Target) TFL_NO_TARGET(name##TargetInfo) TFL_NO_TARGET(name##TargetMC)
#include <llvm/Config/Targets.def>
#define LLVM_ASM_PRINTER(name) TFL_NO_TARGET(name##AsmPrinter)
#include <llvm/Config/AsmPrinters.def>
#define LLVM_ASM_PARSER(name) TFL_NO_TARGET(name##AsmParser)
#include <llvm/Config/AsmParsers.def>
#undef TFL_NO_TARGET
}

namespace llvm {
class Triple;
}

namespace llvm::lto {

// What the linker calls of these classes, as their header declares it, which brings half of LLVM along.
class InputFile {
 public:
  ~InputFile();
  static Expected<std::unique_ptr<InputFile>> create(MemoryBufferRef object);
  StringRef getName() const;
};
class LTO {
 public:
  static SmallVector<const char*> getRuntimeLibcallSymbols(const Triple& target);
};

Expected<std::unique_ptr<InputFile>> InputFile::create(MemoryBufferRef object) {
  return createStringError(object.getBufferIdentifier() + " is bitcode, which is not linked here");
}
InputFile::~InputFile() = default;
StringRef InputFile::getName() const { return {}; }
SmallVector<const char*> LTO::getRuntimeLibcallSymbols(const Triple& /*target*/) { return {}; }

}  // namespace llvm::lto

namespace lld::elf {

class BitcodeFile;
class InputFile;

// As the linker declares it; it is made for each link and asked what came of no bitcode at all.
class BitcodeCompiler {
 public:
  BitcodeCompiler();
  ~BitcodeCompiler();
  void add(BitcodeFile& file);
  std::vector<InputFile*> compile();
};
BitcodeCompiler::BitcodeCompiler() = default;
BitcodeCompiler::~BitcodeCompiler() = default;
void BitcodeCompiler::add(BitcodeFile& /*file*/) {}
std::vector<InputFile*> BitcodeCompiler::compile() { return {}; }

}  // namespace lld::elf
