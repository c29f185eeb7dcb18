#include "runtime/gpu/devices.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "runtime/core/context.h"
#include "runtime/gpu/cuda_device.h"

namespace tfl::gpu {

/// Elements in a device's memory; `data` is null until they were fetched, `address` 0 from then on.
struct Devices::RemoteBuffer : Buffer {
  Devices* devices;
  Device* device;
  Address address;
};

Devices::~Devices() { drop_copies(true); }

void Devices::find() {
  if (looked_) return;
  looked_ = true;
  const char* wanted = std::getenv("TFL_GPU");
  std::string_view which = wanted ? wanted : "";
  if (which == "off") {
    missing_ = "TFL_GPU=off hides all GPUs.";
  } else if (which == "emulate") {
    if (!make_emulator) {
      missing_ = "TFL_GPU=emulate asks for an emulated GPU, and this program has none.";
    } else if (auto made = make_emulator(context_)) {
      devices_.push_back(made.take());
    } else {
      missing_ = made.error().message;
    }
  } else if (!which.empty()) {
    missing_ = "TFL_GPU is '" + std::string(which) + "'; it may be 'emulate', 'off' or unset.";
  } else if (auto found = find_cuda_devices()) {
    devices_ = found.take();
  } else {
    missing_ = found.error().message;
  }
  const char* graphs = std::getenv("TFL_GPU_GRAPHS");
  for (auto& device : devices_) {
    device->interrupt = &context_.interrupt;
    device->uses_graphs = !graphs || std::strcmp(graphs, "off") != 0;
    device->uses_conditions = device->uses_graphs && (!graphs || std::strcmp(graphs, "host") != 0);
  }
}

size_t Devices::count() {
  find();
  return devices_.size();
}

const std::string& Devices::missing() {
  find();
  return missing_;
}

// --------------------------------------------------------------------------------------------- where elements are

Result<Devices::Place> Devices::to_device(Device& device, const Tensor& t) {
  size_t bytes = t.bytes();
  Buffer* buffer = t.rep()->buffer;
  if (device_of(t) == &device)
    return Place{static_cast<RemoteBuffer*>(buffer)->address + reinterpret_cast<uintptr_t>(t.rep()->data), false};
  const std::byte* from = t.raw();  // from another device by way of the CPU
  if (buffer) {
    auto [first, last] = copies_.equal_range(from);
    for (auto i = first; i != last; ++i) {
      if (i->second.device == &device && i->second.bytes == bytes) return Place{i->second.address, false};
    }
    drop_copies(false);
  }
  Result<Address> room = device.allocate(bytes);
  if (!room) return room.failure();
  if (auto copied = device.to_device(*room, from, bytes); !copied) {
    device.release(*room);
    return copied.failure();
  }
  ++traffic_.uploads;
  traffic_.upload_bytes += bytes;
  if (!buffer) return Place{*room, true};
  copies_.emplace(from, Copy{t, &device, *room, bytes});
  return Place{*room, false};
}

Result<Tensor> Devices::copy_to(Device& device, const Tensor& t) {
  size_t bytes = t.bytes();
  Address room = TFL_TRY(device.allocate(bytes));
  Result<void> copied;
  if (device_of(t) == &device) {
    Place from = TFL_TRY(to_device(device, t));
    copied = device.copy(room, from.address, bytes);
  } else {
    copied = device.to_device(room, t.raw(), bytes);
    ++traffic_.uploads;
    traffic_.upload_bytes += bytes;
  }
  if (!copied) {
    device.release(room);
    return copied.failure();
  }
  return on_device(device, t.dtype(), t.dims(), room);
}

Tensor Devices::on_device(Device& device, DType dtype, std::span<const int64_t> dims, Address address) {
  size_t bytes = dtype_size(dtype);
  for (int64_t d : dims) bytes *= static_cast<size_t>(d);
  auto* buffer = new RemoteBuffer{{1, false, bytes, nullptr, nullptr, release_buffer, fetch_buffer}, this, &device, address};
  return Tensor::foreign(context_, dtype, dims, buffer);
}

Device* Devices::device_of(const Tensor& t) {
  const TensorRep* rep = t.rep();
  if (!(rep->flags & kElsewhere)) return nullptr;
  return rep->buffer->data ? nullptr : static_cast<RemoteBuffer*>(rep->buffer)->device;
}

Device* Devices::home_of(const Tensor& t) {
  const Buffer* buffer = t.rep()->buffer;
  return buffer && buffer->fetch == fetch_buffer ? static_cast<const RemoteBuffer*>(buffer)->device : nullptr;
}

// Nobody can be told here that something went wrong: elements are zeros then, and the interpreter is told to stop.
void Devices::fetch_buffer(Buffer* b) {
  auto* buffer = static_cast<RemoteBuffer*>(b);
  Devices& self = *buffer->devices;
  MemoryPool& memory = self.context_.memory;
  size_t limit = memory.limit();
  memory.set_limit(SIZE_MAX);
  Result<void*> room = memory.allocate(std::max<size_t>(buffer->bytes, 1));
  memory.set_limit(limit);
  if (!room) {
    std::fputs("tfl: there is no memory for what a GPU computed\n", stderr);
    std::abort();
  }
  buffer->data = static_cast<std::byte*>(*room);
  if (auto copied = buffer->device->to_host(buffer->data, buffer->address, buffer->bytes); !copied) {
    std::memset(buffer->data, 0, buffer->bytes);
    self.failed_later(std::move(copied.error()));
  }
  ++self.traffic_.downloads;
  self.traffic_.download_bytes += buffer->bytes;
  // The CPU's copy may be overwritten in place from now on.
  buffer->device->release(buffer->address);
  buffer->address = 0;
}

void Devices::release_buffer(Buffer* b) {
  auto* buffer = static_cast<RemoteBuffer*>(b);
  if (buffer->address) buffer->device->release(buffer->address);
  if (buffer->data) buffer->devices->context_.memory.release(buffer->data, std::max<size_t>(buffer->bytes, 1));
  delete buffer;
}

void Devices::drop_copies(bool all) {
  // Copies of parts of one buffer hold it together: it is alive when somebody else holds it.
  std::unordered_map<const Buffer*, uint32_t> held;
  for (const auto& [first, copy] : copies_) held[copy.holds.rep()->buffer] += copy.holds.rep()->refs == 1;
  for (auto i = copies_.begin(); i != copies_.end();) {
    const TensorRep* rep = i->second.holds.rep();
    if (all || (rep->refs == 1 && rep->buffer->refs <= held[rep->buffer])) {
      i->second.device->release(i->second.address);
      --held[rep->buffer];
      i = copies_.erase(i);
    } else {
      ++i;
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ work

void Devices::count_declined(std::string_view reason) {
  constexpr size_t kMostReasons = 256;
  ++work_.declined;
  if (auto known = work_.reasons.find(std::string(reason)); known != work_.reasons.end())
    ++known->second;
  else if (work_.reasons.size() < kMostReasons)
    work_.reasons.emplace(reason, 1);
}

std::string Devices::work_text() const {
  if (work_.done + work_.declined == 0) return {};
  std::string text =
      fmt::format("{} calls and operations ran on a GPU, {} on the CPU in place of one", work_.done, work_.declined);
  for (const auto& [reason, times] : work_.reasons) text += fmt::format("\n  {} because {}", times, reason);
  return text;
}

// ---------------------------------------------------------------------------------------------------------- errors

void Devices::failed_later(Error error) {
  if (!failure_) failure_ = std::make_unique<Error>(std::move(error));
  context_.interrupt.fetch_or(kInterruptDevice);
}

Result<void> Devices::take_failure() {
  context_.interrupt.fetch_and(~kInterruptDevice);
  if (!failure_) return {};
  return Failure{std::move(failure_)};
}

}  // namespace tfl::gpu
