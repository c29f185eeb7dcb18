// The operators `new` and `delete` of a shared library of the program's own (libtfl_llvm.so, libtfl_lld.so), which has a C++ library linked in:
// memory comes from the program and goes back there, so that it counts against the program's limit (growth.h) and either side may free what
// the other has made. To be included in one file of the library. Loaded by another program, the library has memory of its own.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <new>

extern "C" {
__attribute__((weak)) void* tfl_memory_take(size_t bytes, size_t alignment);
__attribute__((weak)) void tfl_memory_give(void* p, size_t alignment);
}

namespace tfl {

[[noreturn]] inline void library_out_of_memory() {
  constexpr char kText[] = "tfl: out of memory\n";
  (void)!::write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(70);
}

}  // namespace tfl

#ifndef TFL_SANITIZED  // not inlined: valgrind replaces them, all or none
[[gnu::noinline]] void* operator new(size_t bytes) {
  if (tfl_memory_take) return tfl_memory_take(bytes, 0);
  if (void* p = std::malloc(bytes ? bytes : 1)) return p;
  tfl::library_out_of_memory();
}
[[gnu::noinline]] void* operator new(size_t bytes, std::align_val_t alignment) {
  const size_t a = static_cast<size_t>(alignment);
  if (tfl_memory_take) return tfl_memory_take(bytes, a);
  if (void* p = std::aligned_alloc(a, (bytes + a - 1) & ~(a - 1))) return p;
  tfl::library_out_of_memory();
}
[[gnu::noinline]] void operator delete(void* p) noexcept {
  if (tfl_memory_give) return tfl_memory_give(p, 0);
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, size_t) noexcept { operator delete(p); }
[[gnu::noinline]] void operator delete(void* p, std::align_val_t alignment) noexcept {
  if (tfl_memory_give) return tfl_memory_give(p, static_cast<size_t>(alignment));
  std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, size_t, std::align_val_t alignment) noexcept { operator delete(p, alignment); }
#endif
