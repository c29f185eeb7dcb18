#include "codegen/llvm/module/module.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/ErrorHandling.h>
#include <llvm/Support/raw_ostream.h>

#include <csetjmp>
#include <mutex>

#include "codegen/llvm/cpu/driver.h"
#include "codegen/llvm/emit/emission.h"
#include "codegen/llvm/gpu/program.h"
#include "codegen/llvm/module/library.h"
#include "codegen/llvm/module/passes.h"
#include "codegen/llvm/module/target.h"
#include "runtime/core/library_new.h"

namespace tfl::codegen {

namespace {

// Where a fatal error of LLVM goes: back to compile_module of the same thread. What LLVM had allocated until then is lost.
struct Recovery {
  std::jmp_buf where;
  std::string message;
};
thread_local Recovery* recovery = nullptr;

void on_fatal_error(void*, const char* reason, bool) {
  if (!recovery) return;
  recovery->message = reason;
  std::longjmp(recovery->where, 1);
}

// Collects what LLVM reports; by default it would print errors and end the process.
struct Diagnostics : llvm::DiagnosticHandler {
  explicit Diagnostics(std::string& text) : text(text) {}
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() == llvm::DS_Error) {
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
    }
    return true;
  }
  std::string& text;
};

// Machine code may call the C library for copies and fills alone: that is what the loader of objects knows.
std::string check_symbols(llvm::StringRef bytes) {
  auto object = llvm::object::ObjectFile::createELFObjectFile(llvm::MemoryBufferRef(bytes, "object"));
  if (!object) return llvm::toString(object.takeError());
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    auto flags = symbol.getFlags();
    auto name = symbol.getName();
    if (!flags || !name) return "an object file without symbols";
    if (!(*flags & llvm::object::SymbolRef::SF_Undefined) || name->empty()) continue;
    if (*name != "memcpy" && *name != "memset" && *name != "memmove") return "machine code calls " + name->str();
  }
  return {};
}

void compile(const CompileRequest& request, CompileResult& result) {
  bool ptx = request.gpu && !request.gpu->emulated;
  std::unique_ptr<llvm::TargetMachine> machine =
      ptx ? make_gpu_target(request.gpu->target, result.error) : make_target(request.cpu, result.error);
  if (!machine) return;
  llvm::LLVMContext context;
  context.setDiagnosticHandler(std::make_unique<Diagnostics>(result.error));
  llvm::Module module("tfl", context);
  module.setTargetTriple(machine->getTargetTriple().str());
  module.setDataLayout(machine->createDataLayout());
  if (!ptx) module.setPICLevel(llvm::PICLevel::BigPIC);
  if (request.gpu) {
    result.error = emit_gpu(module, request, result.units);
  } else if (request.library) {
    emit_library(module, *request.library);
  } else {
    result.error = emit_driver(module, request);
  }
  if (!result.error.empty()) return;
  llvm::raw_string_ostream complaint(result.error);
  if (llvm::verifyModule(module, &complaint)) return;
  optimize_module(module, *machine);
  if (ptx) tidy_gpu(module);
  if (request.output == CompileRequest::Output::llvm) {
    llvm::raw_string_ostream stream(result.bytes);
    module.print(stream, nullptr);
    return;
  }
  bool text = ptx || request.output == CompileRequest::Output::assembly;
  llvm::CodeGenFileType type = text ? llvm::CodeGenFileType::AssemblyFile : llvm::CodeGenFileType::ObjectFile;
  if (!emit_module(module, *machine, type, result.bytes)) result.error = "this processor's code generator writes no files";
  if (result.error.empty() && !text && !request.library) result.error = check_symbols(result.bytes);
}

// Before LLVM's own static objects, which ask for memory while the library is loaded.
__attribute__((constructor(101))) void end_without_memory() {
  llvm::install_bad_alloc_error_handler([](void*, const char*, bool) { library_out_of_memory(); });
}

}  // namespace

void compile_module(const CompileRequest& request, CompileResult& result) {
  static std::once_flag installed;
  std::call_once(installed, [] { llvm::install_fatal_error_handler(on_fatal_error); });
  Recovery here;
  recovery = &here;
  if (setjmp(here.where) == 0) {
    compile(request, result);
  } else {
    result.error = here.message;
  }
  recovery = nullptr;
  if (!result.error.empty()) result.bytes.clear();
}

}  // namespace tfl::codegen

extern "C" __attribute__((visibility("default"))) void tfl_llvm_compile(const tfl::codegen::CompileRequest* request,
                                                                        tfl::codegen::CompileResult* result) {
  tfl::codegen::compile_module(*request, *result);
}
