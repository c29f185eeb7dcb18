// The module `_frames`: where the script is, for warnings and logging; the arguments of a function, for inspect; the
// ends of objects' lives, for weakref.
#include "frontend/core/frame.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/interpreter/modules/debugging.h"
#include "frontend/interpreter/object/weak.h"

namespace tfl {

namespace {

/// caller(level): (file, line, module, function, text of the line) of the level-th of the script's own frames, counted from the innermost, 1; None
/// when there are fewer.
Result<Value> caller(Interp& interp, Value* args) {
  int64_t level = TFL_TRY(to_index(interp, args[0]));
  for (Frame* f = interp.frame; f; f = f->back) {
    const Source* source = f->code->source.get();
    if (!source || source->internal || --level > 0) continue;
    uint32_t line = f->code->span_at(static_cast<uint32_t>(f->ip - f->code->instructions.data())).span.line;
    return interp.tuple({interp.str(source->name), Value::integer(line), interp.str(f->module->name), interp.str(f->code->name),
                         interp.str(std::string(source->line(line)))});
  }
  return Value::none();
}

/// source(function): (file, first line, last line, text) of what a function's code was made from; None for natives.
Result<Value> source(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Function)) return Value::none();
  Code* code = args[0].as<Function>()->code.as<Code>();
  TFL_TRY(complete(interp, *code));
  const Source* s = code->source.get();
  if (!s) return Value::none();
  std::string text;
  for (uint32_t n = code->span.line; n <= code->span.end_line; ++n) text += std::string(s->line(n)) + "\n";
  return interp.tuple(
      {interp.str(s->name), Value::integer(code->span.line), Value::integer(code->span.end_line), interp.str(std::move(text))});
}

/// parameters(function): (kinds, names, defaults) of the parameters in order. A kind is one of "/", "", "*", "k", "**"; a parameter
/// without a default has `missing`.
Result<Value> parameters(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Function)) return fail(ErrorKind::TypeError, "a function of the script is required");
  Function* f = args[0].as<Function>();
  Code* code = f->code.as<Code>();
  TFL_TRY(complete(interp, *code));
  const Value& missing = args[1];
  std::vector<Value> rows;
  auto defaults = f->defaults.is(Kind::Tuple) ? f->defaults.as<Tuple>()->span() : std::span<Value>();
  auto add = [&](const char* kind, Str* name, const Value& value) {
    rows.push_back(interp.tuple({interp.str(kind), interp.str(name), value}));
  };
  const size_t positional = code->positional;
  for (size_t n = 0; n < positional; ++n) {
    size_t from_end = positional - n;
    add(n < code->positional_only ? "/" : "", code->params[n].name,
        from_end <= defaults.size() ? defaults[defaults.size() - from_end] : missing);
  }
  const size_t stars = positional + code->keyword_only;  // *args and **kwargs come last in `params`
  if (code->var_positional) add("*", code->params[stars].name, missing);
  for (size_t n = positional; n < stars; ++n) {
    Str* name = code->params[n].name;
    Value value = f->kw_defaults.is(Kind::Dict) ? dict_get_str(f->kw_defaults.as<Dict>(), name) : Value();
    add("k", name, value.is_empty() ? missing : value);
  }
  if (code->var_keyword) add("**", code->params[stars + (code->var_positional ? 1 : 0)].name, missing);
  return interp.tuple(rows);
}

/// native_signature(function): the parameters of a native as its row writes them; None when it takes the call as it is.
Result<Value> native_signature(Interp& interp, Value* args) {
  if (!args[0].is(Kind::NativeFunction)) return Value::none();
  const char* text = args[0].as<NativeFunction>()->def->signature;
  return text ? interp.str(std::string(text)) : Value::none();
}

/// execute(module, path, text): runs a text as the code of a module that is there.
Result<Value> execute(Interp& interp, Value* args) {
  CompileResult compiled = compile_module(interp, std::make_shared<const Source>(text_of(args[1]), text_of(args[2])), {});
  if (compiled.code.is_empty()) {
    const Diagnostic& first = compiled.diagnostics.front();
    return fail(ErrorKind::SyntaxError, "{} ({}, line {})", first.message, text_of(args[1]), first.span.line);
  }
  args[0].as<Module>()->file = args[1];
  TFL_TRY(interp.run_module(compiled.code, args[0]));
  return Value::none();
}

/// new_module(name): an empty module, not in sys.modules.
Result<Value> new_module(Interp& interp, Value* args) { return interp.module(text_of(args[0])); }

constexpr NativeDef kFrames[] = {
    function("execute", "module: module, path: str, text: str, /", execute),
    function("new_module", "name: str, /", new_module),
    function("native_signature", "function, /", native_signature),
    function("caller", "level, /", caller),
    function("source", "function, /", source),
    function("parameters", "function, missing, /", parameters),
};

}  // namespace

Result<void> init_frames(Interp& interp, Module& module) {
  define_all(interp, module, kFrames);
  define_all(interp, module, watching_natives());
  define_all(interp, module, debugging_natives());
  define(interp, module, "debugging", debugging_state(interp));
  return {};
}

}  // namespace tfl
