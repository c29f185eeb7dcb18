// Programs of the system, found in the PATH and run to their end, and a folder for the files that they are given. This header
// must not know what the programs do.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/result.h"

namespace tfl {

/// A new folder below $TMPDIR or /tmp, for this user alone; gone at the end with all that is in it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  /// False where it could not be made; errno says why.
  explicit operator bool() const { return !path_.empty(); }
  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
  /// The path of a new file with these bytes.
  Result<std::string> write(std::string_view name, std::string_view bytes, unsigned mode = 0600) const;

 private:
  std::string path_;
};

/// The first of these programs that is in the PATH, or is a path itself; empty: none. Null and empty names are passed over.
std::string find_program(std::initializer_list<const char*> names);

/// Runs `command` to its end, with nothing to read. OSError with what it printed unless its status is 0.
Result<void> run_program(const ScratchFolder& folder, const std::vector<std::string>& command);

}  // namespace tfl
