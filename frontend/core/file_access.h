// Which files a script may touch: below its folder, the working directory, folders that tempfile made, data-set folders, files
// named on the command line, and what the options allow; /proc, /dev, /etc and TFL's own cache never. Everybody who touches a
// file for a script gets its place here (runtime/files/sandbox.h) and makes system calls on that place alone.
#pragma once

#include "frontend/core/interp.h"
#include "runtime/files/sandbox.h"

namespace tfl {

using Links = Sandbox::Links;

/// The text of a path: str, bytes, or what has __fspath__.
Result<std::string> path_argument(Interp& interp, const Value& v);

/// The interpreter's sandbox, which looks at the options' folders when it is first asked.
Sandbox& sandbox(Interp& interp);

/// The place of a file that is there or could be made; else OSError of the class that fits. PermissionError says how to allow it.
Result<FilePlace> find_file(Interp& interp, const std::string& path, Access access, Links links = Links::Follow);
/// The same for names that are to be moved or taken away.
Result<FilePlace> find_movable(Interp& interp, const std::string& path);
/// Opens a file that must be there for reading.
Result<Descriptor> open_for_reading(Interp& interp, const std::string& path);

}  // namespace tfl
