// What the planner has to know of single operations.
#include <algorithm>

#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/tensor/element.h"

namespace tfl::plan {

bool is_reduction(Op op) {
  switch (op) {
    case Op::reduce_sum:
    case Op::reduce_prod:
    case Op::reduce_mean:
    case Op::reduce_max:
    case Op::reduce_min:
    case Op::reduce_any:
    case Op::reduce_all:
    case Op::sum_to_shape: return true;
    default: return false;
  }
}

namespace {

// Rows are written, or added, to places that indices give.
bool writes_by_index(Op op) {
  switch (op) {
    case Op::scatter_nd:
    case Op::tensor_scatter_update:
    case Op::tensor_scatter_add:
    case Op::tensor_scatter_sub:
    case Op::tensor_scatter_min:
    case Op::tensor_scatter_max:
    case Op::unsorted_segment_sum:
    case Op::unsorted_segment_prod:
    case Op::unsorted_segment_max:
    case Op::unsorted_segment_min: return true;
    default: return false;
  }
}

}  // namespace

bool is_routine(Op op) {
  switch (op) {
    case Op::cumsum:
    case Op::cumprod:
    case Op::argmax:
    case Op::argmin:
    case Op::sort:
    case Op::argsort:
    case Op::top_k:
    case Op::stateless_uniform:
    case Op::stateless_uniform_int:
    case Op::stateless_uniform_full_int:
    case Op::stateless_permutation:
    case Op::stateless_truncated_normal:
    case Op::stateless_gamma:
    case Op::stateless_poisson:
    case Op::stateless_binomial:
    case Op::stateless_truncated:
    case Op::stateless_normal: return true;
    default: return writes_by_index(op) || matrix_solve(op) || matrix_factor(op);
  }
}

bool is_window(Op op) {
  WindowKind kind;
  return window_kind(op, kind);
}

bool keeps_order(const ir::Node& n) {
  switch (n.op) {
    case Op::reshape:
    case Op::expand_dims:
    case Op::squeeze:
    case Op::identity:
    case Op::stop_gradient:
    case Op::ensure_shape: return true;
    default: return false;
  }
}

bool is_view(const ir::Node& n) {
  switch (n.op) {
    case Op::transpose:
    case Op::broadcast_to:
    case Op::slice:
    case Op::strided_slice:
    case Op::reverse:
    case Op::unstack:
    case Op::split:
    case Op::split_v: return true;
    case Op::matrix_diag_part: return n.operands.size() == 1;
    default: return keeps_order(n);
  }
}

bool is_deferrable(const ir::Node& n) {
  if (op_info(n.op).kind == OpKind::Elementwise || is_view(n)) return true;
  switch (n.op) {
    case Op::cast:
    case Op::bitcast:
    case Op::fill:
    case Op::eye:
    case Op::range:
    case Op::one_hot:
    case Op::gather:
    case Op::gather_nd:
    case Op::roll:
    case Op::pad:
    case Op::matrix_band_part:
    case Op::strided_slice_grad:
    case Op::shape:
    case Op::size:
    case Op::rank: return true;
    default: return false;
  }
}

bool reads_elements(const ir::Node& n, size_t i) {
  switch (n.op) {
    case Op::shape:
    case Op::size:
    case Op::rank:
    case Op::eye: return false;
    case Op::scatter_nd:
    case Op::unsorted_segment_sum:
    case Op::unsorted_segment_prod:
    case Op::unsorted_segment_max:
    case Op::unsorted_segment_min: return i != 2;
    case Op::conv2d_backprop_input:
    case Op::conv3d_backprop_input:
    case Op::depthwise_conv2d_backprop_input:
    case Op::avg_pool_grad: return i != 0;
    case Op::conv2d_backprop_filter:
    case Op::conv3d_backprop_filter:
    case Op::depthwise_conv2d_backprop_filter:
    case Op::max_pool_grad: return i != 1;
    case Op::top_k:
    case Op::roll: return i == 0;
    case Op::stateless_uniform:
    case Op::stateless_uniform_int:
    case Op::stateless_uniform_full_int:
    case Op::stateless_permutation:
    case Op::stateless_truncated_normal:
    case Op::stateless_gamma:
    case Op::stateless_poisson:
    case Op::stateless_binomial:
    case Op::stateless_truncated:
    case Op::stateless_normal:
    case Op::fill: return i >= 1;
    case Op::range: return i != 1;
    case Op::one_hot: return i != 1;
    case Op::pad: return i != 1;
    case Op::strided_slice_grad: return i == 4;
    case Op::slice:
    case Op::strided_slice:
    case Op::reshape:
    case Op::transpose:
    case Op::broadcast_to:
    case Op::split_v:
    case Op::tile:
    case Op::sum_to_shape:
    case Op::matrix_band_part: return i == 0;
    default: return true;
  }
}

bool refuses(Op op, DType dtype, int64_t y) {
  return y == 0 ? op != Op::pow : op == Op::pow && !is_unsigned(dtype) && y < 0;
}

bool may_raise(Builder& b, const ir::Node& n) {
  if (op_info(n.op).kind != OpKind::Elementwise || !row_has_checks(n.op)) return false;
  ir::Ref y = n.operands[1];
  if (!is_integer(b.dtype(y))) return false;
  // A known divisor or exponent that no element refuses.
  Tensor known = b.known(y);
  if (!known || known.size() > 1024) return true;
  Result<Tensor> dense = contiguous(b.context, known);
  if (!dense) return true;
  for (int64_t i = 0; i < dense->size(); ++i) {
    if (refuses(n.op, dense->dtype(), load_int(dense->dtype(), dense->raw() + static_cast<size_t>(i) * dtype_size(dense->dtype())))) return true;
  }
  return false;
}

bool may_refuse(Builder& b, const ir::Node& n) {
  switch (n.op) {
    case Op::gather:
    case Op::gather_nd:
    case Op::stateless_uniform_int:
    case Op::stateless_truncated:
    case Op::lu: return true;
    case Op::strided_slice: {
      const Slice slice = b.shapes.slice(n);
      return std::any_of(slice.axes.begin(), slice.axes.end(), [](const Slice::Axis& a) { return bool(a.index); });
    }
    default: break;
  }
  if (writes_by_index(n.op) || (matrix_solve(n.op) && n.op != Op::matrix_determinant) || may_raise(b, n)) return true;
  for (const auto& region : n.regions) {
    std::unordered_set<const ir::Node*> needed = needed_nodes(*region);
    for (const auto& inner : region->nodes) {
      if (needed.contains(inner.get()) && may_refuse(b, *inner)) return true;
    }
  }
  return false;
}

int64_t cost_of(Op op) {
  switch (op) {
    case Op::divide:
    case Op::divide_no_nan:
    case Op::sqrt:
    case Op::rsqrt:
    case Op::reciprocal:
    case Op::xdivy:
    case Op::softsign:
    case Op::floordiv:
    case Op::mod:
    case Op::truncatediv:
    case Op::truncatemod:
    case Op::gather: return 4;
    case Op::exp:
    case Op::expm1:
    case Op::log:
    case Op::log1p:
    case Op::sin:
    case Op::cos:
    case Op::tan:
    case Op::asin:
    case Op::acos:
    case Op::atan:
    case Op::atan2:
    case Op::sinh:
    case Op::cosh:
    case Op::tanh:
    case Op::erf:
    case Op::erfc:
    case Op::sigmoid:
    case Op::softplus:
    case Op::elu:
    case Op::selu:
    case Op::gelu_approximate:
    case Op::gelu:
    case Op::silu:
    case Op::xlogy:
    case Op::xlog1py: return 12;
    case Op::asinh:
    case Op::acosh:
    case Op::atanh:
    case Op::pow:
    case Op::erfinv:
    case Op::ndtri:
    case Op::lgamma:
    case Op::digamma:
    case Op::igamma:
    case Op::igammac:
    case Op::zeta:
    case Op::polygamma:
    case Op::betainc:
    case Op::bessel_i0:
    case Op::bessel_i0e:
    case Op::bessel_i1:
    case Op::bessel_i1e: return 40;
    default: return 1;
  }
}

ReductionSpec reduction_spec(Builder& b, const ir::Node& n) {
  ReductionSpec spec;
  const Sizes& have = b.dims(n.operands[0]);
  size_t rank = have.size();
  if (n.op == Op::sum_to_shape) {
    const Sizes& wanted = b.dims({const_cast<ir::Node*>(&n), 0});
    size_t lead = rank >= wanted.size() ? rank - wanted.size() : 0;
    for (size_t i = 0; i < rank; ++i)
      spec.reduced.push_back(i < lead || (is_one(wanted[i - lead]) && !is_one(have[i])));
    return spec;
  }
  switch (n.op) {
    case Op::reduce_prod: spec.kind = ReduceKind::prod; break;
    case Op::reduce_max:
    case Op::reduce_any: spec.kind = ReduceKind::max; break;
    case Op::reduce_min:
    case Op::reduce_all: spec.kind = ReduceKind::min; break;
    case Op::reduce_mean:
      spec.mean = true;
      if (is_integer(b.dtype(n.operands[0]))) spec.kind = ReduceKind::wide_sum;
      break;
    default: break;
  }
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  spec.reduced.resize(rank, axes == nullptr);
  for (size_t i = 0; axes && i < axes->size(); ++i) {
    int64_t axis = (*axes)[i];
    spec.reduced[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis)] = true;
  }
  return spec;
}

}  // namespace tfl::plan
