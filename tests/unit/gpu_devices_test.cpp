// Tensors whose elements lie in a device's memory, on a device that is a piece of the process's own.
#include <cstdlib>
#include <cstring>
#include <map>

#include "runtime/gpu/devices.h"
#include "tests/unit/tensors.h"

using namespace tfl;
using namespace tfl::test;

namespace {

/// What its memory holds can only be reached by copies; counts them.
struct PretendedDevice final : gpu::Device {
  gpu::DeviceInfo about;
  std::map<gpu::Address, std::vector<std::byte>> blocks;
  gpu::MemoryInfo held;
  gpu::Address next = 1 << 20;
  int up = 0, down = 0;
  bool broken = false, full = false;

  const gpu::DeviceInfo& info() const override { return about; }
  Result<gpu::Address> allocate(size_t bytes) override {
    if (full) return fail(ErrorKind::MemoryError, "the device is full");
    gpu::Address a = next;
    next += (bytes + 256) / 256 * 256;
    blocks[a].resize(bytes);
    held.current += bytes;
    held.peak = std::max(held.peak, held.current);
    return a;
  }
  void release(gpu::Address a) override {
    REQUIRE(blocks.count(a) == 1);
    held.current -= blocks[a].size();
    blocks.erase(a);
  }
  gpu::MemoryInfo memory() const override { return held; }
  void reset_peak() override { held.peak = held.current; }
  std::byte* at(gpu::Address a) {
    auto i = std::prev(blocks.upper_bound(a));
    REQUIRE(a - i->first < i->second.size());
    return i->second.data() + (a - i->first);
  }
  Result<void> to_device(gpu::Address to, const void* from, size_t bytes) override {
    ++up;
    std::memcpy(at(to), from, bytes);
    return {};
  }
  Result<void> to_host(void* to, gpu::Address from, size_t bytes) override {
    if (broken) return fail(ErrorKind::RuntimeError, "the device is broken");
    ++down;
    if (bytes) std::memcpy(to, at(from), bytes);
    return {};
  }
  Result<void> copy(gpu::Address to, gpu::Address from, size_t bytes) override {
    std::memcpy(at(to), at(from), bytes);
    return {};
  }
  Result<std::unique_ptr<gpu::Module>> load(std::string_view) override { return std::make_unique<gpu::Module>(); }
  Result<void> launch(const gpu::Launch&) override { return {}; }
  Result<void> synchronize() override { return {}; }
};

Result<std::unique_ptr<gpu::Device>> pretended(Context&) {
  return std::unique_ptr<gpu::Device>(std::make_unique<PretendedDevice>());
}

/// A context with one such device.
struct Fixture {
  Context c{options(1)};
  gpu::Devices* devices = &c.devices();
  PretendedDevice* device = nullptr;
  Fixture() {
    setenv("TFL_GPU", "emulate", 1);
    devices->make_emulator = pretended;
    REQUIRE(devices->count() == 1);
    unsetenv("TFL_GPU");
    device = static_cast<PretendedDevice*>(&devices->at(0));
  }
  Tensor remote(std::initializer_list<float> values) {
    gpu::Address a = device->allocate(values.size() * 4).take();
    std::memcpy(device->at(a), values.begin(), values.size() * 4);
    return devices->on_device(*device, DType::F32, Dims{static_cast<int64_t>(values.size())}, a);
  }
};

}  // namespace

TEST_CASE("elements on a device come when somebody looks", "[gpu]") {
  Fixture f;
  Tensor t = f.remote({1, 2, 3, 4});
  CHECK(gpu::Devices::device_of(t) == f.device);
  CHECK(t.contiguous());
  CHECK(t.size() == 4);
  CHECK(f.device->down == 0);
  Tensor view = Tensor::view(f.c, t, Dims{2}, Dims{1}, 2);
  Tensor backwards = Tensor::view(f.c, t, Dims{4}, Dims{-1}, 3);
  CHECK(gpu::Devices::device_of(view) == f.device);
  CHECK(view.data<float>()[1] == 4);
  CHECK(f.device->down == 1);
  CHECK(gpu::Devices::device_of(t) == nullptr);
  CHECK(gpu::Devices::device_of(backwards) == nullptr);
  CHECK(t.data<float>()[0] == 1);
  CHECK(backwards.data<float>()[0] == 4);
  CHECK(f.device->down == 1);
  CHECK(f.device->held.current == 0);
  CHECK(f.devices->traffic().download_bytes == 16);
}

TEST_CASE("operations take elements from a device", "[gpu]") {
  Fixture f;
  Tensor a = f.remote({1, 2, 3}), b = f.remote({10, 20, 30});
  Tensor sum = apply1(f.c, Op::add, {a, b}).take();
  CHECK(sum.data<float>()[2] == 33);
  Tensor all = apply1(f.c, Op::add, {f.remote({5}), f.remote({6})}).take();
  CHECK(all.data<float>()[0] == 11);
  CHECK(f.device->down == 4);
  a = b = sum = Tensor();
  CHECK(f.device->held.current == 0);
  CHECK(f.device->blocks.empty());
}

TEST_CASE("a tensor that goes unseen is never copied", "[gpu]") {
  Fixture f;
  {
    Tensor t = f.remote({1, 2});
  }
  CHECK(f.device->down == 0);
  CHECK(f.device->blocks.empty());
}

TEST_CASE("a copy on a device is kept as long as its elements, which nobody overwrites meanwhile", "[gpu]") {
  Fixture f;
  Tensor x = random_tensor(f.c, DType::F32, {100}, 1);
  CHECK(x.unique());
  gpu::Devices::Place first = f.devices->to_device(*f.device, x).take();
  CHECK_FALSE(first.temporary);
  CHECK_FALSE(x.unique());
  CHECK(std::memcmp(f.device->at(first.address), x.raw(), x.bytes()) == 0);
  CHECK(f.devices->to_device(*f.device, x).take().address == first.address);
  Tensor part = Tensor::view(f.c, x, Dims{50}, Dims{1}, 50);
  gpu::Devices::Place other = f.devices->to_device(*f.device, part).take();
  CHECK(other.address != first.address);
  CHECK(f.device->up == 2);
  part = Tensor();
  f.devices->drop_copies(false);
  CHECK(f.device->blocks.size() == 2);  // the elements are still those of x
  x = Tensor();
  f.devices->drop_copies(false);
  CHECK(f.device->blocks.empty());
  Tensor small = random_tensor(f.c, DType::F32, {3}, 1);
  gpu::Devices::Place once = f.devices->to_device(*f.device, small).take();
  CHECK(once.temporary);
  f.device->release(once.address);
}

TEST_CASE("elements that are on the device need no copy", "[gpu]") {
  Fixture f;
  Tensor t = f.remote({1, 2, 3, 4});
  Tensor tail = Tensor::view(f.c, t, Dims{2}, Dims{1}, 2);
  gpu::Address begin = f.devices->to_device(*f.device, t).take().address;
  CHECK(f.devices->to_device(*f.device, tail).take().address == begin + 8);
  CHECK(f.device->up == 0);
  Tensor again = f.devices->copy_to(*f.device, t).take();
  CHECK(gpu::Devices::device_of(again) == f.device);
  CHECK(again.data<float>()[3] == 4);
  CHECK(gpu::Devices::device_of(t) == f.device);
  Tensor host = random_tensor(f.c, DType::F64, {5}, 3);
  Tensor moved = f.devices->copy_to(*f.device, host).take();
  CHECK(gpu::Devices::device_of(moved) == f.device);
  CHECK(element_bits(moved, 4) == element_bits(host, 4));
}

TEST_CASE("what goes wrong later is told later", "[gpu]") {
  Fixture f;
  Tensor t = f.remote({1, 2});
  f.device->broken = true;
  CHECK(t.data<float>()[1] == 0);
  CHECK((f.c.interrupt.load() & gpu::kInterruptDevice) != 0);
  Result<void> failure = f.devices->take_failure();
  REQUIRE_FALSE(failure.ok());
  CHECK(failure.error().message == "the device is broken");
  CHECK(f.c.interrupt.load() == 0);
  CHECK(f.devices->take_failure().ok());
  f.device->full = true;
  Tensor x = random_tensor(f.c, DType::F32, {100}, 1);
  auto refused = f.devices->to_device(*f.device, x);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::MemoryError);
  CHECK(x.unique());
}

TEST_CASE("tensors on a device may outlive everything but the context", "[gpu]") {
  Fixture f;
  static_cast<void>(f.remote({1, 2, 3}).leak());
  static_cast<void>(random_tensor(f.c, DType::F32, {64}, 2).leak());
  Tensor kept = random_tensor(f.c, DType::F32, {64}, 4);
  REQUIRE(f.devices->to_device(*f.device, kept).ok());
  kept = Tensor();
}

TEST_CASE("work is placed by number", "[gpu]") {
  Fixture f;
  CHECK(f.devices->placement() == gpu::kCpu);
  CHECK(f.devices->current() == nullptr);
  f.devices->place(0);
  CHECK(f.devices->current() == f.device);
  f.devices->place(3);
  CHECK(f.devices->current() == nullptr);
}

TEST_CASE("TFL_GPU chooses, and says why there is nothing", "[gpu]") {
  auto missing = [](const char* value) {
    setenv("TFL_GPU", value, 1);
    Context c(options(1));
    size_t n = c.devices().count();
    unsetenv("TFL_GPU");
    return n ? std::string() : c.devices().missing();
  };
  CHECK(missing("off") == "TFL_GPU=off hides all GPUs.");
  CHECK(missing("emulate") == "TFL_GPU=emulate asks for an emulated GPU, and this program has none.");
  CHECK(missing("maybe") == "TFL_GPU is 'maybe'; it may be 'emulate', 'off' or unset.");
  setenv("TFL_CUDA_LIBRARY", "/nowhere/libcuda.so", 1);
  Context c(options(1));
  CHECK(c.devices().count() == 0);
  CHECK(c.devices().missing().find("The NVIDIA driver's library cannot be loaded: /nowhere/libcuda.so") == 0);
  unsetenv("TFL_CUDA_LIBRARY");
}
