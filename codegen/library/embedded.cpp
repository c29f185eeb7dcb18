#include "codegen/library/embedded.h"

extern "C" const char tfl_standalone_archive[], tfl_standalone_archive_end[], tfl_library_types[], tfl_library_types_end[];

namespace tfl::codegen {

std::string_view standalone_archive() { return {tfl_standalone_archive, tfl_standalone_archive_end}; }
std::string_view library_types() { return {tfl_library_types, tfl_library_types_end}; }

}  // namespace tfl::codegen
