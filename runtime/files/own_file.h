// Where TFL itself lies: the file of the program, or of libtfl in another program's process. What it is made of (LLVM, caches) is looked for and
// told apart by that file and not by the process.
#pragma once

#include <string>

namespace tfl {

/// The path of the file that this code was loaded from; "/proc/self/exe" for the program itself.
const std::string& own_file();
/// Is TFL a library in somebody else's process?
bool is_library();
/// The folder of own_file, links followed, with a slash at its end.
std::string own_folder();

}  // namespace tfl
