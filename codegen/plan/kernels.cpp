// Kernels of single operations, before they are fused.
#include "codegen/plan/builder.h"

namespace tfl::plan {

namespace {

void map_over(Loop& loop, const Sizes& dims) {
  loop.kernel.form = Form::map;
  loop.kernel.axes = without_ones(dims);
  if (loop.kernel.axes.empty()) loop.kernel.axes.push_back(1);
  loop.outer = loop.kernel.axes.size();
}

void store(Loop& loop, ExprId e, ValueId target, Size offset, Sizes strides) {
  Stage s;
  s.expr = e;
  s.target.value = target;
  s.target.offset = offset;
  s.target.strides = std::move(strides);
  s.target.strides.resize(loop.kernel.axes.size(), 0);
  loop.kernel.stages.push_back(std::move(s));
}

// The strides of the axes that are not ones.
Sizes axis_strides(const Sizes& dims, const Sizes& strides) {
  Sizes out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!is_one(dims[i])) out.push_back(strides[i]);
  }
  return out;
}

}  // namespace

Place BlockBuilder::whole(const Loop& loop, const Sizes& dims) const {
  Place at;
  size_t axis = 0;
  for (Size d : dims) {
    Index i;
    i.strides.resize(loop.kernel.axes.size(), 0);
    if (!is_one(d)) i.strides[axis++] = 1;
    at.push_back(std::move(i));
  }
  return at;
}

void BlockBuilder::make_map(ir::Ref r, ValueId target, bool compute) {
  const Sizes& dims = b.dims(r);
  Loop loop;
  map_over(loop, dims);
  Expressions e(*this, &loop.kernel);
  Place at = whole(loop, dims);
  ExprId x = compute ? e.compute(r, at) : e.element(r, at);
  store(loop, x, target, 0, axis_strides(dims, b.row_major(dims)));
  add_kernel(std::move(loop), std::move(e.tokens));
}

// Each operand is stored to its part of the result.
void BlockBuilder::make_parts(const ir::Node& n, ValueId target) {
  const Sizes& out = b.dims({const_cast<ir::Node*>(&n), 0});
  Sizes strides = b.row_major(out);
  auto rank = static_cast<int64_t>(out.size());
  int64_t axis = n.attrs.get_int(Attr::axis);
  auto a = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  Size step = 1;
  for (size_t i = a + 1; i < out.size(); ++i) step = b.multiply(step, out[i]);
  Size begin = 0;
  bool stack = n.op == Op::stack;
  // Scalars are stored by one kernel.
  if (stack && b.dims(n.operands[0]).empty()) {
    Loop loop;
    map_over(loop, {});
    Expressions e(*this, &loop.kernel);
    for (size_t k = 0; k < n.operands.size(); ++k) store(loop, e.element(n.operands[k], {}), target, static_cast<Size>(k), {});
    return add_kernel(std::move(loop), std::move(e.tokens));
  }
  for (ir::Ref operand : n.operands) {
    const Sizes& dims = b.dims(operand);
    Size length = stack ? 1 : dims[a];
    if (length == 0) continue;
    Loop loop;
    map_over(loop, dims);
    Expressions e(*this, &loop.kernel);
    ExprId x = e.element(operand, whole(loop, dims));
    Sizes to;
    for (size_t i = 0, k = 0; i < out.size(); ++i) {
      if (stack && i == a) continue;
      // The operand may have one index where the result has several.
      if (!is_one(dims[k])) to.push_back(is_one(out[i]) ? 0 : strides[i]);
      ++k;
    }
    store(loop, x, target, b.multiply(begin, step), std::move(to));
    add_kernel(std::move(loop), std::move(e.tokens));
    begin = b.add(begin, length);
  }
}

// The result is looked at as (times, size) along each axis.
void BlockBuilder::make_tile(const ir::Node& n, ValueId target) {
  const Sizes& from = b.dims(n.operands[0]);
  const Sizes& out = b.dims({const_cast<ir::Node*>(&n), 0});
  Sizes dims;
  for (size_t i = 0; i < out.size(); ++i) {
    if (from[i] == 0) return b.fail();
    dims.push_back(b.divide(out[i], from[i]));
    dims.push_back(from[i]);
  }
  Loop loop;
  map_over(loop, dims);
  Expressions e(*this, &loop.kernel);
  Place at = whole(loop, dims), inner;
  for (size_t i = 0; i < out.size(); ++i) inner.push_back(at[2 * i + 1]);
  ExprId x = e.element(n.operands[0], inner);
  store(loop, x, target, 0, axis_strides(dims, b.row_major(dims)));
  add_kernel(std::move(loop), std::move(e.tokens));
}

void BlockBuilder::make_reduction(const ir::Node& n, ValueId target) {
  ReductionSpec spec = reduction_spec(b, n);
  ir::Ref x = n.operands[0];
  const Sizes& dims = b.dims(x);
  Size length = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (!spec.reduced[i]) continue;
    if (dims[i] == 0) return b.fail();
    length = b.multiply(length, dims[i]);
  }
  ir::Ref result{const_cast<ir::Node*>(&n), 0};
  if (length == 1) {
    // One element each: nothing is combined.
    const Sizes& out = b.dims(result);
    Loop loop;
    map_over(loop, out);
    Expressions e(*this, &loop.kernel);
    Place at;
    if (!b.reshape(dims, out, whole(loop, out), at)) return b.fail();
    ExprId value = e.element(x, at);
    store(loop, value, target, 0, axis_strides(out, b.row_major(out)));
    return add_kernel(std::move(loop), std::move(e.tokens));
  }
  Stage stage;
  stage.kind = Stage::Kind::reduce;
  stage.reduce = spec.kind;
  stage.divisor = spec.mean ? length : 0;
  stage.dtype = b.dtype(result);
  reduce(x, {spec.reduced.data(), spec.reduced.size()}, std::move(stage), target);
}

// Brings the axes to one of the forms, by a copy where they are in none.
void BlockBuilder::reduce(ir::Ref x, std::span<const bool> reduced, Stage stage, ValueId target) {
  Sizes dims = b.dims(x);
  SmallVec<bool, 8> kept_first;
  int changes = 0;
  bool last = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_one(dims[i])) continue;
    if (reduced[i] != last) ++changes;
    last = reduced[i];
  }
  if (changes <= 2 && reduce_directly(x, dims, reduced, stage, target, kNone)) return;
  // Kept axes first, reduced ones after them, in their order.
  Sizes order_dims, to_strides(dims.size(), 0);
  for (bool want : {false, true}) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (reduced[i] == want) order_dims.push_back(dims[i]);
    }
  }
  Sizes ordered = b.row_major(order_dims);
  size_t next = 0;
  for (bool want : {false, true}) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (reduced[i] == want) to_strides[i] = ordered[next++];
    }
  }
  ValueId copy = b.add_value(b.dtype(x), order_dims, Home::temporary);
  Loop loop;
  map_over(loop, dims);
  Expressions e(*this, &loop.kernel);
  ExprId value = e.element(x, whole(loop, dims));
  store(loop, value, copy, 0, axis_strides(dims, to_strides));
  add_kernel(std::move(loop), std::move(e.tokens));
  SmallVec<bool, 8> roles;
  size_t kept = 0;
  for (size_t i = 0; i < dims.size(); ++i) kept += !reduced[i];
  for (size_t i = 0; i < dims.size(); ++i) roles.push_back(i >= kept);
  if (!reduce_directly(x, order_dims, {roles.data(), roles.size()}, stage, target, copy)) b.fail();
}

// `from`: memory with those sizes that holds the elements, instead of `x`.
bool BlockBuilder::reduce_directly(ir::Ref x, const Sizes& dims, std::span<const bool> reduced, const Stage& stage,
                                   ValueId target, ValueId from) {
  Loop loop;
  Sizes kept;
  Size length = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_one(dims[i])) continue;
    loop.kernel.axes.push_back(dims[i]);
    if (reduced[i]) {
      ++loop.reduced;
      length = b.multiply(length, dims[i]);
    } else {
      ++(loop.reduced ? loop.columns : loop.outer);
      kept.push_back(dims[i]);
    }
  }
  if (loop.columns && reduce_columns_in_blocks(x, dims, reduced, stage, target, from)) return true;
  size_t before = units_.size();
  loop.kernel.form = loop.columns ? Form::columns : Form::rows;
  Expressions e(*this, &loop.kernel);
  Place at = whole(loop, dims);
  Stage first = stage;
  first.expr = from == kNone ? e.element(x, at) : e.load(from, dims, at, kNone);
  loop.kernel.stages.push_back(std::move(first));
  if (!axes_fit(b, loop)) {
    (void)before;  // scalars and checks that were made on the way stay; they are what the copy needs, too
    return false;
  }
  if (loop.columns == 0) {
    add_blocks(std::move(loop), std::move(e.tokens), length, target);
    return true;
  }
  Expr result;
  result.kind = ExprKind::reduced;
  result.dtype = stage.dtype;
  ExprId value = e.add(std::move(result));
  Sizes strides = b.row_major(kept), to;
  for (size_t i = 0; i < loop.kernel.axes.size(); ++i) {
    if (i < loop.outer)
      to.push_back(strides[i]);
    else
      to.push_back(i < loop.outer + loop.reduced ? 0 : strides[i - loop.reduced]);
  }
  store(loop, value, target, 0, std::move(to));
  loop.kernel.stages.back().kind = Stage::Kind::store_once;
  add_kernel(std::move(loop), std::move(e.tokens));
  return true;
}

DType partial_dtype(ReduceKind kind, DType dtype) {
  if (kind == ReduceKind::wide_sum) return is_unsigned(dtype) ? DType::U64 : DType::I64;
  if (dtype == DType::F16 || dtype == DType::BF16) return DType::F32;
  return dtype == DType::Bool ? DType::U8 : dtype;
}

// Rows of [outer..., reduced...], whose reduction is stage 0: as they are, or in blocks when they are long.
void BlockBuilder::add_blocks(Loop loop, std::vector<ValueId> tokens, Size length, ValueId target) {
  Sizes outer(loop.kernel.axes.begin(), loop.kernel.axes.begin() + loop.outer);
  Stage stage = loop.kernel.stages[0];
  Sizes rows = b.row_major(outer);
  Expr result;
  result.kind = ExprKind::reduced;
  result.dtype = stage.dtype;
  auto finish = [&](Loop& to) {
    to.kernel.exprs.push_back(result);
    store(to, static_cast<ExprId>(to.kernel.exprs.size() - 1), target, 0, rows);
    to.kernel.stages.back().kind = Stage::Kind::store_once;
  };
  // Rows are shared among threads whole, blocks of them one by one.
  Size count = b.count(outer);
  bool many = is_known(length) ? count >= kManyRows : !outer.empty() && (!is_known(count) || count >= kManyRows);
  if (is_known(length) && length <= kLongestRow) many = true;
  if (many) {
    finish(loop);
    return add_kernel(std::move(loop), std::move(tokens));
  }
  Size blocks = b.divide(b.add(length, kReduceBlock - 1), kReduceBlock);
  Sizes partial_dims = outer;
  partial_dims.push_back(blocks);
  DType from = loop.kernel.exprs[stage.expr].dtype;
  DType type = partial_dtype(stage.reduce, from);
  ValueId partials = b.add_value(type, partial_dims, Home::temporary);
  Sizes steps = b.row_major(partial_dims);
  loop.kernel.form = Form::blocks;
  Stage& first = loop.kernel.stages[0];
  first.divisor = 0;
  first.dtype = type;
  first.target.value = partials;
  for (size_t i = 0; i < loop.kernel.axes.size(); ++i) first.target.strides.push_back(i < loop.outer ? steps[i] : 0);
  first.target.strides[loop.kernel.axes.size() - 1] = 1;
  add_kernel(std::move(loop), std::move(tokens));

  Loop tree;
  tree.kernel.form = Form::tree;
  tree.kernel.axes = partial_dims;
  tree.outer = outer.size();
  tree.reduced = 1;
  Expressions e(*this, &tree.kernel);
  Place at;
  for (size_t i = 0; i < partial_dims.size(); ++i) {
    Index index;
    index.strides.resize(partial_dims.size(), 0);
    index.strides[i] = 1;
    at.push_back(std::move(index));
  }
  Stage combine = stage;
  combine.target = {};
  combine.expr = e.load(partials, partial_dims, at, kNone);
  tree.kernel.stages.push_back(std::move(combine));
  finish(tree);
  add_kernel(std::move(tree), {});
}

}  // namespace tfl::plan
