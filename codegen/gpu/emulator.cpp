#include "codegen/gpu/emulator.h"

#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <vector>

#include "codegen/load/loader.h"
#include "codegen/load/services.h"

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

// What was recorded: launches, and parts with a condition.
struct EmulatedGraph final : gpu::Graph {
  struct Item {
    gpu::Launch launch;
    std::string kernel;
    uint64_t argument = 0;
    std::optional<gpu::Condition> condition;
    std::vector<Item> part;
  };
  std::vector<Item> items;
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
    if (__builtin_add_overflow(std::max<size_t>(bytes, 1), kAlignment - 1, &rounded) ||
        (rounded &= ~(kAlignment - 1), rounded > info_.memory_bytes - memory_.current))
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

  Result<void> to_device(gpu::Address to, const void* from, size_t bytes) override {
    return copy_bytes(to, reinterpret_cast<gpu::Address>(from), bytes);
  }
  Result<void> to_host(void* to, gpu::Address from, size_t bytes) override {
    return copy_bytes(reinterpret_cast<gpu::Address>(to), from, bytes);
  }
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
    if (!recording_.empty()) {
      if (launch.arguments.size() != 1)
        return fail(ErrorKind::RuntimeError, "the emulated GPU records no launch of {}", launch.kernel);
      recording_.back()->push_back({launch, std::string(launch.kernel), launch.arguments[0], {}, {}});
      return {};
    }
    const auto& module = static_cast<const EmulatedModule&>(*launch.module);
    auto name = std::find(module.names.begin(), module.names.end(), launch.kernel);
    if (name == module.names.end() || launch.arguments.size() != 1)
      return fail(ErrorKind::RuntimeError, "the emulated GPU has no kernel {}", launch.kernel);
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

  bool has_graphs() const override { return true; }
  bool has_conditions() const override { return true; }
  Result<void> begin_graph() override {
    graph_ = std::make_unique<EmulatedGraph>();
    recording_ = {&graph_->items};
    return {};
  }
  Result<void> begin_part(const gpu::Condition& condition) override {
    recording_.push_back(&recording_.back()->emplace_back(EmulatedGraph::Item{{}, {}, 0, condition, {}}).part);
    return {};
  }
  Result<void> end_part() override {
    recording_.pop_back();
    return {};
  }
  Result<std::unique_ptr<gpu::Graph>> end_graph() override {
    recording_.clear();
    return std::unique_ptr<gpu::Graph>(std::move(graph_));
  }
  bool has_fast_products() override { return true; }
  Result<void> multiply(const gpu::FastProduct& p) override {
    auto at = [](gpu::Address matrix, int64_t batch, int64_t row, int64_t row_length, int64_t column) {
      return reinterpret_cast<float*>(matrix) + batch + row * row_length + column;
    };
    // Ten bits of the mantissa, as TF32 has.
    auto rounded = [](float x) { return std::bit_cast<float>((std::bit_cast<uint32_t>(x) + 0x1000) & ~uint32_t{0x1fff}); };
    for (int64_t batch = 0; batch < p.batch; ++batch) {
      for (int64_t i = 0; i < p.m; ++i) {
        for (int64_t j = 0; j < p.n; ++j) {
          float sum = 0;
          for (int64_t q = 0; q < p.k; ++q) {
            float x = p.transpose_a ? *at(p.a, batch * p.a_batch, q, p.m, i) : *at(p.a, batch * p.a_batch, i, p.k, q);
            float y = p.transpose_b ? *at(p.b, batch * p.b_batch, j, p.k, q) : *at(p.b, batch * p.b_batch, q, p.n, j);
            sum += rounded(x) * rounded(y);
          }
          *at(p.result, batch * p.m * p.n, i, p.n, j) = sum;
        }
      }
    }
    return {};
  }
  Result<void> launch_graph(gpu::Graph& graph) override { return run(static_cast<EmulatedGraph&>(graph).items); }

 private:
  Result<void> run(const std::vector<EmulatedGraph::Item>& items) {
    for (const EmulatedGraph::Item& i : items) {
      if (!i.condition) {
        gpu::Launch launch = i.launch;
        launch.kernel = i.kernel;
        launch.arguments = {&i.argument, 1};
        TFL_TRY(this->launch(launch));
        continue;
      }
      for (bool begins = true; holds(*i.condition, begins); begins = false) {
        TFL_TRY(run(i.part));
        if (!i.condition->repeats) break;
      }
    }
    return {};
  }
  // What the kernel of runtime/gpu/cuda_graph.cpp does.
  bool holds(const gpu::Condition& c, bool begins) const {
    auto word = [](gpu::Address at) -> int64_t& { return *reinterpret_cast<int64_t*>(at); };
    bool goes = gpu::chosen_block(static_cast<uint64_t>(word(c.word)), c.bytes, c.blocks) == c.block;
    if (c.failed) goes = goes && word(c.failed) == 0;
    if (c.counter) {
      word(c.counter) = begins ? 0 : word(c.counter) + 1;
      goes = goes && word(c.counter) < c.limit;
    }
    return goes && !(interrupt && interrupt->load(std::memory_order_relaxed) != 0);
  }

  static Result<void> copy_bytes(gpu::Address to, gpu::Address from, size_t bytes) {
    if (bytes > 0) std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), bytes);
    return {};
  }

  gpu::DeviceInfo info_;
  gpu::MemoryInfo memory_;
  std::unordered_map<gpu::Address, size_t> blocks_;
  std::unique_ptr<EmulatedGraph> graph_;                      // that is recorded
  std::vector<std::vector<EmulatedGraph::Item>*> recording_;  // its parts that are open
};

}  // namespace

Result<std::unique_ptr<gpu::Device>> make_emulator(Context& context) {
  return std::unique_ptr<gpu::Device>(std::make_unique<Emulator>(context.memory.limit()));
}

}  // namespace tfl::codegen
