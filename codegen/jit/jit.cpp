#include "codegen/jit/jit.h"

#include <fmt/core.h>

#include <cstdio>

#include "codegen/gpu/gpu_cluster.h"
#include "codegen/jit/array_capacity.h"
#include "codegen/jit/compile_queue.h"
#include "codegen/jit/line_table.h"
#include "codegen/jit/native_function.h"
#include "codegen/plan/build.h"
#include "codegen/plan/outline.h"

namespace tfl::codegen {

struct Jit::State {
  explicit State(const JitOptions& o) : options(o), queue(o) {}
  const JitOptions options;
  CompileQueue queue;
  JitProfile profile;
  uint32_t unplanned = 0;
};

namespace {

constexpr double kForever = 1e6;  // seconds

/// The machine code of one cluster: none at first, the evaluator answers until there is some.
class Cluster final : public ir::Native {
 public:
  Cluster(std::shared_ptr<Jit::State> jit, const ir::Function& function) : jit_(std::move(jit)), function_(&function) {
    ir::walk(function.body, [&](const ir::Node& n) { has_loop_ = has_loop_ || n.op == Op::while_loop; });
  }

  void compile(Context& context) { find_code(context); }

  bool run(Context& context, std::span<Tensor> inputs, std::span<Tensor> results) override {
    if (gpu::Device* device = context.devices().current()) [[unlikely]] {
      if (!gpu_) gpu_ = std::make_unique<GpuCluster>();
      const JitOptions& o = jit_->options;
      if (gpu_->run(context, *device, *function_, {o.cache_folder, o.cpu, o.verbose}, inputs, results)) return true;
    }
    if (!entry_ && !find_code(context)) [[unlikely]]
      return false;
    return unit_->plan.room == plan::kNone ? native_->run(context, entry_, inputs, results)
                                           : run_with_room(context, inputs, results);
  }

  std::unique_ptr<ir::BegunRun> begin(Context& context, std::span<const Tensor> inputs) override {
    if (context.devices().current() || (!entry_ && !find_code(context)) || unit_->plan.room != plan::kNone) return nullptr;
    return native_->begin(context, entry_, inputs);
  }

 private:
  // A cluster has no effects: where arrays that grow have become too long it runs again, with room for more elements. How many that are is
  // remembered.
  bool run_with_room(Context& context, std::span<Tensor> inputs, std::span<Tensor> results) {
    SmallVec<Tensor, 6> all;
    for (const Tensor& t : inputs) all.push_back(t);
    all.push_back({});
    for (;;) {
      Result<Tensor> room = Tensor::empty(context, DType::Bool, {{room_.size(), int64_t{0}}});
      if (!room) return false;
      all.back() = room.take();
      bool full = false;
      if (native_->run(context, entry_, all, results, &full)) return true;
      if (!full || !room_.grow(inputs)) return false;
    }
  }

  bool find_code(Context& context) {
    if (never_) return false;
    ++runs_;
    const JitOptions& options = jit_->options;
    // A loop may be long: it is worth waiting for. Anything else is compiled when it is run again, unless the script says that it shall wait.
    bool forced = options.wait || options.in_advance || wanted, at_once = forced || has_loop_;
    if (!unit_) {
      if (!at_once && runs_ < 2 && options.cache_folder.empty()) return false;
      if (!make_unit(context)) {
        never_ = true;
        ++jit_->unplanned;
        if (options.verbose) fmt::print(stderr, "tfl: {} has no plan\n", function_->name);
        return false;
      }
    }
    if (debugged() && (at_once || runs_ >= 2) && unit_->phase.load(std::memory_order_acquire) == Unit::waiting)
      unit_->lines = line_table(*function_);
    if (at_once) jit_->queue.compile_soon(unit_, context.interrupt, forced ? kForever : options.loop_patience);
    has_loop_ = wanted = false;  // once is enough
    switch (unit_->phase.load(std::memory_order_acquire)) {
      case Unit::ready:
        entry_ = unit_->code->entry();
        // The blocks that the evaluator took for values in between are of other sizes than what the code asks for, and would stay for nothing.
        if (runs_ > 1) context.memory.trim();
        return true;
      case Unit::failed: never_ = true; return false;
      case Unit::waiting:
        if (runs_ >= 2) jit_->queue.compile_later(unit_);
        return false;
      default: return false;
    }
  }

  bool make_unit(Context& context) {
    std::optional<plan::Plan> plan = plan::build_plan(context, *function_, true);
    if (!plan) return false;
    plan::share_kernels(*plan);
    std::string text = plan::plan_text(*plan);
    std::vector<Tensor> constants;
    for (Tensor& t : plan->constants) {
      Result<Tensor> row_major = contiguous(context, t);
      if (!row_major) return false;
      constants.push_back(row_major.take());
    }
    plan->constants.clear();
    unit_ = jit_->queue.unit(std::move(*plan), key_text(text));
    native_ = std::make_unique<NativeFunction>(std::shared_ptr<const plan::Plan>(unit_, &unit_->plan), std::move(constants));
    room_ = Room(unit_->plan);
    if (jit_->options.profile) {
      auto& all = jit_->profile;
      native_->tell(*all.functions.emplace_back(std::make_unique<CodeProfile>(unit_->plan, line_table(*function_))), all);
    }
    return native_->usable();
  }

  bool debugged() const { return jit_->options.listeners.debugger || jit_->options.listeners.profiler; }

  // What decides the code: not the function's name, which is the first line, nor where it stands, unless somebody looks at lines.
  std::string key_text(const std::string& plan) const {
    const std::string probes = jit_->options.profile ? "probes\n" : "";
    if (!debugged()) return probes + plan.substr(plan.find('\n') + 1);
    std::string text = probes + plan;
    for (const LineTable::Line& l : line_table(*function_).lines)
      text += l.file + ':' + std::to_string(l.line) + ' ' + l.function + '\n';
    return text;
  }

  std::unique_ptr<GpuCluster> gpu_;
  EntryFunction entry_ = nullptr;
  std::unique_ptr<NativeFunction> native_;
  std::shared_ptr<Unit> unit_;
  std::shared_ptr<Jit::State> jit_;
  const ir::Function* function_;  // which this belongs to
  uint32_t runs_ = 0;
  bool has_loop_ = false, never_ = false;
  Room room_;
};

}  // namespace

Jit::Jit(const JitOptions& options) : state_(std::make_shared<State>(options)) {}

Jit::~Jit() = default;

void Jit::stop() { state_->queue.stop(); }

Result<void> Jit::prepare(Context& context, ir::Function& f) {
  if (!state_->options.enabled) return {};
  plan::outline(context, f, [&](const std::shared_ptr<ir::Function>& made) {
    auto cluster = std::make_shared<Cluster>(state_, *made);
    bool possible = true;
    (void)ir::without_variables(context, *made, cluster->variables, possible);
    for (uint32_t i = 0; i < made->body.results.size(); ++i) {
      if (made->body.results[i].type().kind == ir::TypeKind::Array) cluster->arrays.push_back(i);
    }
    made->native = cluster;
    if (state_->options.in_advance) cluster->compile(context);
  });
  return {};
}

JitProfile& Jit::profile() { return state_->profile; }

JitCounts Jit::counts() const {
  JitCounts c = state_->queue.counts();
  c.unplanned = state_->unplanned;
  return c;
}

}  // namespace tfl::codegen
