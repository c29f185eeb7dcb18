// Sizes of what views, casts, gathers and creation give, and which rule each operation has.
#include "codegen/plan/size_rules.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using shape_rules::front_axis;

bool SizeRules::same(const Node& n, PolyDims& out) {
  out = dims(n.operands[0]);
  return true;
}

bool SizeRules::same_axes(const Node& n, PolyDims& out) { return same(n, out) && !out.empty(); }

bool SizeRules::diagonal(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (x.size() < 2) return false;
  out.assign(x.begin(), x.end() - 2);
  out.push_back(table.smaller(x[x.size() - 2], x.back()));
  return true;
}

bool SizeRules::ensured(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  out = x;
  const Dims* wanted = n.attrs.get_ints(Attr::shape);
  if (!wanted) return true;
  if (wanted->size() != x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    if ((*wanted)[i] >= 0 && !table.assume_equal(x[i], SizeTable::constant((*wanted)[i]))) return false;
  }
  return true;
}

bool SizeRules::shape(const Node& n, PolyDims& out) {
  out.push_back(SizeTable::constant(static_cast<int64_t>(dims(n.operands[0]).size())));
  return true;
}

bool SizeRules::scalar(const Node&, PolyDims&) { return true; }

bool SizeRules::expand_dims(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  int64_t axis = front_axis(n.attrs.get_int(Attr::axis), static_cast<int64_t>(x.size()) + 1);
  if (axis < 0) return false;
  out = x;
  out.insert(out.begin() + axis, SizeTable::constant(1));
  return true;
}

bool SizeRules::squeeze(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  auto rank = static_cast<int64_t>(x.size());
  const Dims* axes = n.attrs.get_ints(Attr::axes);
  SmallVec<bool, 8> gone(x.size(), false);
  if (axes && !axes->empty()) {
    for (int64_t a : *axes) {
      if (front_axis(a, rank) < 0) return false;
      gone[static_cast<size_t>(front_axis(a, rank))] = true;
    }
  } else {
    for (size_t i = 0; i < x.size(); ++i) {
      std::optional<int64_t> d = SizeTable::literal(x[i]);
      if (!d) return false;
      gone[i] = *d == 1;
    }
  }
  for (size_t i = 0; i < x.size(); ++i) {
    if (!gone[i])
      out.push_back(x[i]);
    else if (!table.assume_equal(x[i], SizeTable::constant(1)))
      return false;
  }
  return true;
}

bool SizeRules::transpose(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  auto rank = static_cast<int64_t>(x.size());
  Dims perm;
  if (const Dims* given = n.attrs.get_ints(Attr::perm)) {
    perm = *given;
  } else if (n.operands.size() > 1) {
    if (!known_integers(context_, n.operands[1], perm)) return false;
  } else {
    for (int64_t i = rank; i-- > 0;) perm.push_back(i);
  }
  if (perm.size() != x.size()) return false;
  for (int64_t p : perm) {
    if (front_axis(p, rank) < 0) return false;
    out.push_back(x[static_cast<size_t>(front_axis(p, rank))]);
  }
  return true;
}

bool SizeRules::broadcast_to(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!wanted_sizes(n.operands[1], out) || out.size() < x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) {
    const Poly& to = out[i + out.size() - x.size()];
    if (SizeTable::literal(x[i]) != 1 && !table.assume_equal(x[i], to)) return false;
  }
  return true;
}

bool SizeRules::tile(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  if (!wanted_sizes(n.operands[1], out) || out.size() != x.size()) return false;
  for (size_t i = 0; i < x.size(); ++i) out[i] = table.multiply(x[i], out[i]);
  return true;
}

bool SizeRules::fill(const Node& n, PolyDims& out) { return wanted_sizes(n.operands[0], out); }
bool SizeRules::eye(const Node& n, PolyDims& out) { return wanted_sizes(n.operands[0], out) && out.size() >= 2; }

bool SizeRules::one_hot(const Node& n, PolyDims& out) {
  const PolyDims& x = dims(n.operands[0]);
  auto rank = static_cast<int64_t>(x.size());
  std::optional<Poly> depth = element(n.operands[1], 0);
  int64_t axis = n.attrs.get_int(Attr::axis, -1);
  if (axis == -1) axis = rank;
  if (!depth || axis < 0 || axis > rank || !table.assume_at_least(*depth, {})) return false;
  out = x;
  out.insert(out.begin() + axis, *depth);
  return true;
}

bool SizeRules::strided_slice(const Node& n, PolyDims& out) { return strided(n, dims(n.operands[0]), out); }

bool SizeRules::strided_slice_grad(const Node& n, PolyDims& out) {
  PolyDims unused;
  return wanted_sizes(n.operands[0], out) && strided(n, out, unused);
}

bool SizeRules::gather(const Node& n, PolyDims& out) {
  const PolyDims &x = dims(n.operands[0]), &indices = dims(n.operands[1]);
  int64_t batch = n.attrs.get_int(Attr::batch_dims);
  if (batch < 0) batch += static_cast<int64_t>(indices.size());
  int64_t axis = front_axis(n.attrs.get_int(Attr::axis, batch), static_cast<int64_t>(x.size()));
  if (axis < 0) return false;
  for (int64_t i = 0; i < batch; ++i) {
    if (!table.assume_equal(x[static_cast<size_t>(i)], indices[static_cast<size_t>(i)])) return false;
  }
  out.assign(x.begin(), x.begin() + axis);
  out.insert(out.end(), indices.begin() + batch, indices.end());
  out.insert(out.end(), x.begin() + axis + 1, x.end());
  return true;
}

bool SizeRules::gather_nd(const Node& n, PolyDims& out) {
  const PolyDims &x = dims(n.operands[0]), &indices = dims(n.operands[1]);
  std::optional<int64_t> depth = indices.empty() ? std::nullopt : SizeTable::literal(indices.back());
  if (!depth || *depth > static_cast<int64_t>(x.size())) return false;
  out.assign(indices.begin(), indices.end() - 1);
  out.insert(out.end(), x.begin() + *depth, x.end());
  return true;
}

constexpr OpTable<SizeRules::OneRule> SizeRules::kRules{{
    {Op::cast, &SizeRules::same},
    {Op::identity, &SizeRules::same},
    {Op::stop_gradient, &SizeRules::same},
    {Op::reverse, &SizeRules::same},
    {Op::matrix_band_part, &SizeRules::same},
    {Op::bitcast, &SizeRules::same},
    {Op::matrix_diag_part, &SizeRules::diagonal},
    {Op::ensure_shape, &SizeRules::ensured},
    {Op::shape, &SizeRules::shape},
    {Op::size, &SizeRules::scalar},
    {Op::rank, &SizeRules::scalar},
    {Op::expand_dims, &SizeRules::expand_dims},
    {Op::squeeze, &SizeRules::squeeze},
    {Op::transpose, &SizeRules::transpose},
    {Op::reshape, &SizeRules::reshape},
    {Op::broadcast_to, &SizeRules::broadcast_to},
    {Op::tile, &SizeRules::tile},
    {Op::fill, &SizeRules::fill},
    {Op::eye, &SizeRules::eye},
    {Op::one_hot, &SizeRules::one_hot},
    {Op::concat, &SizeRules::concat},
    {Op::stack, &SizeRules::concat},
    {Op::range, &SizeRules::range},
    {Op::pad, &SizeRules::pad},
    {Op::slice, &SizeRules::plain_slice},
    {Op::strided_slice, &SizeRules::strided_slice},
    {Op::strided_slice_grad, &SizeRules::strided_slice_grad},
    {Op::gather, &SizeRules::gather},
    {Op::gather_nd, &SizeRules::gather_nd},
    {Op::roll, &SizeRules::same_axes},
    {Op::sum_to_shape, &SizeRules::sum_to_shape},
    {Op::matmul, &SizeRules::product},
    {Op::conv2d, &SizeRules::windows},
    {Op::conv3d, &SizeRules::windows},
    {Op::depthwise_conv2d, &SizeRules::windows},
    {Op::conv2d_backprop_input, &SizeRules::windows},
    {Op::conv3d_backprop_input, &SizeRules::windows},
    {Op::depthwise_conv2d_backprop_input, &SizeRules::windows},
    {Op::conv2d_backprop_filter, &SizeRules::windows},
    {Op::conv3d_backprop_filter, &SizeRules::windows},
    {Op::depthwise_conv2d_backprop_filter, &SizeRules::windows},
    {Op::max_pool, &SizeRules::windows},
    {Op::max_pool_grad, &SizeRules::windows},
    {Op::avg_pool, &SizeRules::windows},
    {Op::avg_pool_grad, &SizeRules::windows},
    {Op::reduce_sum, &SizeRules::reduce},
    {Op::reduce_prod, &SizeRules::reduce},
    {Op::reduce_mean, &SizeRules::reduce},
    {Op::reduce_max, &SizeRules::reduce},
    {Op::reduce_min, &SizeRules::reduce},
    {Op::reduce_any, &SizeRules::reduce},
    {Op::reduce_all, &SizeRules::reduce},
    {Op::cumsum, &SizeRules::same_axes},
    {Op::cumprod, &SizeRules::same_axes},
    {Op::sort, &SizeRules::same_axes},
    {Op::argsort, &SizeRules::same_axes},
    {Op::argmax, &SizeRules::arg},
    {Op::argmin, &SizeRules::arg},
    {Op::scatter_nd, &SizeRules::scatter_new},
    {Op::tensor_scatter_update, &SizeRules::scatter},
    {Op::tensor_scatter_add, &SizeRules::scatter},
    {Op::tensor_scatter_sub, &SizeRules::scatter},
    {Op::tensor_scatter_min, &SizeRules::scatter},
    {Op::tensor_scatter_max, &SizeRules::scatter},
    {Op::unsorted_segment_sum, &SizeRules::segments},
    {Op::unsorted_segment_prod, &SizeRules::segments},
    {Op::unsorted_segment_max, &SizeRules::segments},
    {Op::unsorted_segment_min, &SizeRules::segments},
    {Op::stateless_uniform, &SizeRules::random},
    {Op::stateless_uniform_int, &SizeRules::random},
    {Op::stateless_uniform_full_int, &SizeRules::random},
    {Op::stateless_permutation, &SizeRules::random},
    {Op::stateless_normal, &SizeRules::random},
    {Op::stateless_truncated_normal, &SizeRules::random},
    {Op::stateless_gamma, &SizeRules::samples},
    {Op::stateless_poisson, &SizeRules::samples},
    {Op::stateless_binomial, &SizeRules::samples},
    {Op::stateless_truncated, &SizeRules::samples},
    {Op::fft, &SizeRules::fourier},
    {Op::rfft, &SizeRules::fourier},
    {Op::irfft, &SizeRules::fourier},
    {Op::cholesky, &SizeRules::square_matrix},
    {Op::matrix_inverse, &SizeRules::square_matrix},
    {Op::matrix_determinant, &SizeRules::determinant},
    {Op::matrix_solve, &SizeRules::system},
    {Op::triangular_solve, &SizeRules::system},
}};

constexpr OpTable<SizeRules::SeveralRule> SizeRules::kSeveralRules{{
    {Op::split, &SizeRules::parts},
    {Op::split_v, &SizeRules::parts},
    {Op::unstack, &SizeRules::parts},
    {Op::top_k, &SizeRules::top_k},
    {Op::lu, &SizeRules::lu},
    {Op::log_matrix_determinant, &SizeRules::log_determinant},
    {Op::qr, &SizeRules::qr},
    {Op::eigh, &SizeRules::eigh},
    {Op::svd, &SizeRules::svd},
}};

// Whatever machine code computes has sizes that follow.
#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) \
  static_assert(PlanForm::form == PlanForm::none || SizeRules::has_rule(Op::name), "no rule for the sizes of " #name);
#include "runtime/ops/structural.def"
#undef TFL_OP

}  // namespace tfl::plan
