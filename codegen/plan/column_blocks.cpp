// Reductions over many rows of few columns: blocks of rows are units of their own, which threads share, and a tree combines what
// they leave. It is the order in which one kernel would combine them.
#include "codegen/plan/builder.h"

namespace tfl::plan {

namespace {

constexpr int64_t kFewBlocks = 8;     // fewer rows are left to one thread
constexpr int64_t kFewColumns = 256;  // about what a back end takes at a time

// A reduction with one reduced axis between the others.
struct Columns {
  Sizes outer, columns;
  Size length = 1;

  Sizes with(std::initializer_list<Size> middle) const {
    Sizes all = outer;
    all.append(middle.begin(), middle.end());
    all.append(columns.begin(), columns.end());
    return all;
  }
};

Index along(size_t axes, size_t axis, Size stride = 1) {
  Index index;
  index.strides.resize(axes, 0);
  index.strides[axis] = stride;
  return index;
}

ExprId add_result(Expressions& e, DType dtype) {
  Expr result;
  result.kind = ExprKind::reduced;
  result.dtype = dtype;
  return e.add(std::move(result));
}

Stage store_once(ExprId value, ValueId target, Size offset, Sizes strides) {
  Stage s;
  s.kind = Stage::Kind::store_once;
  s.expr = value;
  s.target.value = target;
  s.target.offset = offset;
  s.target.strides = std::move(strides);
  return s;
}

}  // namespace

bool BlockBuilder::reduce_columns_in_blocks(ir::Ref x, const Sizes& dims, std::span<const bool> reduced, const Stage& stage,
                                            ValueId target, ValueId from) {
  Columns c;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_one(dims[i])) continue;
    if (reduced[i])
      c.length = b.multiply(c.length, dims[i]);
    else
      (is_one(c.length) ? c.outer : c.columns).push_back(dims[i]);
  }
  Size width = b.count(c.columns), count = b.count(c.outer), length = c.length;
  if (!is_known(length) || !is_known(width) || !is_known(count)) return false;
  if (length < kFewBlocks * kReduceBlock || width == 0 || count == 0) return false;
  if (count * ((width + kFewColumns - 1) / kFewColumns) >= kFewUnits) return false;
  ValueId memory = from != kNone ? from : b.memory_of(x);
  Sizes rows_dims = c.with({length});
  Size blocks = (length + kReduceBlock - 1) / kReduceBlock;
  Sizes partial_dims = c.with({blocks}), steps = b.row_major(partial_dims);
  size_t middle = c.outer.size();

  ValueId partials = kNone;
  // Blocks [first, first + many) of `rows` rows.
  auto add_piece = [&](Size first, Size many, Size rows) {
    Loop loop;
    loop.kernel.form = Form::columns;
    loop.kernel.axes = many > 1 ? c.with({many, rows}) : c.with({rows});
    size_t rank = loop.kernel.axes.size(), row = middle + (many > 1 ? 1 : 0);
    loop.outer = row;
    loop.reduced = 1;
    loop.columns = c.columns.size();
    Place at;
    Sizes to(rank, 0);
    for (size_t i = 0; i < rows_dims.size(); ++i) {
      size_t axis = i <= middle ? i : row + i - middle;
      at.push_back(along(rank, i == middle ? row : axis));
      if (i != middle || many > 1) to[axis] = steps[i];
      if (i != middle) continue;
      at.back().offset = first * kReduceBlock;
      if (many > 1) at.back().strides[middle] = kReduceBlock;
    }
    Expressions e(*this, &loop.kernel);
    Place inside;
    Stage reduce = stage;
    if (from == kNone && b.reshape(dims, rows_dims, at, inside))
      reduce.expr = e.element(x, inside);
    else if (memory != kNone)
      reduce.expr = e.load(memory, rows_dims, at, kNone);
    else
      return false;
    DType partial = partial_dtype(stage.reduce, e.dtype(reduce.expr));
    reduce.divisor = 0;
    reduce.dtype = partial;
    if (partials == kNone) partials = b.add_value(partial, partial_dims, Home::temporary);
    loop.kernel.stages.push_back(std::move(reduce));
    if (!axes_fit(b, loop)) return false;
    ExprId value = add_result(e, partial);
    loop.kernel.stages.push_back(store_once(value, partials, first * steps[middle], std::move(to)));
    add_kernel(std::move(loop), std::move(e.tokens));
    return true;
  };
  Size whole = length / kReduceBlock, rest = length % kReduceBlock;
  if (!add_piece(0, whole, kReduceBlock)) return false;
  if (rest > 0 && !add_piece(whole, 1, rest)) {
    b.fail();
    return true;
  }

  Loop tree;
  Sizes results = c.with({});
  tree.kernel.form = Form::tree;
  tree.kernel.axes = results;
  tree.kernel.axes.push_back(blocks);
  tree.outer = results.size();
  tree.reduced = 1;
  size_t rank = tree.kernel.axes.size();
  Place at;
  for (size_t i = 0; i < partial_dims.size(); ++i) at.push_back(along(rank, i == middle ? rank - 1 : i < middle ? i : i - 1));
  Expressions e(*this, &tree.kernel);
  Stage combine = stage;
  combine.expr = e.load(partials, partial_dims, at, kNone);
  tree.kernel.stages.push_back(std::move(combine));
  ExprId value = add_result(e, stage.dtype);
  Sizes to = b.row_major(results);
  to.push_back(0);
  tree.kernel.stages.push_back(store_once(value, target, 0, std::move(to)));
  add_kernel(std::move(tree), {});
  return true;
}

}  // namespace tfl::plan
