// Objects that are compiled for programs take the C library's variables to lie in the program. In libtfl the linker leads them here
// instead (cmake/Embed.cmake, --wrap): to copies of what never changes.
#include "cli/embed/standard_streams.h"

#include <cstdio>

extern "C" {

__attribute__((visibility("hidden"))) std::FILE* __wrap_stdout = nullptr;  // NOLINT: the linker's names
__attribute__((visibility("hidden"))) std::FILE* __wrap_stderr = nullptr;  // NOLINT
/// 0: there may be other threads, so that shared_ptr counts as if there were.
__attribute__((visibility("hidden"))) char __wrap___libc_single_threaded = 0;  // NOLINT
extern std::FILE* __real_stdout;                                               // NOLINT
extern std::FILE* __real_stderr;                                               // NOLINT
}

namespace tfl::embed {

void find_standard_streams() {
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}

}  // namespace tfl::embed
