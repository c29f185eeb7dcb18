#include "frontend/interpreter/compile/function_compiler.h"

namespace tfl::compile {

using scope::Storage;

FunctionCompiler::Variable FunctionCompiler::variable(std::string_view id) const {
  id = session_.scopes.mangle(scope_, id);
  const scope::Symbol* symbol = scope_.find(id);
  Storage implied = scope_.kind == scope::ScopeKind::Class ? Storage::Namespace : Storage::Global;
  Variable v{symbol ? symbol->storage : implied, 0, id, symbol};
  switch (v.storage) {
    case Storage::Local:
    case Storage::Cell: v.reg = registers_.at(id); break;
    case Storage::Free:
    case Storage::NamespaceOrFree: v.reg = free_registers_.at(id); break;
    case Storage::Global:
    case Storage::Namespace: break;
  }
  return v;
}

bool FunctionCompiler::assigned(const Variable& v) const {
  return v.reg < code_.state.assigned.size() && code_.state.assigned[v.reg];
}

// Not needed where every path has bound it. What `del` may unbind is always checked.
void FunctionCompiler::check_local(const Variable& v) {
  if (assigned(v) && !v.symbol->unbound) return;
  code_.emit(Opcode::CheckLocal, v.reg);
  if (v.reg < code_.state.assigned.size()) code_.state.assigned[v.reg] = true;
}

std::optional<Reg> FunctionCompiler::local_in_place(const ast::Expr* e) {
  if (e->kind != ast::ExprKind::Name) return {};
  Variable v = variable(ast::as<ast::Name>(e)->id);
  // A := further right in the same expression must not change what was read before.
  if (v.storage != Storage::Local || v.symbol->walrus) return {};
  Here here(code_, e->span);
  check_local(v);
  return v.reg;
}

void FunctionCompiler::load_name(const ast::Name* e, Reg dst) {
  if (e->id == "__debug__") return load_const(dst, Value::boolean(true));
  Here here(code_, e->span);
  load(variable(e->id), dst);
}

void FunctionCompiler::load(const Variable& v, Reg dst) {
  switch (v.storage) {
    case Storage::Local:
      check_local(v);
      if (v.reg != dst) code_.emit(Opcode::Move, dst, v.reg);
      break;
    case Storage::Cell:
    case Storage::Free: code_.emit(Opcode::LoadCell, dst, v.reg); break;
    case Storage::Global: code_.emit(Opcode::LoadGlobal, dst, code_.name(v.name), code_.cache(v.name, false)); break;
    case Storage::Namespace: code_.emit(Opcode::LoadName, dst, code_.name(v.name)); break;
    case Storage::NamespaceOrFree: code_.emit(Opcode::LoadNameOrCell, dst, code_.name(v.name), v.reg); break;
  }
}

void FunctionCompiler::store(const Variable& v, Reg value, bool temp) {
  uint8_t release = temp ? code_.release_a(value) : 0;
  switch (v.storage) {
    case Storage::Local:
      if (v.reg != value) code_.emit(temp && code_.is_temp(value) ? Opcode::MoveTemp : Opcode::Move, v.reg, value);
      if (v.reg < code_.state.assigned.size()) code_.state.assigned[v.reg] = true;
      break;
    case Storage::Cell:
    case Storage::Free: code_.emit(Opcode::StoreCell, value, v.reg, 0, release); break;
    case Storage::Global: code_.emit(Opcode::StoreGlobal, value, code_.name(v.name), code_.cache(v.name, true), release); break;
    case Storage::Namespace:
    case Storage::NamespaceOrFree: code_.emit(Opcode::StoreName, value, code_.name(v.name), 0, release); break;
  }
}

void FunctionCompiler::remove(const Variable& v) {
  switch (v.storage) {
    case Storage::Local: code_.emit(Opcode::DeleteLocal, v.reg); break;
    case Storage::Cell:
    case Storage::Free: code_.emit(Opcode::DeleteCell, 0, v.reg); break;
    case Storage::Global: code_.emit(Opcode::DeleteGlobal, 0, code_.name(v.name)); break;
    case Storage::Namespace:
    case Storage::NamespaceOrFree: code_.emit(Opcode::DeleteName, 0, code_.name(v.name)); break;
  }
}

void FunctionCompiler::forget(std::string_view id) {
  Variable v = variable(id);
  switch (v.storage) {
    case Storage::Local: code_.emit(Opcode::Clear, v.reg); break;
    default: {
      // It may have been deleted already: bound once more, it can be deleted for certain.
      Temps temps(code_);
      Reg t = code_.alloc();
      load_const(t, Value::none());
      store(v, t, true);
      remove(v);
    }
  }
}

}  // namespace tfl::compile
