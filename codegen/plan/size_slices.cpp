// What slices read, and the integers that are computed from sizes.
#include "codegen/plan/size_rules.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using ir::Ref;
using Poly = SizeTable::Poly;
using PolyDims = SizeRules::PolyDims;

namespace {

constexpr int64_t kFollowedElements = 64;  // of an integer value that is followed

}  // namespace

bool SizeRules::plain_slice(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  PolySlice slice;
  for (size_t i = 0; i < x.size(); ++i) {
    std::optional<Poly> begin = element(n.operands[1], i), size = element(n.operands[2], i);
    if (!begin || !size || !table.assume_at_least(*begin, {})) return false;
    Poly rest = table.subtract(x[i], *begin);
    if (SizeTable::literal(*size) == -1) *size = rest;
    if (table.from_elements(*size)) {
      if (!table.assume_at_least(*size, SizeTable::constant(-1))) return false;
      *size = lifted(*size, table.add(rest, SizeTable::constant(1)));
    }
    if (!table.assume_at_least(*size, {}) || !table.assume_at_least(x[i], table.add(*begin, *size))) return false;
    slice.axes.push_back({*begin, 1, *size, {}});
    slice.results.push_back(static_cast<int>(i));
    out.push_back(std::move(*size));
  }
  slices_[&n] = std::move(slice);
  return true;
}

bool SizeRules::strided(const Node& n, const PolyDims& x, PolyDims& out) {
  Dims strides;
  SliceForm form;
  if (!known_integers(context_, n.operands[3], strides) || !slice_form(n.attrs, x.size(), strides.size(), form)) return false;
  PolySlice slice;
  slice.results = form.results;
  for (size_t i = 0; i < form.axes.size(); ++i) {
    PolySlice::Axis axis;
    if (!slice_axis(form.axes[i], n, strides, x[i], axis)) return false;
    slice.axes.push_back(std::move(axis));
  }
  for (int axis : form.results) out.push_back(axis < 0 ? SizeTable::constant(1) : slice.axes[static_cast<size_t>(axis)].length);
  slices_[&n] = std::move(slice);
  return true;
}

// Bounds that are not known are taken to lie where they are meant to: x[2:] of at least two elements, x[:-1] of at least one.
bool SizeRules::slice_axis(const SliceAxis& a, const Node& n, std::span<const int64_t> strides, const Poly& size,
                           PolySlice::Axis& out) {
  out.length = size;
  if (a.written < 0) return true;
  size_t at = static_cast<size_t>(a.written);
  int64_t stride = strides[at];
  if (stride == 0 || stride == INT64_MIN || (a.shrink && stride < 0)) return false;
  if (a.shrink) {
    out.length = SizeTable::constant(1);
    std::optional<Poly> begin = element(n.operands[1], at);
    if (!begin || table.from_elements(*begin)) {
      out.index = scalar_behind(n.operands[1], at);
      if (out.index || !begin) return static_cast<bool>(out.index);
      *begin = lifted(*begin, size);
    }
    if (SizeTable::literal(*begin).value_or(0) < 0) *begin = table.add(*begin, size);
    if (!table.assume_at_least(*begin, {}) || !table.assume_at_least(size, table.add(*begin, SizeTable::constant(1))))
      return false;
    out.begin = std::move(*begin);
    return true;
  }
  out.stride = stride;
  bool forward = stride > 0;
  std::optional<int64_t> have = SizeTable::literal(size);
  auto bound = [&](bool none, Ref operand, const Poly& otherwise) -> std::optional<Poly> {
    if (none) return otherwise;
    std::optional<Poly> given = element(operand, at);
    if (!given) return std::nullopt;
    std::optional<int64_t> v = SizeTable::literal(*given);
    if (v && have) {
      int64_t low = forward ? 0 : -1, high = forward ? *have : *have - 1;
      int64_t place = *v < 0 ? *v + *have : *v;
      return SizeTable::constant(std::clamp(place, low, std::max(low, high)));
    }
    if (!forward) return std::nullopt;
    if (table.from_elements(*given)) {
      return table.larger(table.smaller(lifted(*given, size), size), {});
    }
    if (v && *v < 0) *given = table.add(*given, size);
    if (!table.assume_at_least(*given, {}) || !table.assume_at_least(size, *given)) return std::nullopt;
    return given;
  };
  Poly last = table.subtract(size, SizeTable::constant(1));
  std::optional<Poly> begin = bound(a.no_begin, n.operands[1], forward ? Poly{} : last);
  std::optional<Poly> end = bound(a.no_end, n.operands[2], forward ? size : SizeTable::constant(-1));
  if (!begin || !end) return false;
  Poly interval = forward ? table.subtract(*end, *begin) : table.subtract(*begin, *end);
  if (SizeTable::literal(interval).value_or(0) < 0) interval = {};
  if (table.from_elements(interval)) interval = table.larger(interval, {});
  if (!table.assume_at_least(interval, {})) return false;
  int64_t step = forward ? stride : -stride;
  out.begin = std::move(*begin);
  out.length = step == 1 ? interval : table.divide(table.add(interval, SizeTable::constant(step - 1)), SizeTable::constant(step));
  // Nothing is read from an empty range; where it would begin does not matter.
  if (SizeTable::literal(out.length) == 0) out.begin = {};
  return true;
}

bool SizeRules::fits(DType dtype, const Poly& p) {
  if (dtype == DType::I64) return true;
  if (dtype != DType::I32) return false;
  if (std::optional<int64_t> v = SizeTable::literal(p)) return *v >= INT32_MIN && *v <= INT32_MAX;
  return table.assume_at_least(SizeTable::constant(INT32_MAX), p) &&
         (table.never_negative(p) || table.assume_at_least(p, SizeTable::constant(INT32_MIN)));
}

void SizeRules::elements(const Node& n, Value& v) {
  const TensorType& type = n.types[0].tensor;
  if (!is_integer(type.dtype) || type.dims.size() > 1 || v.dims[0].size() > 1) return;
  int64_t count = v.dims[0].empty() ? 1 : SizeTable::literal(v.dims[0][0]).value_or(-1);
  if (count < 0 || count > kFollowedElements) return;
  if (n.op == Op::constant) {
    if (type.dtype == DType::U64) return;
    for (int64_t i : shape_rules::integers(n.constant)) v.elements.push_back(SizeTable::constant(i));
    v.has_elements = true;
    return;
  }
  if (type.dtype != DType::I32 && type.dtype != DType::I64) return;
  if (!joined_elements(n, v) || static_cast<int64_t>(v.elements.size()) != count) {
    v.elements.clear();
    return;
  }
  bool any = count == 0;
  for (auto& e : v.elements) {
    if (e && !fits(type.dtype, *e)) e.reset();
    any = any || e;
  }
  v.has_elements = any;
  if (!any) v.elements.clear();
}

bool SizeRules::joined_elements(const Node& n, Value& v) {
  auto take = [&](Ref r) {
    const Value& x = values_[r.node];
    if (r.index == 0 && x.has_elements) {
      v.elements.insert(v.elements.end(), x.elements.begin(), x.elements.end());
      return true;
    }
    const TensorType& t = r.type().tensor;
    if (!t.ranked || t.dims.size() > 1) return false;
    int64_t count = t.dims.empty() ? 1 : t.dims[0];
    if (count < 0 || count > kFollowedElements) return false;
    v.elements.resize(v.elements.size() + static_cast<size_t>(count));
    return true;
  };
  auto pick = [&](Ref from, int64_t at) {
    std::optional<Poly> e = element(from, static_cast<size_t>(at));
    v.elements.push_back(e);
  };
  switch (op_facts(n.op).follows) {
    case Follows::none: return false;
    case Follows::types: {
      const PolyDims& x = dims(n.operands[0]);
      if (n.op == Op::rank) {
        v.elements.push_back(SizeTable::constant(static_cast<int64_t>(x.size())));
      } else if (n.op == Op::shape) {
        for (const Poly& d : x) v.elements.push_back(d);
      } else {
        Poly total = SizeTable::constant(1);
        for (const Poly& d : x) total = table.multiply(total, d);
        v.elements.push_back(std::move(total));
      }
      return true;
    }
    case Follows::first: return n.op == Op::reduce_prod ? product_of_elements(n, v) : take(n.operands[0]);
    case Follows::second: {
      std::optional<Poly> e = element(n.operands[1], 0);
      int64_t count = v.dims[0].empty() ? 1 : SizeTable::literal(v.dims[0][0]).value_or(0);
      v.elements.resize(static_cast<size_t>(count), e);
      return true;
    }
    case Follows::all:
      if (op_facts(n.op).form == PlanForm::elementwise) return arithmetic(n, v);
      return std::all_of(n.operands.begin(), n.operands.end(), take);
    case Follows::picked: {
      if (n.op == Op::gather) {
        Dims indices;
        if (!known_integers(context_, n.operands[1], indices)) return false;
        for (int64_t i : indices) pick(n.operands[0], i);
        return true;
      }
      const PolySlice& s = slices_[&n];
      if (s.axes.size() != 1 || s.axes[0].index) return false;
      std::optional<int64_t> begin = SizeTable::literal(s.axes[0].begin), length = SizeTable::literal(s.axes[0].length);
      if (!begin || !length) return false;
      for (int64_t i = 0; i < *length; ++i) pick(n.operands[0], *begin + i * s.axes[0].stride);
      return true;
    }
  }
  return false;
}

bool SizeRules::product_of_elements(const Node& n, Value& v) {
  Poly total = SizeTable::constant(1);
  const Value& x = values_[n.operands[0].node];
  if (n.operands[0].index != 0 || !x.has_elements || !v.dims[0].empty()) return false;
  for (const auto& e : x.elements) {
    if (!e) return false;
    total = table.multiply(total, *e);
  }
  v.elements.push_back(std::move(total));
  return true;
}

// The integers of one element of an operation on two; nothing where they do not follow.
constexpr OpTable<std::optional<Poly> (*)(SizeTable&, const Poly&, const Poly&)> kNumbers{{
    {Op::add, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.add(a, b); }},
    {Op::subtract, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.subtract(a, b); }},
    {Op::multiply, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.multiply(a, b); }},
    {Op::floordiv, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.divide(a, b); }},
    {Op::mod,
     [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> {
       return t.subtract(a, t.multiply(b, t.divide(a, b)));
     }},
    {Op::maximum, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.larger(a, b); }},
    {Op::minimum, [](SizeTable& t, const Poly& a, const Poly& b) -> std::optional<Poly> { return t.smaller(a, b); }},
}};

bool SizeRules::arithmetic(const Node& n, Value& v) {
  const auto number = kNumbers[n.op];
  if (!number) return false;
  auto count = [&](Ref r) { return dims(r).empty() ? 1 : SizeTable::literal(dims(r)[0]).value_or(-1); };
  int64_t x = count(n.operands[0]), y = count(n.operands[1]), length = x == 1 ? y : x;
  for (int64_t i = 0; i < length; ++i) {
    std::optional<Poly> a = element(n.operands[0], static_cast<size_t>(x == 1 ? 0 : i));
    std::optional<Poly> b = element(n.operands[1], static_cast<size_t>(y == 1 ? 0 : i));
    v.elements.emplace_back();
    if (!a || !b) continue;
    bool divides = n.op == Op::floordiv || n.op == Op::mod;
    if (divides && SizeTable::literal(*b).value_or(0) <= 0 && !table.assume_at_least(*b, SizeTable::constant(1))) continue;
    v.elements.back() = number(table, *a, *b);
  }
  return length >= 0;
}

}  // namespace tfl::plan
