// Making the native types from types.def and the exception classes from error_kinds.def when an interpreter starts.
#pragma once

#include <vector>

#include "frontend/core/interp.h"

namespace tfl {

#define TFL_TYPE(id, name, module, base, slots, methods) extern const Slots slots;
#include "frontend/core/types.def"
#undef TFL_TYPE
extern const Slots exception_slots;

#define TFL_TYPE(id, name, module, base, slots, methods) std::span<const NativeDef> methods();
#include "frontend/core/types.def"
#undef TFL_TYPE
std::span<const NativeDef> exception_methods();

/// The bare Type objects; names and dictionaries come with fill_types, which needs str and dict to exist.
void make_types(Interp& interp, std::vector<Type*>& all);
void fill_types(Interp& interp);
void make_exception_types(Interp& interp, std::vector<Type*>& by_kind, std::vector<Type*>& all);
/// The rows of a method table into a type's dictionary.
void add_methods(Interp& interp, Type* type, std::span<const NativeDef> methods);
/// A native type that only one module makes (not in types.def), as a name of that module. `shown_module` is what __module__ says, where
/// that is another.
Type* define_native_type(Interp& interp, Module& module, std::string_view name, const Slots& slots,
                         std::span<const NativeDef> methods = {}, std::string_view shown_module = {}, Type* base = nullptr);

}  // namespace tfl
