// Code objects: their registers, prologue and the parts that the Code structure holds.
#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using namespace ast;
using scope::ScopeKind;
using scope::Storage;

namespace {
constexpr size_t kMaxInstructions = 4'000'000;  // of one file: copies of finally blocks can grow without bound
}

void Session::report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args) {
  diagnostics.push_back(make_diagnostic(id, span, args));
  failed = true;
}

const LineColumns& Session::columns_of(uint32_t number) {
  if (line.number == number) return line;
  line = {number, source->line(number), true, {}};
  for (char c : line.text) line.ascii = line.ascii && static_cast<unsigned char>(c) < 0x80;
  for (uint32_t i = 0; i < line.text.size() && !line.ascii; ++i) {
    if ((static_cast<unsigned char>(line.text[i]) & 0xC0) != 0x80) line.starts.push_back(i);
  }
  return line;
}

FunctionCompiler::FunctionCompiler(Session& session, const scope::Scope& scope)
    : session_(session), interp_(session.interp), scope_(scope), code_(session.interp) {}

// Parameters come first in scope_.symbols. A comprehension's iterator is followed by a register for the item.
void FunctionCompiler::prologue() {
  Reg next = 0;
  std::vector<Reg> cells;
  std::vector<bool> bound;
  auto add = [&](std::string_view name, Storage storage, bool parameter) {
    if (storage != Storage::Local && storage != Storage::Cell) return;
    registers_[name] = next;
    register_names_.push_back(interp_.intern(name));
    bound.push_back(parameter);
    if (storage == Storage::Cell) cells.push_back(next);
    ++next;
    if (name == ".0") {
      ++next;
      register_names_.push_back(nullptr);
      bound.push_back(false);
    }
  };
  for (const scope::Symbol& s : scope_.symbols) {
    if (scope_.is_function()) add(s.name, s.storage, s.parameter);
  }
  if (scope_.class_cell) {
    class_cell_ = next;
    add("__class__", Storage::Cell, false);
  }
  for (std::string_view name : scope_.free) {
    free_registers_[name] = next++;
    register_names_.push_back(interp_.intern(name));
    bound.push_back(true);
  }
  code_.first_temp = code_.top = code_.most = next;
  if (next > kMaxOperand) code_.too_large = true;
  code_.state.assigned = std::move(bound);
  for (Reg r : cells) code_.emit(Opcode::MakeCell, r);
}

Value FunctionCompiler::finish(Span span) {
  session_.instructions += code_.instructions.size();
  if (code_.too_large || session_.instructions > kMaxInstructions) {
    if (!session_.failed) session_.report(DiagnosticId::CodeTooLarge, span);
  }
  if (session_.failed) return {};
  code_.join_constants();
  Code* code = interp_.allocate<Code>(interp_.types.code);
  Value result = Value::adopt(code);
  code->instructions = std::move(code_.instructions);
  code->constants = std::move(code_.constants);
  code->spans = std::move(code_.spans);
  code->handlers = std::move(code_.handlers);
  code->decisions = std::move(code_.decisions);
  code->register_names = std::move(register_names_);
  for (std::string_view name : scope_.free) {
    code->free_registers.push_back(static_cast<uint16_t>(free_registers_[name]));
    code->free_names.push_back(interp_.intern(name));
  }
  code->caches.resize(code_.cache_count);
  code->name = interp_.intern(scope_.name);
  code->qualname = interp_.intern(scope_.qualname);
  code->doc = doc_;
  code->source = session_.source;
  code->span = span;
  code->registers = code_.most;
  code->generator = scope_.generator || scope_.asynchronous;
  code->coroutine = scope_.asynchronous && !scope_.generator;
  code->async_generator = scope_.asynchronous && scope_.generator;
  code->helper = scope_.helper;
  code->class_body = scope_.kind == ScopeKind::Class;
  code->module_body = scope_.kind == ScopeKind::Module;
  code->instructions.shrink_to_fit();
  code->spans.shrink_to_fit();
  return result;
}

void FunctionCompiler::set_parameters(Code& code, List<Parameter> params) const {
  auto add = [&](const Parameter& p) { code.params.push_back({interp_.intern(session_.scopes.mangle(scope_, p.name)), p.kind}); };
  for (const Parameter& p : params) {
    if (p.kind != ParamKind::PositionalOnly && p.kind != ParamKind::PositionalOrKeyword) continue;
    add(p);
    ++code.positional;
    if (p.kind == ParamKind::PositionalOnly) ++code.positional_only;
  }
  for (const Parameter& p : params) {
    if (p.kind == ParamKind::KeywordOnly) add(p), ++code.keyword_only;
  }
  for (const Parameter& p : params) {
    if (p.kind == ParamKind::VarPositional) add(p), code.var_positional = true;
  }
  for (const Parameter& p : params) {
    if (p.kind == ParamKind::VarKeyword) add(p), code.var_keyword = true;
  }
}

/// The statements behind a docstring, which becomes doc_.
void FunctionCompiler::body_with_docstring(Block statements) {
  if (!statements.empty() && statements[0]->kind == StmtKind::Expression) {
    const Expr* e = as<Expression>(static_cast<const Stmt*>(statements[0]))->value;
    if (e->kind == ExprKind::Constant && as<Constant>(e)->constant == ConstantKind::String) {
      doc_ = interp_.str(std::string(as<Constant>(e)->text));
      // A class of the library knows the code that has its docstring (build_class).
      bool late = scope_.kind == ScopeKind::Class && session_.source->internal;
      if (scope_.kind != ScopeKind::Function && !late) {
        Here here(code_, e->span);
        Temps temps(code_);
        Reg t = code_.alloc();
        load_const(t, doc_);
        store(variable("__doc__"), t, true);
      }
      if (!session_.options.show_results || scope_.kind != ScopeKind::Module) statements = statements.subspan(1);
    }
  }
  block(statements);
}

Value FunctionCompiler::compile_module(const Module& module) {
  prologue();
  Span span{1, 0, 1, 0};
  if (!module.body.empty()) {
    Span last = module.body.back()->span;
    span = {module.body.front()->span.line, 0, last.end_line, last.end_column};
  }
  Here here(code_, span);
  if (scope_.has_annotations) {
    Temps temps(code_);
    Reg t = code_.alloc();
    // A REPL has them already.
    if (!session_.options.show_results) {
      code_.emit(Opcode::BuildDict, t, 0, 0);
      code_.emit(Opcode::StoreGlobal, t, code_.name("__annotations__"), code_.cache("__annotations__", true), kReleaseA);
    }
  }
  body_with_docstring(module.body);
  Reg t = code_.alloc();
  load_const(t, Value::none());
  code_.emit(Opcode::Return, t);
  return finish(span);
}

Value FunctionCompiler::compile_function(const FunctionDef* def) {
  Here here(code_, def->span);
  prologue();
  find_returns(def->body);
  body_with_docstring(def->body);
  if (code_.state.reachable) {
    // What a missing return leaves to do has no line of its own: the last statement's.
    Here last(code_, def->body.empty() ? def->span : def->body.back()->span);
    Reg t = code_.alloc();
    load_const(t, Value::none());
    code_.emit(Opcode::Return, t);
  }
  Value code = finish(def->span);
  if (!code.is_empty()) set_parameters(*code.as<Code>(), def->params);
  return code;
}

Value FunctionCompiler::compile_lambda(const Lambda* e) {
  Here here(code_, e->span);
  prologue();
  {
    // The body's value is returned with the place of the body.
    Here body(code_, e->body->span);
    Reg value = operand(e->body);
    code_.emit(Opcode::Return, value);
  }
  Value code = finish(e->span);
  if (!code.is_empty()) set_parameters(*code.as<Code>(), e->params);
  return code;
}

Value FunctionCompiler::compile_class(const ClassDef* def) {
  Here here(code_, def->span);
  prologue();
  {
    Temps temps(code_);
    Reg t = code_.alloc();
    code_.emit(Opcode::LoadName, t, code_.name("__name__"));
    code_.emit(Opcode::StoreName, t, code_.name("__module__"), 0, kReleaseA);
    load_const(t, interp_.str(interp_.intern(scope_.qualname)));
    code_.emit(Opcode::StoreName, t, code_.name("__qualname__"), 0, kReleaseA);
    if (scope_.has_annotations) {
      code_.emit(Opcode::BuildDict, t, 0, 0);
      code_.emit(Opcode::StoreName, t, code_.name("__annotations__"), 0, kReleaseA);
    }
  }
  body_with_docstring(def->body);
  if (scope_.class_cell) {
    code_.emit(Opcode::Return, class_cell_);
  } else {
    Reg t = code_.alloc();
    load_const(t, Value::none());
    code_.emit(Opcode::Return, t);
  }
  return finish(def->span);
}

}  // namespace tfl::compile
