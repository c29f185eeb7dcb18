// def, class and lambda where they stand: defaults, annotations, closure and decorators.
#include <algorithm>

#include "frontend/interpreter/compile/function_compiler.h"
#include "frontend/syntax/ast/class_arguments.h"

namespace tfl::compile {

using namespace ast;
using scope::Storage;

/// Expression sources are taken from here: annotations that are not evaluated, and what failed assertions show.
std::string FunctionCompiler::source_text(Span span) const {
  std::string out;
  for (uint32_t line = span.line; line <= span.end_line && line != 0; ++line) {
    std::string_view text = session_.source->line(line);
    size_t begin = 0, end = text.size(), at = 0;
    uint32_t column = 0;
    for (; at < text.size(); ++at) {
      if ((static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) continue;
      if (line == span.line && column == span.column) begin = at;
      if (line == span.end_line && column == span.end_column) {
        end = at;
        break;
      }
      ++column;
    }
    std::string_view piece = text.substr(begin, end - begin);
    if (line != span.line) {
      piece.remove_prefix(std::min(piece.find_first_not_of(" \t"), piece.size()));
      if (!out.empty() && out.back() == ',') out += ' ';
    }
    out += piece;
  }
  return out;
}

void FunctionCompiler::function_definition(const FunctionDef* def) {
  Reg first = decorators(def->decorators);
  const scope::Scope& inner = session_.scopes.of(def);
  FunctionCompiler compiler(session_, inner);
  Value code = compiler.compile_function(def);
  Variable target = variable(def->name);
  if (def->decorators.empty() && target.storage == Storage::Local) {
    make_function(target.reg, code, inner, def->params, def);
    if (code_.state.reachable) code_.state.assigned[target.reg] = true;
    return;
  }
  Reg function = code_.alloc();
  make_function(function, code, inner, def->params, def);
  apply_decorators(def->decorators, first);
  store(target, first, true);
}

/// Their values in consecutive registers; what they decorate comes into the next one.
Reg FunctionCompiler::decorators(List<Expr*> list) {
  Reg first = code_.top;
  for (const Expr* d : list) in_temp(d);
  return first;
}

void FunctionCompiler::apply_decorators(List<Expr*> list, Reg first) {
  for (size_t i = list.size(); i > 0; --i) {
    Here here(code_, list[i - 1]->span);
    Reg r = first + static_cast<Reg>(i - 1);
    code_.emit(Opcode::Call, r, r, 1);
  }
}

void FunctionCompiler::make_function(Reg dst, const Value& code, const scope::Scope& inner, List<Parameter> params,
                                     const FunctionDef* annotated) {
  if (code.is_empty()) return;  // reported
  Temps temps(code_);
  Reg parts = code_.alloc(4);
  auto positional_default = [](const Parameter& p) { return p.default_value && p.kind != ParamKind::KeywordOnly; };
  auto keyword_default = [](const Parameter& p) { return p.default_value && p.kind == ParamKind::KeywordOnly; };
  if (std::any_of(params.begin(), params.end(), positional_default)) {
    Temps inner_temps(code_);
    Reg first = code_.top;
    uint32_t count = 0;
    for (const Parameter& p : params) {
      if (positional_default(p)) in_temp(p.default_value), ++count;
    }
    code_.emit(Opcode::BuildTuple, parts, first, count);
  } else {
    code_.emit(Opcode::Clear, parts);
  }
  if (std::any_of(params.begin(), params.end(), keyword_default)) {
    Temps inner_temps(code_);
    Reg first = code_.top;
    uint32_t count = 0;
    for (const Parameter& p : params) {
      if (!keyword_default(p)) continue;
      load_const(code_.alloc(), interp_.str(interp_.intern(session_.scopes.mangle(scope_, p.name))));
      in_temp(p.default_value);
      ++count;
    }
    code_.emit(Opcode::BuildDict, parts + 1, first, count);
  } else {
    code_.emit(Opcode::Clear, parts + 1);
  }
  if (annotated)
    annotations(parts + 2, annotated);
  else
    code_.emit(Opcode::Clear, parts + 2);
  if (inner.free.empty()) {
    code_.emit(Opcode::Clear, parts + 3);
  } else {
    Temps inner_temps(code_);
    Reg first = code_.top;
    for (std::string_view name : inner.free) {
      auto own = registers_.find(name);
      Reg t = code_.alloc();
      code_.emit(Opcode::Move, t, own != registers_.end() ? own->second : free_registers_.at(name));
    }
    code_.emit(Opcode::BuildTuple, parts + 3, first, static_cast<uint32_t>(inner.free.size()));
  }
  code_.emit(Opcode::MakeFunction, dst, parts, code_.add_code(code));
}

/// `f32[n, 784]`: a type in the notation of signatures, whose names nothing need bind. Kept as text.
bool FunctionCompiler::is_type_notation(const Expr* e) const {
  constexpr std::string_view kTypes[] = {"f16", "bf16", "f32", "f64", "i8",  "i16",  "i32",
                                         "i64", "u8",   "u16", "u32", "u64", "bool", "str"};
  if (e->kind != ExprKind::Subscript || as<Subscript>(e)->value->kind != ExprKind::Name) return false;
  std::string_view id = as<Name>(static_cast<const Expr*>(as<Subscript>(e)->value))->id;
  if (std::find(std::begin(kTypes), std::end(kTypes), id) == std::end(kTypes)) return false;
  Variable v = variable(id);
  return v.storage == Storage::Global && !session_.scopes.module_names.contains(id);
}

void FunctionCompiler::annotation(Reg dst, const Expr* e) {
  Here here(code_, e->span);
  if (session_.scopes.future_annotations || is_type_notation(e))
    load_const(dst, interp_.str(source_text(e->span)));
  else
    into(e, dst);
}

void FunctionCompiler::annotations(Reg dst, const FunctionDef* def) {
  Temps temps(code_);
  Reg first = code_.top;
  uint32_t count = 0;
  auto add = [&](std::string_view name, const Expr* e) {
    load_const(code_.alloc(), interp_.str(interp_.intern(session_.scopes.mangle(scope_, name))));
    annotation(code_.alloc(), e);
    ++count;
  };
  for (const Parameter& p : def->params) {
    if (p.annotation) add(p.name, p.annotation);
  }
  if (def->returns) add("return", def->returns);
  if (count == 0)
    code_.emit(Opcode::Clear, dst);
  else
    code_.emit(Opcode::BuildDict, dst, first, count);
}

void FunctionCompiler::class_definition(const ClassDef* def) {
  Reg first = decorators(def->decorators);
  const scope::Scope& inner = session_.scopes.of(def);
  FunctionCompiler compiler(session_, inner);
  Value code = compiler.compile_class(def);
  Reg made = code_.alloc();
  {
    Temps temps(code_);
    Reg parts = code_.alloc(3);
    make_function(parts, code, inner, {}, nullptr);
    const Call* call = class_arguments(def);
    if (call && !call->args.empty())
      spread_positional(call, parts + 1);
    else if (const Expr* base = only_base(def))
      into(base, parts + 1);
    else
      code_.emit(Opcode::Clear, parts + 1);
    if (call && !call->keywords.empty())
      spread_keywords(call, parts + 2, parts);
    else
      code_.emit(Opcode::Clear, parts + 2);
    code_.emit(Opcode::BuildClass, made, parts, code_.name(def->name));
  }
  apply_decorators(def->decorators, first);
  store(variable(def->name), first, true);
}

}  // namespace tfl::compile
