// Code as bytes, for the cache on disk, for executables and for the library inside the program; and as text. This header must not know how
// code is compiled.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/core/code.h"
#include "frontend/core/interp.h"

namespace tfl {

std::string serialise_code(Interp&, const Value& code);
enum class CodeFile : uint8_t {
  module,
  converted,  // what AutoGraph made of a function
  library,    // a module inside the program: `data` lasts, and functions are read from it when they are first called
};
Result<Value> deserialise_code(Interp&, std::string_view data, std::shared_ptr<const Source> source,
                               CodeFile kind = CodeFile::module);
/// `tfl dump --bytecode`.
std::string dump_code(Interp&, const Value& code);

}  // namespace tfl
