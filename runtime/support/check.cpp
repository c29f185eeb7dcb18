#include "runtime/support/check.h"

#include <unistd.h>

#include <cstdio>

namespace tfl {

namespace {

constexpr int kExitInternal = 70;  // EX_SOFTWARE of sysexits.h

}  // namespace

void check_failed(const char* file, int line, const char* function, const char* expected, const char* meaning) {
  std::fflush(stdout);
  std::fprintf(
      stderr,
      "tfl: internal error in %s, %s line %d: %s; expected: %s\n"
      "This is a mistake in TFL and not in your script: please report these lines with the script, as CONTRIBUTING.md says.\n",
      function, file, line, meaning, expected);
  std::fflush(stderr);
  _exit(kExitInternal);
}

}  // namespace tfl
