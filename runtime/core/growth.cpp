#include "runtime/core/growth.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <new>

#include "runtime/core/context.h"

namespace tfl::growth {

namespace {

constexpr int64_t kStep = int64_t{16} << 20;  // taken between two measurements
constexpr size_t kReserve = size_t{4} << 20;  // what the way to the error and its text need
// Over the limit by as much, work in progress is given up; by much more, the run ends.
constexpr size_t kPatience = size_t{24} << 20;
constexpr size_t kEnd = size_t{96} << 20;

constinit std::atomic<Context*> watched{nullptr};
constinit std::atomic<bool> guest{false};
constinit std::atomic<void*> reserve{nullptr};
constinit std::atomic<size_t> told_at{
    0};  // what the process held when MemoryError was raised; 0: it has been below the limit since
// "initial-exec": the same object becomes part of the program and of libtfl.
[[gnu::tls_model("initial-exec")]] constinit thread_local int64_t room =
    kStep;  // what `new` may still give this thread before the next measurement

void keep_reserve() {
  if (reserve.load()) return;
  void* p = mmap(nullptr, kReserve, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return;
  void* none = nullptr;
  if (!reserve.compare_exchange_strong(none, p)) munmap(p, kReserve);
}

void ask_to_stop(Context& context, bool at_once) {
  context.interrupt_request.fetch_or(kInterruptMemory);
  if (at_once) context.urge_interrupt();
}

}  // namespace

void watch(Context* context) {
  watched.store(context);
  if (context) keep_reserve();
}

size_t held() {
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128];
  const ssize_t n = ::read(file, text, sizeof text);
  ::close(file);
  size_t pages[3] = {};  // all, resident, resident and a file's
  const char* at = text;
  const char* end = text + (n > 0 ? n : 0);
  for (size_t& p : pages) {
    while (at < end && *at == ' ') ++at;
    at = std::from_chars(at, end, p).ptr;
  }
  static const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return pages[1] > pages[2] ? (pages[1] - pages[2]) * page : 0;
}

void measure() {
  room = kStep;
  Context* context = watched.load(std::memory_order_relaxed);
  if (!context) return;
  const int before = errno;
  const size_t limit = context->memory.limit();
  size_t now = held();
  if (now > limit) {
    if (now > limit + limit / 4 + kEnd) {
      malloc_trim(0);
      now = held();
      if (now > limit + limit / 4 + kEnd) out_of_memory();
    }
    const size_t before_that = told_at.load();
    const size_t due = before_that ? before_that + kStep : limit;
    if (now > due) ask_to_stop(*context, now > due + kPatience);
  } else {
    told_at.store(0);
  }
  errno = before;
}

void count(size_t bytes) {
  if ((room -= static_cast<int64_t>(bytes)) < 0) measure();
}

void told(size_t bytes) {
  told_at.store(bytes);
  keep_reserve();
}

void out_of_memory() {
  if (guest.load()) throw std::bad_alloc();
  constexpr char kText[] = "tfl: out of memory\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExitNoMemory);
}

void be_a_guest() { guest.store(true); }

void shortage() {
  if (void* p = reserve.exchange(nullptr)) munmap(p, kReserve);
  if (Context* context = watched.load()) ask_to_stop(*context, true);
}

bool available(size_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return false;
  munmap(p, bytes);
  return true;
}

namespace {

/// What `take` gives, after a shortage at the second attempt.
template <class Take>
inline void* sure(size_t bytes, Take take) {
  if ((room -= static_cast<int64_t>(bytes)) < 0) [[unlikely]]
    measure();
  void* p = take();
  if (p) [[likely]]
    return p;
  shortage();
  p = take();
  if (!p) out_of_memory();
  return p;
}

}  // namespace

void* aligned(size_t alignment, size_t bytes) {
  return sure(bytes, [&] { return std::aligned_alloc(alignment, (bytes + alignment - 1) & ~(alignment - 1)); });
}

}  // namespace tfl::growth

// Not inlined: valgrind replaces them, all or none. Sanitizers have operators of their own.
#ifndef TFL_SANITIZED
using tfl::growth::sure;

[[gnu::noinline]] void* operator new(size_t bytes) {
  return sure(bytes, [&] { return std::malloc(bytes ? bytes : 1); });
}
[[gnu::noinline]] void* operator new(size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes ? bytes : 1); }
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  return tfl::growth::aligned(static_cast<size_t>(alignment), bytes ? bytes : 1);
}
[[gnu::noinline]] void operator delete(void* p) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
[[gnu::noinline]] void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
#endif

// For the program's libraries (library_new.h), which find them by name.
extern "C" __attribute__((visibility("default"), used)) void* tfl_memory_take(size_t bytes, size_t alignment) {
  return alignment ? ::operator new(bytes, std::align_val_t(alignment)) : ::operator new(bytes);
}
extern "C" __attribute__((visibility("default"), used)) void tfl_memory_give(void* p, size_t alignment) {
  if (alignment)
    ::operator delete(p, std::align_val_t(alignment));
  else
    ::operator delete(p);
}
