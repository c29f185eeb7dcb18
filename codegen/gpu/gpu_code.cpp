#include "codegen/gpu/gpu_code.h"

#include <cstring>

#include "codegen/llvm/gpu/launches.h"

namespace tfl::codegen {

namespace {

constexpr uint64_t kMost = 1 << 20;  // kernels, and sizes of one

void put(std::string& out, int64_t v) { out.append(reinterpret_cast<const char*>(&v), sizeof v); }

bool get(std::string_view& bytes, int64_t& v) {
  if (bytes.size() < sizeof v) return false;
  std::memcpy(&v, bytes.data(), sizeof v);
  bytes.remove_prefix(sizeof v);
  return true;
}

bool get_count(std::string_view& bytes, size_t& n) {
  int64_t v = 0;
  if (!get(bytes, v) || v < 0 || static_cast<uint64_t>(v) > kMost) return false;
  n = static_cast<size_t>(v);
  return true;
}

}  // namespace

std::string segment_name(size_t segment) { return "segment" + std::to_string(segment); }
std::string kernel_name(const GpuModule& module, size_t kernel) { return "kernel" + std::to_string(module.kernels[kernel]); }
std::string product_name(const GpuModule& module, size_t product) { return "product" + std::to_string(module.products[product]); }

std::string compile_gpu(const GpuSchedule& schedule, std::string_view target, Cpu cpu, GpuCode& code) {
  GpuModule module = schedule.module;
  module.emulated = target.empty();
  if (!module.emulated) module.target = target;
  CompileRequest request;
  request.plan = &schedule.plan;
  request.gpu = &module;
  request.cpu = cpu;
  CompileResult result;
  compile_plan(request, result);
  if (!result.error.empty()) return result.error;
  code.units = std::move(result.units);
  code.image.clear();
  if (module.emulated) {
    for (size_t i = 0; i < module.segments.size(); ++i) code.image += segment_name(i) + " ";
    for (size_t i = 0; i < module.kernels.size(); ++i) code.image += kernel_name(module, i) + " ";
    for (size_t i = 0; i < module.products.size(); ++i) code.image += product_name(module, i) + " ";
    for (uint32_t r : module.routines) {
      for (int phase = 0; phase < gpu_launches(schedule.plan.routines[r]); ++phase) code.image += gpu_phase_name(r, phase) + " ";
    }
    code.image += '\n';
  }
  code.image += result.bytes;
  return {};
}

std::string gpu_code_bytes(const GpuCode& code) {
  std::string out;
  put(out, static_cast<int64_t>(code.units.size()));
  for (const GpuUnits& u : code.units) {
    put(out, u.per);
    put(out, static_cast<int64_t>(u.factors.size()));
    for (const GpuUnits::Factor& f : u.factors) {
      put(out, f.size);
      put(out, f.per);
    }
  }
  return out + code.image;
}

bool read_gpu_code(std::string_view bytes, GpuCode& code) {
  size_t count = 0;
  if (!get_count(bytes, count)) return false;
  code.units.assign(count, {});
  for (GpuUnits& u : code.units) {
    size_t factors = 0;
    if (!get(bytes, u.per) || u.per < 1 || !get_count(bytes, factors)) return false;
    u.factors.assign(factors, {});
    for (GpuUnits::Factor& f : u.factors) {
      if (!get(bytes, f.size) || !get(bytes, f.per) || f.per < 1) return false;
    }
  }
  code.image = bytes;
  return true;
}

}  // namespace tfl::codegen
