// From functions to converted functions: rewritten trees are compiled, kept with the code they were made from, and joined with the
// function's own globals, closure and defaults.
#include "frontend/core/native.h"
#include "frontend/interpreter/bytecode/cache.h"
#include "frontend/interpreter/compile/function_compiler.h"
#include "frontend/staging/autograph/autograph.h"
#include "frontend/staging/autograph/builder.h"
#include "frontend/staging/autograph/rewrite.h"
#include "frontend/syntax/ast/unparse.h"
#include "frontend/syntax/scope/collect.h"
#include "runtime/files/bundle.h"

namespace tfl {

namespace {

using autograph::Rewritten;

/// Names of scopes as the user knows them: helpers go by the name of the function they belong to, wrappers are not there.
void name_scopes(scope::ScopeTree& tree, const Rewritten& made, const std::string& name, const std::string& qualname) {
  for (const void* wrapper : made.wrappers) tree.of(wrapper).qualname.clear();
  for (scope::Scope& s : tree.scopes) {
    if (!s.parent || !s.parent->parent) continue;
    if (made.helpers.contains(s.node)) {
      s.helper = true;
      s.name = s.parent->name, s.qualname = s.parent->qualname;
    } else if (s.node == made.def || s.node == made.lambda) {
      s.name = name, s.qualname = qualname;
    } else {
      s.qualname = s.parent->qualname + (s.parent->kind == scope::ScopeKind::Class ? "." : ".<locals>.") + s.name;
    }
  }
}

void mark_converted(const Value& code) {
  Code* c = code.as<Code>();
  c->converted = true;
  for (const Value& inner : c->constants) {
    if (inner.is(Kind::Code)) mark_converted(inner);
  }
}

Rewritten rewrite_code(const Code* code) {
  std::vector<std::string_view> free_names;
  for (Str* name : code->free_names) free_names.push_back(name->text);
  return autograph::rewrite(*code->source, code->span, code->name->text == "<lambda>", free_names);
}

/// The converted code of `code`, None where there is none.
Result<Value> convert(Interp& interp, const Code* code) {
  Rewritten made = rewrite_code(code);
  if (!made.found() || made.generator) return Value::none();
  std::vector<Diagnostic> diagnostics;
  scope::ScopeTree scopes;
  for (const ast::Stmt* s : made.parsed->module.body) {
    if (s->kind != ast::StmtKind::ImportFrom) continue;
    for (const ast::Alias& a : ast::as<ast::ImportFrom>(s)->names) {
      scopes.future_annotations =
          scopes.future_annotations || (ast::as<ast::ImportFrom>(s)->module == "__future__" && a.name == "annotations");
    }
  }
  // A function that calls itself means the name it was bound to, not the definition compiled here.
  if (made.def) made.def->name = ".converted";
  scope::Collector(scopes, diagnostics).module(made.module);
  scope::resolve_scopes(scopes, diagnostics);
  name_scopes(scopes, made, code->name->text, code->qualname->text);
  Value result;
  if (!has_errors(diagnostics)) {
    CompileOptions options;
    options.rewrite_asserts = interp.options.rewrite_asserts;
    options.lines = covered_lines(interp, *code->source);
    compile::Session session{interp, code->source, options, scopes, diagnostics};
    const void* node = made.def ? static_cast<const void*>(made.def) : made.lambda;
    compile::FunctionCompiler compiler(session, scopes.of(node));
    result = made.def ? compiler.compile_function(made.def) : compiler.compile_lambda(made.lambda);
  }
  if (result.is_empty()) {
    // Nested too deep, or too large: it runs as it is, and a tensor that decides something is an error there.
    for (const Diagnostic& d : diagnostics) {
      if (d.severity != Severity::Error || d.id == DiagnosticId::NestedTooDeep || d.id == DiagnosticId::CodeTooLarge) continue;
      return fail(ErrorKind::SystemError, "AutoGraph made invalid code of {}: {} (line {})", code->qualname->text, d.message,
                  d.span.line);
    }
    return Value::none();
  }
  mark_converted(result);
  return result;
}

/// The same from the cache, where it lies beside the bytecode of scripts: text that need not be parsed.
Result<Value> converted_code(Interp& interp, const Code* code) {
  if ((!interp.options.use_cache && !is_bundle()) || !covered_lines(interp, *code->source).is_empty())
    return convert(interp, code);
  const Span& at = code->span;
  std::string variant = interp.options.rewrite_asserts ? "converted, rewritten asserts" : "converted";
  for (uint32_t place : {at.line, at.column, at.end_line, at.end_column}) variant += ' ' + std::to_string(place);
  variant += ' ' + code->qualname->text;
  for (Str* name : code->free_names) variant += ' ' + name->text;
  BytecodeCache cache(*code->source, variant);
  Value known = cache.load(interp, code->source, true);
  if (!known.is_empty()) return known;
  Value made = TFL_TRY(convert(interp, code));
  if (made.is(Kind::Code)) cache.store(interp, made);
  return made;
}

bool marked_off(Interp& interp, const Function* f) {
  if (!f->dict.is(Kind::Dict)) return false;
  return !dict_get_str(f->dict.as<Dict>(), interp.intern("_autograph_off")).is_empty();
}

/// The value of `name` in the module of AutoGraph's natives.
Value native_setting(Interp& interp, std::string_view name) {
  Value module = interp.find_module("_autograph");
  return module.is(Kind::Module) ? dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern(name)) : Value();
}

/// The cell that holds the operators, one for all converted functions.
Result<Value> operators_cell(Interp& interp) {
  Value module = TFL_TRY(interp.import_module("_autograph"));
  Dict* names = module.as<Module>()->dict.as<Dict>();
  Value cell = dict_get_str(names, interp.intern("_cell"));
  if (cell.is(Kind::Cell)) return cell;
  Value operators = TFL_TRY(interp.import_module("tensorflow.autograph._operators"));
  cell = interp.cell(operators);
  dict_set_str(names, interp.intern("_cell"), cell);
  return cell;
}

/// `f` with converted code.
Result<Value> with_code(Interp& interp, Function* f, const Value& code) {
  const Code* original = f->code.as<Code>();
  std::vector<Value> cells;
  for (Str* name : code.as<Code>()->free_names) {
    Value cell;
    if (name->text == autograph::kOperators) cell = TFL_TRY(operators_cell(interp));
    for (size_t i = 0; i < original->free_names.size() && cell.is_empty(); ++i) {
      if (original->free_names[i] == name) cell = f->closure.as<Tuple>()->items[i];
    }
    if (cell.is_empty())
      return fail(ErrorKind::SystemError, "converted code of {} has no cell for {}", original->qualname->text, name->text);
    cells.push_back(std::move(cell));
  }
  if (f->dict.is_empty()) f->dict = interp.dict();
  Function* made = interp.allocate<Function>(interp.types.function);
  Value result = Value::adopt(made);
  made->code = code;
  made->module = f->module;
  made->defaults = f->defaults;
  made->kw_defaults = f->kw_defaults;
  made->annotations = f->annotations;
  made->dict = f->dict;
  made->name = f->name, made->qualname = f->qualname, made->doc = f->doc;
  if (!cells.empty()) made->closure = interp.tuple(cells);
  return result;
}

/// Has tracing found that the function calls itself where a tensor decides? Then its converted code says so.
bool is_recursive(const Code* code) {
  const Code* made = code->converted ? code : code->autograph.is(Kind::Code) ? code->autograph.as<Code>() : nullptr;
  return made && made->autograph.is_bool();
}

/// A graph function of its own in the place of `function`, the same one each time.
Result<Value> recursive_function(Interp& interp, const Value& function) {
  Function* f = function.as<Function>();
  if (f->dict.is_empty()) f->dict = interp.dict();
  Str* key = interp.intern("_autograph_recursive");
  Value made = dict_get_str(f->dict.as<Dict>(), key);
  if (!made.is_empty()) return made;
  Value module = TFL_TRY(interp.import_module("tensorflow._function.function"));
  made = TFL_TRY(interp.call_method(module, interp.intern("function"), {function}));
  dict_set_str(f->dict.as<Dict>(), key, made);
  return made;
}

/// Empty: `f` runs as it is.
Result<Value> converted_function(Interp& interp, const Value& function) {
  Function* f = function.as<Function>();
  const Code* code = f->code.as<Code>();
  if (code->converted || code->generator || !code->source || code->source->internal || marked_off(interp, f)) return Value();
  if (code->autograph.is_empty()) code->autograph = TFL_TRY(converted_code(interp, code));
  if (!code->autograph.is(Kind::Code)) return Value();
  return with_code(interp, f, code->autograph);
}

/// What stands in the place of a built-in function or type, or Empty.
Result<Value> overload_of(Interp& interp, const Value& callee) {
  Value table = native_setting(interp, "_overloads");
  if (!table.is(Kind::Dict)) return Value();
  return dict_get(interp, table.as<Dict>(), callee);
}

}  // namespace

Result<Value> autograph_converted(Interp& interp, const Value& callee, bool calls) {
  switch (callee.kind()) {
    case Kind::NativeFunction:
    case Kind::Type: {
      Value other = TFL_TRY(overload_of(interp, callee));
      return other.is_empty() ? callee : other;
    }
    case Kind::Function:
    case Kind::BoundMethod:
    case Kind::Instance: break;
    default: return callee;
  }
  Value off = native_setting(interp, "_off");
  if (off.identical(Value::boolean(true))) return callee;
  if (callee.is(Kind::Function)) {
    if (calls && interp.sink && is_recursive(callee.as<Function>()->code.as<Code>())) return recursive_function(interp, callee);
    Value made = TFL_TRY(converted_function(interp, callee));
    return made.is_empty() ? callee : made;
  }
  if (callee.is(Kind::BoundMethod)) {
    auto* method = callee.as<BoundMethod>();
    if (!method->function.is(Kind::Function)) return callee;
    if (calls && interp.sink && is_recursive(method->function.as<Function>()->code.as<Code>())) {
      return interp.bound_method(TFL_TRY(recursive_function(interp, method->function)), method->self);
    }
    Value made = TFL_TRY(converted_function(interp, method->function));
    return made.is_empty() ? callee : interp.bound_method(made, method->self);
  }
  // An object that is called, or that knows itself what to call.
  const Type* type = callee.as<Instance>()->type;
  if (const Value* own = type_lookup(type, interp.intern("__autograph__"))) return interp.call(*own, {callee});
  const Value* call = type_lookup(type, interp.intern("__call__"));
  if (!call || !call->is(Kind::Function)) return callee;
  Value made = TFL_TRY(converted_function(interp, *call));
  return made.is_empty() ? callee : interp.bound_method(made, callee);
}

Result<std::string> autograph_source(Interp& interp, const Value& function) {
  Value f = function;
  if (f.is(Kind::BoundMethod)) f = Value(f.as<BoundMethod>()->function);
  if (f.is(Kind::Instance)) {
    if (const Value* call = type_lookup(f.as<Instance>()->type, interp.intern("__call__"))) f = Value(*call);
  }
  if (!f.is(Kind::Function)) return fail(ErrorKind::TypeError, "to_code needs a function, got {}", interp.type_name(function));
  const Code* code = f.as<Function>()->code.as<Code>();
  if (!code->source || code->source->internal)
    return fail(ErrorKind::ValueError, "{} has no source to convert", code->qualname->text);
  Rewritten made = rewrite_code(code);
  if (!made.found()) return fail(ErrorKind::ValueError, "the source of {} is not there", code->qualname->text);
  if (made.def) return ast::unparse(made.def);
  return ast::unparse(made.lambda) + "\n";
}

}  // namespace tfl
