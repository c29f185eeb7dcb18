// From a tape's records to gradients: the rules of ir/gradient on host values. What they put goes through the interpreter's sink like
// any operation, so that tapes further out record it and a graph under construction receives it.
#include <algorithm>
#include <deque>

#include "frontend/core/scope.h"
#include "frontend/staging/gradient/tape.h"
#include "ir/array.h"
#include "ir/gradient/block_adjoint.h"
#include "ir/gradient/presence.h"
#include "ir/gradient/regions.h"
#include "runtime/ops/facts.h"

namespace tfl {

namespace {

using gradient::emit;
using gradient::V;
using gradient::X;

class TapeAdjoint : public gradient::Adjoint {
 public:
  explicit TapeAdjoint(Interp& interp) : interp_(interp) {}

  Context& context() override { return interp_.context; }
  Result<void> apply(Op op, std::span<const V> operands, const Attrs& attrs, SmallVec<V, 2>& results) override {
    SmallVec<Value, 4> values;
    for (V v : operands) values.push_back(values_[v]);
    SmallVec<Value, 2> out;
    if (op_info(op).kind == OpKind::Effect || op_info(op).kind == OpKind::Control) {
      // Operations on arrays: of a graph, or of what a traced function left that ran.
      if (!building(values)) return apply_array(op, {values.data(), values.size()}, attrs, results);
      ir::Node* node = TFL_TRY(append_node(interp_, op, {values.data(), values.size()}, attrs));
      results_of(interp_, node, out);
      if (interp_.sink) interp_.sink->node_made(interp_, {values.data(), values.size()}, node, out);
    } else {
      TFL_TRY(apply_op(interp_, op, {values.data(), values.size()}, attrs, out));
    }
    for (Value& v : out) results.push_back(add(std::move(v)));
    return {};
  }
  Result<void> apply_node(Op op, std::span<const V> operands, const Attrs& attrs, std::vector<std::unique_ptr<ir::Block>> regions,
                          std::shared_ptr<ir::Function> callee, std::vector<V>& results) override {
    SmallVec<Value, 8> values;
    for (V v : operands) values.push_back(values_[v]);
    ir::Node* node =
        TFL_TRY(append_node(interp_, op, {values.data(), values.size()}, attrs, std::move(regions), std::move(callee)));
    SmallVec<Value, 2> out;
    results_of(interp_, node, out);
    if (interp_.sink) interp_.sink->node_made(interp_, {values.data(), values.size()}, node, out);
    for (Value& v : out) results.push_back(add(std::move(v)));
    return {};
  }
  V constant(Tensor value) override { return add(Value::of(literal(interp_, std::move(value)))); }
  const ir::Type& type(V v) override { return types_[v]; }
  Result<V> forward(ir::Ref value) override {
    if (value.node->op == Op::constant) return constant(value.node->constant);
    return add(symbolic_value(interp_, scope_, value));
  }
  Result<ir::Ref> derive(Op op, ir::Ref value) override {
    ir::Node* node = TFL_TRY(ir::append(interp_.context, *value.node->block, op, {value}));
    node->name = unique_name(interp_, *scope_, default_name(op));
    return ir::Ref{node, 0};
  }
  Result<ir::Ref> open_stack(const ir::Type& stack, ir::Node& node, int) override {
    ir::Ref out = TFL_TRY(gradient::stack_before(interp_.context, node, stack));
    out.node->name = unique_name(interp_, *scope_, "TensorListReserve");
    return out;
  }
  Result<V> enter_stack(ir::Ref, ir::Ref after) override { return forward(after); }
  void leave_stack(ir::Ref, V) override {}

  V add(Value v) {
    ir::Type type;
    if (v.is_tensor()) {
      type.tensor = {v.tensor_rep()->dtype, true, Dims(v.tensor().dims())};
    } else if (v.is(Kind::Symbolic)) {
      type = symbolic(v)->ir_type();
    } else if (is_array_value(v)) {
      type = ir::Type::array(v.as<ArrayObject>()->content->element);
    } else if (v.is(Kind::Variable)) {
      VariableObject* variable = variable_storage(v.as<VariableObject>());
      type.kind = ir::TypeKind::Resource;
      type.tensor = {variable->dtype, variable->shape_ranked, variable->shape};
    }
    types_.push_back(std::move(type));
    values_.push_back(std::move(v));
    return static_cast<V>(values_.size() - 1);
  }
  const Value& value(V v) const { return values_[v]; }
  X x(Value v) { return X(this, add(std::move(v))); }
  Interp& interp() { return interp_; }
  /// Nobody sees the difference unless another tape records, or a graph that may be differentiated is built.
  V first_of_sum(V g) override { return interp_.sink ? Adjoint::first_of_sum(g) : g; }
  gradient::Presence known(const X& condition) override {
    if (!condition || !value(condition.id()).is_tensor()) return Adjoint::known(condition);
    Result<Tensor> t = to_concrete(interp_, value(condition.id()));
    return t && *t->data<uint8_t>() ? gradient::Presence::always() : Adjoint::known(condition);
  }
  /// Where the node that is differentiated stands.
  void set_scope(std::shared_ptr<Scope> scope) { scope_ = std::move(scope); }

 private:
  bool building(std::span<const Value> values) const {
    for (const Value& v : values) {
      if (v.is(Kind::Symbolic)) return true;
    }
    return interp_.sink && interp_.sink->building();
  }
  Result<void> apply_array(Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<V, 2>& results) {
    ir::Array arrays[2];
    size_t n = 0;
    Tensors tensors;
    for (const Value& v : operands) {
      if (is_array_value(v) && n < 2)
        arrays[n++] = v.as<ArrayObject>()->content;
      else
        tensors.push_back(TFL_TRY(to_concrete(interp_, v)));
    }
    ir::Type element;
    element.kind = ir::TypeKind::Array;
    element.tensor.dtype = attrs.get_dtype(Attr::dtype, n ? arrays[0]->element.dtype : DType::F32);
    const Dims* shape = attrs.get_ints(Attr::shape);
    element.tensor.ranked = shape || n;
    if (shape)
      element.tensor.dims = *shape;
    else if (n)
      element.tensor = arrays[0]->element;
    if (op == Op::array_from) element.tensor = {tensors[0].dtype(), true, Dims(tensors[0].dims().subspan(1))};
    TFL_TRY(ir::run_array(interp_.context, op, attrs, element, arrays[0], arrays[1], tensors));
    const bool gives_array = !op_facts(op).by_operands;
    if (gives_array) results.push_back(add(array_value(interp_, std::move(arrays[0]))));
    if (!gives_array || op == Op::array_pop) {
      for (Tensor& t : tensors) results.push_back(add(Value::of(std::move(t))));
    }
    return {};
  }

  Interp& interp_;
  std::vector<Value> values_;
  std::deque<ir::Type> types_;  // handed out by reference: they must stay where they are
  std::shared_ptr<Scope> scope_;
};

// A gradient as it adds up: a tensor, rows of one, or both.
struct TapeSum {
  gradient::Sum dense;
  struct Rows {
    X values, indices;
    size_t record;  // the step they come from
  };
  std::vector<Rows> rows;
  X shape;  // of the whole, for the rows
  bool empty() const { return !dense.value && rows.empty(); }
};
using Sums = std::unordered_map<TapeKey, TapeSum, TapeKeyHash>;

const gradient::Sum& to_dense(TapeSum& sum) {
  for (const TapeSum::Rows& r : sum.rows)
    sum.dense = gradient::merged(sum.dense, {gradient::rows_to_tensor(r.values, r.indices, sum.shape)});
  sum.rows.clear();
  return sum.dense;
}

class RecordCall : public gradient::RuleCall {
 public:
  RecordCall(TapeAdjoint& a, const TapeRecord& r, size_t record, const std::unordered_set<TapeKey, TapeKeyHash>& active,
             Sums& sums)
      : RuleCall(a, r.op, r.attrs), tape_(a), r_(r), record_(record), active_(active), sums_(sums) {
    if (r.node) {
      for (ir::Ref ref : r.node->operands) {
        size_t k = 0;
        while (k < r.refs.size() && k < r.operands.size() && !(r.refs[k] == ref)) ++k;
        values_.push_back(k < r.refs.size() && k < r.operands.size()
                              ? r.operands[k]
                              : symbolic_value(a.interp(), symbolic(r.results[0])->scope, ref));
      }
    } else {
      values_ = r.operands;
    }
    for (const Value& v : values_) operands_.push_back(a.add(v));
    result_count_ = r.node ? r.node->types.size() : r.results.size();
    for (size_t i = 0; i < result_count_; ++i) {
      Value v = i < r.results.size()
                    ? r.results[i]
                    : symbolic_value(a.interp(), symbolic(r.results[0])->scope, {r.node, static_cast<uint32_t>(i)});
      auto found = sums_.find(tape_key(v));
      results_.push_back(a.add(std::move(v)));
      g_.push_back(found == sums_.end() ? gradient::Sum() : to_dense(found->second));
    }
    find_own();
  }
  size_t operand_count() const override { return operands_.size(); }
  size_t result_count() const override { return result_count_; }
  const ir::Type& operand_type(size_t i) const override { return tape_.type(operands_[i]); }
  const ir::Type& result_type(size_t i) const override { return tape_.type(results_[i]); }
  bool same_operand(size_t i, size_t j) const override {
    TapeKey key = tape_key(values_[i]);
    // What no gradient flows to (a function of the script, say) has no key.
    return key == TapeKey{} ? values_[i].identical(values_[j]) : key == tape_key(values_[j]);
  }
  bool wanted(size_t i) const override { return active_.count(tape_key(values_[i])) > 0; }
  const gradient::Sum& flowing(size_t i) const override { return g_[i]; }
  X x(size_t i) override { return X(&tape_, operands_[i]); }
  X r(size_t i) override { return X(&tape_, results_[i]); }
  X x_shape(size_t i) override { return shape_of(operands_[i]); }
  X r_shape(size_t i) override { return shape_of(results_[i]); }
  X x_size(size_t i) override { return emit(Op::array_size, {x(i)}); }
  X r_size(size_t i) override { return emit(Op::array_size, {r(i)}); }
  void give_rows(size_t i, X values, X indices) override {
    if (!values || !indices || !wanted(i)) return;
    if (!own().is_always()) return give(i, gradient::rows_to_tensor(values, indices, x_shape(i)));
    TapeSum& sum = sums_[tape_key(values_[i])];
    sum.shape = x_shape(i);
    // One row an index, in one axis.
    int64_t minus_one = -1, one = 1;
    X flat = emit(Op::reshape, {indices, int_vector(tape_, {&minus_one, 1})});
    std::vector<X> sizes = {int_vector(tape_, {&minus_one, 1}),
                            emit(Op::slice, {sum.shape, int_vector(tape_, {&one, 1}), int_vector(tape_, {&minus_one, 1})})};
    std::vector<X> shape = emit_many(Op::concat, sizes, Attrs().set_int(Attr::axis, 0));
    if (shape.empty()) return;
    sum.rows.push_back({emit(Op::reshape, {values, shape[0]}), flat, record_});
    if (sum.dense.value) to_dense(sum);
  }
  gradient::Sum gathered(size_t i) const override {
    auto found = sums_.find(tape_key(values_[i]));
    return found == sums_.end() ? gradient::Sum() : to_dense(found->second);
  }
  void put(size_t i, gradient::Sum gradient) override {
    if (!gradient.value) return;
    TapeSum& sum = sums_[tape_key(values_[i])];
    sum.rows.clear();
    sum.dense = std::move(gradient);
  }
  ir::Node* node() const override { return r_.node; }

 private:
  X shape_of(V v) {
    const TensorType& t = tape_.type(v).tensor;
    if (gradient::known(t)) return int_vector(tape_, t.dims);
    return emit(Op::shape, {X(&tape_, v)}, Attrs().set_dtype(Attr::dtype, DType::I32));
  }

  TapeAdjoint& tape_;
  const TapeRecord& r_;
  size_t record_;
  const std::unordered_set<TapeKey, TapeKeyHash>& active_;
  Sums& sums_;
  std::vector<Value> values_;  // the operands
  std::vector<V> operands_, results_;
  size_t result_count_;
  std::vector<gradient::Sum> g_;
};

// The gradient of a traced function that ran under the tape: its backward function, called. Only a `persistent` tape can have recorded
// what read the values that the function kept.
Result<void> call_backward(TapeAdjoint& a, RecordCall& c, const TapeRecord& r, bool persistent) {
  const gradient::Derivative& d = *r.derived->derivative;
  for (size_t i = r.derived->results; persistent && i < r.results.size(); ++i) {
    // An array that is kept may be one of the function's own results, or an operand: what flows into it is theirs.
    auto same = [&](const Value& v) { return v.identical(r.results[i]); };
    auto own_end = r.results.begin() + static_cast<ptrdiff_t>(r.derived->results);
    if (!c.flowing(i).value || std::any_of(r.results.begin(), own_end, same) ||
        std::any_of(r.operands.begin(), r.operands.end(), same))
      continue;
    return fail(ErrorKind::NotImplementedError,
                "this gradient of a gradient goes through a traced function that the same tape recorded")
        .with_hint("take each gradient with a tape of its own, one inside the other");
  }
  std::vector<Value> operands;
  std::vector<V> before;
  if (!gradient::sums_before(c, d, before)) return a.take_failure();
  for (V v : before) operands.push_back(a.value(v));
  for (const gradient::Derivative::Read& read : d.reads)
    operands.push_back(read.parameter ? r.operands[read.index] : r.results[read.index]);
  SmallVec<Value, 2> results;
  TFL_TRY(call_function(a.interp(), r.derived->backward, operands, results));
  std::vector<X> given;
  for (Value& v : results) given.push_back(a.x(std::move(v)));
  gradient::put_sums(c, d, given);
  return {};
}

// tf.custom_gradient: the script's function is called with one gradient a result and gives one an operand.
Result<void> custom_backward(TapeAdjoint& a, RecordCall& c, const TapeRecord& r) {
  std::vector<Value> upstream;
  for (size_t k = 0; k < r.results.size(); ++k) {
    X g = g_or_zeros(c, k);
    if (!g) return a.take_failure();
    upstream.push_back(a.value(g.id()));
  }
  Interp& interp = a.interp();
  Value given = TFL_TRY(interp.call(r.backward, {interp.list(std::move(upstream))}));
  if (!given.is(Kind::List)) return fail(ErrorKind::TypeError, "a custom gradient gives no list of gradients");
  const std::vector<Value>& list = given.as<List>()->items;
  if (list.size() != r.operands.size()) {
    return fail(ErrorKind::ValueError, "custom_gradient function expected to return {} gradients, but returned {} instead.",
                r.operands.size(), list.size());
  }
  for (size_t i = 0; i < list.size(); ++i) {
    if (!list[i].is_none()) c.give(i, a.x(TFL_TRY(to_tensor(interp, list[i]))));
  }
  return {};
}

// What flows into a reading of a variable flows into the variable; rows stay rows.
void pass_to_variable(TapeAdjoint& a, Sums& sums, const TapeRecord& r) {
  TapeSum mine = sums.at(tape_key(r.results[0]));
  TapeSum& sum = sums[tape_key(r.operands[0])];
  if (gradient::Sum dense = mine.dense; dense.value) {
    if (sum.empty()) dense.value = X(&a, a.first_of_sum(dense.value.id()));
    sum.dense = gradient::merged(to_dense(sum), dense);
  }
  for (const TapeSum::Rows& rows : mine.rows) sum.rows.push_back(rows);
  if (!mine.rows.empty()) sum.shape = mine.shape;
  if (sum.dense.value) to_dense(sum);
}

// Rows stand in TensorFlow's order: of the steps breadth first from the targets, a step after all that use its results.
std::vector<size_t> breadth_first(const Tape& tape, const std::vector<bool>& relevant, const std::vector<Value>& targets) {
  size_t n = tape.records.size();
  std::unordered_map<TapeKey, size_t, TapeKeyHash> made_by;
  for (size_t i = 0; i < n; ++i) {
    for (const Value& v : tape.records[i].results) {
      if (relevant[i]) made_by[tape_key(v)] = i;
    }
  }
  auto maker = [&](const Value& v) {
    auto found = made_by.find(tape_key(v));
    return found == made_by.end() ? n : found->second;
  };
  std::vector<size_t> users(n, 0), order, rank(n, n);
  std::vector<bool> reached(n, false);
  for (const Value& t : targets) {
    if (maker(t) < n) reached[maker(t)] = true;
  }
  for (size_t i = n; i-- > 0;) {
    if (!reached[i]) continue;
    for (const Value& v : tape.records[i].operands) {
      size_t m = maker(v);
      if (m >= n) continue;
      reached[m] = true;
      ++users[m];
    }
  }
  for (const Value& t : targets) {
    size_t m = maker(t);
    if (m < n && users[m] == 0 && std::find(order.begin(), order.end(), m) == order.end()) order.push_back(m);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    rank[order[at]] = at;
    for (const Value& v : tape.records[order[at]].operands) {
      size_t m = maker(v);
      if (m < n && --users[m] == 0) order.push_back(m);
    }
  }
  return rank;
}

Result<Value> finish(TapeAdjoint& a, TapeSum& sum, const Value& make_slices) {
  if (sum.dense.value || sum.rows.empty() || make_slices.is_none()) {
    // What has a gradient in some runs gets zeros in the others, as in TensorFlow.
    X all = gradient::filled(to_dense(sum), gradient::Presence::always(), gradient::Fill::Zero);
    return all ? Result<Value>(a.value(all.id())) : a.take_failure();
  }
  Interp& interp = a.interp();
  X values = sum.rows[0].values, indices = sum.rows[0].indices;
  if (sum.rows.size() > 1) {
    std::vector<X> all_values, all_indices;
    for (const TapeSum::Rows& r : sum.rows) {
      all_values.push_back(r.values);
      all_indices.push_back(r.indices);
    }
    Attrs axis = Attrs().set_int(Attr::axis, 0);
    std::vector<X> v = emit_many(Op::concat, all_values, axis), i = emit_many(Op::concat, all_indices, axis);
    if (v.empty() || i.empty()) return a.take_failure();
    values = v[0];
    indices = i[0];
  }
  if (a.failed()) return a.take_failure();
  return interp.call(make_slices, {a.value(values.id()), a.value(indices.id()), a.value(sum.shape.id())});
}

}  // namespace

Result<std::vector<Value>> tape_gradient(Interp& interp, Tape& tape, const GradientQuery& query, const Value& make_slices) {
  // What depends on a source.
  std::unordered_set<TapeKey, TapeKeyHash> active;
  for (const Value& s : query.sources) {
    if (!query.only_watched || tape.is_tracked(s)) active.insert(tape_key(s));
  }
  std::vector<bool> relevant(tape.records.size(), false);
  for (size_t i = 0; i < tape.records.size(); ++i) {
    const TapeRecord& r = tape.records[i];
    for (const Value& v : r.operands) {
      TapeKey key = tape_key(v);
      if (key.object && active.count(key)) relevant[i] = true;
    }
    if (!relevant[i]) continue;
    for (const Value& v : r.results) {
      if (tape.is_tracked(v)) active.insert(tape_key(v));
    }
    if (r.node) {
      for (uint32_t k = 0; k < r.node->types.size(); ++k) active.insert({r.node, k});
    }
  }

  TapeAdjoint a(interp);
  Sums sums;
  for (size_t t = 0; t < query.targets.size(); ++t) {
    const Value& target = query.targets[t];
    X seed;
    if (!query.seeds.empty() && !query.seeds[t].is_none()) {
      seed = a.x(query.seeds[t]);
    } else {
      V v = a.add(target);
      const ir::Type& type = a.type(v);
      if (!gradient::differentiable(type.tensor.dtype)) continue;
      X shape = gradient::known(type.tensor) ? int_vector(a, type.tensor.dims)
                                             : emit(Op::shape, {X(&a, v)}, Attrs().set_dtype(Attr::dtype, DType::I32));
      seed = emit(Op::fill, {shape, gradient::literal(a, type.tensor.dtype, 1.0)});
    }
    if (!seed) return a.take_failure();
    gradient::Sum& sum = sums[tape_key(target)].dense;
    sum = gradient::merged(sum, {seed});
  }

  for (size_t i = tape.records.size(); i-- > 0;) {
    if (!relevant[i]) continue;
    const TapeRecord& r = tape.records[i];
    bool flows = false;
    for (const Value& v : r.results) flows |= sums.count(tape_key(v)) > 0;
    if (r.node) {
      for (uint32_t k = 0; !flows && k < r.node->types.size(); ++k) flows = sums.count({r.node, k}) > 0;
    }
    if (!flows) continue;
    if (r.node) {
      for (const Value& v : r.results) {
        if (v.is(Kind::Symbolic)) a.set_scope(symbolic(v)->scope);
      }
    }
    if (r.kind == TapeRecord::Kind::Read) {
      pass_to_variable(a, sums, r);
      continue;
    }
    RecordCall call(a, r, i, active, sums);
    switch (r.kind) {
      case TapeRecord::Kind::Operation:
      case TapeRecord::Kind::Node: gradient::rule_of(r.op)(call); break;
      case TapeRecord::Kind::Read: break;
      case TapeRecord::Kind::Call: TFL_TRY(call_backward(a, call, r, tape.persistent)); break;
      case TapeRecord::Kind::Custom: TFL_TRY(custom_backward(a, call, r)); break;
    }
    if (a.failed()) return a.take_failure();
    TFL_TRY(interp.check_interrupt());
  }

  std::vector<Value> out;
  for (const Value& s : query.sources) {
    auto found = sums.find(tape_key(s));
    if (found == sums.end() || found->second.empty()) {
      out.push_back(Value::none());
      continue;
    }
    std::vector<TapeSum::Rows>& rows = found->second.rows;
    if (rows.size() > 1 && !found->second.dense.value) {
      std::vector<size_t> rank = breadth_first(tape, relevant, query.targets);
      std::stable_sort(rows.begin(), rows.end(),
                       [&](const TapeSum::Rows& x, const TapeSum::Rows& y) { return rank[x.record] < rank[y.record]; });
    }
    out.push_back(TFL_TRY(finish(a, found->second, make_slices)));
    if (a.failed()) return a.take_failure();
  }
  return out;
}

}  // namespace tfl
