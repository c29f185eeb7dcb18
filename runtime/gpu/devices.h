// The GPUs that a process may use: found when somebody first asks, none on most machines. Also which of them work
// goes to now, and which tensors have their elements there. One per Context. This header must not know what kinds
// of devices there are, nor scripts.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/gpu/device.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/tensor.h"

namespace tfl::gpu {

/// Bit of Context::interrupt: elements could not be fetched, or work that had been handed to a device went wrong
/// later.
inline constexpr uint32_t kInterruptDevice = 1u << 8;
/// Placement of work: a GPU's number, or this.
inline constexpr int kCpu = -1;

class Devices {
 public:
  explicit Devices(Context& context) : context_(context) {}
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  /// Makes the device that TFL_GPU=emulate asks for, which runs kernels on the CPU; set by a program that has one.
  Result<std::unique_ptr<Device>> (*make_emulator)(Context&) = nullptr;

  /// Runs one operation on a device, where its results stay, or gives false and has done nothing; set by a program
  /// that makes code for GPUs.
  bool (*run_operation)(Context&, Device&, Op, std::span<const Tensor> operands, const Attrs&, Tensors& results) = nullptr;
  /// What the front end keeps for as long as the context lives.
  std::shared_ptr<void> owned_by_front_end;

  /// Number of GPUs. The first question loads the driver.
  size_t count();
  /// Whether GPUs have been found so far; looks for none.
  bool any() const { return !devices_.empty(); }
  Device& at(size_t ordinal) { return *devices_[ordinal]; }
  /// Why there is no GPU, as a sentence; empty when there is one.
  const std::string& missing();

  /// Where calls of traced functions run: kCpu or a GPU's number.
  int placement() const { return placement_; }
  void place(int ordinal) { placement_ = ordinal; }
  /// Whether a scope has said so: where none has, work goes where the elements are that it takes.
  bool chosen() const { return chosen_; }
  void set_chosen(bool chosen) { chosen_ = chosen; }
  /// Whether matrix products of f32 may be made of TF32 where a GPU has them: somebody has asked for it.
  bool tensor_float_32 = false;
  /// The device that work goes to now, or null for the CPU. Cheap: nothing is looked for.
  Device* current() const {
    return placement_ >= 0 && static_cast<size_t>(placement_) < devices_.size() ? devices_[static_cast<size_t>(placement_)].get()
                                                                                : nullptr;
  }

  struct Place {
    Address address = 0;
    bool temporary = false;  // whoever asked releases it, once what uses it has been launched
  };
  /// Where the elements of `t`, which must be row-major, lie on `device`: there already, or copied now. A copy of
  /// elements in a buffer is kept until the buffer goes.
  Result<Place> to_device(Device& device, const Tensor& t);
  /// A tensor of elements that lie on `device` from `address` on (row-major), which it takes over. They come to the
  /// CPU when somebody looks at them.
  Tensor on_device(Device& device, DType dtype, std::span<const int64_t> dims, Address address);
  /// A copy of `t` (row-major, with elements) on `device`.
  Result<Tensor> copy_to(Device& device, const Tensor& t);
  /// The device where the elements lie, or null when they are in the CPU's memory.
  static Device* device_of(const Tensor& t);
  /// The device that a tensor belongs to, though its elements may have been fetched from there since.
  static Device* home_of(const Tensor& t);

  /// Bytes copied so far, of all devices.
  struct Traffic {
    uint64_t uploads = 0, upload_bytes = 0, downloads = 0, download_bytes = 0;
  };
  const Traffic& traffic() const { return traffic_; }

  /// Calls of compiled functions and single operations that ran on a device, and what the CPU did in their place, by the reason.
  struct Work {
    uint64_t done = 0, declined = 0;
    std::map<std::string, uint64_t> reasons;
  };
  const Work& work() const { return work_; }
  void count_done() { ++work_.done; }
  void count_declined(std::string_view reason);
  /// The same in a sentence; empty when no device was asked for anything.
  std::string work_text() const;

  /// Remembers an error that nobody could be told; the interpreter raises it between two statements.
  void failed_later(Error error);
  /// The first of them, once.
  Result<void> take_failure();

  /// Forgets copies of tensors: all, or those whose tensors have gone.
  void drop_copies(bool all);

 private:
  // Elements of the CPU's memory that have a copy on a device. `holds` keeps them from being overwritten: nobody
  // else's they are not.
  struct Copy {
    Tensor holds;
    Device* device;
    Address address;
    size_t bytes;
  };
  struct RemoteBuffer;
  void find();
  static void fetch_buffer(Buffer* buffer);
  static void release_buffer(Buffer* buffer);

  Context& context_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::string missing_;
  bool looked_ = false;
  int placement_ = kCpu;
  bool chosen_ = false;
  std::unordered_multimap<const std::byte*, Copy> copies_;  // by the first element
  Traffic traffic_;
  Work work_;
  std::unique_ptr<Error> failure_;
};

}  // namespace tfl::gpu
