#include "codegen/plan/builder.h"

#include <cstring>

#include "ir/infer.h"

namespace tfl::plan {

ir::Ref Builder::resolve(ir::Ref r) const {
  for (auto it = aliases.find(r); it != aliases.end(); it = aliases.find(r)) r = it->second;
  return r;
}

Tensor Builder::known(ir::Ref r) {
  r = resolve(r);
  if (r.node->op == Op::constant) return r.node->constant;
  auto [it, fresh] = statics.try_emplace(r);
  if (fresh) it->second = ir::static_value(context, r);
  return it->second;
}

ValueId Builder::add_value(DType dtype, Sizes dims, Home home, uint32_t index) {
  Value v;
  v.dtype = dtype;
  v.dims = std::move(dims);
  v.home = home;
  v.index = index;
  plan.values.push_back(std::move(v));
  return static_cast<ValueId>(plan.values.size() - 1);
}

ValueId Builder::add_changed(ValueId older) {
  const Value& v = plan.values[older];
  ValueId changed = add_value(v.dtype, v.dims, Home::temporary);
  same_places.push_back({changed, older});
  return changed;
}

ValueId Builder::add_scalar(DType dtype) { return add_value(dtype, {}, Home::scalar); }

// Words get their numbers when all symbols are there.
void Builder::word_of(ValueId v) { plan.values[v].word = 0; }

ValueId Builder::constant(const Tensor& t) {
  Result<Tensor> dense = contiguous(context, t);
  if (!dense) {
    fail();
    return kNone;
  }
  plan.constants.push_back(dense.take());
  Sizes dims;
  for (int64_t d : t.dims()) dims.push_back(d);
  return add_value(t.dtype(), std::move(dims), Home::constant, static_cast<uint32_t>(plan.constants.size() - 1));
}

ValueId Builder::memory_of(ir::Ref r) {
  for (;;) {
    r = resolve(r);
    if (auto it = memory.find(r); it != memory.end()) return it->second;
    if (r.node->op == Op::constant) {
      ValueId v = constant(r.node->constant);
      memory.emplace(r, v);
      return v;
    }
    if (!keeps_order(*r.node)) return kNone;
    r = r.node->operands[0];
  }
}

Size Builder::count(const Sizes& dims) {
  Size n = 1;
  for (Size d : dims) n = multiply(n, d);
  return n;
}

Size Builder::integer(int64_t v) { return v >= 0 ? v : negative(-v); }

bool Builder::same(Size a, Size b) const {
  if (a == b) return true;
  for (const Guard& g : plan.guards) {
    if (g.kind == Guard::Kind::equal && ((g.a == a && g.b == b) || (g.a == b && g.b == a))) return true;
  }
  return false;
}

bool Builder::same(const Sizes& a, const Sizes& b) const {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!same(a[i], b[i])) return false;
  }
  return true;
}

void Builder::at_least(Size a, Size b) {
  if (is_known(a) && is_known(b)) {
    if (a < b) fail();
    return;
  }
  for (const Guard& g : plan.guards) {
    if (g.kind == Guard::Kind::at_least && g.a == a && is_known(g.b) && is_known(b) && g.b >= b) return;
  }
  plan.guards.push_back({Guard::Kind::at_least, a, b});
}

Sizes Builder::row_major(const Sizes& dims) {
  Sizes strides(dims.size(), 0);
  Size step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = is_one(dims[i]) ? 0 : step;
    step = multiply(step, dims[i]);
  }
  return strides;
}

Sizes without_ones(const Sizes& dims) {
  Sizes out;
  for (Size d : dims) {
    if (!is_one(d)) out.push_back(d);
  }
  return out;
}

bool splat_bits(const Tensor& t, uint64_t& bits) {
  if (t.dtype() == DType::String || t.size() == 0 || !t.contiguous()) return false;
  size_t bytes = dtype_size(t.dtype());
  for (int64_t i = 1; i < t.size(); ++i) {
    if (std::memcmp(t.raw(), t.raw() + static_cast<size_t>(i) * bytes, bytes) != 0) return false;
  }
  bits = 0;
  std::memcpy(&bits, t.raw(), bytes);
  return true;
}

}  // namespace tfl::plan
