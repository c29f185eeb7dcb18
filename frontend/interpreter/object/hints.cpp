// The names an attribute can have, and the error when it has not.
#include <set>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"

namespace tfl {

namespace {

void add_names(std::set<std::string>& names, Dict* d) {
  for (const Dict::Entry& e : d->entries) {
    if (e.key.is_str() && !is_hidden(e.value)) names.insert(e.key.as<Str>()->text);
  }
}

void add_type_names(Interp& interp, std::set<std::string>& names, Type* type) {
  for (Lineage l(type); l.at; l.next()) {
    if (!l.at->script && !l.at->wrappers) install_wrappers(interp, l.at);
    add_names(names, l.at->dict.as<Dict>());
  }
}

}  // namespace

Result<std::vector<Value>> attribute_names(Interp& interp, const Value& v) {
  std::vector<Value> result;
  Type *type = interp.type_of(v), *claimed = type;
  Value own;
  if (v.is(Kind::Module)) {
    // A module's own function, not a method of its type.
    Value listing = dict_get_str(v.as<Module>()->dict.as<Dict>(), interp.sym.__dir__);
    if (!listing.is_empty()) own = TFL_TRY(interp.call(listing, {}));
  } else {
    own = TFL_TRY(call_special(interp, v, interp.sym.__dir__, {}));
  }
  if (!own.is_empty()) {
    std::vector<Value> listed = TFL_TRY(to_vector(interp, own));
    std::set<std::string> names;
    for (Value& n : listed) {
      if (n.is_str()) names.insert(n.as<Str>()->text);
    }
    for (const std::string& n : names) result.push_back(interp.str(n));
    return result;
  }
  std::set<std::string> names;
  if (v.is(Kind::Module)) {
    add_names(names, v.as<Module>()->dict.as<Dict>());
  } else if (v.is(Kind::Type)) {
    add_type_names(interp, names, v.as<Type>());
  } else {
    if (type->script && (type->has_getattribute || script_lookup(interp, type, interp.sym.__class__))) {
      // What it claims to be decides which names its class has.
      Value said = TFL_TRY(find_attr(interp, v, interp.sym.__class__));
      if (said.is(Kind::Type)) claimed = said.as<Type>();
    }
    if (Dict* own = type->slotted ? nullptr : instance_dict(interp, v, false)) add_names(names, own);
    add_type_names(interp, names, claimed);
    if (v.is(Kind::Exception)) names.insert("args");
  }
  for (const std::string& n : names) result.push_back(interp.str(n));
  return result;
}

Failure no_attribute(Interp& interp, const Value& v, Str* name) {
  std::string message;
  if (v.is(Kind::Module)) {
    const Module* m = v.as<Module>();
    message =
        (m->loading ? "partially initialized module '" : "module '") + m->name->text + "' has no attribute '" + name->text + "'";
    if (m->loading) message += " (most likely due to a circular import)";
  } else if (v.is(Kind::Type)) {
    message = "type object '" + v.as<Type>()->name->text + "' has no attribute '" + name->text + "'";
  } else {
    // A bound method has its function's attributes.
    bool method = v.is(Kind::BoundMethod) && v.as<BoundMethod>()->function.is(Kind::Function);
    message = "'" + std::string(interp.type_name(method ? v.as<BoundMethod>()->function : v)) + "' object has no attribute '" +
              name->text + "'";
  }
  Value text = interp.str(std::move(message));
  Value e = make_exception(interp, interp.exception_type(ErrorKind::AttributeError), {&text, 1});
  // The nearest name is looked for when the error is shown: most of these errors are caught.
  e.as<Exception>()->name = interp.str(name);
  if (!is_hidden(v)) e.as<Exception>()->obj = v;
  return interp.raise(std::move(e));
}

}  // namespace tfl
