// Functions for GPUs in a library: launches, and who decides about branches and loops. See runtime/standalone/gpu_read.c for the form.
#include <algorithm>
#include <array>

#include "codegen/gpu/gpu_code.h"
#include "codegen/gpu/gpu_function.h"
#include "codegen/library/library.h"
#include "codegen/library/writer.h"
#include "codegen/llvm/gpu/launches.h"
#include "codegen/load/plan_facts.h"

namespace tfl::codegen {

namespace {

class Described {
 public:
  Described(Writer& w, const GpuSchedule& schedule, const GpuCode& code) : w_(w), schedule_(schedule), code_(code) {}

  void write(uint32_t function, bool can_fail) {
    const plan::Plan& p = schedule_.plan;
    w_.integer(function);
    w_.string(code_.image);
    w_.integer(can_fail);
    w_.integer(looks_back(p, can_fail));
    w_.integer(std::max<int64_t>(p.words, 1));
    std::vector<const plan::Value*> placed;
    for (const plan::Value& v : p.values) {
      if (v.word != plan::kNone && v.home != plan::Home::scalar && v.home != plan::Home::pointer) placed.push_back(&v);
    }
    w_.count(placed);
    for (const plan::Value* v : placed) {
      w_.integer(static_cast<int64_t>(v->home));
      w_.integer(v->index);
      w_.integer(v->word);
    }
    w_.count(p.slots);
    for (plan::Size s : p.slots) w_.integer(s);
    w_.count(p.results);
    for (const plan::ResultPlace& r : p.results)
      w_.integer(r.kind == plan::ResultPlace::Kind::scalar ? p.values[r.index].word : -1);
    memory();
    launches();
    blocks_.push_back({0, 0});
    block(0, schedule_.steps);
    w_.count(steps_);
    for (const Item& s : steps_) {
      for (int64_t v : s) w_.integer(v);
    }
    w_.count(blocks_);
    for (auto [first, count] : blocks_) {
      w_.integer(first);
      w_.integer(count);
    }
  }

 private:
  using Item = std::array<int64_t, 7>;  // kind, dtype, launch, word, limit, first block, blocks

  void launch(const std::string& name, uint32_t threads, int64_t least, const GpuUnits& units) {
    w_.string(name);
    w_.integer(threads);
    w_.integer(least);
    w_.integer(units.per);
    factors(units.factors);
  }

  // What routines share that are spread over many blocks.
  void memory() {
    w_.integer(schedule_.memory.empty() ? int64_t{-1} : static_cast<int64_t>(schedule_.memory_word));
    w_.count(schedule_.memory);
    for (const std::vector<GpuMemory>& routine : schedule_.memory) {
      w_.count(routine);
      for (const GpuMemory& m : routine) {
        w_.integer(m.bytes);
        factors(m.factors);
      }
    }
  }
  void factors(const std::vector<GpuUnits::Factor>& list) {
    w_.count(list);
    for (const GpuUnits::Factor& f : list) {
      w_.integer(f.size);
      w_.integer(f.per);
    }
  }

  void launches() {
    const GpuModule& m = schedule_.module;
    size_t unit = 0;
    std::vector<int> phases;
    for (uint32_t r : m.routines) phases.push_back(gpu_launches(schedule_.plan.routines[r]));
    w_.integer(static_cast<int64_t>(m.segments.size() + code_.units.size()));
    for (size_t i = 0; i < m.segments.size(); ++i) launch(segment_name(i), segment_threads(m.segments[i]), 1, {});
    for (size_t i = 0; i < m.kernels.size(); ++i) launch(kernel_name(m, i), kGpuThreads, 0, code_.units[unit++]);
    for (size_t i = 0; i < m.products.size(); ++i) launch(product_name(m, i), kGpuThreads, 0, code_.units[unit++]);
    for (size_t i = 0; i < m.routines.size(); ++i) {
      first_phase_.push_back(static_cast<int64_t>(m.segments.size() + unit));
      // One block at least: indices are checked where there is nothing to write.
      for (int phase = 0; phase < phases[i]; ++phase)
        launch(gpu_phase_name(m.routines[i], phase), kGpuThreads, 1, code_.units[unit++]);
    }
  }

  // The steps of a block stand together.
  void block(size_t number, const std::vector<GpuStep>& steps) {
    const GpuModule& m = schedule_.module;
    size_t first = steps_.size();
    std::vector<const GpuStep*> control;
    auto add = [&](int64_t launch) { steps_.push_back({0, 0, launch, 0, -1, 0, 0}); };
    for (const GpuStep& s : steps) {
      switch (s.kind) {
        case GpuStep::Kind::segment: add(s.index); break;
        case GpuStep::Kind::kernel: add(static_cast<int64_t>(m.segments.size()) + s.index); break;
        case GpuStep::Kind::product: add(static_cast<int64_t>(m.segments.size() + m.kernels.size()) + s.index); break;
        case GpuStep::Kind::fast_product: break;  // nobody has asked for these
        case GpuStep::Kind::routine:
          for (int phase = 0; phase < gpu_launches(schedule_.plan.routines[m.routines[s.index]]); ++phase)
            add(first_phase_[s.index] + phase);
          break;
        case GpuStep::Kind::branch:
        case GpuStep::Kind::loop:
          steps_.push_back({s.kind == GpuStep::Kind::branch ? 1 : 2, static_cast<int64_t>(s.dtype), 0, s.word, s.limit,
                            static_cast<int64_t>(blocks_.size()), static_cast<int64_t>(s.blocks.size())});
          blocks_.resize(blocks_.size() + s.blocks.size());
          control.push_back(&s);
          break;
      }
    }
    size_t count = steps_.size() - first, at = 0;
    blocks_[number] = {static_cast<int64_t>(first), static_cast<int64_t>(count)};
    for (size_t i = first; i < first + count; ++i) {
      if (steps_[i][0] == 0) continue;
      const GpuStep& s = *control[at++];
      for (size_t k = 0; k < s.blocks.size(); ++k) block(static_cast<size_t>(steps_[i][5]) + k, s.blocks[k]);
    }
  }

  Writer& w_;
  const GpuSchedule& schedule_;
  const GpuCode& code_;
  std::vector<int64_t> first_phase_;
  std::vector<Item> steps_;
  std::vector<std::pair<int64_t, int64_t>> blocks_;
};

}  // namespace

std::string describe_gpu(const LibraryRequest& request, const std::vector<LoweredFunction>& functions) {
  Writer all;
  int64_t count = 0;
  uint32_t number = 0;
  for (const LoweredFunction& f : functions) {
    for (uint32_t i : whole_parts(f)) {
      if (!f.parts[i].has_code) continue;
      GpuSchedule schedule = gpu_schedule(f.parts[i].plan);
      GpuCode code;
      if (!schedule.supported || !compile_gpu(schedule, request.gpu, request.cpu, code).empty()) continue;
      PlanFacts facts(schedule.plan, schedule.plan.constants);
      Described(all, schedule, code).write(number + i, facts.can_fail);
      ++count;
    }
    number += static_cast<uint32_t>(f.parts.size());
  }
  if (count == 0) return {};
  Writer whole;
  whole.integer(count);
  return whole.bytes + all.bytes;
}

}  // namespace tfl::codegen
