// What a tensor decides gives new values: which variables, after which statement (Code::decisions, frontend/interpreter/vm/renewal.h). The library has none:
// where it lets tensors decide it says so itself (_gradient.mark_decision).
#include "frontend/interpreter/compile/function_compiler.h"
#include "frontend/syntax/ast/names.h"

namespace tfl::compile {

using namespace ast;
using scope::Storage;

namespace {

bool has_return(Block body);

bool has_return(const Stmt* s) {
  switch (s->kind) {
    case StmtKind::Return: return true;
    case StmtKind::If: return has_return(as<If>(s)->body) || has_return(as<If>(s)->orelse);
    case StmtKind::While: return has_return(as<While>(s)->body) || has_return(as<While>(s)->orelse);
    case StmtKind::For: return has_return(as<For>(s)->body) || has_return(as<For>(s)->orelse);
    case StmtKind::With: return has_return(as<With>(s)->body);
    case StmtKind::Try: {
      auto* t = as<Try>(s);
      for (const ExceptHandler& h : t->handlers) {
        if (has_return(h.body)) return true;
      }
      return has_return(t->body) || has_return(t->orelse) || has_return(t->finally);
    }
    default: return false;
  }
}

bool has_return(Block body) {
  for (const Stmt* s : body) {
    if (has_return(s)) return true;
  }
  return false;
}

}  // namespace

void FunctionCompiler::find_returns(Block body) {
  for (const Stmt* s : body) {
    if (s->kind != StmtKind::Return && has_return(s)) returns_are_decided_ = !session_.source->internal;
  }
}

FunctionCompiler::Deciding FunctionCompiler::deciding(const Stmt* s) {
  Deciding out;
  if (session_.source->internal || !scope_.is_function()) return out;
  Names names;
  switch (s->kind) {
    case StmtKind::If:
      names_of(as<If>(s)->body, names);
      names_of(as<If>(s)->orelse, names);
      break;
    case StmtKind::While:
      names_of(as<While>(s)->condition, names);
      names_of(as<While>(s)->body, names);
      break;
    case StmtKind::For: names_of(as<For>(s)->body, names); break;
    default: return out;
  }
  auto place = [&](std::string_view name, std::vector<int32_t>& places) {
    Variable v = variable(name);
    if (v.storage == Storage::Local) places.push_back(static_cast<int32_t>(v.reg));
    if (v.storage == Storage::Cell || v.storage == Storage::Free) places.push_back(-1 - static_cast<int32_t>(v.reg));
  };
  // In the order of the names, backwards: what was renewed last gets its gradient first, and a graph adds up what flows into its results
  // from the first on.
  for (auto name = names.binds.rbegin(); name != names.binds.rend(); ++name) place(*name, out.decision.places);
  out.decision.loop = s->kind != StmtKind::If;
  for (std::string_view name : names.reads) {
    if (out.decision.loop && !names.binds.contains(name)) place(name, out.decision.reads);
  }
  out.decision.returns = has_return(s);
  out.decision.statement = deciding_++;
  out.kept = out.decision.returns || !out.decision.places.empty();
  return out;
}

FunctionCompiler::Deciding FunctionCompiler::deciding(Reg result) {
  Deciding out;
  if (session_.source->internal || !scope_.is_function()) return out;
  out.decision.places.push_back(static_cast<int32_t>(result));
  out.decision.statement = deciding_++;
  out.kept = true;
  return out;
}

// Where the condition is a constant there is none.
void FunctionCompiler::add_condition(const Deciding& d, uint32_t first) {
  if (!d.kept || first == code_.here()) return;
  code_.decisions.push_back(d.decision);
  code_.decisions.back().first = first;
  code_.decisions.back().last = code_.here();
}

void FunctionCompiler::renew(const Deciding& d) {
  if (!d.kept || d.decision.places.empty()) return;
  for (size_t i = code_.decisions.size(); i-- > 0;) {
    if (code_.decisions[i].statement == d.decision.statement) {
      code_.emit_wide(Opcode::Renew, 0, static_cast<uint32_t>(i));
      return;
    }
  }
}

}  // namespace tfl::compile
