// What machine code asks of the program while it runs (codegen/abi.h): threads and matrix products. This header must not know
// plans.
#pragma once

#include <cstddef>
#include <cstdint>

#include "codegen/abi.h"
#include "runtime/core/context.h"
#include "runtime/kernels/workers.h"

namespace tfl::codegen {

/// One run of machine code: Frame::self.
struct Run {
  Context& context;
  Workers workers;               // on whose threads
  std::byte* scratch = nullptr;  // for products, taken before the run
  size_t scratch_bytes = 0;
  bool owner = true;  // on the thread of the context, which alone may ask it for memory
  // For each of the loops that run at the same time a copy of the frame, of so many bytes, and scratch memory; null: they run one after the other.
  std::byte* copies = nullptr;
  size_t frame_bytes = 0;
};

extern const Services kServices;

/// Scratch memory that this product takes on that many threads; its pointers are not looked at. SIZE_MAX when it cannot be counted.
size_t product_scratch_bytes(Context& context, int threads, const ProductCall& call);
/// Memory beyond the scratch that was taken, which the caller releases; null after a failure, which it notes in the frame.
void* more_scratch(Frame* frame, size_t bytes);

/// Of calls over windows (windows.cpp).
size_t window_scratch_bytes(Context& context, int threads, const ProductCall& call);
void window_product(Frame* frame, const ProductCall& call);

/// Rounding to nearest, subnormals kept, nothing trapped, whatever the thread was set to; as before when it ends.
class FloatEnvironment {
 public:
#if defined(__x86_64__)
  FloatEnvironment() : before_(__builtin_ia32_stmxcsr()), other_((before_ & ~kFlags) != kDefault) {
    if (other_) [[unlikely]]
      __builtin_ia32_ldmxcsr(kDefault);
  }
  ~FloatEnvironment() {
    if (other_) [[unlikely]]
      __builtin_ia32_ldmxcsr(before_);
  }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  static constexpr uint32_t kFlags = 0x3F, kDefault = 0x1F80;
  uint32_t before_;
  bool other_;
#endif
};

}  // namespace tfl::codegen
