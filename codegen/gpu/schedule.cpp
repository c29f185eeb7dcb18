#include "codegen/gpu/schedule.h"

#include <algorithm>
#include <set>

namespace tfl::codegen {

namespace {

using plan::Block;
using plan::Expr;
using plan::is_known;
using plan::Kernel;
using plan::kNone;
using plan::Plan;
using plan::Product;
using plan::Size;
using plan::Step;
using plan::ValueId;

// What one block of threads does in about the time that a launch takes: cheap operations.
constexpr int64_t kSmallKernel = 1 << 15, kSmallProduct = 1 << 17;
constexpr int64_t kUnknownIterations = 64;

int64_t work_of_sizes(const plan::Sizes& sizes, int64_t cost) {
  int64_t work = std::max<int64_t>(cost, 1);
  for (Size s : sizes) {
    if (!is_known(s) || __builtin_mul_overflow(work, s, &work)) return INT64_MAX;
  }
  return work;
}

class Scheduler {
 public:
  Scheduler(GpuSchedule& to, bool fast_products) : to_(to), plan_(to.plan), fast_products_(fast_products) {}

  void run() {
    for (const plan::RoutineStep& r : plan_.routines) {
      to_.checks = to_.checks || routine_fails(r.routine);
      // The seed of random numbers is a pair, or three words that are the state of a generator.
      if (r.routine == Routine::random && !is_known(r.sizes[1])) to_.supported = false;
      if (r.routine == Routine::solve || r.routine == Routine::factor || r.routine == Routine::sample ||
          r.routine == Routine::fourier)
        to_.supported = false;
      // Draws until it accepts, or one place after the other.
      auto kind = static_cast<RandomKind>(r.flags);
      if (r.routine == Routine::random && (kind == RandomKind::truncated || kind == RandomKind::permutation))
        to_.supported = false;
    }
    for (uint32_t p = 0; p < plan_.products.size(); ++p) {
      if (!is_fast(plan_.products[p]) && is_fused(plan_.products[p])) to_.module.fused.push_back(p);
    }
    to_.steps = steps(plan_.body);
    words();
  }

 private:
  // Steps that wait to become a segment, and where it goes.
  struct Run {
    Block block;
    std::vector<GpuStep> done;
  };

  bool is_small(uint32_t kernel) const {
    const Kernel& k = plan_.kernels[kernel];
    int64_t cost = k.cost;
    for (const plan::KernelLoop& l : k.loops) cost *= l.limit >= 0 ? std::clamp<int64_t>(l.limit, 1, 1000) : kUnknownIterations;
    return work_of_sizes(k.axes, cost) <= kSmallKernel;
  }

  static bool is_small(const plan::RoutineStep& r) {
    switch (r.routine) {
      case Routine::scatter:  // a block looks at every update for every element, as far as threads go
      case Routine::segment: return work_of_sizes(r.sizes, 1) <= kSmallKernel;
      case Routine::sort: return work_of_sizes({r.sizes[0], r.sizes[1]}, 64) <= kSmallKernel;
      case Routine::random: return work_of_sizes({r.sizes[0]}, 16) <= kSmallKernel;
      default: return work_of_sizes(r.sizes, 2) <= kSmallKernel;
    }
  }

  int64_t work_of(const Product& p) const {
    if (p.window == kNone) return work_of_sizes({p.batch, p.m, p.n, p.k}, 1);
    const plan::Window& w = plan_.windows[p.window];
    const Windows& windows = w.shape.windows;
    return work_of_sizes(
        {w.batch, std::max(windows.outputs(), windows.inputs()), windows.taps(), w.shape.channels_in, w.shape.channels_out}, 1);
  }

  // Whether a product is the device's own. Light ones never come to that.
  bool is_fast(const Product& p) const {
    auto lies = [&](ValueId v) {
      return plan_.values[v].home != plan::Home::pointer && plan_.values[v].home != plan::Home::scalar;
    };
    return fast_products_ && p.window == kNone && plan_.values[p.a].dtype == DType::F32 && lies(p.a) && lies(p.b) &&
           lies(p.result) && work_of(p) > kSmallProduct;
  }

  // Whether the epilogue of a product is a map over its rows and columns that reads of the result what it then stands at.
  bool is_fused(const Product& p) const {
    constexpr size_t kMostExprs = 24;
    if (p.epilogue == kNone || (p.window != kNone && is_pool(plan_.windows[p.window].kind))) return false;
    const Kernel& k = plan_.kernels[p.epilogue];
    bool flat = k.axes.size() == 1 && (is_one(p.m) || is_one(p.n));
    bool square = k.axes.size() == 2 && k.axes[0] == p.m && k.axes[1] == p.n;
    if (k.form != plan::Form::map || !k.loops.empty() || (!flat && !square) || k.exprs.size() > kMostExprs) return false;
    return std::all_of(k.exprs.begin(), k.exprs.end(), [&](const Expr& e) {
      if (e.kind != plan::ExprKind::load) return true;
      const plan::Access& a = e.access;
      if (a.value != p.result) {
        const plan::Value &mine = plan_.values[a.value], &result = plan_.values[p.result];
        return mine.home == plan::Home::pointer || mine.home != result.home || mine.index != result.index;
      }
      bool plain = a.offset == 0 && a.indexed.empty() && a.mask == kNone && a.strides[a.strides.size() - 1] == 1;
      return plain && (flat || a.strides[0] == p.n);
    });
  }
  static bool is_one(Size s) { return s == 1; }

  bool is_light(const Step& s) const {
    switch (s.kind) {
      case Step::Kind::scalar:
      case Step::Kind::check:
      case Step::Kind::point: return true;
      case Step::Kind::routine: return is_small(plan_.routines[s.index]);
      case Step::Kind::kernel: return is_small(s.index);
      case Step::Kind::product: {
        const Product& p = plan_.products[s.index];
        return work_of(p) <= kSmallProduct && (p.epilogue == kNone || is_small(p.epilogue));
      }
      case Step::Kind::branch:
      case Step::Kind::loop:
        return std::all_of(s.blocks.begin(), s.blocks.end(), [&](const Block& b) {
          return std::all_of(b.steps.begin(), b.steps.end(), [&](const Step& inner) { return is_light(inner); });
        });
      default: return false;
    }
  }

  static Step move(ValueId to, ValueId from, const Plan& plan) {
    Step s;
    s.result = to;
    s.expr.kind = plan::ExprKind::value;
    s.expr.dtype = plan.values[to].dtype;
    s.expr.access.value = from;
    return s;
  }
  void moves(Run& run, const std::vector<ValueId>& to, const std::vector<ValueId>& from) const {
    for (size_t i = 0; i < to.size() && i < from.size(); ++i) run.block.steps.push_back(move(to[i], from[i], plan_));
  }

  void flush(Run& run) {
    if (run.block.steps.empty()) return;
    GpuStep s;
    s.index = static_cast<uint32_t>(to_.module.segments.size());
    to_.module.segments.push_back(std::move(run.block));
    run.block = {};
    run.done.push_back(std::move(s));
  }

  static uint32_t number_of(std::vector<uint32_t>& all, uint32_t which) {
    auto it = std::find(all.begin(), all.end(), which);
    if (it == all.end()) it = all.insert(it, which);
    return static_cast<uint32_t>(it - all.begin());
  }

  GpuStep condition(GpuStep::Kind kind, ValueId value, uint32_t location) {
    GpuStep s;
    s.kind = kind;
    s.location = location;
    s.dtype = plan_.values[value].dtype;
    s.index = value;  // words are given out at the end
    asked_.insert(value);
    return s;
  }

  std::vector<GpuStep> steps(const Block& block) {
    Run run;
    add(run, block);
    flush(run);
    return std::move(run.done);
  }

  void add(Run& run, const Block& block) {
    for (const Step& s : block.steps) {
      if (is_light(s)) {
        run.block.steps.push_back(s);
        continue;
      }
      switch (s.kind) {
        case Step::Kind::kernel: launch(run, GpuStep::Kind::kernel, number_of(to_.module.kernels, s.index)); break;
        case Step::Kind::product: {
          const Product& p = plan_.products[s.index];
          uint32_t epilogue = p.epilogue;
          bool fast = is_fast(p);
          if (fast)
            launch(run, GpuStep::Kind::fast_product, s.index);
          else
            launch(run, GpuStep::Kind::product, number_of(to_.module.products, s.index));
          if (epilogue != kNone && (fast || !is_fused(p)))
            launch(run, GpuStep::Kind::kernel, number_of(to_.module.kernels, epilogue));
          break;
        }
        case Step::Kind::branch: {
          flush(run);
          GpuStep b = condition(GpuStep::Kind::branch, s.condition, s.location);
          for (const Block& inner : s.blocks) {
            Run of_block;
            add(of_block, inner);
            moves(of_block, s.results, inner.results);
            flush(of_block);
            b.blocks.push_back(std::move(of_block.done));
          }
          run.done.push_back(std::move(b));
          break;
        }
        case Step::Kind::loop: {
          // The variables are what the loop gives; each block has copies of them.
          moves(run, s.results, s.initial);
          flush(run);
          GpuStep l = condition(GpuStep::Kind::loop, s.blocks[0].results[0], s.location);
          l.limit = s.limit;
          for (size_t i = 0; i < 2; ++i) {
            Run of_block;
            moves(of_block, s.blocks[i].params, s.results);
            add(of_block, s.blocks[i]);
            if (i == 1) moves(of_block, s.results, s.blocks[1].results);
            flush(of_block);
            l.blocks.push_back(std::move(of_block.done));
          }
          run.done.push_back(std::move(l));
          break;
        }
        case Step::Kind::routine:
          spread(plan_.routines[s.index]);
          launch(run, GpuStep::Kind::routine, number_of(to_.module.routines, s.index));
          break;
        case Step::Kind::scalar:
        case Step::Kind::check:
        case Step::Kind::point: break;  // always light
      }
    }
  }

  // What is launched over many blocks gets memory in which its launches hand on what they found.
  void spread(plan::RoutineStep& r) {
    if (is_spread(r)) return;
    constexpr int64_t kWord = 8;
    std::vector<GpuMemory> needed;
    auto words = [&](std::initializer_list<GpuUnits::Factor> factors, int64_t count) {
      needed.push_back({factors, count * kWord});
    };
    switch (r.routine) {
      case Routine::scatter:
        words({}, 1);
        words({{r.sizes[1], 1}}, 1);
        words({}, 0);
        for (size_t i = 4; i < r.sizes.size(); ++i) needed.back().factors.push_back({r.sizes[i], 1});
        needed.back().bytes = 2 * kWord;
        break;
      case Routine::segment:
        words({}, 1);
        words({{r.sizes[0], 1}}, 1);
        words({{r.sizes[1], 1}}, 2);
        break;
      case Routine::sort: {
        int64_t entry = sort_entry_bytes(static_cast<int64_t>(dtype_size(r.dtype))) / kWord;
        if (is_known(r.sizes[1]) && r.sizes[1] <= kSortedByBlock) return;
        words({{r.sizes[0], 1}, {r.sizes[1], 1}}, entry);
        break;
      }
      case Routine::scan:
        if (is_known(r.sizes[1]) && r.sizes[1] <= scans::kBlock) return;
        words({{r.sizes[0], 1}, {r.sizes[2], 1}, {r.sizes[1], scans::kBlock}}, 2);
        break;
      default: return;
    }
    if (to_.memory.empty()) {
      to_.memory_word = plan_.words++;
      plan::Value v;
      v.dtype = DType::I64;
      v.home = plan::Home::pointer;
      v.word = to_.memory_word;
      plan_.values.push_back(v);
      memory_ = static_cast<ValueId>(plan_.values.size() - 1);
    }
    to_.memory.push_back(std::move(needed));
    r.at.push_back(memory_);
  }

  void launch(Run& run, GpuStep::Kind kind, uint32_t index) {
    flush(run);
    GpuStep s;
    s.kind = kind;
    s.index = index;
    run.done.push_back(std::move(s));
  }

  // Scalars that are used where they are not made are words of the frame.
  struct Use {
    std::set<ValueId> made, used;
  };
  void look(const Block& block, Use& use) {
    for (const Step& s : block.steps) {
      if (s.kind == Step::Kind::check) to_.checks = true;
      if (s.condition != kNone) use.used.insert(s.condition);
      if (s.kind == Step::Kind::scalar) {
        use.made.insert(s.result);
        look(s.expr, use);
      }
      for (ValueId v : s.initial) use.used.insert(v);
      for (ValueId v : s.results) use.made.insert(v);
      for (const Block& inner : s.blocks) {
        for (ValueId v : inner.params) use.made.insert(v);
        look(inner, use);
        for (ValueId v : inner.results) use.used.insert(v);
      }
    }
  }
  void look(const Expr& e, Use& use) {
    if (e.kind == plan::ExprKind::value) use.used.insert(e.access.value);
    if (e.kind == plan::ExprKind::load) {
      for (const auto& i : e.access.indexed) use.used.insert(i.index);
      if (e.access.mask != kNone) use.used.insert(e.access.mask);
    }
    for (ValueId v : e.operands) use.used.insert(v);
  }
  void words() {
    std::set<ValueId> shared = asked_;
    for (const Block& segment : to_.module.segments) {
      Use use;
      look(segment, use);
      for (ValueId v : use.used) {
        if (!use.made.contains(v)) shared.insert(v);
      }
    }
    for (ValueId v : shared) {
      if (plan_.values[v].word == kNone) plan_.values[v].word = plan_.words++;
    }
    name(to_.steps);
  }
  void name(std::vector<GpuStep>& steps) {
    for (GpuStep& s : steps) {
      if (s.kind == GpuStep::Kind::branch || s.kind == GpuStep::Kind::loop) s.word = plan_.values[s.index].word;
      if (s.kind == GpuStep::Kind::loop && s.limit >= 0) s.counter = plan_.words++;
      for (auto& block : s.blocks) name(block);
    }
  }

  GpuSchedule& to_;
  Plan& plan_;
  bool fast_products_;
  ValueId memory_ = kNone;  // of routines that are spread
  std::set<ValueId> asked_;
};

void tell(const GpuSchedule& s, const std::vector<GpuStep>& steps, size_t depth, std::string& out) {
  for (const GpuStep& step : steps) {
    out.append(2 * depth, ' ');
    switch (step.kind) {
      case GpuStep::Kind::segment: out += "one block: segment" + std::to_string(step.index) + "\n"; break;
      case GpuStep::Kind::kernel: {
        uint32_t k = s.module.kernels[step.index];
        out += "launch kernel" + std::to_string(k) + " " + s.plan.kernels[k].name + "\n";
        break;
      }
      case GpuStep::Kind::product: out += "launch product" + std::to_string(s.module.products[step.index]) + "\n"; break;
      case GpuStep::Kind::fast_product: out += "multiply product" + std::to_string(step.index) + " with TF32\n"; break;
      case GpuStep::Kind::routine: {
        uint32_t r = s.module.routines[step.index];
        int phases = gpu_launches(s.plan.routines[r]);
        for (int phase = 0; phase < phases; ++phase) {
          if (phase > 0) out.append(2 * depth, ' ');
          out += "launch " + gpu_phase_name(r, phase) + "\n";
        }
        break;
      }
      case GpuStep::Kind::branch: out += "choose by word " + std::to_string(step.word) + "\n"; break;
      case GpuStep::Kind::loop: out += "repeat while word " + std::to_string(step.word) + "\n"; break;
    }
    for (size_t i = 0; i < step.blocks.size(); ++i) {
      if (i > 0) out.append(2 * depth, ' ').append(step.kind == GpuStep::Kind::loop ? "do\n" : "or\n");
      tell(s, step.blocks[i], depth + 1, out);
    }
  }
}

void control_of_block(const Block& block, std::vector<GpuControl>& out) {
  for (const Step& s : block.steps) {
    if (s.kind == Step::Kind::branch || s.kind == Step::Kind::loop)
      out.push_back({s.kind == Step::Kind::loop, false, s.location});
    for (const Block& inner : s.blocks) control_of_block(inner, out);
  }
}

void control_of_steps(const GpuSchedule& s, const std::vector<GpuStep>& steps, std::vector<GpuControl>& out) {
  for (const GpuStep& step : steps) {
    bool loop = step.kind == GpuStep::Kind::loop;
    if (step.kind == GpuStep::Kind::segment) control_of_block(s.module.segments[step.index], out);
    if (loop || step.kind == GpuStep::Kind::branch) out.push_back({loop, true, step.location});
    for (const auto& block : step.blocks) control_of_steps(s, block, out);
  }
}

}  // namespace

bool is_straight(const std::vector<GpuStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const GpuStep& s) { return s.blocks.empty(); });
}

bool is_recordable(const std::vector<GpuStep>& steps) {
  return std::all_of(steps.begin(), steps.end(), [](const GpuStep& s) {
    return s.kind != GpuStep::Kind::fast_product && std::all_of(s.blocks.begin(), s.blocks.end(), is_recordable);
  });
}

std::vector<GpuControl> control_of(const GpuSchedule& s) {
  std::vector<GpuControl> out;
  control_of_steps(s, s.steps, out);
  return out;
}

GpuSchedule gpu_schedule(Plan plan, bool fast_products) {
  GpuSchedule s;
  s.plan = std::move(plan);
  Scheduler(s, fast_products).run();
  s.module.checks = s.checks;
  return s;
}

std::string schedule_text(const GpuSchedule& s) {
  std::string out;
  tell(s, s.steps, 0, out);
  return out;
}

}  // namespace tfl::codegen
