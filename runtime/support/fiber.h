// A call that runs on a stack of its own and gives way to others on the same thread of the system. It knows nothing of scripts.
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <memory>

namespace tfl {

class Fiber {
 public:
  /// What runs now, on the stack that is there.
  Fiber() = default;
  /// A call entry(argument) that begins when somebody switches to it, and must not return: it switches to another at its end.
  /// Null where there is no memory for a stack of `bytes`.
  static std::unique_ptr<Fiber> make(size_t bytes, void (*entry)(void*), void* argument);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Goes on with `to`; returns when somebody switches back. `last`: nobody will.
  void switch_to(Fiber& to, bool last = false);
  /// The lowest address of its stack; null for the one that was there.
  const char* lowest() const { return stack_ ? stack_ + kGuard : nullptr; }

 private:
  static constexpr size_t kGuard = 4096;  // a page that cannot be used: running over the end is a fault, not a wrong value
  static void begin(unsigned low, unsigned high);

  ucontext_t context_{};
  char* stack_ = nullptr;
  size_t size_ = 0;
  void (*entry_)(void*) = nullptr;
  void* argument_ = nullptr;
  void* sanitizer_ = nullptr;  // what AddressSanitizer or ThreadSanitizer knows it by
};

}  // namespace tfl
