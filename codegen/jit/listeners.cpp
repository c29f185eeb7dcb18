// What gdb and perf want to know of code that appears while the program runs.
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <mutex>

#include "codegen/load/loader.h"

// gdb looks for these names; it sets a breakpoint on the function and reads the list when it is called.
extern "C" {
struct jit_code_entry {
  jit_code_entry *next_entry, *prev_entry;
  const char* symfile_addr;
  uint64_t symfile_size;
};
struct jit_descriptor {
  uint32_t version;
  uint32_t action_flag;
  jit_code_entry *relevant_entry, *first_entry;
};
[[gnu::noinline, gnu::used, gnu::visibility("default")]] void __jit_debug_register_code();  // NOLINT: gdb's name
void __jit_debug_register_code() { asm volatile("" ::: "memory"); }
[[gnu::visibility("default")]] extern jit_descriptor __jit_debug_descriptor;  // NOLINT
constinit jit_descriptor __jit_debug_descriptor = {1, 0, nullptr, nullptr};
}

namespace tfl::codegen {

namespace {

constexpr uint32_t kRegister = 1, kUnregister = 2;
// The list above is one for the process, whatever contexts there are.
constinit std::mutex list_mutex;

struct Announced {
  jit_code_entry entry;
  std::string object;
};

}  // namespace

void* announce_code(std::string object) {
  auto* a = new Announced{{}, std::move(object)};
  std::lock_guard lock(list_mutex);
  jit_descriptor& d = __jit_debug_descriptor;
  a->entry = {d.first_entry, nullptr, a->object.data(), a->object.size()};
  if (d.first_entry) d.first_entry->prev_entry = &a->entry;
  d.first_entry = d.relevant_entry = &a->entry;
  d.action_flag = kRegister;
  __jit_debug_register_code();
  return a;
}

void forget_code(void* announced) {
  auto* a = static_cast<Announced*>(announced);
  std::lock_guard lock(list_mutex);
  jit_descriptor& d = __jit_debug_descriptor;
  (a->entry.prev_entry ? a->entry.prev_entry->next_entry : d.first_entry) = a->entry.next_entry;
  if (a->entry.next_entry) a->entry.next_entry->prev_entry = a->entry.prev_entry;
  d.relevant_entry = &a->entry;
  d.action_flag = kUnregister;
  __jit_debug_register_code();
  delete a;
}

void map_symbol(const void* address, size_t size, std::string_view name) {
  std::string path = fmt::format("/tmp/perf-{}.map", getpid());
  int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd < 0) return;
  std::string line = fmt::format("{:x} {:x} {}\n", reinterpret_cast<uintptr_t>(address), size, name);
  [[maybe_unused]] ssize_t written = write(fd, line.data(), line.size());
  close(fd);
}

}  // namespace tfl::codegen
