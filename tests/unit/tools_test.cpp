#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include "tests/catch.h"

#include "runtime/files/file.h"
#include "runtime/support/tools.h"

using namespace tfl;

TEST_CASE("a file is written whole or not at all", "[files]") {
  ScratchFolder folder;
  REQUIRE(folder);
  std::string path = folder.file("a"), read;
  CHECK(write_whole_file(path, "first", 0640) == 0);
  CHECK(write_whole_file(path, std::string(100000, 'x')) == 0);
  CHECK(read_whole_file(path, 1 << 20, read) == 0);
  CHECK(read == std::string(100000, 'x'));
  CHECK(write_whole_file(path, "") == 0);
  CHECK(write_whole_file(folder.file("no/a"), "x") == ENOENT);
  // A folder cannot be replaced, and what was written beside it is gone.
  REQUIRE(make_folders(folder.file("b")));
  CHECK(write_whole_file(folder.file("b"), "x") == EISDIR);
  CHECK(is_folder(folder.file("b")));
  CHECK_FALSE(is_folder(path));
  CHECK_FALSE(is_folder(folder.file("c")));
  CHECK(unlink(path.c_str()) == 0);
  CHECK(rmdir(folder.file("b").c_str()) == 0);
  CHECK(rmdir(folder.path().c_str()) == 0);  // nothing else was in it
}

TEST_CASE("a folder for tools is private, and goes with what is in it", "[files]") {
  std::string path;
  {
    ScratchFolder folder;
    REQUIRE(folder);
    path = folder.path();
    struct stat s{};
    REQUIRE(stat(path.c_str(), &s) == 0);
    CHECK((s.st_mode & 0777) == 0700);
    REQUIRE(make_folders(folder.file("deep/er")));
    REQUIRE(folder.write("deep/er/file", "x"));
    CHECK_FALSE(folder.write("nowhere/file", "x"));
  }
  CHECK_FALSE(is_folder(path));
}

TEST_CASE("tools are found in the PATH and say why they failed", "[files]") {
  ScratchFolder folder;
  REQUIRE(folder);
  std::string shell = find_program({nullptr, "", "no-such-program-anywhere", "sh"});
  REQUIRE(shell.ends_with("/sh"));
  CHECK(find_program({"no-such-program-anywhere"}).empty());
  CHECK(find_program({shell.c_str()}) == shell);
  CHECK(run_program(folder, {shell, "-c", "exit 0"}));
  auto failed = run_program(folder, {shell, "-c", "echo what; echo why >&2; exit 3"});
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message.find("what\nwhy") != std::string::npos);
  CHECK_FALSE(run_program(folder, {folder.file("none")}));
}
