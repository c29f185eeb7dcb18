// Global, builtin and class-body names, and the errors of names that are not bound.
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/operations.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

namespace {

void add_names(std::vector<std::string_view>& names, Dict* d) {
  for (const Dict::Entry& e : d->entries) {
    if (e.key.is_str()) names.push_back(e.key.as<Str>()->text);
  }
}

Failure name_error(Interp& interp, ErrorKind kind, Str* name, std::string message) {
  Value text = interp.str(std::move(message));
  Value e = make_exception(interp, interp.exception_type(kind), {&text, 1});
  e.as<Exception>()->name = interp.str(name);
  return interp.raise(std::move(e));
}

Failure not_defined(Interp& interp, Frame* f, Str* name) {
  Failure failure = name_error(interp, ErrorKind::NameError, name, "name '" + name->text + "' is not defined");
  // The names of this place: locals first, then globals, then builtins, each on its own as CPython looks.
  std::vector<std::string_view> names;
  for (size_t i = 0; i < f->code->register_names.size(); ++i) {
    if (f->code->register_names[i] && !f->registers[i].is_empty()) names.push_back(f->code->register_names[i]->text);
  }
  std::string_view near = suggest(name->text, names);
  if (near.empty()) {
    names.clear();
    add_names(names, f->globals);
    near = suggest(name->text, names);
  }
  if (near.empty()) {
    names.clear();
    add_names(names, interp.builtins.as<Module>()->dict.as<Dict>());
    near = suggest(name->text, names);
  }
  if (!near.empty()) interp.exception_of(*failure.error).as<Exception>()->hint = "Did you mean: '" + std::string(near) + "'?";
  return failure;
}

/// The value of a name in the module or the builtins. Empty: there is none.
Result<Value> find_global(Interp& interp, Frame* f, Str* name) {
  if (const Value* v = dict_entry(f->globals, name)) return *v;
  auto* builtins = interp.builtins.as<Module>();
  if (const Value* v = dict_entry(builtins->dict.as<Dict>(), name)) return *v;
  return builtins->lazy(interp, builtins, name);
}

}  // namespace

Result<Value> load_global(Interp& interp, Frame* f, Str* name, GlobalCache& cache) {
  Dict* globals = f->globals;
  int64_t at = dict_find_str(globals, name);
  if (at >= 0) {
    cache = {globals->keys_version, 0, static_cast<uint32_t>(at), false, globals};
    return globals->entries[static_cast<size_t>(at)].value;
  }
  Dict* builtins = interp.builtins.as<Module>()->dict.as<Dict>();
  at = dict_find_str(builtins, name);
  if (at >= 0) {
    cache = {globals->keys_version, builtins->keys_version, static_cast<uint32_t>(at), true, globals};
    return builtins->entries[static_cast<size_t>(at)].value;
  }
  if (f->module->lazy) {
    Value found = TFL_TRY(f->module->lazy(interp, f->module, name));
    if (!found.is_empty()) return found;
  }
  auto* later = interp.builtins.as<Module>();
  if (Value found = TFL_TRY(later->lazy(interp, later, name)); !found.is_empty()) return found;
  return not_defined(interp, f, name);
}

void store_global(Frame* f, Str* name, GlobalCache& cache, Value value) {
  dict_set_str(f->globals, name, std::move(value));
  int64_t at = dict_find_str(f->globals, name);
  if (at >= 0) cache = {f->globals->keys_version, 0, static_cast<uint32_t>(at), false, f->globals};
}

Result<void> delete_global(Interp& interp, Frame* f, Str* name) {
  if (dict_remove_str(f->globals, name)) return {};
  return not_defined(interp, f, name);
}

Result<Value> load_class_name(Interp& interp, Frame* f, Str* name, const Value* cell) {
  if (f->held.is(Kind::Dict)) {
    if (const Value* v = dict_entry(f->held.as<Dict>(), name)) return *v;
  }
  if (cell) {
    if (!cell->is_empty()) return *cell;
    return name_error(
        interp, ErrorKind::NameError, name,
        "cannot access free variable '" + name->text + "' where it is not associated with a value in enclosing scope");
  }
  if (Value v = TFL_TRY(find_global(interp, f, name)); !v.is_empty()) return v;
  return not_defined(interp, f, name);
}

Result<void> delete_class_name(Interp& interp, Frame* f, Str* name) {
  if (f->held.is(Kind::Dict) && dict_remove_str(f->held.as<Dict>(), name)) return {};
  return not_defined(interp, f, name);
}

Failure unbound_local(Interp& interp, Frame* f, uint32_t reg) {
  Str* name = reg < f->code->register_names.size() ? f->code->register_names[reg] : nullptr;
  if (!name) name = interp.intern("?");
  Failure failure = name_error(interp, ErrorKind::UnboundLocalError, name,
                               "cannot access local variable '" + name->text + "' where it is not associated with a value");
  if (!f->code->module_body && dict_entry(f->globals, name)) {
    interp.exception_of(*failure.error).as<Exception>()->hint = "this function assigns '" + name->text +
                                                                "', which makes it a local variable: write 'global " +
                                                                name->text + "' at its top to mean the script's";
  }
  return failure;
}

Failure unbound_cell(Interp& interp, Frame* f, uint32_t reg) {
  for (size_t i = 0; i < f->code->free_registers.size(); ++i) {
    if (f->code->free_registers[i] != reg) continue;
    Str* name = f->code->free_names[i];
    if (f->code->helper) break;
    return name_error(
        interp, ErrorKind::NameError, name,
        "cannot access free variable '" + name->text + "' where it is not associated with a value in enclosing scope");
  }
  return unbound_local(interp, f, reg);
}

}  // namespace tfl
