// Operations that are calls: scans, argmax, writes by index, segments, sorting, random numbers, linear algebra.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/kernels/fourier/fourier_sizes.h"
#include "runtime/kernels/linalg/matrix_sizes.h"
#include "runtime/kernels/random/sample_flags.h"
#include "runtime/ops/facts.h"

namespace tfl::plan {

namespace {

// A size as a number that polynomials are made of.
struct SizeOf {
  Builder* b;
  Size size;
  SizeOf operator+(SizeOf o) const { return {b, b->add(size, o.size)}; }
  SizeOf operator+(Size n) const { return {b, b->add(size, n)}; }
  SizeOf operator*(SizeOf o) const { return {b, b->multiply(size, o.size)}; }
  SizeOf operator*(Size n) const { return {b, b->multiply(size, n)}; }
};

// Of matrices, rows and columns.
Size matrix_lots(const Sizes& sizes) {
  const bool known = is_known(sizes[0]) && is_known(sizes[1]) && is_known(sizes[2]);
  return known ? matrices::matrix_lots(sizes[0], sizes[1], sizes[2]) : 1;
}

}  // namespace

void routine_values(const RoutineStep& r, std::vector<ValueId>& reads, std::vector<ValueId>& writes) {
  for (size_t i = 0; i < r.at.size(); ++i) {
    if (r.at[i] != kNone) (kRoutineWrites[static_cast<int>(r.routine)] >> i & 1 ? writes : reads).push_back(r.at[i]);
  }
}

// Memory with the elements of `r`.
ValueId BlockBuilder::routine_operand(ir::Ref r) {
  if (ValueId v = b.memory_of(r); v != kNone) return v;
  ValueId v = b.add_value(b.dtype(r), b.dims(r), Home::temporary);
  make_map(b.resolve(r), v, false);
  return v;
}

// A copy of `from`, which has the sizes of `r`, with its axis `axis` behind the others; `back`: from there to its place, in `target`.
ValueId BlockBuilder::rotated(ir::Ref r, ValueId from, size_t axis, bool back, ValueId target) {
  Sizes dims = b.dims(r), order = dims;
  std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
  const DType dtype = b.plan.values[from].dtype;
  if (target == kNone) target = b.add_value(dtype, back ? dims : order, Home::temporary);
  // Over the axes as they stand in `r`; on the other side their steps are those of the rotated order.
  Sizes steps = b.row_major(order);
  std::rotate(steps.begin() + axis, steps.end() - 1, steps.end());
  Loop loop;
  loop.kernel.form = Form::map;
  loop.kernel.axes = without_ones(dims);
  if (loop.kernel.axes.empty()) loop.kernel.axes.push_back(1);
  loop.outer = loop.kernel.axes.size();
  Sizes plain = b.row_major(dims), here, there;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (is_one(dims[i])) continue;
    here.push_back(plain[i]);
    there.push_back(steps[i]);
  }
  here.resize(loop.outer, 0);
  there.resize(loop.outer, 0);
  Expressions e(*this, &loop.kernel);
  Expr load;
  load.kind = ExprKind::load;
  load.dtype = dtype;
  load.access.value = from;
  load.access.strides = back ? there : here;
  Stage s;
  s.expr = e.add(std::move(load));
  s.target.value = target;
  s.target.strides = back ? here : there;
  loop.kernel.stages.push_back(std::move(s));
  add_kernel(std::move(loop), std::move(e.tokens));
  return target;
}

void BlockBuilder::add_routine(RoutineStep r, std::vector<ValueId> tokens) {
  Unit u;
  u.kind = Unit::Kind::step;
  u.step.kind = Step::Kind::routine;
  u.step.index = static_cast<uint32_t>(b.plan.routines.size());
  u.step.location = r.location;
  routine_values(r, u.reads, u.writes);
  u.reads.insert(u.reads.end(), tokens.begin(), tokens.end());
  u.tokens = std::move(tokens);
  b.plan.routines.push_back(std::move(r));
  add_unit(std::move(u));
}

void BlockBuilder::make_routine(const ir::Node& n) {
  ir::Node* node = const_cast<ir::Node*>(&n);
  RoutineStep r;
  r.location = n.location;
  auto target = [&](uint32_t i) { return b.memory[{node, i}]; };
  auto axis_of = [&](ir::Ref x, int64_t otherwise) {
    int64_t axis = n.attrs.get_int(Attr::axis, otherwise);
    return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(b.dims(x).size()) : axis);
  };
  // (before, at, behind) an axis
  auto cut = [&](const Sizes& dims, size_t axis) {
    Sizes before(dims.begin(), dims.begin() + axis), behind(dims.begin() + axis + 1, dims.end());
    r.sizes = {b.count(before), dims[axis], b.count(behind)};
  };
  if (std::optional<MatrixSolve> kind = matrix_solve(n.op)) {
    const Sizes a = b.dims(n.operands[0]);
    Size rows = a.back();
    const bool system = n.operands.size() == 2;
    r.routine = Routine::solve;
    r.dtype = b.dtype(n.operands[0]);
    r.flags = static_cast<int64_t>(*kind) | (n.attrs.get_bool(Attr::adjoint) ? kMatrixAdjoint : 0) |
              (kind == MatrixSolve::triangular && n.attrs.get_bool(Attr::lower, true) ? kMatrixLower : 0);
    r.sizes = {b.count(Sizes(a.begin(), a.end() - 2)), rows, system ? b.dims(n.operands[1]).back() : rows};
    const bool small = is_known(rows) && rows <= matrices::matrix_small(*kind);
    const Size scratch = matrices::solve_scratch<SizeOf>(small, {&b, rows}, {&b, r.sizes[2]}).size;
    r.sizes.push_back(matrix_lots(r.sizes));
    r.at = {routine_operand(n.operands[0]), system ? routine_operand(n.operands[1]) : kNone, target(0),
            b.add_value(DType::F64, {b.multiply(r.sizes[3], scratch)}, Home::temporary)};
    return add_routine(std::move(r), {});
  }
  if (std::optional<MatrixFactor> kind = matrix_factor(n.op)) {
    const Sizes a = b.dims(n.operands[0]);
    Size rows = a[a.size() - 2], columns = a.back();
    r.routine = Routine::factor;
    r.dtype = b.dtype(n.operands[0]);
    r.flags = static_cast<int64_t>(*kind) | (n.attrs.get_bool(Attr::full_matrices) ? kMatrixFull : 0) |
              (n.attrs.get_text(Attr::mode) == "values" ? matrices::kMatrixValues : 0);
    r.sizes = {b.count(Sizes(a.begin(), a.end() - 2)), rows, columns};
    auto is_small = [&](Size size) { return is_known(size) && size <= matrices::matrix_small(*kind); };
    const bool small = is_small(rows) || is_small(columns);
    const Size least = is_known(rows) && is_known(columns) ? std::min(rows * rows, columns * columns) : b.multiply(rows, columns);
    const Size scratch = matrices::factor_scratch<SizeOf>(*kind, r.flags, small, {&b, rows}, {&b, columns}, {&b, least}).size;
    r.sizes.push_back(matrix_lots(r.sizes));
    r.at = {routine_operand(n.operands[0])};
    for (uint32_t i = 0; i < n.types.size(); ++i) r.at.push_back(target(i));
    r.at.push_back(b.add_value(DType::F64, {b.multiply(r.sizes[3], scratch)}, Home::temporary));
    return add_routine(std::move(r), {});
  }
  if (n.operands.size() > 2) {
    if (std::optional<int64_t> flags = sample_flags(n.op, b.dtype(n.operands[2]))) {
      r.routine = Routine::sample;
      r.flags = *flags;
      r.dtype = b.dtype({node, 0});
      r.index_dtype = b.dtype(n.operands[1]);
      r.sizes = {b.count(b.dims({node, 0})), b.dims(n.operands[1])[0]};
      r.at = {routine_operand(n.operands[1]), target(0)};
      for (size_t i = 2; i < n.operands.size(); ++i) {
        r.sizes.push_back(b.count(b.dims(n.operands[i])));
        r.at.push_back(routine_operand(n.operands[i]));
      }
      for (size_t i = n.operands.size(); i < 6; ++i) r.sizes.push_back(0);
      return add_routine(std::move(r), {});
    }
  }
  const OpFacts& facts = op_facts(n.op);
  switch (facts.routine) {
    case Routine::scan: {
      r.routine = Routine::scan;
      r.dtype = b.dtype(n.operands[0]);
      r.flags = facts.how | (n.attrs.get_bool(Attr::exclusive) ? kScanExclusive : 0) |
                (n.attrs.get_bool(Attr::reverse) ? kScanReverse : 0);
      cut(b.dims(n.operands[0]), axis_of(n.operands[0], 0));
      r.at = {routine_operand(n.operands[0]), target(0)};
      break;
    }
    case Routine::arg: {
      r.routine = Routine::arg;
      r.dtype = b.dtype(n.operands[0]);
      r.index_dtype = b.dtype({node, 0});
      r.flags = facts.how;
      cut(b.dims(n.operands[0]), axis_of(n.operands[0], 0));
      if (is_known(r.sizes[1]) ? r.sizes[1] == 0 : false) return b.fail();
      b.at_least(r.sizes[1], 1);
      r.at = {routine_operand(n.operands[0]), target(0)};
      break;
    }
    case Routine::scatter: {
      bool fresh = n.op == Op::scatter_nd;
      ir::Ref indices = n.operands[fresh ? 0 : 1], updates = n.operands[fresh ? 1 : 2];
      const Sizes dims = b.dims({node, 0}), at = b.dims(indices);
      Size depth = at.back();
      if (!is_known(depth) || depth > kScatterDepth || depth > static_cast<Size>(dims.size())) return b.fail();
      Sizes tuples(at.begin(), at.end() - 1), inner(dims.begin() + depth, dims.end());
      r.routine = Routine::scatter;
      r.dtype = b.dtype({node, 0});
      r.index_dtype = b.dtype(indices);
      r.flags = facts.how;
      r.sizes = {b.count(dims), b.count(tuples), b.count(inner), depth};
      for (Size i = 0; i < depth; ++i) r.sizes.push_back(dims[static_cast<size_t>(i)]);
      r.at = {fresh ? kNone : routine_operand(n.operands[0]), routine_operand(indices), routine_operand(updates), target(0)};
      break;
    }
    case Routine::segment: {
      const Sizes dims = b.dims({node, 0});
      Sizes width(dims.begin() + 1, dims.end());
      r.routine = Routine::segment;
      r.dtype = b.dtype({node, 0});
      r.index_dtype = b.dtype(n.operands[1]);
      r.flags = facts.how;
      r.sizes = {b.count(b.dims(n.operands[1])), dims[0], b.count(width)};
      bool half = is_floating(r.dtype) && dtype_size(r.dtype) == 2;
      r.at = {routine_operand(n.operands[0]), routine_operand(n.operands[1]), target(0),
              half ? b.add_value(DType::F32, dims, Home::temporary) : kNone};
      break;
    }
    case Routine::sort: {
      ir::Ref x = n.operands[0];
      const Sizes dims = b.dims(x);
      bool wanted = n.op == Op::top_k;
      size_t axis = wanted ? dims.size() - 1 : axis_of(x, -1);
      bool last = axis + 1 == dims.size();
      r.routine = Routine::sort;
      r.dtype = b.dtype(x);
      r.index_dtype = n.op == Op::sort ? DType::I32 : b.dtype({node, wanted ? 1u : 0u});
      r.flags = wanted || n.attrs.get_bool(Attr::descending);
      Sizes others = dims;
      others.erase(axis);
      Size n_rows = b.count(others);
      r.sizes = {n_rows, dims[axis], wanted ? b.dims({node, 0}).back() : dims[axis]};
      b.at_least(INT32_MAX, dims[axis]);
      ValueId from = routine_operand(x);
      if (!last) from = rotated(x, from, axis, false, kNone);
      Sizes order = dims;
      std::rotate(order.begin() + axis, order.begin() + axis + 1, order.end());
      ValueId to = last ? target(0) : b.add_value(b.dtype({node, 0}), order, Home::temporary);
      Size entries = b.multiply(b.multiply(n_rows, dims[axis]),
                                (n.op == Op::sort ? 1 : 2) * sort_entry_bytes(static_cast<int64_t>(dtype_size(r.dtype))) / 8);
      ValueId scratch = b.add_value(DType::U64, {entries}, Home::temporary);
      r.at = {from, n.op == Op::argsort ? kNone : to, wanted ? target(1) : n.op == Op::argsort ? to : kNone, scratch};
      add_routine(std::move(r), {});
      if (!last) rotated(x, to, axis, true, target(0));
      return;
    }
    case Routine::random: {
      r.routine = Routine::random;
      r.dtype = b.dtype({node, 0});
      r.index_dtype = b.dtype(n.operands[1]);
      r.flags = facts.how;
      r.sizes = {b.count(b.dims({node, 0})), b.dims(n.operands[1])[0]};
      r.at = {routine_operand(n.operands[1]), target(0)};
      if (facts.how == static_cast<int64_t>(RandomKind::integer)) {
        r.at.push_back(routine_operand(n.operands[2]));
        r.at.push_back(routine_operand(n.operands[3]));
      }
      break;
    }
    case Routine::fourier: {
      const auto kind = static_cast<FourierKind>(facts.how);
      Sizes dims = kind == FourierKind::from_half ? b.dims({node, 0}) : b.dims(n.operands[0]);
      if (kind == FourierKind::complex) dims.pop_back();
      size_t axis = dims.size() - 1;
      if (kind == FourierKind::complex) {
        const int64_t given = n.attrs.get_int(Attr::axis, -1);
        axis = static_cast<size_t>(given < 0 ? given + static_cast<int64_t>(dims.size()) : given);
      }
      r.routine = Routine::fourier;
      r.dtype = b.dtype(n.operands[0]);
      r.flags =
          fourier_flags(kind, n.attrs.get_bool(Attr::reverse), n.attrs.get_bool(Attr::adjoint), n.attrs.get_text(Attr::mode));
      cut(dims, axis);
      const Size length = r.sizes[1], inner = r.sizes[2];
      Size room, lots = 1;
      if (is_known(length) && is_known(inner)) {
        room = fourier::fourier_room(kind, length, inner);
        lots = fourier::fourier_lots(length, is_known(r.sizes[0]) ? r.sizes[0] * inner : INT64_MAX);
      } else {
        room = fourier::fourier_room_at_most<SizeOf>({&b, length}, !is_one(inner)).size;
      }
      r.sizes.push_back(room);
      r.sizes.push_back(lots);
      r.at = {routine_operand(n.operands[0]), target(0), b.add_value(r.dtype, {b.multiply(2 * lots, room)}, Home::temporary)};
      break;
    }
    case Routine::solve:
    case Routine::factor:
    case Routine::sample: return;  // above
  }
  add_routine(std::move(r), {});
}

}  // namespace tfl::plan
