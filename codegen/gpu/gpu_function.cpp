#include "codegen/gpu/gpu_function.h"

#include <algorithm>
#include <cstring>

namespace tfl::codegen {

namespace {

using plan::Plan;
using plan::ResultPlace;
using plan::Size;

constexpr size_t kFrameHeader = offsetof(Frame, words);
constexpr uint64_t kWideAlignment = 16;  // of what kernels read at once
constexpr size_t kSlotsAlignment = 256;
constexpr int64_t kMostBlocks = 1 << 20;  // of a launch: blocks take turns with units
constexpr uint32_t kThreads = 256, kFewThreads = 32;

bool has_kernels(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const plan::Step& s) {
    return s.kind == plan::Step::Kind::kernel || s.kind == plan::Step::Kind::product || s.kind == plan::Step::Kind::routine ||
           std::any_of(s.blocks.begin(), s.blocks.end(), has_kernels);
  });
}

bool has_loops(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const plan::Step& s) {
    return s.kind == plan::Step::Kind::loop || std::any_of(s.blocks.begin(), s.blocks.end(), has_loops);
  });
}

}  // namespace

GpuFunction::GpuFunction(gpu::Device& device, GpuSchedule schedule, const GpuCode& code, std::vector<Tensor> constants)
    : device_(device),
      schedule_(std::move(schedule)),
      units_(code.units),
      constants_(std::move(constants)),
      facts_(schedule_.plan, constants_) {
  const GpuModule& m = schedule_.module;
  for (size_t i = 0; i < m.segments.size(); ++i) {
    segments_.push_back(segment_name(i));
    threads_.push_back(has_kernels(m.segments[i]) ? kThreads : kFewThreads);
  }
  for (size_t i = 0; i < m.kernels.size(); ++i) kernels_.push_back(kernel_name(m, i));
  for (size_t i = 0; i < m.products.size(); ++i) products_.push_back(product_name(m, i));
  size_t units = m.kernels.size() + m.products.size();
  for (uint32_t r : m.routines) {
    auto& phases = routines_.emplace_back();
    for (int phase = 0; phase < gpu_phases(schedule_.plan.routines[r].routine); ++phase) phases.push_back({gpu_phase_name(r, phase), units++});
  }
  all_units_ = units;
  looks_back_ = facts_.can_fail || has_loops(schedule_.plan.body) ||
                std::any_of(schedule_.plan.results.begin(), schedule_.plan.results.end(),
                            [](const ResultPlace& r) { return r.kind == ResultPlace::Kind::scalar; });
}

Result<std::unique_ptr<GpuFunction>> GpuFunction::load(gpu::Device& device, GpuSchedule schedule, const GpuCode& code,
                                                       std::vector<Tensor> constants) {
  std::unique_ptr<GpuFunction> made(new GpuFunction(device, std::move(schedule), code, std::move(constants)));
  if (!made->facts_.usable || made->units_.size() != made->all_units_)
    return fail(ErrorKind::InternalError, "a plan that GPUs cannot run");
  made->module_ = TFL_TRY(device.load(code.image));
  for (const Tensor& t : made->constants_) {
    gpu::Address address = TFL_TRY(device.allocate(t.bytes()));
    made->constant_addresses_.push_back(address);
    TFL_TRY(device.to_device(address, t.raw(), t.bytes()));
  }
  return made;
}

GpuFunction::~GpuFunction() {
  for (gpu::Address a : constant_addresses_) device_.release(a);
}

/// One run. Whatever it took goes back when it ends; results stay when it succeeded.
struct GpuFunction::Call {
  const GpuFunction& self;
  const Plan& plan;
  Context& context;
  gpu::Device& device;
  std::span<const Tensor> inputs;
  std::span<Tensor> results;
  std::vector<std::byte> memory;  // the frame
  Frame* frame;
  int64_t* words;
  std::vector<Tensor> rows;             // the inputs, row-major
  std::vector<gpu::Address> addresses;  // of inputs
  std::vector<gpu::Address> made;       // of results; 0 where the code makes none
  std::vector<gpu::Address> taken;      // goes back
  gpu::Address arena = 0;
  size_t frame_bytes = 0;

  Call(const GpuFunction& f, Context& c, std::span<const Tensor> in, std::span<Tensor> out)
      : self(f), plan(f.schedule_.plan), context(c), device(f.device_), inputs(in), results(out) {
    frame_bytes = (kFrameHeader + sizeof(int64_t) * std::max<size_t>(plan.words, 1) + kSlotsAlignment - 1) &
                  ~(kSlotsAlignment - 1);
    memory.resize(frame_bytes);
    frame = new (memory.data()) Frame{};
    words = frame->words;
  }
  ~Call() {
    for (gpu::Address a : taken) device.release(a);
  }

  Result<gpu::Address> take(size_t bytes) {
    gpu::Address a = TFL_TRY(device.allocate(bytes));
    taken.push_back(a);
    return a;
  }

  Result<void> place_inputs() {
    for (const Tensor& t : inputs) {
      rows.push_back(t.contiguous() ? t : TFL_TRY(contiguous(context, t)));
      gpu::Devices::Place place = TFL_TRY(context.devices().to_device(device, rows.back()));
      if (place.temporary) taken.push_back(place.address);
      if (place.address % kWideAlignment != 0) {
        gpu::Address aligned = TFL_TRY(take(rows.back().bytes()));
        TFL_TRY(device.copy(aligned, place.address, rows.back().bytes()));
        place.address = aligned;
      }
      addresses.push_back(place.address);
    }
    return {};
  }

  Result<void> make_results() {
    made.resize(results.size());
    for (size_t i = 0; i < results.size(); ++i) {
      const ResultPlace& r = plan.results[i];
      if (r.kind != ResultPlace::Kind::memory) continue;
      Dims dims;
      for (Size s : r.dims) dims.push_back(size_of(s, words));
      int64_t n = TFL_TRY(element_count(dims));
      size_t bytes = 0;
      if (__builtin_mul_overflow(static_cast<size_t>(n), dtype_size(r.dtype), &bytes))
        return fail(ErrorKind::MemoryError, "a result is too large");
      gpu::Address address = TFL_TRY(device.allocate(bytes));
      results[i] = context.devices().on_device(device, r.dtype, dims, address);
      made[i] = address;
    }
    return {};
  }

  Result<void> send_frame() {
    SmallVec<size_t, 8> places;
    size_t slots = 0, all = 0;
    if (!self.facts_.place_slots(plan, words, places, slots) || __builtin_add_overflow(slots, frame_bytes, &all))
      return fail(ErrorKind::MemoryError, "slots that cannot be counted");
    arena = TFL_TRY(take(all));
    for (const PlanFacts::Address& a : self.facts_.addresses) {
      gpu::Address at = 0;
      switch (a.home) {
        case plan::Home::input: at = addresses[a.index]; break;
        case plan::Home::constant: at = self.constant_addresses_[a.index]; break;
        case plan::Home::result: at = made[a.index]; break;
        case plan::Home::temporary:
          at = arena + frame_bytes + (self.facts_.known_arena ? self.facts_.offsets[a.index] : places[a.index]);
          break;
        case plan::Home::pointer:
        case plan::Home::scalar: break;
      }
      words[a.word] = static_cast<int64_t>(at);
    }
    if (device.info().emulated) frame->interrupt = reinterpret_cast<const uint32_t*>(&context.interrupt);
    return device.to_device(arena, memory.data(), frame_bytes);
  }

  Result<void> launch(std::string_view kernel, int64_t blocks, uint32_t threads) {
    if (blocks == 0) return {};
    uint64_t argument = arena;
    gpu::Launch l;
    l.module = self.module_.get();
    l.kernel = kernel;
    l.blocks = static_cast<uint32_t>(std::min(blocks, kMostBlocks));
    l.threads = threads;
    l.arguments = {&argument, 1};
    return device.launch(l);
  }

  int64_t blocks_of(const GpuUnits& units) const {
    int64_t n = 1;
    for (const GpuUnits::Factor& f : units.factors) {
      int64_t size = size_of(f.size, words);
      if (size <= 0) return 0;
      if (__builtin_mul_overflow(n, (size - 1) / f.per + 1, &n)) return kMostBlocks;
    }
    return (n - 1) / units.per + 1;
  }

  // A word of the frame as the device has it now, and whether something has failed.
  Result<bool> ask(uint32_t word, uint64_t& value) {
    TFL_TRY(device.to_host(&value, arena + kFrameHeader + sizeof(int64_t) * word, sizeof value));
    if (self.facts_.can_fail)
      TFL_TRY(device.to_host(&frame->failed, arena + offsetof(Frame, failed), sizeof frame->failed));
    return frame->failed == 0 && context.interrupt.load(std::memory_order_relaxed) == 0;
  }

  /// False when it must not go on.
  Result<bool> steps(const std::vector<GpuStep>& all) {
    for (const GpuStep& s : all) {
      switch (s.kind) {
        case GpuStep::Kind::segment: TFL_TRY(launch(self.segments_[s.index], 1, self.threads_[s.index])); break;
        case GpuStep::Kind::kernel:
          TFL_TRY(launch(self.kernels_[s.index], blocks_of(self.units_[s.index]), kThreads));
          break;
        case GpuStep::Kind::product:
          TFL_TRY(launch(self.products_[s.index], blocks_of(self.units_[self.kernels_.size() + s.index]), kThreads));
          break;
        case GpuStep::Kind::routine:
          // One block at least: indices are checked where there is nothing to write.
          for (const Phase& phase : self.routines_[s.index])
            TFL_TRY(launch(phase.name, std::max<int64_t>(1, blocks_of(self.units_[phase.units])), kThreads));
          break;
        case GpuStep::Kind::branch: {
          uint64_t value = 0;
          if (!TFL_TRY(ask(s.word, value)) || !TFL_TRY(steps(s.blocks[chosen(s, value)]))) return false;
          break;
        }
        case GpuStep::Kind::loop:
          if (!TFL_TRY(loop(s))) return false;
          break;
      }
    }
    return true;
  }

  static size_t chosen(const GpuStep& s, uint64_t word) {
    if (s.dtype == DType::Bool) return (word & 0xff) != 0 ? 0 : s.blocks.size() - 1;
    int64_t index = dtype_size(s.dtype) == 4 ? static_cast<int32_t>(word) : static_cast<int64_t>(word);
    bool inside = index >= 0 && index < static_cast<int64_t>(s.blocks.size());
    return inside ? static_cast<size_t>(index) : s.blocks.size() - 1;
  }

  /// The launches of one iteration of a loop, as one; they are not run. Null where the device does not record them.
  Result<std::unique_ptr<gpu::Graph>> recorded(const GpuStep& s) {
    if (!device.begin_graph()) return std::unique_ptr<gpu::Graph>();
    Result<bool> done = steps(s.blocks[1]);
    if (done) done = steps(s.blocks[0]);
    Result<std::unique_ptr<gpu::Graph>> graph = device.end_graph();  // after a failure, too: else everything later would be recorded
    if (!done) return done.failure();
    return graph;
  }

  // The launches of an iteration become one, where the device records launches: from the third time on, when all code has been loaded.
  Result<bool> loop(const GpuStep& s) {
    constexpr int64_t kRecorded = 2;
    std::unique_ptr<gpu::Graph> graph;
    bool records = device.has_graphs() && is_straight(s.blocks[0]) && is_straight(s.blocks[1]);
    for (int64_t i = 0;; ++i) {
      if (s.limit >= 0 && i >= s.limit) return true;
      if (i == kRecorded && records) graph = TFL_TRY(recorded(s));
      if (graph) {
        TFL_TRY(device.launch_graph(*graph));
      } else {
        if (i > 0 && !TFL_TRY(steps(s.blocks[1]))) return false;
        if (!TFL_TRY(steps(s.blocks[0]))) return false;
      }
      uint64_t value = 0;
      if (!TFL_TRY(ask(s.word, value))) return false;
      if ((value & 0xff) == 0) return true;
    }
  }

  bool finish() {
    SmallVec<const Tensor*, 12> given;
    for (const Tensor& t : rows) given.push_back(&t);
    return give_results(context, plan, words, {given.data(), given.size()}, self.constants_, results);
  }

  Result<bool> run() {
    TFL_TRY(place_inputs());
    TFL_TRY(make_results());
    TFL_TRY(send_frame());
    if (!TFL_TRY(steps(self.schedule_.steps))) return false;
    if (self.looks_back_) TFL_TRY(device.to_host(memory.data(), arena, frame_bytes));
    return frame->failed == 0 && finish();
  }
};

bool GpuFunction::run(Context& context, std::span<const Tensor> inputs, std::span<Tensor> results, std::string& why) const {
  Call call(*this, context, inputs, results);
  if (!facts_.types_hold(schedule_.plan, inputs, results.size()) || !facts_.sizes_hold(schedule_.plan, inputs, call.words)) {
    why = "the code is for other sizes";
  } else if (Result<bool> done = call.run(); !done) {
    why = done.error().message;
  } else if (!*done) {
    why = "an operation would raise, or gives what the plan did not expect";
  } else if (context.interrupt.load(std::memory_order_relaxed) != 0) {
    why = "it was interrupted";
  } else {
    return true;
  }
  for (Tensor& t : results) t = Tensor();
  return false;
}

}  // namespace tfl::codegen
