// Shared libraries of the program's own, which lie beside it and are loaded when something needs them. This header must not know what
// they do.
#pragma once

#include <string>

namespace tfl {

/// Loads `name` ("libtfl_llvm.so") and gives its function `entry`; null with the reason in `error`. It stays loaded.
void* entry_beside_program(const char* name, const char* entry, std::string& error);

}  // namespace tfl
