#include "codegen/plan/build.h"

#include "codegen/plan/arrays.h"
#include "codegen/plan/builder.h"
#include "ir/state.h"
#include "runtime/support/check.h"

namespace tfl::plan {

namespace {

// A result of one element that a reduction left is in memory; others are the driver's.
bool stays_in_memory(Builder& b, ir::Ref r) {
  for (r = b.resolve(r); keeps_order(*r.node); r = b.resolve(r.node->operands[0])) {
  }
  return is_reduction(r.node->op) && r.node->block == &b.cluster.body;
}

}  // namespace

std::shared_ptr<const ir::Function> of_tensors(Context& context, const ir::Function& cluster, bool growing) {
  std::shared_ptr<const ir::Function> now(std::shared_ptr<const ir::Function>(), &cluster);
  std::vector<ir::VariableUse> uses;
  bool possible = true;
  if (auto values = ir::without_variables(context, *now, uses, possible)) now = values;
  if (!possible) return nullptr;
  if (auto rows = without_arrays(context, *now, possible, growing)) now = rows;
  return possible ? now : nullptr;
}

std::optional<Plan> build_plan(Context& context, const ir::Function& given, bool growing) {
  std::shared_ptr<const ir::Function> values = of_tensors(context, given, growing);
  if (!values) return std::nullopt;
  const ir::Function& cluster = *values;
  Plan plan;
  plan.name = cluster.name;
  std::optional<Shapes> shapes = Shapes::of(context, cluster, plan);
  if (!shapes) return std::nullopt;
  Builder b(context, cluster, plan, std::move(*shapes));
  for (uint32_t i = 0; i < cluster.body.params.size(); ++i) {
    ir::Ref r = cluster.body.param(i);
    b.memory[r] = b.add_value(b.dtype(r), b.dims(r), Home::input, i);
    if (r.node->attrs.get_bool(Attr::grows)) plan.room = i;
  }
  std::vector<BlockBuilder::Wanted> wanted;
  std::vector<uint32_t> scalar_results;
  for (uint32_t i = 0; i < cluster.body.results.size(); ++i) {
    ir::Ref r = cluster.body.results[i];
    ResultPlace place;
    place.dtype = b.dtype(r);
    place.dims = b.dims(r);
    ir::Ref base = r;
    while (base.node->op == Op::identity || base.node->op == Op::stop_gradient) base = base.node->operands[0];
    if (base.node->op == Op::parameter) {
      place.kind = ResultPlace::Kind::input;
      place.index = plan.values[b.memory[base]].index;
    } else if (base.node->op == Op::constant) {
      place.kind = ResultPlace::Kind::constant;
      place.index = plan.values[b.memory_of(base)].index;
    } else if (place.dims.empty() && !stays_in_memory(b, r)) {
      place.kind = ResultPlace::Kind::scalar;
      scalar_results.push_back(i);
      wanted.push_back({r, kNone});
    } else {
      place.kind = ResultPlace::Kind::memory;
      wanted.push_back({r, b.add_value(place.dtype, place.dims, Home::result, i)});
    }
    plan.results.push_back(std::move(place));
  }
  BlockBuilder body(b, cluster.body);
  body.build(std::move(wanted), plan.body);
  if (b.failed) return std::nullopt;
  for (size_t i = 0; i < scalar_results.size(); ++i) {
    ValueId v = plan.body.results[i];
    plan.results[scalar_results[i]].index = v;
    b.word_of(v);
  }
  plan.body.results.clear();
  place_values(b);
  if (b.failed) return std::nullopt;
  TFL_CHECK(verify_plan(plan).empty(), verify_plan(plan).c_str());
  return plan;
}

}  // namespace tfl::plan
