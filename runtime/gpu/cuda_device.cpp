// Devices on NVIDIA's driver: one stream each, memory from its stream-ordered pool.
#include "runtime/gpu/cuda_device.h"

#include <cstring>
#include <ctime>
#include <unordered_map>

#include "runtime/gpu/cublaslt.h"
#include "runtime/gpu/cuda_graph.h"
#include "runtime/support/small_vec.h"

namespace tfl::gpu {

namespace {

using cuda::Attribute;
using cuda::Driver;
using cuda::kSuccess;
using cuda::Status;

// Copies of up to this many bytes go through memory that the GPU can read by itself, so that the caller needs not wait for it.
constexpr size_t kStagedBytes = size_t{64} << 10;
constexpr size_t kRingBytes = size_t{1} << 20;
constexpr size_t kLogBytes = 8192;
constexpr size_t kWorkspaceBytes = size_t{32} << 20;  // that cuBLASLt may use
constexpr uint32_t kOldestCapability = 8;

class CudaDevice;

struct CudaFunction {
  cuda::FunctionHandle* handle = nullptr;
  uint32_t shared_bytes = 48 << 10;  // what it may have without being asked
};

struct CudaModule final : Module {
  CudaModule(std::shared_ptr<const Driver> d, cuda::ContextHandle* c, cuda::StreamHandle* s, cuda::ModuleHandle* h)
      : driver(std::move(d)), context(c), stream(s), handle(h) {}
  ~CudaModule() override {
    driver->set_context(context);
    driver->synchronize(stream);  // what has been launched may still run
    driver->unload_module(handle);
  }
  std::shared_ptr<const Driver> driver;
  cuda::ContextHandle* context;
  cuda::StreamHandle* stream;
  cuda::ModuleHandle* handle;
  std::unordered_map<std::string, CudaFunction> functions;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(std::shared_ptr<const Driver> driver, cuda::Ordinal handle, DeviceInfo info)
      : driver_(std::move(driver)), handle_(handle), info_(std::move(info)) {}

  ~CudaDevice() override {
    if (!context_) return;
    driver_->set_context(context_);
    driver_->synchronize(stream_);
    conditions_.reset();
    products_.reset();
    if (workspace_) driver_->release(workspace_, stream_);
    if (ring_) driver_->release_host(ring_);
    if (stop_) driver_->release_host(const_cast<uint32_t*>(stop_));
    driver_->destroy_stream(stream_);
    driver_->release_context(handle_);
  }

  const DeviceInfo& info() const override { return info_; }

  Result<Address> allocate(size_t bytes) override {
    TFL_TRY(enter());
    cuda::Pointer address = 0;
    size_t asked = bytes ? bytes : 1;
    Status status = driver_->allocate(&address, asked, stream_);
    if (status == cuda::kOutOfMemory) {
      // What was released may still be in pieces, or in the pool of work that has not finished.
      driver_->synchronize(stream_);
      driver_->trim_pool(pool_, 0);
      status = driver_->allocate(&address, asked, stream_);
    }
    if (status != kSuccess) {
      return driver_->failure(status, fmt::format("allocating {} bytes on GPU {} ({} of {} in use)", bytes, info_.ordinal,
                                                  memory_.current, info_.memory_bytes));
    }
    sizes_.emplace(address, bytes);
    memory_.current += bytes;
    memory_.peak = std::max(memory_.peak, memory_.current);
    return address;
  }

  void release(Address address) override {
    auto i = sizes_.find(address);
    if (i == sizes_.end()) return;
    memory_.current -= i->second;
    sizes_.erase(i);
    if (enter()) driver_->release(address, stream_);  // an error of earlier work is told by the next call that can tell
  }

  MemoryInfo memory() const override { return memory_; }
  void reset_peak() override { memory_.peak = memory_.current; }

  Result<void> to_device(Address to, const void* from, size_t bytes) override {
    if (bytes == 0) return {};
    TFL_TRY(enter());
    if (bytes <= kStagedBytes && TFL_TRY(stage(bytes))) {
      std::byte* staged = ring_ + ring_used_;
      std::memcpy(staged, from, bytes);
      ring_used_ += (bytes + 255) & ~size_t{255};
      return check(driver_->to_device(to, staged, bytes, stream_),
                   [&] { return fmt::format("copying {} bytes to the GPU", bytes); });
    }
    if (endless_) watch();
    // Whether a copy from ordinary memory has read it when the call returns is not promised.
    TFL_TRY(
        check(driver_->to_device(to, from, bytes, stream_), [&] { return fmt::format("copying {} bytes to the GPU", bytes); }));
    return synchronize();
  }

  Result<void> to_host(void* to, Address from, size_t bytes) override {
    if (bytes == 0) return {};
    TFL_TRY(enter());
    if (endless_) watch();  // the copy itself waits, too
    TFL_TRY(
        check(driver_->to_host(to, from, bytes, stream_), [&] { return fmt::format("copying {} bytes from the GPU", bytes); }));
    return synchronize();
  }

  Result<void> copy(Address to, Address from, size_t bytes) override {
    if (bytes == 0) return {};
    TFL_TRY(enter());
    return check(driver_->copy(to, from, bytes, stream_), [&] { return fmt::format("copying {} bytes on the GPU", bytes); });
  }

  Result<std::unique_ptr<Module>> load(std::string_view image) override {
    TFL_TRY(enter());
    std::string text(image);  // with an end: PTX is a C string
    char log[kLogBytes];
    log[0] = '\0';
    int options[] = {cuda::kJitErrorLog, cuda::kJitErrorLogBytes};
    void* values[] = {log, reinterpret_cast<void*>(kLogBytes)};
    cuda::ModuleHandle* handle = nullptr;
    Status status = driver_->load_module(&handle, text.c_str(), 2, options, values);
    if (status != kSuccess) {
      Failure failure = driver_->failure(status, fmt::format("loading code on GPU {} ({})", info_.ordinal, info_.name));
      log[kLogBytes - 1] = '\0';
      if (log[0]) failure.error->message += "\n" + std::string(log);
      if (status == cuda::kUnsupportedPtx)
        return std::move(failure).with_hint("the NVIDIA driver is older than this code: a newer driver takes it");
      return failure;
    }
    return std::unique_ptr<Module>(std::make_unique<CudaModule>(driver_, context_, stream_, handle));
  }

  Result<void> launch(const Launch& l) override {
    TFL_TRY(enter());
    CudaFunction* f = TFL_TRY(function(static_cast<CudaModule&>(*l.module), l.kernel));
    if (l.shared_bytes > f->shared_bytes) {
      TFL_TRY(check(driver_->set_function_attribute(f->handle, cuda::kDynamicSharedBytes, static_cast<int>(l.shared_bytes)),
                    [&] { return fmt::format("giving {} {} bytes of shared memory", l.kernel, l.shared_bytes); }));
      f->shared_bytes = l.shared_bytes;
    }
    SmallVec<void*, 32> parameters;
    for (const uint64_t& a : l.arguments) parameters.push_back(const_cast<uint64_t*>(&a));
    if (writer_ && !l.cooperative) return writer_->launch(f->handle, l.blocks, l.threads, l.shared_bytes, parameters.data());
    Status status =
        l.cooperative
            ? driver_->launch_cooperative(f->handle, l.blocks, 1, 1, l.threads, 1, 1, l.shared_bytes, stream_, parameters.data())
            : driver_->launch(f->handle, l.blocks, 1, 1, l.threads, 1, 1, l.shared_bytes, stream_, parameters.data(), nullptr);
    return check(status, [&] { return fmt::format("launching {} on GPU {}", l.kernel, info_.ordinal); });
  }

  Result<void> synchronize() override {
    if (!context_) return {};  // nothing has been started
    TFL_TRY(enter());
    if (endless_) watch();
    Status status = driver_->synchronize(stream_);
    ring_used_ = 0;
    return check(status, [&] { return fmt::format("work on GPU {}", info_.ordinal); });
  }

  bool has_graphs() const override { return driver_->has_graphs(); }

  Result<void> begin_graph() override {
    TFL_TRY(enter());
    writer_ = std::make_unique<CudaGraphWriter>(driver_, context_);
    return writer_->begin();
  }

  Result<std::unique_ptr<Graph>> end_graph() override {
    TFL_TRY(enter());
    std::unique_ptr<CudaGraphWriter> writer = std::move(writer_);
    return writer->end();
  }

  Result<void> launch_graph(Graph& graph) override {
    TFL_TRY(enter());
    auto& made = static_cast<CudaGraph&>(graph);
    TFL_TRY(check(driver_->launch_graph(made.handle, stream_), [] { return std::string("launching a graph"); }));
    endless_ |= made.repeats;
    return {};
  }

  bool has_fast_products() override {
    if (asked_products_) return products_ != nullptr;
    asked_products_ = true;
    if (!enter()) return false;
    Result<cublas::Library> library = cublas::load_library();
    cublas::LibraryHandle* handle = nullptr;
    if (!library || library->create(&handle) != cublas::kSuccess) return false;
    products_ = std::make_unique<cublas::Products>(*library, handle);
    if (driver_->allocate(&workspace_, kWorkspaceBytes, stream_) != kSuccess) workspace_ = 0;
    return true;
  }
  Result<void> multiply(const FastProduct& p) override {
    TFL_TRY(enter());
    return products_->multiply({p.a, p.b, p.result, p.transpose_a, p.transpose_b, p.batch, p.m, p.n, p.k, p.a_batch, p.b_batch},
                               workspace_, workspace_ ? kWorkspaceBytes : 0, stream_);
  }

  bool has_conditions() const override { return driver_->has_conditions(); }

  Result<void> begin_part(const Condition& condition) override {
    TFL_TRY(enter());
    if (!conditions_) {
      auto loaded = TFL_TRY(load(condition_code()));
      void* memory = nullptr;
      if (driver_->allocate_host(&memory, sizeof(uint64_t)) == kSuccess) stop_ = static_cast<volatile uint32_t*>(memory);
      if (stop_) *stop_ = 0;
      conditions_ = std::move(loaded);
    }
    CudaFunction* f = TFL_TRY(function(static_cast<CudaModule&>(*conditions_), kConditionKernel));
    return writer_->begin_part(f->handle, condition, reinterpret_cast<Address>(stop_));
  }
  Result<void> end_part() override {
    TFL_TRY(enter());
    return writer_->end_part();
  }

 private:
  template <class Words>
  Result<void> check(Status status, Words&& words) const {
    if (status == kSuccess) [[likely]]
      return {};
    return driver_->failure(status, words());
  }

  // The context belongs to whichever thread calls: code is loaded by another one than runs it.
  Result<void> enter() {
    if (!context_) TFL_TRY(start());
    return check(driver_->set_context(context_), [] { return std::string("entering the GPU's context"); });
  }

  Result<void> start() {
    auto words = [&] { return fmt::format("starting GPU {} ({})", info_.ordinal, info_.name); };
    cuda::ContextHandle* context = nullptr;
    TFL_TRY(check(driver_->retain_context(&context, handle_), words));
    Status status = driver_->set_context(context);
    if (status == kSuccess) status = driver_->create_stream(&stream_, cuda::kStreamNonBlocking);
    if (status == kSuccess) status = driver_->default_pool(&pool_, handle_);
    // What is released stays with the process: memory is asked of the driver once.
    uint64_t most = UINT64_MAX;
    if (status == kSuccess) status = driver_->set_pool_attribute(pool_, cuda::kPoolReleaseThreshold, &most);
    if (status != kSuccess) {
      if (stream_) driver_->destroy_stream(std::exchange(stream_, nullptr));
      driver_->release_context(handle_);
      return driver_->failure(status, words());
    }
    context_ = context;
    return {};
  }

  // Waits for graphs that may go on without an end, and tells them when nobody wants to wait any longer.
  void watch() {
    constexpr int kEager = 2000;  // questions without a pause
    constexpr timespec kPause = {0, 50'000};
    for (int asked = 0; driver_->query(stream_) == cuda::kNotReady; ++asked) {
      if (stop_ && interrupt && interrupt->load(std::memory_order_relaxed) != 0) *stop_ = 1;
      if (asked > kEager) nanosleep(&kPause, nullptr);
    }
    if (stop_) *stop_ = 0;
    endless_ = false;
  }

  /// Makes room for `bytes` in the ring; false when there is no ring.
  Result<bool> stage(size_t bytes) {
    if (!ring_) {
      if (no_ring_) return false;
      void* memory = nullptr;
      no_ring_ = driver_->allocate_host(&memory, kRingBytes) != kSuccess;
      if (no_ring_) return false;
      ring_ = static_cast<std::byte*>(memory);
    }
    if (ring_used_ + bytes > kRingBytes) TFL_TRY(synchronize());
    return true;
  }

  Result<CudaFunction*> function(CudaModule& module, std::string_view name) {
    CudaFunction& f = module.functions[std::string(name)];
    if (!f.handle) {
      TFL_TRY(check(driver_->function(&f.handle, module.handle, std::string(name).c_str()),
                    [&] { return fmt::format("finding the kernel {}", name); }));
    }
    return &f;
  }

  std::shared_ptr<const Driver> driver_;
  cuda::Ordinal handle_;
  DeviceInfo info_;
  cuda::ContextHandle* context_ = nullptr;
  cuda::StreamHandle* stream_ = nullptr;
  cuda::PoolHandle* pool_ = nullptr;
  std::byte* ring_ = nullptr;
  size_t ring_used_ = 0;
  bool no_ring_ = false;
  std::unique_ptr<cublas::Products> products_;
  cuda::Pointer workspace_ = 0;
  bool asked_products_ = false;
  std::unique_ptr<CudaGraphWriter> writer_;  // while a graph is recorded
  std::unique_ptr<Module> conditions_;       // the kernel that looks at conditions of graphs
  volatile uint32_t* stop_ = nullptr;        // which it reads in the memory of the host: not 0 ends what is repeated
  bool endless_ = false;                     // a graph was launched since somebody waited that may go on without an end
  std::unordered_map<Address, size_t> sizes_;
  MemoryInfo memory_;
};

int attribute(const Driver& d, Attribute which, cuda::Ordinal handle) {
  int value = 0;
  return d.device_attribute(&value, static_cast<int>(which), handle) == kSuccess ? value : 0;
}

}  // namespace

Result<std::vector<std::unique_ptr<Device>>> find_cuda_devices() {
  auto driver = std::make_shared<const Driver>(TFL_TRY(cuda::load_driver()));
  int n = 0;
  if (Status status = driver->device_count(&n); status != kSuccess || n <= 0)
    return fail(ErrorKind::RuntimeError, cuda::explain_start(*driver, status, "/dev"));
  std::vector<std::unique_ptr<Device>> found;
  std::string refused;
  for (int i = 0; i < n; ++i) {
    cuda::Ordinal handle = 0;
    char name[256] = "";
    if (driver->device(&handle, i) != kSuccess || driver->device_name(name, sizeof name, handle) != kSuccess) continue;
    DeviceInfo info;
    info.name = name;
    info.ordinal = static_cast<uint32_t>(found.size());
    info.major = static_cast<uint32_t>(attribute(*driver, Attribute::capability_major, handle));
    info.minor = static_cast<uint32_t>(attribute(*driver, Attribute::capability_minor, handle));
    info.processors = static_cast<uint32_t>(attribute(*driver, Attribute::processors, handle));
    info.shared_bytes = static_cast<uint32_t>(attribute(*driver, Attribute::shared_bytes_per_block, handle));
    info.driver_version = static_cast<uint32_t>(driver->version);
    info.ptx_version = static_cast<uint32_t>(cuda::newest_ptx(driver->version));
    size_t bytes = 0;
    if (driver->device_memory(&bytes, handle) == kSuccess) info.memory_bytes = bytes;
    if (info.major < kOldestCapability) {
      refused = fmt::format("{} has compute capability {}.{}, and TFL needs {}.0.", info.name, info.major, info.minor,
                            kOldestCapability);
    } else if (!attribute(*driver, Attribute::memory_pools, handle)) {
      refused = fmt::format("{} has no stream-ordered memory, which TFL needs.", info.name);
    } else {
      found.push_back(std::make_unique<CudaDevice>(driver, handle, std::move(info)));
    }
  }
  if (found.empty())
    return fail(ErrorKind::RuntimeError, refused.empty() ? cuda::explain_start(*driver, kSuccess, "/dev") : refused);
  return found;
}

}  // namespace tfl::gpu
