#include "runtime/core/memory_pool.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/core/growth.h"

namespace tfl {

namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kLargest = size_t{1} << 47;

// Four sizes to each doubling, so that no more than a quarter of a block is lost; multiples of 64 below that.
struct SizeClass {
  size_t index;
  size_t bytes;
};
SizeClass size_class(size_t bytes) {
  if (bytes <= 256) {
    size_t i = bytes ? (bytes - 1) / 64 : 0;
    return {i, (i + 1) * 64};
  }
  size_t b = bytes - 1;
  unsigned log = 63 - static_cast<unsigned>(std::countl_zero(b));
  size_t part = (b >> (log - 2)) & 3;
  return {log * 4 + part, (part + 5) << (log - 2)};
}
size_t class_bytes(size_t index) {
  if (index < 4) return (index + 1) * 64;
  return (index % 4 + 5) << (index / 4 - 2);
}

// Page faults are what large elementwise work pays most for: large blocks start on a huge page and ask for more of them.
void* system_allocate(size_t bytes) {
  growth::count(bytes);
  if (bytes < kHugePage) return std::aligned_alloc(64, bytes);
  size_t whole = bytes + kHugePage;
  void* p = mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  auto start = reinterpret_cast<uintptr_t>(p);
  uintptr_t aligned = (start + kHugePage - 1) & ~(uintptr_t{kHugePage} - 1);
  if (aligned > start) munmap(p, aligned - start);
  size_t tail = start + whole - (aligned + bytes);
  tail &= ~(static_cast<size_t>(sysconf(_SC_PAGESIZE)) - 1);
  if (tail) munmap(reinterpret_cast<void*>(start + whole - tail), tail);
  void* block = reinterpret_cast<void*>(aligned);
  madvise(block, bytes, MADV_HUGEPAGE);
  return block;
}
void system_release(void* p, size_t bytes) {
  if (bytes < kHugePage) {
    std::free(p);
  } else {
    munmap(p, bytes);
  }
}

// A file that holds one number; `otherwise` when it does not ("max", or no such file).
size_t read_number(const char* path, size_t otherwise) {
  std::FILE* f = std::fopen(path, "re");
  if (!f) return otherwise;
  char text[64];
  size_t n = std::fread(text, 1, sizeof text, f);
  std::fclose(f);
  size_t value = otherwise;
  auto end = std::from_chars(text, text + n, value);
  return end.ec == std::errc() ? value : otherwise;
}

// The smallest limit on the way from this process's control group to the root, for both versions of control groups.
size_t control_group_limit() {
  size_t limit = SIZE_MAX;
  auto walk = [&](std::string root, std::string path, const char* file) {
    for (;;) {
      limit = std::min(limit, read_number((root + path + file).c_str(), SIZE_MAX));
      if (path.empty()) break;
      path.resize(path.rfind('/') == std::string::npos ? 0 : path.rfind('/'));
    }
  };
  std::FILE* f = std::fopen("/proc/self/cgroup", "re");
  if (!f) return limit;
  char line[1024];
  while (std::fgets(line, sizeof line, f)) {
    std::string_view text(line);
    while (text.ends_with('\n')) text.remove_suffix(1);
    if (text.starts_with("0::/")) walk("/sys/fs/cgroup", std::string(text.substr(3)), "/memory.max");
    size_t v1 = text.find(":memory:/");
    if (v1 != text.npos) walk("/sys/fs/cgroup/memory", std::string(text.substr(v1 + 8)), "/memory.limit_in_bytes");
  }
  std::fclose(f);
  return limit;
}

}  // namespace

MemoryPool::~MemoryPool() { trim(); }

Result<void*> MemoryPool::allocate(size_t bytes) {
  if (bytes > kLargest || bytes > limit_ || live_ > limit_ - bytes) [[unlikely]] {
    return fail(ErrorKind::ResourceExhaustedError, "OOM when allocating {} bytes: {} of {} bytes are in use", bytes, live_,
                limit_)
        .with_hint("--max-memory raises the limit");
  }
  SizeClass c = size_class(bytes);
  void* p;
  if (Block* b = free_[c.index]) {
    free_[c.index] = b->next;
    cached_ -= c.bytes;
    p = b;
  } else {
    if (live_ + cached_ + c.bytes > limit_) trim();
    p = system_allocate(c.bytes);
    if (!p && cached_) {
      trim();
      p = system_allocate(c.bytes);
    }
    if (!p) return fail(ErrorKind::ResourceExhaustedError, "OOM when allocating {} bytes: the system has no more memory", bytes);
  }
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  return p;
}

void MemoryPool::release(void* p, size_t bytes) {
  SizeClass c = size_class(bytes);
  live_ -= bytes;
#ifdef TFL_SANITIZED
  system_release(p, c.bytes);  // a sanitizer sees a use after the release only when the block goes back
#else
  if (c.bytes + cached_ > limit_ / 4) {
    system_release(p, c.bytes);
    return;
  }
  free_[c.index] = new (p) Block{free_[c.index]};
  cached_ += c.bytes;
#endif
}

bool MemoryPool::reserve(size_t bytes) {
  if (bytes > limit_ || live_ > limit_ - bytes) return false;
  live_ += bytes;
  peak_ = std::max(peak_, live_);
  return true;
}

void MemoryPool::trim() {
  for (size_t i = 0; i < sizeof free_ / sizeof free_[0]; ++i) {
    while (Block* b = free_[i]) {
      free_[i] = b->next;
      system_release(b, class_bytes(i));
    }
  }
  cached_ = 0;
}

size_t MemoryPool::default_limit() {
  size_t machine = static_cast<size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
  size_t limit = std::min(machine, control_group_limit());
  rlimit address_space;
  if (getrlimit(RLIMIT_AS, &address_space) == 0 && address_space.rlim_cur != RLIM_INFINITY) {
    limit = std::min<size_t>(limit, address_space.rlim_cur);
  }
  return limit / 5 * 4;
}

}  // namespace tfl
