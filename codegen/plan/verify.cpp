// Is a plan sound? Numbers of values, buffers, kernels and expressions are within what there is, expressions stand before their users, and
// a slot has room for each value in it.
#include <string>

#include "codegen/plan/build.h"

namespace tfl::plan {

namespace {

class PlanVerifier {
 public:
  explicit PlanVerifier(const Plan& plan) : p_(plan) {}

  std::string run() {
    block(p_.body);
    for (const Donation& d : p_.donations) {
      if (d.input >= p_.inputs.size() || d.result >= p_.results.size()) wrong("a donation of what is not there");
    }
    return wrong_;
  }

 private:
  void wrong(const char* what) {
    if (wrong_.empty()) wrong_ = what;
  }

  void value(ValueId v) {
    if (v == kNone) return;
    if (v >= p_.values.size()) return wrong("a value that is not there");
    const Value& x = p_.values[v];
    switch (x.home) {
      case Home::input:
        if (x.index >= p_.inputs.size()) wrong("the memory of an input that is not there");
        break;
      case Home::constant:
        if (x.index >= p_.constants.size()) wrong("the memory of a constant that is not there");
        break;
      case Home::result:
        if (x.index >= p_.results.size()) wrong("the memory of a result that is not there");
        break;
      case Home::temporary:
        if (x.index >= p_.slots.size())
          wrong("a slot that is not there");
        else if (!fits(x, p_.slots[x.index]))
          wrong("a slot that is too small");
        break;
      case Home::pointer:
      case Home::scalar: break;
    }
  }

  /// Does a value fit into a slot, as far as both sizes are known?
  static bool fits(const Value& x, Size slot) {
    Size bytes = static_cast<Size>(dtype_size(x.dtype));
    for (Size d : x.dims) {
      if (!is_known(d)) return true;
      bytes *= d;
    }
    return !is_known(slot) || bytes <= slot;
  }

  void kernel(const Kernel& k) {
    for (size_t i = 0; i < k.exprs.size(); ++i) {
      const Expr& e = k.exprs[i];
      for (ExprId operand : e.operands) {
        if (operand >= i) wrong("an expression before its operand");
      }
      if (e.kind == ExprKind::load || e.kind == ExprKind::value) access(e.access, i);
      if ((e.kind == ExprKind::reduced || e.kind == ExprKind::kept) && e.stage >= k.stages.size())
        wrong("a stage that is not there");
    }
    for (const Stage& s : k.stages) {
      if (s.expr >= k.exprs.size()) wrong("a stage of an expression that is not there");
      if (s.kind == Stage::Kind::store || s.kind == Stage::Kind::store_once) access(s.target, k.exprs.size());
    }
  }

  void access(const Access& a, size_t exprs) {
    value(a.value);
    for (const Access::Indexed& x : a.indexed) {
      if (x.index >= exprs) wrong("an index that is not there yet");
    }
    if (a.mask != kNone && a.mask >= exprs) wrong("a mask that is not there yet");
  }

  void step(const Step& s) {
    value(s.result);
    value(s.from);
    value(s.condition);
    for (ValueId v : s.initial) value(v);
    for (ValueId v : s.results) value(v);
    for (const Block& b : s.blocks) block(b);
    switch (s.kind) {
      case Step::Kind::kernel:
        return s.index < p_.kernels.size() ? kernel(p_.kernels[s.index]) : wrong("a kernel that is not there");
      case Step::Kind::product: {
        if (s.index >= p_.products.size()) return wrong("a product that is not there");
        const Product& x = p_.products[s.index];
        value(x.a);
        value(x.b);
        value(x.result);
        if (x.window != kNone && x.window >= p_.windows.size()) wrong("a window that is not there");
        if (x.epilogue != kNone && x.epilogue >= p_.kernels.size()) wrong("an epilogue that is not there");
        return;
      }
      case Step::Kind::routine:
        if (s.index >= p_.routines.size()) return wrong("a routine that is not there");
        for (ValueId v : p_.routines[s.index].at) value(v);
        return;
      case Step::Kind::scalar:
      case Step::Kind::check:
      case Step::Kind::point:
      case Step::Kind::branch:
      case Step::Kind::loop: return;
    }
  }

  void block(const Block& b) {
    for (ValueId v : b.params) value(v);
    for (const Step& s : b.steps) step(s);
    for (ValueId v : b.results) value(v);
  }

  const Plan& p_;
  std::string wrong_;
};

}  // namespace

std::string verify_plan(const Plan& plan) { return PlanVerifier(plan).run(); }

}  // namespace tfl::plan
