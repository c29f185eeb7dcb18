// Storage for tensor elements: a caching allocator that counts live and peak bytes and obeys a limit, because Linux
// over-commits and bad_alloc never comes. Blocks are 64-byte aligned; large ones lie on huge pages where the system has them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/heap.h"
#include "runtime/support/result.h"

namespace tfl {

class MemoryPool {
 public:
  explicit MemoryPool(size_t limit) : limit_(limit) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// `bytes` of uninitialised memory, or ResourceExhaustedError when the limit would be passed.
  Result<void*> allocate(size_t bytes);
  /// Gives memory back; `bytes` as it was asked for.
  void release(void* p, size_t bytes);
  /// Counts memory that host objects (lists, strings) hold against the same limit; false when it does not fit.
  bool reserve(size_t bytes);
  void unreserve(size_t bytes) { live_ -= bytes; }
  /// Gives cached blocks back to the system.
  void trim();

  size_t live_bytes() const { return live_; }
  size_t peak_bytes() const { return peak_; }
  void reset_peak() { peak_ = live_; }
  size_t limit() const { return limit_; }
  void set_limit(size_t bytes) { limit_ = bytes; }
  /// 80 % of what the machine or the control group gives this process.
  static size_t default_limit();

 private:
  static constexpr int kClasses = 48;
  struct Block {
    Block* next;
  };
  size_t limit_;
  size_t live_ = 0;
  size_t peak_ = 0;
  size_t cached_ = 0;
  Block* free_[kClasses * 4] = {};
};

}  // namespace tfl
