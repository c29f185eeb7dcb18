// What a plan's reductions give, by eager operations: a row as a whole, one block as a partial result, partial results as a tree.
#pragma once

#include <cstring>
#include <vector>

#include "codegen/plan/plan.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/element.h"
#include "tests/tools/plan_sizes.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

/// `divisor` is that of the stage as a number; 0: none.
inline Tensor reduce_row(Context& c, const plan::Stage& s, int64_t divisor, const std::vector<Tensor>& items) {
  expect_of_plan(!items.empty(), "a reduction of nothing");
  Tensor row = *Tensor::empty(c, items[0].dtype(), Dims{static_cast<int64_t>(items.size())});
  size_t bytes = dtype_size(row.dtype());
  for (size_t i = 0; i < items.size(); ++i) std::memcpy(row.raw() + i * bytes, items[i].raw(), bytes);
  bool logical = row.dtype() == DType::Bool;
  Op op = Op::reduce_sum;
  switch (s.reduce) {
    case ReduceKind::sum:
    case ReduceKind::wide_sum: op = s.divisor == 0 ? Op::reduce_sum : Op::reduce_mean; break;
    case ReduceKind::prod: op = Op::reduce_prod; break;
    case ReduceKind::max: op = logical ? Op::reduce_any : Op::reduce_max; break;
    case ReduceKind::min: op = logical ? Op::reduce_all : Op::reduce_min; break;
  }
  if (s.divisor != 0) expect_of_plan(divisor == static_cast<int64_t>(items.size()), "a divisor that is not the length");
  Tensor t = *apply1(c, op, {row});
  expect_of_plan(t.dtype() == s.dtype, "a reduction of another type");
  return t;
}

inline Tensor reduce_block(Context& c, const plan::Stage& s, int64_t divisor, const std::vector<Tensor>& elements) {
  std::vector<Tensor> items = elements;
  for (Tensor& t : items) {
    if (t.dtype() == DType::Bool) {
      t = cast_to(c, t, DType::U8);
    } else if (t.dtype() != s.dtype) {
      t = cast_to(c, t, s.dtype);
    }
  }
  plan::Stage plain = s;
  if (plain.reduce == ReduceKind::wide_sum) plain.reduce = ReduceKind::sum;
  return reduce_row(c, plain, divisor, items);
}

inline Tensor reduce_tree(Context& c, const plan::Stage& s, int64_t divisor, std::vector<Tensor> items) {
  constexpr Op kOps[] = {Op::add, Op::multiply, Op::maximum, Op::minimum, Op::add};
  while (items.size() > 1) {
    std::vector<Tensor> next;
    for (size_t i = 0; i + 1 < items.size(); i += 2)
      next.push_back(*apply1(c, kOps[static_cast<int>(s.reduce)], {items[i], items[i + 1]}));
    if (items.size() % 2) next.push_back(items.back());
    items = std::move(next);
  }
  Tensor t = items[0];
  if (s.divisor != 0) {
    Tensor by = *Tensor::empty(c, DType::I64, Dims{});
    store_int(DType::I64, divisor, by.raw());
    t = *apply1(c, is_floating(t.dtype()) ? Op::divide : Op::truncatediv, {t, cast_to(c, by, t.dtype())});
  }
  return t.dtype() == s.dtype ? t : cast_to(c, t, s.dtype);
}

}  // namespace tfl::test
