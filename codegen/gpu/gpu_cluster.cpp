#include "codegen/gpu/gpu_cluster.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "codegen/load/object_cache.h"
#include "codegen/plan/build.h"
#include "runtime/files/file.h"
#include "runtime/gpu/devices.h"

namespace tfl::codegen {

std::string gpu_target(const gpu::Device& device) {
  const gpu::DeviceInfo& info = device.info();
  if (info.emulated) return {};
  return info.major >= 8 ? std::string(kGpuTarget) : fmt::format("sm_{}{}", info.major, info.minor);
}

namespace {

void write_ptx(const GpuSchedule& schedule, const ObjectKey& key, const char* folder) {
  GpuCode code;
  std::string error = compile_gpu(schedule, kGpuTarget, Cpu::x86_64_v3, code);
  std::string path = fmt::format("{}/", folder);
  for (uint8_t byte : key) path += fmt::format("{:02x}", byte);
  write_whole_file(path + ".ptx", error.empty() ? code.image : "// " + error + "\n");
}

}  // namespace

bool GpuCluster::run(Context& context, gpu::Device& device, const ir::Function& function, const GpuOptions& options,
                     std::span<const Tensor> inputs, std::span<Tensor> results) {
  bool fast = context.devices().tensor_float_32 && device.has_fast_products();
  if ((!loaded_ || &loaded_->device() != &device || fast_ != fast) && refused_ != &device) {
    loaded_.reset();
    fast_ = fast;
    if (auto loaded = load(context, device, function, options); !loaded) {
      refused_ = &device;
      why_ = std::move(loaded.error().message);
      if (options.verbose) fmt::print(stderr, "tfl: {} does not run on a GPU: {}\n", function.name, why_);
    }
  }
  if (refused_ != &device && loaded_->run(context, inputs, results, why_)) {
    context.devices().count_done();
    return true;
  }
  context.devices().count_declined(why_);
  return false;
}

Result<void> GpuCluster::load(Context& context, gpu::Device& device, const ir::Function& function, const GpuOptions& options) {
  std::optional<plan::Plan> plan = plan::build_plan(context, function);
  if (!plan) return fail(ErrorKind::RuntimeError, "it has no plan");
  std::string text = plan::plan_text(*plan);
  text.erase(0, text.find('\n') + 1);  // the name
  std::vector<Tensor> constants;
  for (Tensor& t : plan->constants) constants.push_back(TFL_TRY(contiguous(context, t)));
  plan->constants.clear();
  std::string target = gpu_target(device);
  ObjectCache cache(options.cache_folder);
  std::string made_for = target.empty() ? fmt::format("emulated {}", cpu_name(options.cpu)) : target;
  ObjectKey key = object_key(text, fast_ ? made_for + " with fast products" : made_for);
  GpuSchedule schedule = gpu_schedule(std::move(*plan), fast_);
  if (!schedule.supported) return fail(ErrorKind::RuntimeError, "it calls a routine that GPUs do not have");
  GpuCode code;
  std::string bytes;
  if (!cache.load(key, bytes) || !read_gpu_code(bytes, code)) {
    std::string error = compile_gpu(schedule, target, options.cpu, code);
    if (!error.empty()) return fail(ErrorKind::InternalError, std::move(error));
    cache.store(key, gpu_code_bytes(code));
    if (const char* folder = std::getenv(kPtxFolder); folder && target.empty()) write_ptx(schedule, key, folder);
    if (options.verbose)
      fmt::print(stderr, "tfl: {} compiled for the {}, {} bytes\n", function.name, device.info().name, code.image.size());
  }
  loaded_ = TFL_TRY(GpuFunction::load(device, std::move(schedule), code, std::move(constants)));
  return {};
}

}  // namespace tfl::codegen
