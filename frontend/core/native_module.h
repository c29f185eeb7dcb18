// How a native module is made: its init function gets the new module and defines functions and values in it. The modules and
// their init functions are the rows of modules.def.
#pragma once

#include "frontend/core/native.h"

namespace tfl {

#define TFL_NATIVE_MODULE(name, init) Result<void> init(Interp& interp, Module& module);
#include "frontend/core/modules.def"
#undef TFL_NATIVE_MODULE

/// Defines `name` in the module.
inline void define(Interp& interp, Module& module, std::string_view name, Value value) {
  dict_set_str(module.dict.as<Dict>(), interp.intern(name), std::move(value));
}
/// Defines every function of a table, which must live as long as the program.
inline void define_all(Interp& interp, Module& module, std::span<const NativeDef> table) {
  std::vector<Dict::Entry>& names = module.dict.as<Dict>()->entries;
  names.reserve(names.size() + table.size());
  for (const NativeDef& def : table) define(interp, module, def.name, interp.native(def));
}

/// The type `name`, with these slots, that a native module has made.
Result<Type*> module_type(Interp& interp, std::string_view module, std::string_view name, const Slots& slots);
/// An exception of the class `name`, which the library has put into a native module; a ValueError where it has not.
Failure module_error(Interp& interp, std::string_view module, std::string_view name, const std::string& text);

}  // namespace tfl
