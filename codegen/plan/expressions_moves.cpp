// Elements of what gathers, rolls, pads and cuts to a band: moves whose places are computed.
#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

ExprId Expressions::gather(const ir::Node& n, const Place& at, ExprId mask) {
  const Sizes& x = b.dims(n.operands[0]);
  const Sizes& indices = b.dims(n.operands[1]);
  int64_t batch = n.attrs.get_int(Attr::batch_dims);
  auto shared = static_cast<size_t>(batch < 0 ? batch + static_cast<int64_t>(indices.size()) : batch);
  int64_t axis = n.attrs.get_int(Attr::axis, static_cast<int64_t>(shared));
  auto a = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.size()) : axis);
  size_t own = indices.size() - shared;
  Place index, place;
  for (size_t i = 0; i < shared; ++i) index.push_back(at[i]);
  for (size_t i = 0; i < own; ++i) index.push_back(at[a + i]);
  for (size_t i = 0; i < a; ++i) place.push_back(at[i]);
  Index chosen;
  Tensor known = b.known(n.operands[1]);
  ValueId token = block_.checked(n.operands[1], {x[a]}, false, n.location);
  if (b.failed) return kNone;
  if (token != kNone) tokens.push_back(token);
  uint64_t bits;
  if (known && splat_bits(known, bits)) {
    chosen.offset = load_int(known.dtype(), reinterpret_cast<const std::byte*>(&bits));
  } else {
    chosen.indexed.push_back({cast(element(n.operands[1], index, mask), DType::I64), 1});
  }
  if (!at.empty()) chosen.strides.resize(at[0].strides.size(), 0);
  place.push_back(std::move(chosen));
  for (size_t i = a + own; i < at.size(); ++i) place.push_back(at[i]);
  return element(n.operands[0], place, mask);
}

ExprId Expressions::pad(const ir::Node& n, const Place& at, ExprId mask) {
  Tensor paddings = b.known(n.operands[1]);
  std::string_view mode = n.attrs.get_text(Attr::mode);
  if (!paddings || (!mode.empty() && mode != "CONSTANT")) return kNone;
  Result<Tensor> dense = contiguous(b.context, paddings);
  if (!dense) return kNone;
  const Sizes& x = b.dims(n.operands[0]);
  ExprId inside = kNone;
  Place place = at;
  auto require = [&](ExprId c) { inside = inside == kNone ? c : apply(Op::logical_and, DType::Bool, {inside, c}); };
  for (size_t i = 0; i < x.size(); ++i) {
    auto amount = [&](size_t k) { return load_int(dense->dtype(), dense->raw() + (2 * i + k) * dtype_size(dense->dtype())); };
    int64_t before = amount(0), after = amount(1);
    if (before < 0 || after < 0) return kNone;
    if (before == 0 && after == 0) continue;
    ExprId index = integer(at[i]);
    if (before > 0) require(apply(Op::greater_equal, DType::Bool, {index, size(before)}));
    if (after > 0) require(apply(Op::less, DType::Bool, {index, size(b.add(x[i], before))}));
    Index back;
    back.offset = b.integer(-before);
    place[i] = b.plus(at[i], back);
  }
  if (inside == kNone) return element(n.operands[0], at, mask);
  ExprId all = mask == kNone ? inside : apply(Op::logical_and, DType::Bool, {mask, inside});
  ExprId value = element(n.operands[0], place, all);
  ExprId other = n.operands.size() > 2 ? element(n.operands[2], {}, kNone) : number(dtype(value), 0);
  return apply(Op::where, dtype(value), {inside, value, other});
}

ExprId Expressions::band(const ir::Node& n, const Place& at, ExprId mask) {
  int64_t width[2];
  for (size_t i = 0; i < 2; ++i) {
    Tensor t = b.known(n.operands[i + 1]);
    if (!t || t.size() != 1) return kNone;
    width[i] = load_int(t.dtype(), t.raw());
  }
  ExprId x = element(n.operands[0], at, mask);
  ExprId row = integer(at[at.size() - 2]), column = integer(at[at.size() - 1]);
  ExprId inside = kNone;
  for (size_t i = 0; i < 2; ++i) {
    if (width[i] < 0) continue;
    ExprId distance = i == 0 ? apply(Op::subtract, DType::I64, {row, column}) : apply(Op::subtract, DType::I64, {column, row});
    ExprId near = apply(Op::less_equal, DType::Bool, {distance, number(DType::I64, width[i])});
    inside = inside == kNone ? near : apply(Op::logical_and, DType::Bool, {inside, near});
  }
  return inside == kNone ? x : apply(Op::where, dtype(x), {inside, x, number(dtype(x), 0)});
}

// Tuples of indices along the last axis of the indices.
ExprId Expressions::gather_nd(const ir::Node& n, const Place& at, ExprId mask) {
  const Sizes x = b.dims(n.operands[0]), indices = b.dims(n.operands[1]);
  auto depth = static_cast<size_t>(indices.back());
  size_t lead = indices.size() - 1, axes = at.empty() ? 0 : at[0].strides.size();
  ValueId token = block_.checked(n.operands[1], Sizes(x.begin(), x.begin() + depth), false, n.location);
  if (b.failed) return kNone;
  if (token != kNone) tokens.push_back(token);
  Place place;
  for (size_t d = 0; d < depth; ++d) {
    Place tuple(at.begin(), at.begin() + lead);
    Index column;
    column.offset = static_cast<Size>(d);
    column.strides.resize(axes, 0);
    tuple.push_back(std::move(column));
    Index chosen;
    chosen.strides.resize(axes, 0);
    chosen.indexed.push_back({cast(element(n.operands[1], tuple, mask), DType::I64), 1});
    place.push_back(std::move(chosen));
  }
  for (size_t i = lead; i < at.size(); ++i) place.push_back(at[i]);
  return element(n.operands[0], place, mask);
}

// An axis whose elements have gone round is read in two parts.
ExprId Expressions::roll(const ir::Node& n, const Place& at, ExprId mask) {
  const Sizes x = b.dims(n.operands[0]);
  Dims shifts;
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  if (!axes || !known_integers(b.context, n.operands[1], shifts) || shifts.size() != axes->size()) return kNone;
  Dims shift(x.size(), 0);
  for (size_t i = 0; i < axes->size(); ++i) {
    auto axis = static_cast<size_t>((*axes)[i] < 0 ? (*axes)[i] + static_cast<int64_t>(x.size()) : (*axes)[i]);
    if (__builtin_add_overflow(shift[axis], shifts[i], &shift[axis])) return kNone;
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!is_known(x[i])) {
      b.at_least(x[i], shift[i] < 0 ? -shift[i] : shift[i]);
    } else if (x[i] > 0) {
      shift[i] = (shift[i] % x[i] + x[i]) % x[i];
    }
  }
  auto from = [&](auto& self, size_t axis, Place place, ExprId where) -> ExprId {
    while (axis < x.size() && (shift[axis] == 0 || is_one(x[axis]))) ++axis;
    if (axis == x.size()) return element(n.operands[0], place, where);
    // Element i comes from i - shift, or from there in the next or the last round.
    ExprId index = integer(at[axis]);
    int64_t s = shift[axis];
    ExprId low = s > 0 ? apply(Op::less, DType::Bool, {index, size(b.integer(s))})
                       : apply(Op::less, DType::Bool, {index, size(b.add(x[axis], b.integer(s)))});
    ExprId high = apply(Op::logical_not, DType::Bool, {low});
    auto part = [&](bool first) {
      Index by;
      by.offset =
          s > 0 ? (first ? b.subtract(x[axis], s) : b.negative(s)) : (first ? b.integer(-s) : b.subtract(b.integer(-s), x[axis]));
      Place there = place;
      there[axis] = b.plus(at[axis], by);
      ExprId here = first ? low : high;
      return self(self, axis + 1, there, where == kNone ? here : apply(Op::logical_and, DType::Bool, {where, here}));
    };
    ExprId first = part(true), second = part(false);
    return apply(Op::where, dtype(first), {low, first, second});
  };
  return from(from, 0, at, mask);
}

}  // namespace tfl::plan
