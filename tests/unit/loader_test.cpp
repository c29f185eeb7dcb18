// Machine code in memory: an object is loaded and called, and damaged ones are refused.
#include "codegen/load/loader.h"

#include <cstring>
#include <random>
#include "tests/catch.h"

#include "runtime/files/file.h"

using namespace tfl;
using codegen::LoadedCode;

namespace {

struct SampleFrame {
  const void* services = nullptr;
  void* self = nullptr;
  const uint32_t* interrupt = nullptr;
  int64_t failed = 0;
  int64_t words[8] = {};
};

std::string sample() {
  std::string object;
  REQUIRE(read_whole_file(TFL_CODE_SAMPLE, size_t{1} << 20, object) == 0);
  return object;
}

int64_t call(const LoadedCode& code, SampleFrame& f) { return code.entry()(reinterpret_cast<codegen::Frame*>(&f)); }

}  // namespace

TEST_CASE("an object runs after it is loaded", "[jit]") {
  std::string object = sample();
  auto code = LoadedCode::load(object);
  REQUIRE(code.ok());
  SampleFrame f;
  f.words[5] = 3, f.words[6] = 9, f.words[7] = 1;
  CHECK(call(**code, f) == 0);
  CHECK(f.words[0] == 41);
  CHECK(f.words[1] == 81);
  CHECK(f.words[2] == 9);
  CHECK(f.words[3] == 1);
  CHECK(f.words[4] == 9);
  f.words[7] = 0, f.failed = 2;
  CHECK(call(**code, f) == 2);
  CHECK(f.words[0] == 42);
  CHECK(f.words[1] == 18);
  CHECK(f.words[3] == 2);
  // Another copy has data of its own.
  auto other = LoadedCode::load(object);
  REQUIRE(other.ok());
  SampleFrame g;
  call(**other, g);
  CHECK(g.words[0] == 41);
}

TEST_CASE("a debugger is told of code and of its end", "[jit]") {
  std::string object = sample();
  codegen::CodeListeners listeners;
  listeners.debugger = true;
  auto a = LoadedCode::load(object, listeners), b = LoadedCode::load(object, listeners);
  REQUIRE(a.ok());
  REQUIRE(b.ok());
  a.value().reset();
  auto c = LoadedCode::load(object, listeners);
  REQUIRE(c.ok());
  SampleFrame f;
  CHECK(call(**c, f) == 0);
}

TEST_CASE("objects that are cut are refused", "[jit]") {
  std::string object = sample();
  // Section headers stand at the end: no beginning of the file is whole.
  for (size_t n = 0; n < object.size(); n += n < 200 ? 1 : 7) {
    INFO(n);
    CHECK_FALSE(LoadedCode::load(std::string_view(object).substr(0, n)).ok());
  }
}

TEST_CASE("damaged objects do no harm", "[jit]") {
  std::string object = sample();
  uint64_t table = 0;
  std::memcpy(&table, object.data() + 40, sizeof table);
  std::mt19937_64 random(7);
  int refused = 0;
  constexpr int kMutations = 3000;
  for (int i = 0; i < kMutations; ++i) {
    std::string bad = object;
    for (int k = 0; k < 1 + i % 3; ++k) {
      // The header, the table of sections, or anywhere: symbols, relocations, names.
      size_t at = i % 3 == 0 ? random() % 64 : i % 3 == 1 ? table + random() % (object.size() - table) : random() % object.size();
      if (random() % 4 == 0) {
        uint64_t number = random() % 2 ? ~uint64_t{0} >> random() % 64 : uint64_t{1} << random() % 64;
        std::memcpy(bad.data() + at, &number, std::min<size_t>(8, bad.size() - at));
      } else {
        bad[at] = static_cast<char>(bad[at] ^ (1 << random() % 8));
      }
    }
    auto code = LoadedCode::load(bad);
    refused += !code.ok();
  }
  CHECK(refused > kMutations / 4);  // the rest differs where it cannot be seen: in instructions and numbers
}

TEST_CASE("what is no object, or calls what is not there, is refused", "[jit]") {
  CHECK_FALSE(LoadedCode::load("").ok());
  CHECK_FALSE(LoadedCode::load(std::string(4096, 'x')).ok());
  std::string object = sample();
  size_t at = object.find("memset");
  REQUIRE(at != std::string::npos);
  object.replace(at, 6, "system");
  auto code = LoadedCode::load(object);
  REQUIRE_FALSE(code.ok());
  CHECK(code.error().message.find("'system'") != std::string::npos);
}
