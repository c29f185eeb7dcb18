// The sizes of one run of a plan: its symbols, and whether its guards hold.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "codegen/plan/plan.h"

namespace tfl::test {

inline void expect_of_plan(bool fine, const char* what) {
  if (fine) return;
  std::printf("a plan is wrong: %s\n", what);
  std::abort();
}

class PlanSizes {
 public:
  /// False where the plan declines these inputs.
  bool enter(const plan::Plan& p, std::span<const Tensor> inputs) { return symbols(p, inputs) && guards(p, inputs); }
  int64_t size(plan::Size s) const { return plan::is_known(s) ? s : symbols_[plan::symbol_of(s)]; }

 private:
  bool symbols(const plan::Plan& p, std::span<const Tensor> inputs) {
    using Kind = plan::Symbol::Kind;
    for (const plan::Symbol& s : p.symbols) {
      int64_t v = 0;
      bool bad = false;
      if (s.kind == Kind::dim) {
        v = inputs[s.input].dim(static_cast<int>(s.axis));
      } else {
        int64_t a = size(s.a), c = size(s.b);
        switch (s.kind) {
          case Kind::add: bad = __builtin_add_overflow(a, c, &v); break;
          case Kind::subtract: bad = __builtin_sub_overflow(a, c, &v); break;
          case Kind::multiply: bad = __builtin_mul_overflow(a, c, &v); break;
          case Kind::divide:
            bad = c == 0 || c == -1;
            if (!bad) v = a / c - (a % c != 0 && (a < 0) != (c < 0));
            break;
          case Kind::maximum: v = std::max(a, c); break;
          default: v = std::min(a, c); break;
        }
      }
      if (bad) return false;
      symbols_.push_back(v);
    }
    return true;
  }
  bool guards(const plan::Plan& p, std::span<const Tensor> inputs) const {
    for (const plan::Guard& g : p.guards) {
      if (g.kind == plan::Guard::Kind::equal ? size(g.a) != size(g.b) : size(g.a) < size(g.b)) return false;
    }
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      expect_of_plan(inputs[i].dtype() == p.inputs[i].dtype && inputs[i].dims().size() == p.inputs[i].dims.size(),
                     "an input of another type");
      for (size_t k = 0; k < p.inputs[i].dims.size(); ++k) {
        if (inputs[i].dim(static_cast<int>(k)) != size(p.inputs[i].dims[k])) return false;
      }
    }
    return true;
  }

  std::vector<int64_t> symbols_;
};

}  // namespace tfl::test
