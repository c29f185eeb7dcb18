// The bytecode of scripts on disk: $XDG_CACHE_HOME/tfl/bytecode or ~/.cache/tfl/bytecode, one file a source text and one a function
// that AutoGraph has converted, named by a hash of the text, the options and the program that compiled it. Files are written whole
// or not at all; whatever cannot be read, damaged or not ours, is as if it were not there. A program of a script's own (runtime/files/bundle.h) carries its files and
// looks nowhere else. Must not know how code is compiled.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "frontend/core/code.h"
#include "frontend/core/interp.h"

namespace tfl {

/// Where the cache is: empty when there is no place for one (no home folder).
std::string bytecode_cache_folder();

class BytecodeCache {
 public:
  /// `variant`: what else than the text decides the code.
  BytecodeCache(const Source& source, std::string_view variant);
  /// The code, or Empty: a module's, or what AutoGraph made of a function.
  Value load(Interp& interp, std::shared_ptr<const Source> source, bool converted = false) const;
  void store(Interp& interp, const Value& code) const;

 private:
  std::string folder_;  // empty: there is no place for a cache
  std::string name_;
};

}  // namespace tfl
