#include "frontend/interpreter/compile/compile.h"

#include "frontend/core/protocol.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/cache.h"
#include "frontend/interpreter/bytecode/operands.h"
#include "frontend/interpreter/check/check.h"
#include "frontend/interpreter/compile/function_compiler.h"
#include "frontend/syntax/parse/parse.h"
#include "runtime/files/bundle.h"
#include "runtime/support/check.h"

namespace tfl {
CompileResult compile_module(Interp& interp, std::shared_ptr<const Source> source, const CompileOptions& wanted) {
  CompileResult result;
  CompileOptions options = wanted;
  if (!options.check) options.marks = debugger_marks(interp, *source);
  ParseResult parsed = parse_module(*source);
  result.diagnostics = std::move(parsed.diagnostics);
  if (has_errors(result.diagnostics)) return result;
  auto scopes = scope::analyse_scopes(parsed.module, result.diagnostics);
  bool broken = has_errors(result.diagnostics);
  if (!broken) scope::check_names(*scopes, result.diagnostics);
  if (!has_errors(result.diagnostics)) {
    compile::Session session{interp, std::move(source), options, *scopes, result.diagnostics};
    result.code = compile::FunctionCompiler(session, scopes->module()).compile_module(parsed.module);
    TFL_DEBUG_CHECK(result.code.is_empty() || verify_code(*result.code.as<Code>()),
                    "registers, constants and jumps of compiled code are within what there is");
  }
  if (options.check && result.code.is(Kind::Code))
    check::check_program(interp, parsed.module, *scopes, result.code, result.diagnostics, options.seen);
  sort_diagnostics(result.diagnostics);
  return result;
}

Value debugger_marks(Interp& interp, const Source& source) {
  if (source.internal) return {};
  Value frames = interp.find_module("_frames");
  auto state_of = [&](const Value& module) {
    return module.is(Kind::Module) ? dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("debugging")) : Value();
  };
  Value state = state_of(frames);
  const bool active = state.is(Kind::List) && state.as<List>()->items[0].is_bool() && state.as<List>()->items[0].as_bool();
  if (!active && source.text().find("breakpoint") == std::string::npos) return {};
  if (!state.is(Kind::List)) {
    auto loaded = interp.import_module("_frames");
    if (!loaded) return {};
    state = state_of(*loaded);
  }
  Dict* files = state.as<List>()->items[1].as<Dict>();
  Str* name = interp.intern(source.name);
  Value lines = dict_get_str(files, name);
  if (!lines.is(Kind::Dict)) {
    lines = interp.dict();
    dict_set_str(files, name, lines);
  }
  return interp.tuple({state, lines});
}

Value covered_lines(Interp& interp, const Source& source) {
  if (!interp.options.rewrite_asserts || source.internal) return {};
  Value testing = interp.find_module("_testing");
  if (!testing.is(Kind::Module)) return {};
  Value files = dict_get_str(testing.as<Module>()->dict.as<Dict>(), interp.intern("lines"));
  if (!files.is(Kind::Dict)) return {};
  Str* name = interp.intern(source.name);
  Value lines = dict_get_str(files.as<Dict>(), name);
  if (!lines.is(Kind::Dict)) {
    lines = interp.dict();
    dict_set_str(files.as<Dict>(), name, lines);
  }
  return lines;
}

CompileResult compile_cached(Interp& interp, std::shared_ptr<const Source> source, const CompileOptions& options) {
  if (is_bundle()) {
    if (auto code = bundled_file("code/" + source->name)) {
      auto loaded = deserialise_code(interp, *code, source);
      if (loaded) return {loaded.take(), {}};
    }
  }
  if (!interp.options.use_cache || options.check || options.show_results || !options.lines.is_empty() ||
      !debugger_marks(interp, *source).is_empty()) {
    return compile_module(interp, std::move(source), options);
  }
  BytecodeCache cache(*source, options.rewrite_asserts ? "rewritten asserts" : "");
  CompileResult result;
  result.code = cache.load(interp, source);
  if (!result.code.is_empty()) return result;
  result = compile_module(interp, std::move(source), options);
  // Code with warnings is compiled again each time, so that they are seen each time.
  if (!result.code.is_empty() && result.diagnostics.empty()) cache.store(interp, result.code);
  return result;
}

}  // namespace tfl
