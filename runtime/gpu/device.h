// A GPU as TFL uses it: memory with addresses of its own, modules of code, launches in one stream. Two things are
// such a device: NVIDIA's driver, loaded at run time, and an emulator that runs the same kernels on the CPU. This
// header must not know either, nor tensors or plans.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "runtime/support/result.h"

namespace tfl::gpu {

/// An address in a device's memory; 0 is none.
using Address = uint64_t;

struct DeviceInfo {
  std::string name;               // "NVIDIA H200"
  uint32_t ordinal = 0;           // N of "/GPU:N"
  uint32_t major = 0, minor = 0;  // compute capability
  uint32_t processors = 0;        // streaming multiprocessors
  uint32_t shared_bytes = 0;      // shared memory that one block may have
  uint64_t memory_bytes = 0;
  uint32_t driver_version = 0;  // 12040: CUDA 12.4
  uint32_t ptx_version = 0;     // the newest PTX that the driver takes: 84 is 8.4
  bool emulated = false;
};

/// Bytes that TFL holds of a device's memory.
struct MemoryInfo {
  uint64_t current = 0, peak = 0;
};

/// Code that a device has loaded.
class Module {
 public:
  virtual ~Module() = default;
};

/// What one launch runs. Launches of a device run one after the other, each as a whole before the next begins.
struct Launch {
  Module* module = nullptr;
  std::string_view kernel;              // its symbol
  uint32_t blocks = 1, threads = 1;     // of a block: at most 1024, a multiple of 32
  uint32_t shared_bytes = 0;            // of dynamic shared memory
  bool cooperative = false;             // all blocks run at once, so that they may wait for each other
  std::span<const uint64_t> arguments;  // each 8 bytes: addresses and integers
};

/// Launches that were recorded, to be repeated with one call.
class Graph {
 public:
  virtual ~Graph() = default;
};

/// On what a part of a graph depends. The device looks at it each time that it comes there.
struct Condition {
  bool repeats = false;  // the part runs again and again as long as this holds, else once if it does
  Address word = 0;      // of 8 bytes, which choose one of `blocks` blocks: a truth value the first when it is true and else the
  uint32_t bytes = 1;    // last (`bytes` is 1), or a signed number of 4 or 8 bytes (one that is no block's the last)
  uint32_t blocks = 2, block = 0;  // it holds when `block` is chosen
  Address failed = 0;              // of 8 bytes; it does not hold unless they are 0
  Address counter = 0;             // of 8 bytes, for a part that may be repeated `limit` times at most; 0: as often as it likes
  int64_t limit = 0;
};

/// The block that a condition's word chooses.
inline uint32_t chosen_block(uint64_t word, uint32_t bytes, uint32_t blocks) {
  if (bytes == 1) return (word & 0xff) != 0 ? 0 : blocks - 1;
  uint64_t number = bytes == 4 ? static_cast<uint64_t>(static_cast<int32_t>(word)) : word;
  return number < blocks ? static_cast<uint32_t>(number) : blocks - 1;
}

/// result[i] = a[i] b[i] for `batch` matrices of f32 that lie row after row, `result` m by n; the distances between them are in elements.
struct FastProduct {
  Address a = 0, b = 0, result = 0;
  bool transpose_a = false, transpose_b = false;
  int64_t batch = 1, m = 0, n = 0, k = 0, a_batch = 0, b_batch = 0;
};

/// Errors of all calls are RuntimeErrors that say what the driver said; running out of memory is a MemoryError.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceInfo& info() const = 0;
  /// `bytes` of memory, aligned to 256; comes from a pool that keeps what was released.
  virtual Result<Address> allocate(size_t bytes) = 0;
  /// After what was launched before has finished with it.
  virtual void release(Address address) = 0;
  virtual MemoryInfo memory() const = 0;
  virtual void reset_peak() = 0;
  /// In the order of the launches. `to_host` returns when the bytes are there, `to_device` when `from` may be
  /// changed.
  virtual Result<void> to_device(Address to, const void* from, size_t bytes) = 0;
  virtual Result<void> to_host(void* to, Address from, size_t bytes) = 0;
  virtual Result<void> copy(Address to, Address from, size_t bytes) = 0;
  /// PTX or a cubin for the driver, an object of the emulator's for the emulator.
  virtual Result<std::unique_ptr<Module>> load(std::string_view image) = 0;
  /// Returns at once; what goes wrong later is the error of a later call.
  virtual Result<void> launch(const Launch& launch) = 0;
  virtual Result<void> synchronize() = 0;

  /// Between begin_graph and end_graph launches are recorded and not run; nothing else may be asked of the device meanwhile.
  /// After a failure the recording must be ended, too. launch_graph runs the launches again with the same arguments. Only for
  /// devices that have graphs.
  virtual bool has_graphs() const { return false; }
  virtual Result<void> begin_graph() { return {}; }
  virtual Result<std::unique_ptr<Graph>> end_graph() { return std::unique_ptr<Graph>(); }
  virtual Result<void> launch_graph(Graph&) { return {}; }
  /// In a recording: what is recorded up to end_part depends on a condition; parts may have parts. Only where has_conditions().
  virtual bool has_conditions() const { return false; }
  virtual Result<void> begin_part(const Condition&) { return {}; }
  virtual Result<void> end_part() { return {}; }

  /// Products with operands rounded to TF32, as a library of the vendor's or tensor cores make them: near the CPU's values, not their bits.
  virtual bool has_fast_products() { return false; }
  virtual Result<void> multiply(const FastProduct&) { return {}; }

  /// Not 0 when whoever waits for the device should stop waiting: repeated parts of graphs end then.
  const std::atomic<uint32_t>* interrupt = nullptr;
  /// Whether functions use graphs, and conditions in them, where the device has them.
  bool uses_graphs = true, uses_conditions = true;
};

}  // namespace tfl::gpu
