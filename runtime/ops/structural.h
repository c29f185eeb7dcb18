// The operations that are not elementwise: what a shape rule and a kernel are given, and the two functions of each row of
// runtime/ops/structural.def. A shape rule sees types, and values where they are known: it must work with sizes that are unknown
// (negative) and with unranked operands. A kernel sees concrete operands whose types the rule has accepted.
// This header must not know how a graph is built or what a host value is.
#pragma once

#include <span>

#include "runtime/ops/op.h"

namespace tfl {

struct InferCall {
  Context& context;
  Op op;
  std::span<const OperandInfo> operands;
  const Attrs& attrs;
  SmallVec<TensorType, 2>& results;  // empty at first; the rule appends one type for each result
};

struct RunCall {
  Context& context;
  Op op;
  std::span<const Tensor> operands;
  const Attrs& attrs;
  std::span<const TensorType> types;  // what the rule gave; sizes that depend on data are negative
  Tensors& results;                   // empty at first; the kernel appends (new tensors or views)

  /// Uninitialised elements for result `i`, whose sizes must be known.
  Result<Tensor> allocate(size_t i = 0) const { return Tensor::empty(context, types[i].dtype, types[i].dims); }
  /// Appends a result.
  Result<void> give(Tensor t) const {
    results.push_back(std::move(t));
    return {};
  }
};

using InferFunction = Result<void> (*)(InferCall&);
using RunFunction = Result<void> (*)(RunCall&);

#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) \
  Result<void> infer_##name(InferCall& call);                                       \
  Result<void> run_##name(RunCall& call);
#include "runtime/ops/structural.def"
#undef TFL_OP

}  // namespace tfl
