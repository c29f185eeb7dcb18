// Plans as machine code, for tests.
#pragma once

#include <memory>
#include <string>

#include "codegen/llvm/compile.h"
#include "codegen/load/loader.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

inline std::string compile(const plan::Plan& p, codegen::CompileRequest::Output output = codegen::CompileRequest::Output::object,
                           codegen::Cpu cpu = codegen::CompileRequest().cpu) {
  codegen::CompileRequest request;
  request.plan = &p;
  request.cpu = cpu;
  request.output = output;
  codegen::CompileResult result;
  compile_plan(request, result);
  CHECK(result.error == "");
  return result.bytes;
}

inline std::shared_ptr<const codegen::LoadedCode> load_code(const plan::Plan& p,
                                                            codegen::Cpu cpu = codegen::CompileRequest().cpu) {
  auto loaded = codegen::LoadedCode::load(compile(p, codegen::CompileRequest::Output::object, cpu));
  REQUIRE(loaded);
  return *loaded;
}

}  // namespace tfl::test
