// Files that the program carries for the libraries it makes (cmake/Standalone.cmake puts them in). Must not know what is in them.
#pragma once

#include <string_view>

namespace tfl::codegen {

/// libtfl_standalone.a: the runtime that every library carries, as an archive of position-independent objects.
std::string_view standalone_archive();
/// runtime/standalone/library_types.inc: the types that all libraries' headers share.
std::string_view library_types();

}  // namespace tfl::codegen
