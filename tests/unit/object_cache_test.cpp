// Objects on disk: what was written is read, and nothing else.
#include "codegen/load/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include "tests/catch.h"

#include "runtime/files/cache_files.h"
#include "runtime/files/file.h"
#include "runtime/support/tools.h"

using namespace tfl;
using codegen::ObjectCache;
using codegen::ObjectKey;

namespace {

std::string only_file(const std::string& folder) {
  std::string command = "ls " + folder, name;
  FILE* f = popen(command.c_str(), "r");
  char line[256] = {};
  REQUIRE(fgets(line, sizeof line, f));
  pclose(f);
  name = line;
  name.pop_back();
  return folder + "/" + name;
}

void write(const std::string& path, std::string_view data) {
  FILE* f = std::fopen(path.c_str(), "wb");
  REQUIRE(f);
  std::fwrite(data.data(), 1, data.size(), f);
  std::fclose(f);
}

}  // namespace

TEST_CASE("an object is found by its key", "[jit]") {
  ScratchFolder folder;
  ObjectCache cache(folder.path());
  ObjectKey key = codegen::object_key("plan", "x86-64-v3");
  std::string object(1000, 'c'), read = "before";
  CHECK_FALSE(cache.load(key, read));
  cache.store(key, object);
  REQUIRE(cache.load(key, read));
  CHECK(read == object);
  CHECK_FALSE(cache.load(codegen::object_key("plan", "x86-64-v4"), read));
  CHECK_FALSE(cache.load(codegen::object_key("plan ", "x86-64-v3"), read));
  // A second one replaces it; without a folder there is nothing.
  cache.store(key, "other");
  REQUIRE(cache.load(key, read));
  CHECK(read == "other");
  ObjectCache none("");
  none.store(key, object);
  CHECK_FALSE(none.load(key, read));
}

TEST_CASE("files that are damaged, of another key or of others are not read", "[jit]") {
  ScratchFolder folder;
  ObjectCache cache(folder.path());
  ObjectKey key = codegen::object_key("plan", "x86-64-v3"), other = codegen::object_key("another", "x86-64-v3");
  std::string object(300, 'c'), read;
  cache.store(key, object);
  std::string path = only_file(folder.path()), whole;
  REQUIRE(read_whole_file(path, 1 << 20, whole) == 0);
  for (size_t n = 0; n < whole.size(); n += 13) {
    write(path, std::string_view(whole).substr(0, n));
    CHECK_FALSE(cache.load(key, read));
  }
  std::mt19937 random(3);
  for (int i = 0; i < 300; ++i) {
    std::string bad = whole;
    size_t at = random() % bad.size();
    bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
    write(path, bad);
    INFO(at);
    CHECK_FALSE(cache.load(key, read));
  }
  write(path, whole + "x");
  CHECK_FALSE(cache.load(key, read));
  write(path, whole);
  CHECK(cache.load(key, read));
  // The right bytes under the wrong name.
  ObjectCache elsewhere(folder.path());
  cache.store(other, "x");
  unlink(path.c_str());
  REQUIRE(rename(only_file(folder.path()).c_str(), path.c_str()) == 0);
  CHECK_FALSE(cache.load(key, read));
  // Where others may write, others may have written.
  write(path, whole);
  chmod(path.c_str(), 0666);
  CHECK_FALSE(cache.load(key, read));
  chmod(path.c_str(), 0600);
  CHECK(cache.load(key, read));
}

TEST_CASE("a cache is trimmed to half, the oldest first", "[jit]") {
  ScratchFolder folder;
  for (int i = 0; i < 10; ++i) {
    std::string name = "f" + std::to_string(i);
    REQUIRE(write_cache_file(folder.path(), name, std::string(100, 'x')));
    timespec times[2] = {{1000 + i, 0}, {1000 + i, 0}};
    utimensat(AT_FDCWD, (folder.path() + "/" + name).c_str(), times, 0);
  }
  std::string data;
  trim_cache(folder.path(), 10, 1000);
  CHECK(read_cache_file(folder.path() + "/f0", 100, data));
  trim_cache(folder.path(), 10, 999);
  CHECK_FALSE(read_cache_file(folder.path() + "/f5", 100, data));
  CHECK(read_cache_file(folder.path() + "/f6", 100, data));
  trim_cache(folder.path(), 3, 1000);
  CHECK_FALSE(read_cache_file(folder.path() + "/f8", 100, data));
  CHECK(read_cache_file(folder.path() + "/f9", 100, data));
  CHECK_FALSE(read_cache_file(folder.path() + "/f9", 99, data));
}
