#include "frontend/core/native_module.h"

namespace tfl {

Result<Type*> module_type(Interp& interp, std::string_view module, std::string_view name, const Slots& slots) {
  Value made = interp.find_module(module);
  if (made.is(Kind::Module)) {
    Value type = dict_get_str(made.as<Module>()->dict.as<Dict>(), interp.intern(name));
    if (type.is(Kind::Type) && type.as<Type>()->slots == &slots) return type.as<Type>();
  }
  return fail(ErrorKind::SystemError, "the module {} has lost its type {}", module, name);
}

Failure module_error(Interp& interp, std::string_view module, std::string_view name, const std::string& text) {
  Value made = interp.find_module(module);
  Value type;
  if (made.is(Kind::Module)) type = dict_get_str(made.as<Module>()->dict.as<Dict>(), interp.intern(name));
  if (!type.is(Kind::Type)) return fail(ErrorKind::ValueError, "{}", text);
  auto e = interp.call(type, {interp.str(text)});
  if (!e) return e.failure();
  return interp.raise(e.take());
}

}  // namespace tfl
