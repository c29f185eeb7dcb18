#include "codegen/gpu/emulator.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <unordered_map>

#include "codegen/jit/loader.h"
#include "codegen/jit/services.h"

namespace tfl::codegen {

namespace {

constexpr size_t kAlignment = 256;
constexpr size_t kStack = size_t{256} << 20;  // a block's shared memory and what its threads keep lie on the stack

struct EmulatedModule final : gpu::Module {
  std::shared_ptr<const LoadedCode> code;
  std::vector<std::string> names;  // of kernels, as the code numbers them
};

// What the code's one function takes.
struct Call {
  int64_t kernel, block, blocks;
  uint64_t frame;
};

struct Work {
  EntryFunction entry;
  Call call;
};

void* run_blocks(void* argument) {
  auto& work = *static_cast<Work*>(argument);
  FloatEnvironment environment;
  for (int64_t block = 0; block < work.call.blocks; ++block) {
    work.call.block = block;
    work.entry(reinterpret_cast<Frame*>(&work.call));
  }
  return nullptr;
}

class Emulator final : public gpu::Device {
 public:
  explicit Emulator(uint64_t memory) {
    info_.name = "emulated GPU";
    info_.major = 8;
    info_.processors = 1;
    info_.shared_bytes = 48 << 10;
    info_.memory_bytes = memory;
    info_.emulated = true;
  }
  ~Emulator() override {
    for (const auto& [address, bytes] : blocks_) std::free(reinterpret_cast<void*>(address));
  }

  const gpu::DeviceInfo& info() const override { return info_; }

  Result<gpu::Address> allocate(size_t bytes) override {
    size_t rounded = 0;
    if (__builtin_add_overflow(std::max<size_t>(bytes, 1), kAlignment - 1, &rounded) || (rounded &= ~(kAlignment - 1), rounded > info_.memory_bytes - memory_.current))
      return fail(ErrorKind::MemoryError, "the emulated GPU has no {} bytes", bytes);
    void* p = std::aligned_alloc(kAlignment, rounded);
    if (!p) return fail(ErrorKind::MemoryError, "the emulated GPU has no {} bytes", bytes);
    std::memset(p, 0xAB, std::min<size_t>(rounded, 4096));  // nobody may rely on what was there
    auto address = reinterpret_cast<gpu::Address>(p);
    blocks_[address] = rounded;
    memory_.current += rounded;
    memory_.peak = std::max(memory_.peak, memory_.current);
    return address;
  }
  void release(gpu::Address address) override {
    auto it = blocks_.find(address);
    if (it == blocks_.end()) return;
    memory_.current -= it->second;
    blocks_.erase(it);
    std::free(reinterpret_cast<void*>(address));
  }
  gpu::MemoryInfo memory() const override { return memory_; }
  void reset_peak() override { memory_.peak = memory_.current; }

  Result<void> to_device(gpu::Address to, const void* from, size_t bytes) override { return copy_bytes(to, reinterpret_cast<gpu::Address>(from), bytes); }
  Result<void> to_host(void* to, gpu::Address from, size_t bytes) override { return copy_bytes(reinterpret_cast<gpu::Address>(to), from, bytes); }
  Result<void> copy(gpu::Address to, gpu::Address from, size_t bytes) override { return copy_bytes(to, from, bytes); }

  Result<std::unique_ptr<gpu::Module>> load(std::string_view image) override {
    auto made = std::make_unique<EmulatedModule>();
    size_t end = image.find('\n');
    if (end == image.npos) return fail(ErrorKind::RuntimeError, "this is no code for the emulated GPU");
    for (size_t at = 0; at < end;) {
      size_t space = std::min(image.find(' ', at), end);
      made->names.emplace_back(image.substr(at, space - at));
      at = space + 1;
    }
    made->code = TFL_TRY(LoadedCode::load(image.substr(end + 1)));
    return std::unique_ptr<gpu::Module>(std::move(made));
  }

  Result<void> launch(const gpu::Launch& launch) override {
    const auto& module = static_cast<const EmulatedModule&>(*launch.module);
    auto name = std::find(module.names.begin(), module.names.end(), launch.kernel);
    if (name == module.names.end() || launch.arguments.size() != 1) return fail(ErrorKind::RuntimeError, "the emulated GPU has no kernel {}", launch.kernel);
    Work work{module.code->entry(), {name - module.names.begin(), 0, launch.blocks, launch.arguments[0]}};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kStack);
    pthread_t thread;
    int error = pthread_create(&thread, &attributes, run_blocks, &work);
    pthread_attr_destroy(&attributes);
    if (error != 0) return fail(ErrorKind::RuntimeError, "the emulated GPU cannot have a thread: {}", std::strerror(error));
    pthread_join(thread, nullptr);
    return {};
  }
  Result<void> synchronize() override { return {}; }

 private:
  static Result<void> copy_bytes(gpu::Address to, gpu::Address from, size_t bytes) {
    if (bytes > 0) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return {};
  }

  gpu::DeviceInfo info_;
  gpu::MemoryInfo memory_;
  std::unordered_map<gpu::Address, size_t> blocks_;
};

}  // namespace

Result<std::unique_ptr<gpu::Device>> make_emulator(Context& context) {
  return std::unique_ptr<gpu::Device>(std::make_unique<Emulator>(context.memory.limit()));
}

}  // namespace tfl::codegen
