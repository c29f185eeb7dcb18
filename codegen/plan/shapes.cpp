#include "codegen/plan/shapes.h"

#include "codegen/plan/size_rules.h"

namespace tfl::plan {

using ir::Ref;

namespace {

constexpr int kWalks = 8;  // until nothing new is learnt

}  // namespace

struct Shapes::Data {
  Data(Context& context, const ir::Function& f, Plan& p) : rules(context, f), plan(p) {}
  SizeRules rules;
  Plan& plan;
};

std::optional<Shapes> Shapes::of(Context& context, const ir::Function& cluster, Plan& plan, const ir::Node** culprit) {
  auto data = std::make_shared<Data>(context, cluster, plan);
  SizeRules& rules = data->rules;
  SizeTable& table = rules.table;
  for (int walk = 0;; ++walk) {
    if (walk == kWalks || !rules.walk() || table.broken()) {
      if (culprit) *culprit = rules.culprit;
      return std::nullopt;
    }
    if (!table.take_news()) break;
    table.restart();
  }
  for (const auto& p : cluster.body.params) {
    InputType input{p->types[0].tensor.dtype, {}};
    for (const SizeTable::Poly& d : rules.value({p.get(), 0}).dims[0]) input.dims.push_back(table.size(plan, d));
    plan.inputs.push_back(std::move(input));
  }
  if (!table.write_guards(plan)) return std::nullopt;
  Shapes shapes;
  shapes.data_ = std::move(data);
  return shapes;
}

const Sizes& Shapes::dims(Ref r) const {
  SizeRules::Value& v = data_->rules.value(r);
  if (v.sizes.empty()) {
    for (const SizeRules::PolyDims& dims : v.dims) {
      v.sizes.emplace_back();
      for (const SizeTable::Poly& d : dims) v.sizes.back().push_back(data_->rules.table.size(data_->plan, d));
    }
  }
  return v.sizes[r.index];
}

const Sizes* Shapes::as_sizes(Ref r) const {
  SizeRules::Value& v = data_->rules.value(r);
  if (!v.has_elements || r.index != 0) return nullptr;
  if (v.element_sizes.empty()) {
    for (const auto& e : v.elements) {
      if (!e || SizeTable::literal(*e).value_or(0) < 0) return nullptr;
    }
    for (const auto& e : v.elements) v.element_sizes.push_back(data_->rules.table.size(data_->plan, *e));
  }
  return &v.element_sizes;
}

Slice Shapes::slice(const ir::Node& node) const {
  Slice out;
  const SizeRules::PolySlice& slice = data_->rules.slice(node);
  SizeTable& table = data_->rules.table;
  for (const auto& a : slice.axes)
    out.axes.push_back({table.size(data_->plan, a.begin), a.stride, table.size(data_->plan, a.length), a.index});
  out.results = slice.results;
  return out;
}

Size Shapes::multiply(Size a, Size b) {
  SizeTable& t = data_->rules.table;
  return t.size(data_->plan, t.multiply(t.poly(a), t.poly(b)));
}
Size Shapes::add(Size a, Size b) {
  SizeTable& t = data_->rules.table;
  return t.size(data_->plan, t.add(t.poly(a), t.poly(b)));
}
Size Shapes::subtract(Size a, Size b) {
  SizeTable& t = data_->rules.table;
  return t.size(data_->plan, t.subtract(t.poly(a), t.poly(b)));
}
Size Shapes::divide(Size a, Size b) {
  SizeTable& t = data_->rules.table;
  SizeTable::Poly quotient = t.divide(t.poly(a), t.poly(b));
  t.write_guards(data_->plan);  // for what has cancelled
  return t.size(data_->plan, quotient);
}
Size Shapes::product(std::span<const Size> sizes) {
  Size out = 1;
  for (Size s : sizes) out = multiply(out, s);
  return out;
}

}  // namespace tfl::plan
