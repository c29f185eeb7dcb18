#include "runtime/support/fiber.h"

#include <sys/mman.h>

#include <cstdint>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TFL_FIBER_ASAN 1
#include <sanitizer/common_interface_defs.h>
#endif
#if __has_feature(thread_sanitizer)
#define TFL_FIBER_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace tfl {

namespace {

// Apart: g++ takes getcontext for a setjmp and warns about variables around it.
[[gnu::noinline]] bool current(ucontext_t& context) { return ::getcontext(&context) == 0; }

}  // namespace

std::unique_ptr<Fiber> Fiber::make(size_t bytes, void (*entry)(void*), void* argument) {
  auto made = std::make_unique<Fiber>();
  bytes = (bytes + kGuard - 1) / kGuard * kGuard + kGuard;
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  made->stack_ = static_cast<char*>(memory), made->size_ = bytes;
  made->entry_ = entry, made->argument_ = argument;
  if (::mprotect(memory, kGuard, PROT_NONE) != 0 || !current(made->context_)) return nullptr;
  made->context_.uc_stack.ss_sp = made->stack_ + kGuard;
  made->context_.uc_stack.ss_size = bytes - kGuard;
  made->context_.uc_link = nullptr;
  // makecontext hands over ints only.
  auto self = reinterpret_cast<uintptr_t>(made.get());
  ::makecontext(&made->context_, reinterpret_cast<void (*)()>(&Fiber::begin), 2, static_cast<unsigned>(self),
                static_cast<unsigned>(self >> 32));
#if TFL_FIBER_TSAN
  made->sanitizer_ = __tsan_create_fiber(0);
#endif
  return made;
}

Fiber::~Fiber() {
#if TFL_FIBER_TSAN
  if (stack_ && sanitizer_) __tsan_destroy_fiber(sanitizer_);
#endif
  if (stack_) ::munmap(stack_, size_);
}

void Fiber::begin(unsigned low, unsigned high) {
  auto* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(low) | static_cast<uintptr_t>(high) << 32);
#if TFL_FIBER_ASAN
  __sanitizer_finish_switch_fiber(nullptr, nullptr, nullptr);
#endif
  self->entry_(self->argument_);
  __builtin_trap();  // the call has returned
}

void Fiber::switch_to(Fiber& to, [[maybe_unused]] bool last) {
#if TFL_FIBER_ASAN
  // Of the stack that was there, AddressSanitizer tells where it lies when the first other one begins; it is enough to name none.
  __sanitizer_start_switch_fiber(last ? nullptr : &sanitizer_, to.stack_ ? to.stack_ + kGuard : nullptr,
                                 to.stack_ ? to.size_ - kGuard : 0);
#elif TFL_FIBER_TSAN
  if (!sanitizer_) sanitizer_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(to.sanitizer_, 0);
#endif
  ::swapcontext(&context_, &to.context_);
#if TFL_FIBER_ASAN
  __sanitizer_finish_switch_fiber(sanitizer_, nullptr, nullptr);
#endif
}

}  // namespace tfl
