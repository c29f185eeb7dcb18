// Kernels that differ in nothing but the memory they work on are one: layers of an unrolled loop, updates of many parameters.
// Pointers stand in the places of what differs, and are set before each run.
#include <unordered_map>

#include "codegen/plan/build.h"
#include "codegen/plan/builder.h"
#include "codegen/plan/parallel_loops.h"

namespace tfl::plan {

namespace {

// What a back end makes part of its driver is worth a function of its own when there are many.
constexpr int64_t kTiny = 256;
constexpr size_t kManyTiny = 4, kMany = 2;

template <class F>
void each_value(Kernel& k, const F& f) {
  for (Expr& e : k.exprs) {
    if (e.access.value != kNone) f(e.access.value);
  }
  for (Stage& s : k.stages) {
    if (s.target.value != kNone) f(s.target.value);
  }
}

class Sharing {
 public:
  explicit Sharing(Plan& p) : plan(p) {}

  void run() {
    size_t kernels = plan.kernels.size();
    runs_.assign(kernels, 0);
    count_runs(plan.body);
    std::unordered_map<std::string, size_t> known;
    std::vector<std::vector<uint32_t>> groups;  // of equal kernels, in the order of their first
    values_.resize(kernels);
    for (uint32_t i = 0; i < kernels; ++i) {
      if (runs_[i] != 1) continue;
      size_t group = known.try_emplace(key(i), groups.size()).first->second;
      if (group == groups.size()) groups.emplace_back();
      groups[group].push_back(i);
    }
    stands_for_.resize(kernels);
    for (uint32_t i = 0; i < kernels; ++i) stands_for_[i] = i;
    arguments_.resize(kernels);
    bool any = false;
    for (const std::vector<uint32_t>& group : groups) {
      if (group.size() < (is_tiny(plan.kernels[group[0]]) ? kManyTiny : kMany)) continue;
      share(group);
      any = true;
    }
    if (!any) return;
    rewrite(plan.body);
    drop_others();
  }

 private:
  // Kernels of loops that may run at the same time are left as they are: pointers in the frame have one value.
  void count_runs(const Block& b, bool alone = true) {
    for (size_t i = 0; i < b.steps.size(); ++i) {
      const Step& s = b.steps[i];
      bool shared = alone && !s.beside && beside_end(b, i) == i + 1;
      const uint32_t runs = shared ? 1 : 2;
      if (s.kind == Step::Kind::kernel) runs_[s.index] += runs;
      if (s.kind == Step::Kind::product && plan.products[s.index].epilogue != kNone)
        runs_[plan.products[s.index].epilogue] += runs;
      for (const Block& inner : s.blocks) count_runs(inner, shared);
    }
  }

  static bool is_tiny(const Kernel& k) {
    int64_t elements = 1;
    for (Size s : k.axes) {
      if (!is_known(s) || s > kTiny) return false;
      elements *= s;
      if (elements > kTiny) return false;
    }
    return true;
  }

  // All that decides the code: a kernel over its own values, numbered as they come, and what they are.
  std::string key(uint32_t i) {
    Kernel k = plan.kernels[i];
    std::string text;
    auto put = [&](int64_t n) { text.append(reinterpret_cast<const char*>(&n), sizeof n); };
    std::vector<ValueId>& known = values_[i];
    known.clear();
    each_value(k, [&](ValueId& v) {
      size_t at = 0;
      while (at < known.size() && known[at] != v) ++at;
      if (at == known.size()) {
        known.push_back(v);
        const Value& value = plan.values[v];
        put(static_cast<int64_t>(value.dtype) << 1 | (value.home == Home::scalar ? 1 : 0));
      }
      v = static_cast<ValueId>(at);
    });
    put(static_cast<int64_t>(k.form));
    put(k.cost);
    put(static_cast<int64_t>(k.axes.size()));
    for (Size s : k.axes) put(s);
    for (const Expr& e : k.exprs) text += expr_key(e);
    for (const Stage& s : k.stages) {
      for (int64_t n : {static_cast<int64_t>(s.kind), static_cast<int64_t>(s.pass), static_cast<int64_t>(s.expr), s.divisor,
                        static_cast<int64_t>(s.reduce), static_cast<int64_t>(s.dtype)})
        put(n);
      Expr target;
      target.access = s.target;
      text += expr_key(target);
    }
    for (const KernelLoop& l : k.loops) {
      put(l.limit);
      put(l.condition);
      for (const KernelLoop::Variable& v : l.variables) {
        for (int64_t n : {static_cast<int64_t>(v.init), static_cast<int64_t>(v.next), static_cast<int64_t>(v.dtype)}) put(n);
      }
    }
    return text;
  }

  // The first of a group works on pointers where the others have other values.
  void share(const std::vector<uint32_t>& group) {
    uint32_t first = group[0];
    std::vector<ValueId> own = values_[first], now = own;
    for (size_t k = 0; k < own.size(); ++k) {
      bool same = true;
      for (uint32_t other : group) same = same && values_[other][k] == own[k];
      if (same) continue;
      Value pointer = plan.values[own[k]];
      if (pointer.home != Home::scalar) pointer.home = Home::pointer;
      pointer.index = 0;
      pointer.word = plan.words++;
      pointer.name.clear();
      now[k] = static_cast<ValueId>(plan.values.size());
      plan.values.push_back(std::move(pointer));
    }
    each_value(plan.kernels[first], [&](ValueId& v) {
      size_t at = 0;
      while (own[at] != v) ++at;
      v = now[at];
    });
    for (uint32_t i : group) {
      stands_for_[i] = first;
      for (size_t k = 0; k < own.size(); ++k) {
        if (now[k] != own[k]) arguments_[i].push_back({now[k], values_[i][k]});
      }
    }
  }

  void rewrite(Block& b) {
    std::vector<Step> steps = std::move(b.steps);
    b.steps.clear();
    for (Step& s : steps) {
      for (Block& inner : s.blocks) rewrite(inner);
      uint32_t* kernel = s.kind == Step::Kind::kernel ? &s.index
                         : s.kind == Step::Kind::product && plan.products[s.index].epilogue != kNone
                             ? &plan.products[s.index].epilogue
                             : nullptr;
      if (kernel) {
        for (const Argument& a : arguments_[*kernel]) b.steps.push_back(hand_over(a));
        *kernel = stands_for_[*kernel];
      }
      b.steps.push_back(std::move(s));
    }
  }

  struct Argument {
    ValueId to, from;
  };

  Step hand_over(const Argument& a) {
    Step s;
    s.result = a.to;
    if (plan.values[a.to].home == Home::pointer) {
      s.kind = Step::Kind::point;
      s.from = a.from;
      return s;
    }
    s.kind = Step::Kind::scalar;
    s.expr.kind = ExprKind::value;
    s.expr.dtype = plan.values[a.from].dtype;
    s.expr.access.value = a.from;
    return s;
  }

  void drop_others() {
    std::vector<uint32_t> now(plan.kernels.size(), kNone);
    std::vector<Kernel> kept;
    for (uint32_t i = 0; i < plan.kernels.size(); ++i) {
      if (stands_for_[i] != i) continue;
      now[i] = static_cast<uint32_t>(kept.size());
      kept.push_back(std::move(plan.kernels[i]));
    }
    plan.kernels = std::move(kept);
    for (Product& p : plan.products) {
      if (p.epilogue != kNone) p.epilogue = now[p.epilogue];
    }
    renumber(plan.body, now);
  }
  static void renumber(Block& b, const std::vector<uint32_t>& now) {
    for (Step& s : b.steps) {
      if (s.kind == Step::Kind::kernel) s.index = now[s.index];
      for (Block& inner : s.blocks) renumber(inner, now);
    }
  }

  Plan& plan;
  std::vector<size_t> runs_;
  std::vector<std::vector<ValueId>> values_;  // of each kernel, as they come
  std::vector<std::vector<Argument>> arguments_;
  std::vector<uint32_t> stands_for_;
};

}  // namespace

void share_kernels(Plan& p) { Sharing(p).run(); }

}  // namespace tfl::plan
