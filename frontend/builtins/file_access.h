// Which files a script may touch: below its folder, the working directory, folders that tempfile made, files named on the
// command line, and what the options allow; /proc, /dev and /etc never. Everybody who opens a file for a script asks here.
#pragma once

#include "frontend/vm/interp.h"

namespace tfl {

enum class Access : uint8_t { Read, Write };

/// The path with every link resolved, when the script may use it so; else PermissionError that says how to allow it.
Result<std::string> check_file_access(Interp& interp, const std::string& path, Access access);
/// The same question as a yes or no, for what asks whether a file exists.
bool may_access(Interp& interp, const std::string& path, Access access);

}  // namespace tfl
