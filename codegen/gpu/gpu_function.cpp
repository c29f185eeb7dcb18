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
constexpr uint32_t kFewThreads = 32;

bool has_kernels(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const plan::Step& s) {
    return s.kind == plan::Step::Kind::kernel || s.kind == plan::Step::Kind::product || s.kind == plan::Step::Kind::routine ||
           std::any_of(s.blocks.begin(), s.blocks.end(), has_kernels);
  });
}

bool has_loops(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const plan::Step& s) {
    return s.kind == plan::Step::Kind::loop ||
           std::any_of(s.blocks.begin(), s.blocks.end(), [](const plan::Block& b) { return has_loops(b); });
  });
}

bool has_loops(const std::vector<GpuStep>& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const GpuStep& s) {
    return s.kind == GpuStep::Kind::loop ||
           std::any_of(s.blocks.begin(), s.blocks.end(), [](const auto& b) { return has_loops(b); });
  });
}

}  // namespace

uint32_t segment_threads(const plan::Block& segment) {
  return static_cast<uint32_t>(has_kernels(segment) ? kGpuThreads : kFewThreads);
}

bool looks_back(const plan::Plan& p, bool can_fail) {
  return can_fail || has_loops(p.body) || std::any_of(p.results.begin(), p.results.end(), [](const ResultPlace& r) {
           return r.kind == ResultPlace::Kind::scalar;
         });
}

GpuFunction::GpuFunction(gpu::Device& device, GpuSchedule schedule, const GpuCode& code, std::vector<Tensor> constants)
    : device_(device),
      schedule_(std::move(schedule)),
      units_(code.units),
      constants_(std::move(constants)),
      facts_(schedule_.plan, constants_) {
  const GpuModule& m = schedule_.module;
  for (size_t i = 0; i < m.segments.size(); ++i) {
    segments_.push_back(segment_name(i));
    threads_.push_back(segment_threads(m.segments[i]));
  }
  for (size_t i = 0; i < m.kernels.size(); ++i) kernels_.push_back(kernel_name(m, i));
  for (size_t i = 0; i < m.products.size(); ++i) products_.push_back(product_name(m, i));
  size_t units = m.kernels.size() + m.products.size();
  for (uint32_t r : m.routines) {
    auto& phases = routines_.emplace_back();
    for (int phase = 0; phase < gpu_launches(schedule_.plan.routines[r]); ++phase)
      phases.push_back({gpu_phase_name(r, phase), units++});
  }
  all_units_ = units;
  bool decides = device.uses_conditions && device.has_conditions();
  looks_back_ = looks_back(schedule_.plan, facts_.can_fail);
  size_t launches = schedule_.steps.size();
  for (const auto& phases : routines_) launches += phases.size() - 1;
  bool straight = is_straight(schedule_.steps);
  records_ = device.uses_graphs && device.has_graphs() && (launches > 1 || !straight) && (straight || decides) &&
             is_recordable(schedule_.steps);
  loops_ = has_loops(schedule_.steps);
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
  if (frame_) device_.release(frame_);
  for (gpu::Address a : constant_addresses_) device_.release(a);
}

/// One run. Whatever it took goes back when it ends; results stay when it succeeded.
struct GpuFunction::Call {
  GpuFunction& self;
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
  gpu::Address slots = 0;
  size_t frame_bytes = 0;

  Call(GpuFunction& f, Context& c, std::span<const Tensor> in, std::span<Tensor> out)
      : self(f), plan(f.schedule_.plan), context(c), device(f.device_), inputs(in), results(out) {
    frame_bytes =
        (kFrameHeader + sizeof(int64_t) * std::max<size_t>(plan.words, 1) + kSlotsAlignment - 1) & ~(kSlotsAlignment - 1);
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
    size_t all = 0;
    if (!self.facts_.place_slots(plan, words, places, all)) return fail(ErrorKind::MemoryError, "slots that cannot be counted");
    if (!self.frame_) self.frame_ = TFL_TRY(device.allocate(frame_bytes));
    if (all > 0) slots = TFL_TRY(take(all));
    for (const PlanFacts::Address& a : self.facts_.addresses) {
      gpu::Address at = 0;
      switch (a.home) {
        case plan::Home::input: at = addresses[a.index]; break;
        case plan::Home::constant: at = self.constant_addresses_[a.index]; break;
        case plan::Home::result: at = made[a.index]; break;
        case plan::Home::temporary:
          at = slots + (self.facts_.known_arena ? self.facts_.offsets[a.index] : places[a.index]);
          break;
        case plan::Home::pointer:
        case plan::Home::scalar: break;
      }
      words[a.word] = static_cast<int64_t>(at);
    }
    if (!self.schedule_.memory.empty()) words[self.schedule_.memory_word] = static_cast<int64_t>(TFL_TRY(take_memory()));
    if (device.info().emulated) frame->interrupt = reinterpret_cast<const uint32_t*>(&context.interrupt);
    return device.to_device(self.frame_, memory.data(), frame_bytes);
  }

  // For routines that are spread: as much as the largest needs.
  Result<gpu::Address> take_memory() {
    size_t most = 0;
    for (const std::vector<GpuMemory>& routine : self.schedule_.memory) {
      size_t all = 0;
      for (const GpuMemory& m : routine) {
        auto bytes = static_cast<size_t>(m.bytes);
        bool fits = true;
        for (const GpuUnits::Factor& f : m.factors) {
          int64_t size = std::max<int64_t>(size_of(f.size, words), 0);
          fits = fits && !__builtin_mul_overflow(bytes, static_cast<size_t>((size + f.per - 1) / f.per), &bytes);
        }
        if (!fits || __builtin_add_overflow(all, bytes, &all))
          return fail(ErrorKind::MemoryError, "memory that cannot be counted");
      }
      most = std::max(most, all);
    }
    return take(most);
  }

  Result<void> launch(std::string_view kernel, int64_t blocks, uint32_t threads) {
    if (blocks == 0) return {};
    uint64_t argument = self.frame_;
    gpu::Launch l;
    l.module = self.module_.get();
    l.kernel = kernel;
    l.blocks = static_cast<uint32_t>(std::min(blocks, kMostBlocks));
    l.threads = threads;
    l.arguments = {&argument, 1};
    return device.launch(l);
  }

  Result<void> multiply(const plan::Product& p) {
    auto address = [&](plan::ValueId v) { return static_cast<gpu::Address>(words[plan.values[v].word]); };
    auto size = [&](Size s) { return size_of(s, words); };
    int64_t elements = size(p.batch) * size(p.m) * size(p.n);
    if (elements == 0) return {};
    if (size(p.k) == 0) {
      std::vector<float> zeros(static_cast<size_t>(elements));
      return device.to_device(address(p.result), zeros.data(), zeros.size() * sizeof(float));
    }
    return device.multiply({address(p.a), address(p.b), address(p.result), p.transpose_a, p.transpose_b, size(p.batch), size(p.m),
                            size(p.n), size(p.k), size(p.a_batch), size(p.b_batch)});
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

  /// Brings what the frame holds up to a word as the device has it now; false when something has failed, or nobody waits any more.
  Result<bool> look(uint32_t word) {
    constexpr size_t kFrom = offsetof(Frame, failed);
    TFL_TRY(device.to_host(&frame->failed, self.frame_ + kFrom, kFrameHeader - kFrom + sizeof(int64_t) * (word + 1)));
    return frame->failed == 0 && context.interrupt.load(std::memory_order_relaxed) == 0;
  }

  static uint32_t bytes_of(const GpuStep& s) { return s.dtype == DType::Bool ? 1 : dtype_size(s.dtype) == 4 ? 4 : 8; }

  Result<void> launch(const GpuStep& s) {
    if (s.kind == GpuStep::Kind::segment) return launch(self.segments_[s.index], 1, self.threads_[s.index]);
    if (s.kind == GpuStep::Kind::kernel) return launch(self.kernels_[s.index], blocks_of(self.units_[s.index]), kGpuThreads);
    if (s.kind == GpuStep::Kind::product)
      return launch(self.products_[s.index], blocks_of(self.units_[self.kernels_.size() + s.index]), kGpuThreads);
    if (s.kind == GpuStep::Kind::fast_product) return multiply(plan.products[s.index]);
    // One block at least of a routine: indices are checked where there is nothing to write.
    for (const Phase& phase : self.routines_[s.index])
      TFL_TRY(launch(phase.name, std::max<int64_t>(1, blocks_of(self.units_[phase.units])), kGpuThreads));
    return {};
  }

  // The host decides. False when it must not go on.
  Result<bool> steps(const std::vector<GpuStep>& all) {
    for (const GpuStep& s : all) {
      if (s.blocks.empty()) {
        TFL_TRY(launch(s));
      } else if (s.kind == GpuStep::Kind::loop) {
        if (!TFL_TRY(loop(s))) return false;
      } else {
        if (!TFL_TRY(look(s.word))) return false;
        if (!TFL_TRY(steps(s.blocks[gpu::chosen_block(static_cast<uint64_t>(words[s.word]), bytes_of(s),
                                                      static_cast<uint32_t>(s.blocks.size()))])))
          return false;
      }
    }
    return true;
  }

  // The launches of an iteration become one, where the device records launches: from the third time on, when all code has been loaded.
  Result<bool> loop(const GpuStep& s) {
    constexpr int64_t kRecorded = 2;
    std::unique_ptr<gpu::Graph> graph;
    bool records = device.uses_graphs && device.has_graphs() && is_straight(s.blocks[0]) && is_straight(s.blocks[1]) &&
                   is_recordable(s.blocks[0]) && is_recordable(s.blocks[1]);
    for (int64_t i = 0;; ++i) {
      bool last = s.limit >= 0 && i >= s.limit;  // what the condition is does not matter then, and it may not be computed
      if (i == kRecorded && records && !last) graph = TFL_TRY(recorded({&s.blocks[1], &s.blocks[0]}));
      if (graph && !last) {
        TFL_TRY(device.launch_graph(*graph));
      } else {
        if (i > 0 && !TFL_TRY(steps(s.blocks[1]))) return false;
        if (last) return true;
        if (!TFL_TRY(steps(s.blocks[0]))) return false;
      }
      if (!TFL_TRY(look(s.word))) return false;
      if ((words[s.word] & 0xff) == 0) return true;
    }
  }

  gpu::Condition condition(const GpuStep& s, size_t block) const {
    auto word = [&](uint32_t number) { return self.frame_ + kFrameHeader + sizeof(int64_t) * number; };
    gpu::Condition c;
    c.repeats = s.kind == GpuStep::Kind::loop;
    c.word = word(s.word);
    c.bytes = bytes_of(s);
    c.blocks = c.repeats ? 2 : static_cast<uint32_t>(s.blocks.size());
    c.block = static_cast<uint32_t>(block);
    c.failed = self.frame_ + offsetof(Frame, failed);
    if (c.repeats && s.limit >= 0) {
      c.counter = word(s.counter);
      c.limit = s.limit;
    }
    return c;
  }

  // The device decides: the same into a recording. After the last iteration that a limit allows the condition is computed once more:
  // where that fails, the CPU does the call.
  Result<void> record(const std::vector<GpuStep>& all) {
    for (const GpuStep& s : all) {
      if (s.blocks.empty()) {
        TFL_TRY(launch(s));
      } else if (s.kind == GpuStep::Kind::loop) {
        if (s.limit == 0) continue;
        TFL_TRY(record(s.blocks[0]));
        TFL_TRY(device.begin_part(condition(s, 0)));
        TFL_TRY(record(s.blocks[1]));
        TFL_TRY(record(s.blocks[0]));
        TFL_TRY(device.end_part());
      } else {
        for (size_t i = 0; i < s.blocks.size(); ++i) {
          if (s.blocks[i].empty()) continue;
          TFL_TRY(device.begin_part(condition(s, i)));
          TFL_TRY(record(s.blocks[i]));
          TFL_TRY(device.end_part());
        }
      }
    }
    return {};
  }

  Result<std::unique_ptr<gpu::Graph>> recorded(std::initializer_list<const std::vector<GpuStep>*> parts) {
    Result<void> done = device.begin_graph();
    for (auto part = parts.begin(); done && part != parts.end(); ++part) done = record(**part);
    Result<std::unique_ptr<gpu::Graph>> graph = device.end_graph();
    if (!done) return done.failure();
    return graph;
  }

  // False when there is no graph for these numbers of blocks, or not yet: what is called once is not worth one, unless it loops.
  Result<bool> run_graph() {
    constexpr uint32_t kRecorded = 2;
    if (!self.records_) return false;
    std::vector<int64_t> blocks;
    for (const GpuUnits& u : self.units_) blocks.push_back(blocks_of(u));
    if (blocks != self.blocks_) {
      self.graph_.reset();
      self.blocks_ = std::move(blocks);
      self.calls_ = 0;
    }
    if (!self.graph_) {
      if (self.calls_++ < kRecorded && !self.loops_) return false;
      Result<std::unique_ptr<gpu::Graph>> made = recorded({&self.schedule_.steps});
      if (!made) {  // the driver does not do it: launches one by one
        self.records_ = false;
        return false;
      }
      self.graph_ = made.take();
    }
    TFL_TRY(device.launch_graph(*self.graph_));
    return true;
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
    if (!TFL_TRY(run_graph()) && !TFL_TRY(steps(self.schedule_.steps))) return false;
    if (self.looks_back_) TFL_TRY(device.to_host(memory.data(), self.frame_, frame_bytes));
    return frame->failed == 0 && finish();
  }
};

bool GpuFunction::run(Context& context, std::span<const Tensor> inputs, std::span<Tensor> results, std::string& why) {
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
