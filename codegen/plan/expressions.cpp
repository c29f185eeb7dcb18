// Elements of values as expressions over what lies in memory: each operation that is computed inside its users' loops is here.
#include <algorithm>
#include <cstring>

#include "codegen/plan/builder.h"
#include "runtime/ops/facts.h"
#include "runtime/ops/groups.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

namespace {

void put(std::string& key, int64_t v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); }

void put_access(std::string& key, const Access& a) {
  put(key, a.value);
  put(key, a.offset);
  put(key, a.mask);
  size_t strides = a.strides.size();
  while (strides > 0 && a.strides[strides - 1] == 0) --strides;
  put(key, static_cast<int64_t>(strides));
  for (size_t i = 0; i < strides; ++i) put(key, a.strides[i]);
  put(key, static_cast<int64_t>(a.indexed.size()));
  for (const Access::Indexed& i : a.indexed) {
    put(key, i.index);
    put(key, i.factor);
  }
}

std::string element_key(ir::Ref r, const Place& at, ExprId mask) {
  std::string key;
  put(key, static_cast<int64_t>(reinterpret_cast<uintptr_t>(r.node)));
  put(key, r.index);
  put(key, mask);
  for (const Index& i : at) {
    Access a;
    a.offset = i.offset;
    a.strides = i.strides;
    a.indexed = i.indexed;
    put_access(key, a);
  }
  return key;
}

}  // namespace

std::string expr_key(const Expr& e) {
  std::string key;
  put(key, static_cast<int64_t>(e.kind) << 8 | static_cast<int64_t>(e.dtype));
  put(key, static_cast<int64_t>(e.op));
  put(key, static_cast<int64_t>(e.axis) << 32 | e.stage);
  put(key, e.size);
  put(key, static_cast<int64_t>(e.bits));
  put(key, static_cast<int64_t>(e.operands.size()));
  for (ExprId o : e.operands) put(key, o);
  put_access(key, e.access);
  return key;
}

bool equal_access(const Access& a, const Access& b) {
  std::string x, y;
  put_access(x, a);
  put_access(y, b);
  return x == y;
}

ExprId Expressions::add(Expr e) {
  e.location = location_;
  if (!kernel_) return block_.emit_scalar(std::move(e));
  auto [it, fresh] = known_.try_emplace(expr_key(e), static_cast<ExprId>(kernel_->exprs.size()));
  if (fresh) kernel_->exprs.push_back(std::move(e));
  return it->second;
}

DType Expressions::dtype(ExprId e) const { return kernel_ ? kernel_->exprs[e].dtype : b.plan.values[e].dtype; }

ExprId Expressions::constant(DType dtype, uint64_t bits) {
  Expr e;
  e.dtype = dtype;
  e.bits = bits;
  return add(std::move(e));
}

ExprId Expressions::number(DType dtype, int64_t v) {
  std::byte bytes[8] = {};
  if (is_floating(dtype))
    store_double(dtype, static_cast<double>(v), bytes);
  else
    store_int(dtype, v, bytes);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return constant(dtype, bits);
}

ExprId Expressions::size(Size s) {
  if (is_known(s)) return number(DType::I64, s);
  Expr e;
  e.kind = ExprKind::size;
  e.dtype = DType::I64;
  e.size = s;
  return add(std::move(e));
}

ExprId Expressions::apply(Op op, DType dtype, std::initializer_list<ExprId> operands) {
  Expr e;
  e.kind = ExprKind::apply;
  e.dtype = dtype;
  e.op = op;
  for (ExprId o : operands) e.operands.push_back(o);
  return add(std::move(e));
}

ExprId Expressions::cast(ExprId x, DType to) {
  if (dtype(x) == to) return x;
  Expr e;
  e.kind = ExprKind::cast;
  e.dtype = to;
  e.operands.push_back(x);
  return add(std::move(e));
}

ExprId Expressions::integer(const Index& i) {
  ExprId sum = kNone;
  auto plus = [&](ExprId x, Size factor) {
    if (factor != 1) x = apply(Op::multiply, DType::I64, {x, size(factor)});
    sum = sum == kNone ? x : apply(Op::add, DType::I64, {sum, x});
  };
  for (size_t k = 0; k < i.strides.size(); ++k) {
    if (i.strides[k] == 0) continue;
    Expr e;
    e.kind = ExprKind::index;
    e.dtype = DType::I64;
    e.axis = static_cast<uint32_t>(k);
    plus(add(std::move(e)), i.strides[k]);
  }
  for (const Access::Indexed& x : i.indexed) plus(x.index, x.factor);
  if (sum == kNone) return size(i.offset);
  return i.offset == 0 ? sum : apply(Op::add, DType::I64, {sum, size(i.offset)});
}

Access Expressions::access(ValueId v, const Sizes& dims, const Place& at, ExprId mask) {
  Index linear;
  Sizes steps = b.row_major(dims);
  for (size_t i = 0; i < dims.size(); ++i) {
    if (steps[i] != 0) linear = b.plus(linear, b.times(at[i], steps[i]));
  }
  Access out;
  out.value = v;
  out.offset = linear.offset;
  if (kernel_) {
    out.strides = linear.strides;
    out.strides.resize(kernel_->axes.size(), 0);
  }
  out.indexed = linear.indexed;
  out.mask = mask;
  return out;
}

ExprId Expressions::load(ValueId v, const Sizes& dims, const Place& at, ExprId mask) {
  Expr e;
  e.kind = ExprKind::load;
  e.dtype = b.plan.values[v].dtype;
  e.access = access(v, dims, at, mask);
  if (!kernel_ && mask != kNone) b.fail();
  return add(std::move(e));
}

ExprId Expressions::element(ir::Ref r, const Place& at, ExprId mask) {
  r = b.resolve(r);
  if (auto it = given.find(r); it != given.end()) {
    size_t axis = 0;
    const Sizes& dims = b.dims(r);
    for (size_t i = 0; i < dims.size(); ++i) {
      if (is_one(dims[i])) continue;
      displaced = displaced || at[i].offset != 0 || !at[i].indexed.empty() || at[i].strides.size() != kernel_->axes.size();
      for (size_t k = 0; !displaced && k < at[i].strides.size(); ++k) displaced = at[i].strides[k] != (k == axis ? 1 : 0);
      ++axis;
    }
    return it->second;
  }
  bool in_loop = std::find(inside.begin(), inside.end(), r.node->block) != inside.end();
  if (!in_loop && block_.is_scalar(r)) {
    ValueId s = block_.scalar_of(r);
    if (!kernel_ || b.failed) return s;
    b.word_of(s);
    Expr e;
    e.kind = ExprKind::value;
    e.dtype = b.dtype(r);
    e.access.value = s;
    return add(std::move(e));
  }
  if (r.node->op == Op::constant) {
    uint64_t bits;
    if (splat_bits(r.node->constant, bits)) return constant(b.dtype(r), bits);
  }
  if (ValueId v = b.memory_of(r); v != kNone) return load(v, b.dims(r), at, mask);
  return compute(r, at, mask);
}

ExprId Expressions::compute(ir::Ref r, const Place& at, ExprId mask) {
  std::string key = element_key(r, at, mask);
  if (auto it = elements_.find(key); it != elements_.end()) return it->second;
  const ir::Node& n = *r.node;
  uint32_t outside = std::exchange(location_, n.location ? n.location : location_);
  ExprId e = kNone;
  if (b.failed) {
    e = number(b.dtype(r), 0);
  } else if (op_info(n.op).kind == OpKind::Elementwise) {
    SmallVec<ExprId, 3> operands;
    for (ir::Ref o : n.operands) operands.push_back(element(o, b.broadcast(b.dims(o), b.dims(r), at), mask));
    Expr row;
    row.kind = ExprKind::apply;
    row.dtype = b.dtype(r);
    row.op = n.op;
    row.operands = std::move(operands);
    e = add(std::move(row));
  } else if (n.op == Op::cast) {
    e = cast(element(n.operands[0], at, mask), b.dtype(r));
  } else if (n.op == Op::bitcast) {
    ExprId x = element(n.operands[0], at, mask);
    if (dtype_size(dtype(x)) != dtype_size(b.dtype(r))) b.fail();
    Expr bits;
    bits.kind = ExprKind::bitcast;
    bits.dtype = b.dtype(r);
    bits.operands.push_back(x);
    e = dtype(x) == bits.dtype ? x : add(std::move(bits));
  } else {
    ir::Ref operand;
    Place place;
    if (n.op == Op::slice || n.op == Op::strided_slice) {
      if (sliced(n, b.dims(n.operands[0]), at, place)) e = element(n.operands[0], place, mask);
    } else if (b.view(r, at, operand, place)) {
      e = element(operand, place, mask);
    } else {
      e = create(n, r, at, mask);
    }
  }
  location_ = outside;
  if (e == kNone) {
    b.fail();
    e = number(b.dtype(r), 0);
  }
  elements_.emplace(std::move(key), e);
  return e;
}

ExprId Expressions::create(const ir::Node& n, ir::Ref r, const Place& at, ExprId mask) {
  DType type = b.dtype(r);
  if (op_facts(n.op).form != PlanForm::deferred) return kNone;
  switch (static_cast<DeferredOp>(n.op)) {
    case DeferredOp::fill: return element(n.operands[1], {}, mask);
    case DeferredOp::eye:
      return apply(Op::where, type,
                   {apply(Op::equal, DType::Bool, {integer(at[at.size() - 2]), integer(at[at.size() - 1])}), number(type, 1),
                    number(type, 0)});
    case DeferredOp::range: {
      ExprId start = element(n.operands[0], {}, mask), delta = element(n.operands[2], {}, mask);
      ExprId i = integer(at[0]);
      if (dtype_size(type) == 2 && is_floating(type)) i = cast(i, DType::F32);
      return apply(Op::add, type, {start, apply(Op::multiply, type, {cast(i, type), delta})});
    }
    case DeferredOp::one_hot: {
      int64_t axis = n.attrs.get_int(Attr::axis, -1);
      auto a = static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(at.size()) : axis);
      Place index = at;
      index.erase(a);
      ExprId hot = apply(Op::equal, DType::Bool, {cast(element(n.operands[0], index, mask), DType::I64), integer(at[a])});
      ExprId on = element(n.operands[2], {}, mask);
      return apply(Op::where, type, {hot, on, element(n.operands[3], {}, mask)});
    }
    case DeferredOp::gather: return gather(n, at, mask);
    case DeferredOp::gather_nd: return gather_nd(n, at, mask);
    case DeferredOp::roll: return roll(n, at, mask);
    case DeferredOp::pad: return pad(n, at, mask);
    case DeferredOp::matrix_band_part: return band(n, at, mask);
    case DeferredOp::strided_slice_grad: return slice_gradient(n, at, mask);
    case DeferredOp::shape:
    case DeferredOp::size:
    case DeferredOp::rank: {
      Sizes sizes;
      const Sizes& x = b.dims(n.operands[0]);
      if (n.op == Op::shape)
        sizes = x;
      else
        sizes.push_back(n.op == Op::rank ? static_cast<Size>(x.size()) : b.count(x));
      if (sizes.empty()) return number(type, 0);  // of no element
      if (n.op != Op::shape) return cast(size(sizes[0]), type);
      ExprId i = integer(at[0]);
      ExprId e = size(sizes[sizes.size() - 1]);
      const bool fixed =
          at[0].indexed.empty() && std::all_of(at[0].strides.begin(), at[0].strides.end(), [](Size s) { return s == 0; });
      if (fixed && is_known(at[0].offset)) return cast(size(sizes[static_cast<size_t>(at[0].offset)]), type);
      for (size_t k = sizes.size() - 1; k-- > 0;)
        e = apply(Op::where, DType::I64,
                  {apply(Op::equal, DType::Bool, {i, number(DType::I64, static_cast<int64_t>(k))}), size(sizes[k]), e});
      return cast(e, type);
    }
    case DeferredOp::cast:
    case DeferredOp::bitcast: break;  // of any place
  }
  return kNone;
}

// The index of an axis that the run knows, from the front.
ExprId Expressions::sliced_index(const ir::Node& n, const Slice::Axis& axis, Size length) {
  ValueId token = block_.checked(axis.index, {length}, true, n.location);
  if (b.failed) return kNone;
  if (token != kNone) tokens.push_back(token);
  ExprId index = cast(element(axis.index, {}), DType::I64);
  ExprId negative = apply(Op::less, DType::Bool, {index, number(DType::I64, 0)});
  return apply(Op::where, DType::I64, {negative, apply(Op::add, DType::I64, {index, size(length)}), index});
}

bool Expressions::sliced(const ir::Node& n, const Sizes& dims, const Place& at, Place& out) {
  Slice slice = b.shapes.slice(n);
  if (slice.axes.size() != dims.size() || slice.results.size() != at.size()) return false;
  out.resize(dims.size());
  for (size_t i = 0; i < dims.size(); ++i) {
    const Slice::Axis& axis = slice.axes[i];
    if (!axis.index) {
      out[i].offset = axis.begin;
      continue;
    }
    ExprId index = sliced_index(n, axis, dims[i]);
    if (index == kNone) return false;
    out[i].indexed.push_back({index, 1});
  }
  for (size_t i = 0; i < at.size(); ++i) {
    if (slice.results[i] < 0) continue;
    auto axis = static_cast<size_t>(slice.results[i]);
    out[axis] = b.plus(out[axis], b.times(at[i], b.integer(slice.axes[axis].stride)));
  }
  return true;
}

// Zeros, with the operand's elements where the slice reads.
ExprId Expressions::slice_gradient(const ir::Node& n, const Place& at, ExprId mask) {
  Slice slice = b.shapes.slice(n);
  const Sizes& dims = b.dims({const_cast<ir::Node*>(&n), 0});
  if (slice.axes.size() != dims.size()) return kNone;
  Place place(slice.results.size(), Index{});
  ExprId inside = kNone;
  auto require = [&](ExprId c) { inside = inside == kNone ? c : apply(Op::logical_and, DType::Bool, {inside, c}); };
  SmallVec<bool, 8> kept(dims.size(), false);
  for (size_t k = 0; k < slice.results.size(); ++k) {
    if (slice.results[k] < 0) continue;
    auto i = static_cast<size_t>(slice.results[k]);
    const Slice::Axis& axis = slice.axes[i];
    kept[i] = true;
    if (axis.index) return kNone;
    Index back;
    back.offset = b.negative(axis.begin);
    Index from_begin = b.plus(at[i], back);
    if (axis.stride == 1) {
      place[k] = from_begin;
      if (axis.begin == 0 && axis.length == dims[i]) continue;
      ExprId index = integer(from_begin);
      require(apply(Op::greater_equal, DType::Bool, {index, number(DType::I64, 0)}));
      require(apply(Op::less, DType::Bool, {index, size(axis.length)}));
      continue;
    }
    ExprId index = integer(from_begin), stride = number(DType::I64, axis.stride);
    ExprId step = apply(Op::floordiv, DType::I64, {index, stride});
    require(apply(Op::equal, DType::Bool, {apply(Op::multiply, DType::I64, {step, stride}), index}));
    require(apply(Op::greater_equal, DType::Bool, {step, number(DType::I64, 0)}));
    require(apply(Op::less, DType::Bool, {step, size(axis.length)}));
    place[k].indexed.push_back({step, 1});
  }
  for (size_t i = 0; i < dims.size(); ++i) {
    if (kept[i]) continue;
    ExprId here = slice.axes[i].index ? sliced_index(n, slice.axes[i], dims[i]) : size(slice.axes[i].begin);
    if (here == kNone) return kNone;
    require(apply(Op::equal, DType::Bool, {integer(at[i]), here}));
  }
  if (inside == kNone) return element(n.operands[4], place, mask);
  ExprId all = mask == kNone ? inside : apply(Op::logical_and, DType::Bool, {mask, inside});
  ExprId x = element(n.operands[4], place, all);
  return apply(Op::where, dtype(x), {inside, x, number(dtype(x), 0)});
}

}  // namespace tfl::plan
