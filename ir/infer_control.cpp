// Types of control flow, effects and arrays. What a script can do wrong has been refused by the front end with a message in the
// script's words; what is refused here is an error of whoever made the node.
#include "ir/infer_control.h"

#include <fmt/core.h>

#include "ir/inlined.h"
#include "runtime/ops/groups.h"

namespace tfl::ir {

namespace {

Failure broken(Op op, std::string what) {
  return fail(ErrorKind::InternalError, "graph operation {}: {}", op_info(op).name, what);
}

struct Call {
  Op op;
  std::span<const Ref> operands;
  const Attrs& attrs;
  std::span<const std::unique_ptr<Block>> regions;
  const Function* callee;
  std::vector<Type>& types;

  const Type& type(size_t i) const { return operands[i].type(); }
  Result<void> expect(size_t i, TypeKind kind) const {
    if (type(i).kind == kind) return {};
    return broken(op, fmt::format("operand {} is {}", i, type_text(type(i))));
  }
  Result<void> expect_tensor(size_t i, DType dtype) const {
    TFL_TRY(expect(i, TypeKind::Tensor));
    if (type(i).tensor.dtype == dtype) return {};
    return broken(op, fmt::format("operand {} is {}", i, type_text(type(i))));
  }
  Result<void> expect_index(size_t i) const {
    TFL_TRY(expect(i, TypeKind::Tensor));
    if (is_integer(type(i).tensor.dtype)) return {};
    return broken(op, fmt::format("operand {} is {}", i, type_text(type(i))));
  }
  Result<void> give(Type t) const {
    types.push_back(std::move(t));
    return {};
  }
  Result<void> give_tensor(DType dtype, Dims dims) const { return give(Type::of({dtype, true, std::move(dims)})); }
};

Result<void> check_inputs(const Call& c, const Block& region, size_t first) {
  if (region.params.size() != c.operands.size() - first)
    return broken(c.op, fmt::format("a region takes {} inputs of {}", region.params.size(), c.operands.size() - first));
  for (size_t i = 0; i < region.params.size(); ++i) {
    const Type& given = c.type(first + i);
    const Type& taken = region.params[i]->types[0];
    if (!may_overlap(given, taken))
      return broken(c.op, fmt::format("input {} is {} and not {}", i, type_text(given), type_text(taken)));
  }
  return {};
}

Result<void> infer_branches(const Call& c) {
  TFL_TRY(c.expect(0, TypeKind::Tensor));
  if (c.op == Op::switch_case) TFL_TRY(c.expect_index(0));
  if (c.regions.empty() || (c.op == Op::cond && c.regions.size() != 2)) return broken(c.op, "wrong number of regions");
  for (size_t b = 0; b < c.regions.size(); ++b) {
    const Block& region = *c.regions[b];
    TFL_TRY(check_inputs(c, region, 1));
    if (b == 0) {
      for (Ref r : region.results) c.types.push_back(r.type());
      continue;
    }
    if (region.results.size() != c.types.size()) return broken(c.op, "branches with different numbers of results");
    for (size_t i = 0; i < c.types.size(); ++i) {
      Type joined;
      if (!join(c.types[i], region.results[i].type(), joined)) {
        return broken(c.op, fmt::format("result {} is {} in one branch and {} in another", i, type_text(c.types[i]),
                                        type_text(region.results[i].type())));
      }
      c.types[i] = std::move(joined);
    }
  }
  return {};
}

Result<void> infer_loop(const Call& c) {
  if (c.regions.size() != 2) return broken(c.op, "needs a condition and a body");
  const Block& condition = *c.regions[0];
  const Block& body = *c.regions[1];
  TFL_TRY(check_inputs(c, condition, 0));
  TFL_TRY(check_inputs(c, body, 0));
  int64_t variables = c.attrs.get_int(Attr::num, -1);
  if (variables < 0 || variables > static_cast<int64_t>(c.operands.size())) return broken(c.op, "bad number of variables");
  if (condition.results.size() != 1 || !condition.results[0].type().is_tensor())
    return broken(c.op, "a condition gives one tensor");
  if (static_cast<int64_t>(body.results.size()) != variables) return broken(c.op, "the body gives one value a variable");
  for (size_t i = 0; i < body.results.size(); ++i) {
    const Type& type = body.params[i]->types[0];
    if (!may_overlap(body.results[i].type(), type) || !may_overlap(condition.params[i]->types[0], type))
      return broken(c.op, fmt::format("variable {} is {} and becomes {}", i, type_text(type), type_text(body.results[i].type())));
    c.types.push_back(type);
  }
  return {};
}

Result<void> infer_call(const Call& c) {
  if (!c.callee) return broken(c.op, "calls nothing");
  TFL_TRY(check_inputs(c, c.callee->body, 0));
  SmallVec<int64_t, 8> sizes = sizes_at_call(*c.callee, c.operands);
  for (Ref r : c.callee->body.results) {
    c.types.push_back(r.type());
    set_sizes(c.types.back(), sizes);
  }
  return {};
}

TensorType rows_of(const TensorType& element, int64_t rows) {
  TensorType out = element;
  if (out.ranked) out.dims.insert(0, rows);
  return out;
}

TensorType row_type(const TensorType& t) {
  TensorType out = t;
  if (out.ranked && !out.dims.empty()) out.dims.erase(0);
  return out;
}

int64_t length_of(const Type& t) { return t.tensor.ranked && t.tensor.dims.size() == 1 ? t.tensor.dims[0] : -1; }

Result<void> check_element(const Call& c, size_t operand) {
  TFL_TRY(c.expect(operand, TypeKind::Tensor));
  if (c.type(operand).tensor.dtype == c.type(0).tensor.dtype) return {};
  return broken(c.op, fmt::format("{} is no element of {}", type_text(c.type(operand)), type_text(c.type(0))));
}

Result<void> infer_array(const Call& c) {
  if (c.op == Op::array_new) {
    TFL_TRY(c.expect_index(0));
    const Dims* shape = c.attrs.get_ints(Attr::shape);
    return c.give(Type::array({c.attrs.get_dtype(Attr::dtype), shape != nullptr, shape ? *shape : Dims{}}));
  }
  if (c.op == Op::array_from) {
    TFL_TRY(c.expect(0, TypeKind::Tensor));
    if (c.type(0).tensor.ranked && c.type(0).tensor.dims.empty()) return broken(c.op, "a scalar has no rows");
    return c.give(Type::array(row_type(c.type(0).tensor)));
  }
  TFL_TRY(c.expect(0, TypeKind::Array));
  const Type& array = c.type(0);
  switch (static_cast<ArrayOp>(c.op)) {
    case ArrayOp::array_size: return c.give_tensor(DType::I32, {});
    case ArrayOp::array_read: TFL_TRY(c.expect_index(1)); return c.give(Type::of(array.tensor));
    case ArrayOp::array_write:
    case ArrayOp::array_add:
      TFL_TRY(c.expect_index(1));
      TFL_TRY(check_element(c, 2));
      return c.give(array);
    case ArrayOp::array_push: TFL_TRY(check_element(c, 1)); return c.give(array);
    case ArrayOp::array_pop: TFL_TRY(c.give(array)); return c.give(Type::of(array.tensor));
    case ArrayOp::array_stack: {
      TensorType element = array.tensor;
      if (const Dims* shape = c.attrs.get_ints(Attr::shape)) {
        element.ranked = true;
        element.dims = *shape;
      }
      return c.give(Type::of(rows_of(element, -1)));
    }
    case ArrayOp::array_concat: {
      TensorType out = array.tensor;
      if (out.ranked && !out.dims.empty()) out.dims[0] = -1;
      return c.give(Type::of(std::move(out)));
    }
    case ArrayOp::array_gather: TFL_TRY(c.expect_index(1)); return c.give(Type::of(rows_of(array.tensor, length_of(c.type(1)))));
    case ArrayOp::array_scatter:
      TFL_TRY(c.expect_index(1));
      TFL_TRY(check_element(c, 2));
      return c.give(array);
    case ArrayOp::array_split:
      TFL_TRY(check_element(c, 1));
      TFL_TRY(c.expect_index(2));
      return c.give(array);
    case ArrayOp::array_zeros_like: return c.give(array);
    case ArrayOp::array_sum: {
      TFL_TRY(c.expect(1, TypeKind::Array));
      Type joined;
      if (!join(array, c.type(1), joined)) return broken(c.op, "arrays of different element types");
      return c.give(std::move(joined));
    }
    case ArrayOp::array_new:
    case ArrayOp::array_from: break;  // above
  }
  return broken(c.op, "no array operation");
}

// What the script was said to give: for each result its element type, its rank (-1: unknown) and its sizes. A node without that has the
// types that whoever made it knows.
Result<void> infer_host_call(const Call& c) {
  TFL_TRY(c.expect(0, TypeKind::Resource));
  const Dims* said = c.attrs.get_ints(Attr::shape);
  for (size_t at = 0; said && at + 1 < said->size();) {
    int64_t dtype = (*said)[at], rank = (*said)[at + 1];
    if (dtype < 0 || dtype >= kDTypeCount || rank < -1 || rank > static_cast<int64_t>(said->size() - at - 2))
      return broken(Op::host_call, "no types of results");
    TensorType t{static_cast<DType>(dtype), rank >= 0, {}};
    at += 2;
    for (int64_t k = 0; k < rank; ++k) t.dims.push_back((*said)[at++]);
    TFL_TRY(c.give(Type::of(std::move(t))));
  }
  return {};
}

}  // namespace

Result<void> infer_control(Op op, std::span<const Ref> operands, const Attrs& attrs,
                           std::span<const std::unique_ptr<Block>> regions, const Function* callee, std::vector<Type>& types) {
  Call c{op, operands, attrs, regions, callee, types};
  if (is_array_op(op)) return infer_array(c);
  switch (static_cast<ControlOp>(op)) {
    case ControlOp::parameter:
    case ControlOp::constant: return broken(op, "its type is not computed");
    case ControlOp::cond:
    case ControlOp::switch_case: return infer_branches(c);
    case ControlOp::while_loop: return infer_loop(c);
    case ControlOp::call: return infer_call(c);
    case ControlOp::read_variable:
    case ControlOp::assign_variable:
    case ControlOp::is_initialized: {
      TFL_TRY(c.expect(0, TypeKind::Resource));
      if (c.type(0).opaque) return broken(op, "operand 0 is no variable");
      if (op == Op::read_variable) return c.give(Type::of(c.type(0).tensor));
      if (op == Op::is_initialized) return c.give_tensor(DType::Bool, {});
      return check_element(c, 1);
    }
    case ControlOp::print: return c.expect_tensor(0, DType::String);
    case ControlOp::check:
      if (operands.size() > 1) TFL_TRY(c.expect_tensor(1, DType::String));
      return c.expect_tensor(0, DType::Bool);
    case ControlOp::host_call: return infer_host_call(c);
    case ControlOp::next_seed: TFL_TRY(c.expect_index(0)); return c.give_tensor(DType::I64, {3});
  }
  return broken(op, "no such operation");
}

}  // namespace tfl::ir
