// The gradient of a loop is a loop that runs as often, backwards. The forward loop counts its iterations and pushes what its
// gradient reads and cannot cheaply compute again; the gradient's loop pops it.
//
//   %v = while_loop(%v0, %c) cond {...} body (v, c) { ... yield f(v, c) }
//   -->
//   %v, %n, %stack = while_loop(%v0, 0, [], %c) body (v, n, stack, c) { ... yield f(v, c), n + 1, push(stack, x) }
//   %gv0, %gc = while_loop(%n, %gv, 0, %stack) cond { n > 0 } body { x = pop(stack); yield n - 1, gv * df/dv, gc + gv * df/dc, stack }
#include "ir/gradient/checkpoints.h"
#include "ir/gradient/function.h"
#include "ir/gradient/presence.h"
#include "ir/gradient/regions.h"
#include "ir/loop_truths.h"

namespace tfl::gradient {

namespace {

// Adds a loop variable to a forward loop that has `variables` of them; its parameter in the body is `in` (made already, somewhere
// among the body's parameters).
void add_variable(ir::Node& loop, size_t variables, ir::Ref initial, const ir::Type& type, ir::Node* in, ir::Ref out) {
  loop.operands.insert(variables, initial);
  gradient::add_variable(*loop.regions[0], *loop.regions[1], variables, type, in, out);
  loop.types.push_back(type);
}

// The values whose gradients the backward loop carries: variables that get one from the results or from each other's updates, when an
// iteration begins, and invariants that a body's gradient reaches.
struct Carried {
  std::vector<Reach> variables, invariants;
  ActiveSet active;
};

Carried find_carried(RuleCall& c, ir::Block& body, size_t n, size_t m) {
  // Active: depends on what is wanted, in any iteration.
  std::vector<bool> active_var(n);
  for (size_t k = 0; k < n; ++k) active_var[k] = c.wanted(k);
  Carried out;
  for (bool again = true; again;) {
    again = false;
    std::vector<ir::Ref> from;
    for (size_t k = 0; k < n; ++k) {
      if (active_var[k]) from.push_back(body.param(k));
    }
    for (size_t j = 0; j < m; ++j) {
      if (c.wanted(n + j)) from.push_back(body.param(n + j));
    }
    out.active = dependents(body, from);
    for (size_t k = 0; k < n; ++k) {
      if (!active_var[k] && out.active.count(body.results[k])) active_var[k] = again = true;
    }
  }
  // Something flows into it from behind.
  out.variables = reach_of_results(c);
  for (size_t k = 0; k < n; ++k) {
    if (!active_var[k]) out.variables[k] = Reach::None;
  }
  std::vector<Reach> reached = reached_through_loop(body, out.active, active_var, out.variables);
  for (size_t j = 0; j < m; ++j) out.invariants.push_back(reached[n + j]);
  return out;
}

// Whether what is added up for the value that variable k begins with may go on inside: not where the loop gets the value in two ways, or
// the variable may have other sizes later.
bool may_begin(RuleCall& c, const ir::Block& body, size_t k) {
  if (!known(body.param(k).type().tensor) || !c.operand_type(k).is_tensor() || !c.wanted(k)) return false;
  for (size_t i = 0; i < c.operand_count(); ++i) {
    if (i != k && c.same_operand(i, k)) return false;
  }
  return true;
}
// It goes on in the first iteration, which the gradient's loop runs last. Empty: nothing has been added.
Sum sum_before(RuleCall& c, ir::Block& body, size_t k) {
  Sum sum = may_begin(c, body, k) ? c.gathered(k) : Sum();
  return sum.value && sum.value.adjoint()->type(sum.value.id()).is_tensor() ? sum : Sum();
}
Presence equal(X a, X b) { return Presence::when(emit(Op::equal, {a, b})); }

// A loop that is itself a gradient pops what the iterations of another began with. What has been added up for the value that the first
// of them began with goes on where that is popped: last, so that the gradient's loop begins with it.
struct Begun {
  ir::Node* value;  // in the body
  size_t operand;   // of the loop
  Sum sum;
};
std::vector<Begun> find_begun(RuleCall& c, ir::Block& body, size_t n, const Carried& carried) {
  std::vector<Begun> out;
  for (const auto& node : body.nodes) {
    ir::Ref origin = origin_of(*node);
    if (!origin || !carried.active.count(node->operands[1])) continue;
    ir::Ref stack = node->operands[1].node->operands[0];
    size_t operand = c.operand_count();
    bool popped = false;
    for (size_t i = 0; i < body.params.size(); ++i) {
      if (body.param(i) == origin && i >= n) operand = i;
      if (body.param(i) == stack && i < n) popped = carried.variables[i] != Reach::None;
    }
    if (!popped || operand == c.operand_count()) continue;
    Sum sum = c.gathered(operand);
    for (size_t i = 0; i < c.operand_count(); ++i) {
      if (i != operand && c.same_operand(i, operand)) sum = Sum();
    }
    if (sum.value && sum.value.adjoint()->type(sum.value.id()).is_tensor()) out.push_back({node.get(), operand, sum});
  }
  return out;
}

// The rule at work on one loop.
class LoopRule {
 public:
  explicit LoopRule(RuleCall& c)
      : c_(c),
        loop_(*c.node()),
        body_(*loop_.regions[1]),
        n_(c.result_count()),
        m_(c.operand_count() - n_),
        back_(new_region(loop_)),
        a_(c.a.context(), body_, *back_) {}

  Result<void> run() {
    inline_calls(body_);
    carried_ = find_carried(c_, body_, n_, m_);
    for (size_t k = 0; k < n_; ++k) {
      if (carried_.variables[k] != Reach::None) handed_.push_back({k, carried_.variables[k] == Reach::Maybe});
    }
    if (handed_.empty()) return {};
    for (size_t j = 0; j < m_; ++j) {
      Sum before = sum_of_invariant(n_ + j);
      bool all_there = is_array(n_ + j) ? before.value && !before.elements : is_there(before);
      bool told = carried_.invariants[j] == Reach::Maybe && !all_there;
      if (carried_.invariants[j] != Reach::None) handed_.push_back({n_ + j, told});
    }
    segments_ = checkpoint_steps(loop_, c_.a) > 0;
    std::unique_ptr<ir::Block> plain = segments_ ? ir::clone_region(body_, &loop_, loop_.block->function) : nullptr;
    enter();
    TFL_TRY(emitted(a_));
    TFL_TRY(backpropagate(a_, body_, carried_.active, gradients_));
    TFL_TRY(leave());
    runs_ = !c_.a.recursion && ir::surely_runs(c_.a.context(), loop_);
    if (!segments_) return run_backwards();
    LoopGradient l{c_,       loop_,           a_,           std::move(plain), std::move(back_), n_, m_, std::move(results_),
                   counter_, handed_params(), fixed_params_};
    start();
    TFL_TRY(emitted(c_.a));
    V count = kNone;
    std::vector<V> results;
    if (checkpointed(l, started_, fixed_, count, results)) give(X(&c_.a, count), results);
    return {};
  }

 private:
  // A gradient that an iteration hands to the next: of a variable, or the sum for what does not change. If `told`, some iterations have it and
  // some have not, and a variable of its own says so.
  struct Handed {
    size_t operand;  // of the loop
    bool told;
    ir::Ref param = {}, present = {};
    Sum before = {};  // of a variable: what was added up for the value that it begins with
  };

  bool is_array(size_t operand) const { return c_.operand_type(operand).kind == ir::TypeKind::Array; }
  bool is_variable(const Handed& h) const { return h.operand < n_; }
  bool is_there(const Sum& sum) const { return sum.value && implies(c_.own(), sum.present); }
  Sum sum_of_invariant(size_t operand) const { return c_.repeated(operand, n_) ? Sum() : c_.gathered(operand); }
  static Result<void> emitted(Adjoint& a) { return a.failed() ? Result<void>(a.take_failure()) : Result<void>(); }

  // The iterations get these and leave them as they are.
  X take_in(const X& x, const char* name) {
    if (!x) return {};
    fixed_.push_back(x.id());
    fixed_params_.push_back(back_->add_param(c_.a.type(x.id()), name));
    return X(&a_, a_.add(fixed_params_.back()));
  }
  Sum take_in(const Sum& sum) {
    X value = take_in(sum.value, "sum");
    return {value, is_there(sum) ? Presence::always() : Presence::when(take_in(sum.present.condition(), "present")), sum.fill};
  }

  // The parameters of the gradient's body and what it begins with: a counter, what is handed on, whether that is there.
  void enter() {
    a_.pass_from(n_);
    std::vector<bool> begins(n_);
    for (size_t k = 0; k < n_ && !segments_; ++k) begins[k] = may_begin(c_, body_, k);
    counter_ = back_->add_param(ir::Type::of({DType::I32, true, {}}), "iterations");
    // Where the function calls itself, how often a loop has run is not how often its gradient does.
    a_.set_loop(std::move(begins), segments_ || c_.a.recursion ? ir::Ref() : counter_);
    a_.recursion = c_.a.recursion;
    X left(&a_, a_.add(counter_));
    if (X runs = run_condition(c_)) a_.runs = take_in(runs, "runs").id();
    for (Handed& h : handed_) {
      if (!is_variable(h)) continue;
      h.before = sum_before(c_, body_, h.operand);
      if (h.before.value) gradients_[body_.param(h.operand)] = only(take_in(h.before), equal(left, X(1.0)));
    }
    if (!segments_) begun_ = find_begun(c_, body_, n_, carried_);
    for (const Begun& b : begun_) {
      if (!total_) total_ = back_->add_param(counter_.type(), "total");
      gradients_[{b.value, 0}] = only(take_in(b.sum), equal(left, X(&a_, a_.add(total_))));
    }
    for (Handed& h : handed_) {
      ir::Type type = body_.param(h.operand).type();
      if (type.kind == ir::TypeKind::Resource) type = ir::Type::of(type.tensor);
      h.param = back_->add_param(type, "gradient");
      if (h.told) h.present = back_->add_param(presence_type(type), "present");
      Sum entering = told(X(&a_, a_.add(h.param)), h.told ? X(&a_, a_.add(h.present)) : X(), Fill::EmptySum);
      // Sums go on where they stand: what is added, and in which order, is the same as if the loop had been unrolled.
      ir::Ref value = is_variable(h) ? body_.results[h.operand] : body_.param(h.operand);
      if (is_variable(h) && !carried_.active.count(value)) continue;
      Sum& sum = gradients_[value];
      sum = is_variable(h) ? merged(sum, entering) : merged(entering, sum);
    }
  }

  std::vector<ir::Ref> handed_params() const {
    std::vector<ir::Ref> out;
    for (const Handed& h : handed_) out.push_back(h.param);
    for (const Handed& h : handed_) {
      if (h.told) out.push_back(h.present);
    }
    return out;
  }

  // The results of the gradient's body, in the same order.
  Result<void> leave() {
    ir::Ref one = TFL_TRY(int_constant(c_.a.context(), *back_, 1));
    ir::Node* next = TFL_TRY(ir::append(c_.a.context(), *back_, Op::subtract, {counter_, one}));
    results_.push_back({next, 0});
    std::vector<ir::Ref> presents;
    for (const Handed& h : handed_) {
      Sum sum = gradients_[body_.param(h.operand)];
      if (!sum.value)
        sum = {zeros_of_type(a_, h.param.type(), X(&a_, a_.add(h.param)), kEmptySum), Presence::never(), Fill::EmptySum};
      X value = filled(sum, Presence::always(), Fill::EmptySum), present = h.told ? telling(sum, Presence::always()) : X();
      TFL_TRY(emitted(a_));
      results_.push_back(a_.ref(value.id()));
      if (present) presents.push_back(a_.ref(present.id()));
    }
    results_.insert(results_.end(), presents.begin(), presents.end());
    return {};
  }

  // What the gradient's loop begins with.
  void start() {
    std::vector<V> presents;
    std::vector<bool> begins_true;
    for (const Handed& h : handed_) {
      bool variable = is_variable(h);
      Sum sum = variable ? c_.flowing(h.operand) : sum_of_invariant(h.operand);
      if (!sum.value) {
        // A loop that does not run leaves what it was given: a plain zero, where there is no sum yet.
        X zeros = variable ? zeros_of_r(c_, h.operand, kEmptySum) : zeros_of_x(c_, h.operand, h.told ? kEmptySum : 0.0);
        sum = {zeros, Presence::never(), h.told || variable ? Fill::EmptySum : Fill::Zero};
      }
      X value = sum.present.is_never() ? sum.value : filled(sum, c_.own(), Fill::EmptySum);
      X present = h.told ? telling(sum, c_.own()) : X();
      begins_true.push_back(h.told && implies(c_.own(), sum.present));
      if (c_.a.failed()) return;
      started_.push_back(value.id());
      if (h.told) presents.push_back(present.id());
    }
    started_.insert(started_.end(), presents.begin(), presents.end());
    find_certain(std::move(begins_true));
  }

  // Which of those are there after the last iteration, whatever the loop does, when it runs.
  void find_certain(std::vector<bool> begins_true) {
    certain_.assign(handed_.size(), false);
    if (!runs_ || segments_) return;
    std::vector<ir::HandedTruth> truths;
    size_t next = 1 + handed_.size();
    for (size_t i = 0; i < handed_.size(); ++i) {
      if (!handed_[i].told) continue;
      if (!is_array(handed_[i].operand)) truths.push_back({handed_[i].present, results_[next], begins_true[i]});
      ++next;
    }
    const ir::LoopTruths found(*back_, truths);
    next = 1 + handed_.size();
    for (size_t i = 0; i < handed_.size(); ++i) {
      if (!handed_[i].told) continue;
      certain_[i] = !is_array(handed_[i].operand) && found.holds(results_[next]);
      ++next;
    }
  }

  // What comes out: the gradients of variables, and the sums for what does not change.
  void give(const X& count, const std::vector<V>& results) {
    size_t next_present = handed_.size();
    std::vector<Sum> sums;
    for (size_t i = 0; i < handed_.size(); ++i) {
      const Handed& h = handed_[i];
      X value(&c_.a, results[i]);
      if (h.told || is_variable(h) || is_array(h.operand)) {
        X present = h.told ? X(&c_.a, results[next_present++]) : X();
        sums.push_back(told(value, certain_[i] ? X() : present, Fill::EmptySum));
        continue;
      }
      Sum before = sum_of_invariant(h.operand);
      Presence ran = is_there(before) || runs_ ? Presence::always() : Presence::when(emit(Op::greater, {count, X(0.0)}));
      sums.push_back({value, before.value ? either(before.present, ran) : ran, before.value ? Fill::EmptySum : Fill::Zero});
    }
    for (size_t i = 0; i < handed_.size(); ++i) {
      if (!is_variable(handed_[i])) c_.put_sum(handed_[i].operand, sums[i], n_);
    }
    for (size_t i = 0; i < handed_.size(); ++i) {
      const Handed& h = handed_[i];
      if (!is_variable(h)) continue;
      // A loop that does not run hands on what its result got.
      if (h.before.value)
        c_.replace(h.operand, merged(only(h.before, equal(count, X(0.0))), sums[i]));
      else if (is_array(h.operand))
        c_.give_array(h.operand, sums[i].value, sums[i].elements);
      else
        c_.give(h.operand, sums[i].value, sums[i].present);
    }
    for (const Begun& b : begun_) c_.replace(b.operand, only(b.sum, equal(count, X(0.0))));
  }

  struct Added {
    ir::Ref before;
    Stack* stack;
    uint32_t result;
  };

  // The forward loop counts, and carries the stacks. Gives the result that is the count.
  Result<uint32_t> extend_forward(std::vector<Added>& added) {
    Context& context = c_.a.context();
    size_t variables = n_;
    for (Stack& s : a_.stacks()) {
      ir::Ref before = TFL_TRY(c_.a.open_stack(s.type, loop_, s.number));
      add_variable(loop_, variables++, before, s.type, s.forward_in.node, s.forward_out);
      added.push_back({before, &s, static_cast<uint32_t>(loop_.types.size() - 1)});
    }
    ir::Ref count_in = body_.add_param(counter_.type(), "iterations");
    ir::Ref step = TFL_TRY(int_constant(context, body_, 1));
    ir::Node* counted = TFL_TRY(ir::append(context, body_, Op::add, {count_in, step}));
    ir::Ref zero = TFL_TRY(constant_before(context, loop_, 0));
    add_variable(loop_, variables++, zero, count_in.type(), count_in.node, {counted, 0});
    loop_.attrs = ir::with_int(loop_.attrs, Attr::num, static_cast<int64_t>(variables));
    return static_cast<uint32_t>(loop_.types.size() - 1);
  }

  Result<void> run_backwards() {
    Context& context = c_.a.context();
    std::vector<Added> added;
    uint32_t count_result = TFL_TRY(extend_forward(added));
    V count = TFL_TRY(c_.a.forward({&loop_, count_result}));
    start();
    TFL_TRY(emitted(c_.a));
    std::vector<V> operands = {count};
    operands.insert(operands.end(), started_.begin(), started_.end());
    for (const Added& s : added) {
      operands.push_back(TFL_TRY(c_.a.enter_stack(s.before, {&loop_, s.result})));
      results_.push_back(s.stack->backward_out);
    }
    for (const auto& read : a_.results_read()) {
      X r = c_.r(read.index);
      TFL_TRY(emitted(c_.a));
      operands.push_back(r.id());
      results_.push_back(read.next);
    }
    size_t variables = operands.size();
    // Parameters in that order; what passes unchanged comes last.
    std::vector<std::unique_ptr<ir::Node>> old = std::move(back_->params);
    back_->params.clear();
    auto take = [&](ir::Ref param) {
      for (auto& p : old) {
        if (p && p.get() == param.node) back_->params.push_back(std::move(p));
      }
    };
    take(counter_);
    for (ir::Ref p : handed_params()) take(p);
    for (const Added& s : added) take(s.stack->backward_in);
    for (const auto& read : a_.results_read()) take(read.backward);
    for (const auto& p : a_.passed()) {
      X x = c_.x(p.param);
      TFL_TRY(emitted(c_.a));
      operands.push_back(x.id());
      take(p.backward);
    }
    operands.insert(operands.end(), fixed_.begin(), fixed_.end());
    for (ir::Ref p : fixed_params_) take(p);
    if (total_) {
      operands.push_back(count);
      take(total_);
    }
    back_->results = std::move(results_);

    std::unique_ptr<ir::Block> condition = new_region(loop_);
    for (const auto& p : back_->params) condition->add_param(p->types[0], p->name);
    ir::Ref none = TFL_TRY(int_constant(context, *condition, 0));
    ir::Node* more = TFL_TRY(ir::append(context, *condition, Op::greater, {condition->param(0), none}));
    condition->results.push_back({more, 0});
    std::vector<std::unique_ptr<ir::Block>> regions;
    regions.push_back(std::move(condition));
    regions.push_back(std::move(back_));
    std::vector<V> results;
    Attrs attrs = Attrs().set_int(Attr::num, static_cast<int64_t>(variables));
    TFL_TRY(c_.a.apply_node(Op::while_loop, operands, attrs, std::move(regions), nullptr, results));
    size_t r = 1 + started_.size();
    give(X(&c_.a, count), std::vector<V>(results.begin() + 1, results.begin() + static_cast<std::ptrdiff_t>(r)));
    for (const Added& s : added) c_.a.leave_stack(s.before, results[r++]);
    return {};
  }

  RuleCall& c_;
  ir::Node& loop_;
  ir::Block& body_;
  size_t n_, m_;  // variables, values that do not change
  Carried carried_;
  std::vector<Handed> handed_;  // variables first
  bool segments_ = false;
  bool runs_ = false;                // whatever happens
  std::vector<bool> certain_;        // of handed_
  std::unique_ptr<ir::Block> back_;  // the gradient's body
  RegionAdjoint a_;
  Gradients gradients_;
  ir::Ref counter_, total_;
  std::vector<Begun> begun_;
  std::vector<V> fixed_, started_;
  std::vector<ir::Ref> fixed_params_, results_;
};

}  // namespace

void loop_rule(RuleCall& c) {
  Result<void> done = LoopRule(c).run();
  if (!done) c.a.fail_with(done.failure());
}

}  // namespace tfl::gradient
