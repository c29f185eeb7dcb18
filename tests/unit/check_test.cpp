// Invariants that fail: what the program says, and how it ends.
#include "tests/catch.h"

#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "runtime/support/check.h"

TEST_CASE("A failed check says what was expected where, and ends with exit code 70") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    const int sizes = 3;
    TFL_CHECK(sizes == 3, "this holds");
    TFL_CHECK(sizes == 4, "there are four sizes");
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[512];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
  CHECK(text.find("check_test.cpp line ") != std::string::npos);
  CHECK(text.find("there are four sizes; expected: sizes == 4") != std::string::npos);
  CHECK(text.find("please report") != std::string::npos);
}
