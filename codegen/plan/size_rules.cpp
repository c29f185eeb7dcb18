#include "codegen/plan/size_rules.h"

#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using ir::Ref;
using shape_rules::front_axis;
using Poly = SizeTable::Poly;
using PolyDims = SizeRules::PolyDims;

bool SizeRules::walk() {
  values_.clear();
  slices_.clear();
  culprit = nullptr;
  table.location = 0;
  return parameters() && block(f_.body);
}

// Sizes that are not known are the plan's symbols; equal names are equal sizes.
bool SizeRules::parameters() {
  std::vector<std::optional<Poly>> named(f_.symbols.size());
  for (uint32_t i = 0; i < f_.body.params.size(); ++i) {
    const Node& p = *f_.body.params[i];
    const TensorType& t = p.types[0].tensor;
    if (!p.types[0].is_tensor() || !t.ranked) return false;
    PolyDims dims;
    for (uint32_t axis = 0; axis < t.dims.size(); ++axis) {
      int64_t d = t.dims[axis];
      Poly size = d >= 0 ? SizeTable::constant(d) : table.dim(i, axis);
      if (size_t name = static_cast<size_t>(-2 - d); d < -1 && name < named.size()) {
        if (!named[name])
          named[name] = size;
        else if (!table.assume_equal(*named[name], size))
          return false;
        size = table.current(size);
      }
      dims.push_back(std::move(size));
    }
    Value& v = values_[&p];
    if (p.attrs.get_bool(Attr::size)) {
      int64_t count = dims.empty() ? 1 : SizeTable::literal(dims[0]).value_or(0);
      for (uint32_t k = 0; k < count; ++k) v.elements.push_back(table.element(i, k));
      v.has_elements = true;
    }
    v.dims.push_back(std::move(dims));
  }
  return true;
}

bool SizeRules::block(const ir::Block& b) {
  for (const auto& n : b.nodes) {
    if (!needed_.contains(n.get())) continue;
    if (!node(*n)) {
      if (!culprit) culprit = n.get();
      return false;
    }
  }
  for (Ref r : b.results) {
    if (!has_dims(r)) return false;
  }
  return true;
}

bool SizeRules::node(const Node& n) {
  if (n.location) table.location = n.location;
  for (size_t i = 0; i < n.operands.size(); ++i) {
    bool left_out = (n.op == Op::check && i == 1) || !n.regions.empty();
    if (!left_out && !has_dims(n.operands[i])) return false;
  }
  Value v;
  if (n.op == Op::check) return true;
  if (op_facts(n.op).regions) return n.op == Op::while_loop ? loop(n) : branches(n);
  for (const ir::Type& t : n.types) {
    if (!t.is_tensor() || !t.tensor.ranked) return false;
  }
  if (SeveralRule several = kSeveralRules[n.op]) {
    if (!(this->*several)(n, v.dims)) return false;
    for (size_t i = 0; i < v.dims.size(); ++i) {
      if (!meet(n.types[i], v.dims[i])) return false;
    }
    values_[&n] = std::move(v);
    return true;
  }
  PolyDims out;
  if (n.op == Op::constant) {
    for (int64_t d : n.constant.dims()) out.push_back(SizeTable::constant(d));
  } else if (op_info(n.op).kind == OpKind::Elementwise) {
    if (!elementwise(n, out)) return false;
  } else if (OneRule rule = kRules[n.op]; !rule || !(this->*rule)(n, out)) {
    return false;
  }
  if (!meet(n.types[0], out)) return false;
  v.dims.push_back(std::move(out));
  elements(n, v);
  values_[&n] = std::move(v);
  return true;
}

// A size that the type knows is that of the value.
bool SizeRules::meet(const ir::Type& type, PolyDims& dims) {
  if (type.tensor.dims.size() != dims.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t d = type.tensor.dims[i];
    if (d < 0) continue;
    if (!table.assume_equal(dims[i], SizeTable::constant(d))) return false;
    dims[i] = SizeTable::constant(d);
  }
  return true;
}

bool SizeRules::branches(const Node& n) {
  std::vector<PolyDims> out;
  for (const auto& region : n.regions) {
    for (size_t i = 0; i < region->params.size(); ++i) {
      const Node* p = region->params[i].get();
      if (!needed_.contains(p)) continue;
      Ref given = n.operands[i + 1];
      if (!has_dims(given)) return false;
      Value v;
      v.dims.push_back(dims(given));
      if (given.index == 0) {
        v.elements = values_[given.node].elements;
        v.has_elements = values_[given.node].has_elements;
      }
      if (!meet(p->types[0], v.dims[0])) return false;
      values_[p] = std::move(v);
    }
    if (!block(*region)) return false;
    for (size_t i = 0; i < region->results.size(); ++i) {
      const PolyDims& given = dims(region->results[i]);
      if (out.size() <= i) {
        out.push_back(given);
        continue;
      }
      if (given.size() != out[i].size()) return false;
      for (size_t k = 0; k < given.size(); ++k) {
        if (!table.assume_equal(out[i][k], given[k])) return false;
      }
    }
  }
  values_[&n].dims = std::move(out);
  return true;
}

// A variable keeps the sizes of its first value.
bool SizeRules::loop(const Node& n) {
  for (const auto& region : n.regions) {
    for (size_t i = 0; i < region->params.size(); ++i) {
      const Node* p = region->params[i].get();
      bool variable = i < n.types.size();
      if (!variable && !needed_.contains(p)) continue;
      Ref given = n.operands[i];
      if (!has_dims(given)) return false;
      Value v;
      v.dims.push_back(dims(given));
      if (!variable && given.index == 0) {
        v.elements = values_[given.node].elements;
        v.has_elements = values_[given.node].has_elements;
      }
      if (!meet(p->types[0], v.dims[0])) return false;
      values_[p] = std::move(v);
    }
    if (!block(*region)) return false;
  }
  std::vector<PolyDims> out;
  for (size_t i = 0; i < n.types.size(); ++i) {
    const PolyDims& next = dims(n.regions[1]->results[i]);
    out.push_back(dims(n.operands[i]));
    if (next.size() != out.back().size()) return false;
    for (size_t k = 0; k < next.size(); ++k) {
      if (!table.assume_equal(out.back()[k], next[k])) return false;
    }
  }
  values_[&n].dims = std::move(out);
  return true;
}

bool SizeRules::elementwise(const Node& n, PolyDims& out) {
  size_t rank = 0;
  for (Ref r : n.operands) rank = std::max(rank, dims(r).size());
  for (size_t axis = 0; axis < rank; ++axis) {
    Poly size = SizeTable::constant(1);
    for (Ref r : n.operands) {
      const PolyDims& x = dims(r);
      if (axis + x.size() < rank) continue;
      const Poly& d = x[axis + x.size() - rank];
      if (SizeTable::literal(d) == 1) continue;
      if (SizeTable::literal(size) == 1)
        size = d;
      else if (!table.assume_equal(size, d))
        return false;
    }
    out.push_back(table.current(size));
  }
  return true;
}

bool SizeRules::reduce(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  bool keep = n.attrs.get_bool(Attr::keepdims);
  SmallVec<bool, 8> gone(x.size(), axes == nullptr);
  for (size_t i = 0; axes && i < axes->size(); ++i) {
    int64_t axis = front_axis((*axes)[i], static_cast<int64_t>(x.size()));
    if (axis < 0) return false;
    gone[static_cast<size_t>(axis)] = true;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!gone[i])
      out.push_back(x[i]);
    else if (keep)
      out.push_back(SizeTable::constant(1));
  }
  return true;
}

// One size may be left to be what remains.
bool SizeRules::reshape(const Node& n, PolyDims& out) {
  const ir::Type& type = n.types[0];
  Poly total = SizeTable::constant(1), rest = SizeTable::constant(1);
  for (const Poly& d : dims(n.operands[0])) total = table.multiply(total, d);
  size_t rank = type.tensor.dims.size(), open = rank;
  // What the rest is, should an element be the -1 that stands for it.
  Poly all = SizeTable::constant(-1);
  bool any = false;
  for (size_t i = 0; i < rank; ++i) {
    std::optional<Poly> wanted = element(n.operands[1], i);
    all = wanted ? table.multiply(all, *wanted) : all;
    any = any || !wanted || SizeTable::literal(*wanted) == -1;
  }
  for (size_t i = 0; i < rank; ++i) {
    std::optional<Poly> wanted = element(n.operands[1], i);
    if (wanted && !any && table.from_elements(*wanted)) {
      Poly remains = table.divide(total, table.larger(all, SizeTable::constant(1)));
      wanted = lifted(*wanted, table.add(remains, SizeTable::constant(1)));
    }
    if (wanted && SizeTable::literal(*wanted) == -1) {
      if (open != rank) return false;
      open = i;
      out.emplace_back();
      continue;
    }
    if (!wanted && type.tensor.dims[i] >= 0) wanted = SizeTable::constant(type.tensor.dims[i]);
    if (!wanted || !table.assume_at_least(*wanted, {})) return false;
    rest = table.multiply(rest, *wanted);
    out.push_back(std::move(*wanted));
  }
  if (open != rank) {
    out[open] = type.tensor.dims[open] >= 0 ? SizeTable::constant(type.tensor.dims[open]) : table.divide(total, rest);
    rest = table.multiply(rest, out[open]);
  }
  return table.assume_equal(total, rest);
}

Poly SizeRules::lifted(const Poly& p, const Poly& by) {
  Poly is_negative = table.smaller(table.larger(table.subtract({}, p), {}), SizeTable::constant(1));  // 1 or 0
  return table.add(p, table.multiply(is_negative, by));
}

std::optional<Poly> SizeRules::element(Ref r, size_t i) {
  const Value& v = values_[r.node];
  if (r.index != 0 || !v.has_elements || i >= v.elements.size() || !v.elements[i]) return std::nullopt;
  return table.current(*v.elements[i]);
}

bool SizeRules::wanted_sizes(Ref r, PolyDims& out) {
  const Value& v = values_[r.node];
  if (r.index != 0 || !v.has_elements) return false;
  size_t count = v.elements.size();
  for (size_t i = 0; i < count; ++i) {
    std::optional<Poly> e = element(r, i);
    if (!e || !table.assume_at_least(*e, {})) return false;
    out.push_back(std::move(*e));
  }
  return true;
}

}  // namespace tfl::plan
