#include <algorithm>

#include "ir/infer.h"
#include "optimizer/layouts.h"

namespace tfl::optimizer::layouts {

namespace {

bool is_reduction(Op op) {
  return op == Op::reduce_sum || op == Op::reduce_prod || op == Op::reduce_mean || op == Op::reduce_max || op == Op::reduce_min ||
         op == Op::reduce_any || op == Op::reduce_all;
}

/// The axes that are reduced, from the front and in order.
Dims axes_of(const Node& n, int64_t rank) {
  Dims axes;
  if (const Dims* given = n.attrs.get_ints(Attr::axes)) {
    for (int64_t a : *given) axes.push_back(a < 0 ? a + rank : a);
    std::ranges::sort(axes);
  } else {
    for (int64_t a = 0; a < rank; ++a) axes.push_back(a);
  }
  return axes;
}

bool holds(const Dims& axes, int64_t a) { return std::ranges::find(axes, a) != axes.end(); }

/// The axes of the result that are left, in their order.
Dims left_after(const Dims& perm, const Dims& axes) {
  Dims left, sorted, found;
  for (size_t i = 0; i < perm.size(); ++i) {
    if (!holds(axes, static_cast<int64_t>(i))) left.push_back(perm[i]);
  }
  sorted = left;
  std::ranges::sort(sorted);
  for (int64_t l : left) found.push_back(std::ranges::find(sorted, l) - sorted.begin());
  return found;
}

/// The rows of a constant matrix of integers; false where it is none.
bool matrix_rows(Ref r, std::vector<Dims>& rows) {
  const Tensor& t = r.node->constant;
  if (r.node->op != Op::constant || t.rank() != 2 || (t.dtype() != DType::I32 && t.dtype() != DType::I64)) return false;
  for (int64_t i = 0; i < t.dim(0); ++i) {
    Dims row;
    for (int64_t k = 0; k < t.dim(1); ++k) {
      int64_t at = i * t.strides()[0] + k * t.strides()[1];
      row.push_back(t.dtype() == DType::I32 ? t.data<int32_t>()[at] : t.data<int64_t>()[at]);
    }
    rows.push_back(std::move(row));
  }
  return true;
}

Ref constant(Context& context, Block& block, const Dims& values) {
  Result<Tensor> t = numbers(context, values);
  return t ? ir::append_constant(block, t.take()) : Ref();
}

bool plain_slice(const Node& n, Dims& begin, Dims& end, Dims& strides) {
  return !n.attrs.get_int(Attr::ellipsis_mask) && !n.attrs.get_int(Attr::new_axis_mask) &&
         !n.attrs.get_int(Attr::shrink_axis_mask) && constant_integers(n.operands[1], begin) &&
         constant_integers(n.operands[2], end) && constant_integers(n.operands[3], strides);
}

}  // namespace

Result<Tensor> numbers(Context& context, const Dims& values) {
  Tensor t = TFL_TRY(Tensor::empty(context, DType::I64, Dims{static_cast<int64_t>(values.size())}));
  std::ranges::copy(values, t.data<int64_t>());
  return t;
}

bool moves(const Node& n) {
  return is_reduction(n.op) || n.op == Op::cast || n.op == Op::identity || n.op == Op::stop_gradient || n.op == Op::pad ||
         n.op == Op::slice || n.op == Op::strided_slice || n.op == Op::reverse;
}

Dims after(const Node& n, const Dims& perm) {
  if (!moves(n)) return {};
  auto rank = static_cast<int64_t>(perm.size());
  Dims begin, end, strides;
  std::vector<Dims> rows;
  if (n.op == Op::pad && (!matrix_rows(n.operands[1], rows) || rows.size() != perm.size())) return {};
  if (n.op == Op::strided_slice && (!plain_slice(n, begin, end, strides) || begin.size() > perm.size())) return {};
  if (n.op == Op::slice && (!constant_integers(n.operands[1], begin) || !constant_integers(n.operands[2], end))) return {};
  if (!is_reduction(n.op)) return perm;
  Dims axes = axes_of(n, rank);
  // Sums and products are made in the order of the axes, which must not change.
  for (size_t i = 1; i < axes.size(); ++i) {
    if (perm[static_cast<size_t>(axes[i - 1])] > perm[static_cast<size_t>(axes[i])]) return {};
  }
  return n.attrs.get_bool(Attr::keepdims) ? perm : left_after(perm, axes);
}

Ref moved(Context& context, Block& block, const Node& n, Ref stored, const Dims& perm) {
  auto rank = static_cast<int64_t>(perm.size());
  std::vector<Ref> operands(n.operands.begin(), n.operands.end());
  operands[0] = stored;
  Attrs attrs = n.attrs;
  auto ordered = [&](const Dims& values) {
    Dims out(perm.size());
    for (size_t i = 0; i < perm.size(); ++i) out[static_cast<size_t>(perm[i])] = values[i];
    return out;
  };
  if (is_reduction(n.op) || n.op == Op::reverse) {
    Dims axes;
    for (int64_t a : axes_of(n, rank)) axes.push_back(perm[static_cast<size_t>(a)]);
    std::ranges::sort(axes);
    attrs = ir::with_ints(attrs, Attr::axes, std::move(axes));
  } else if (n.op == Op::pad) {
    std::vector<Dims> rows;
    if (!matrix_rows(n.operands[1], rows)) return {};
    Result<Tensor> pads = Tensor::empty(context, DType::I64, Dims{rank, 2});
    if (!pads) return {};
    for (size_t i = 0; i < rows.size(); ++i) std::ranges::copy(rows[i], pads->data<int64_t>() + 2 * perm[i]);
    operands[1] = ir::append_constant(block, pads.take());
  } else if (n.op == Op::slice) {
    Dims begin, size;
    if (!constant_integers(n.operands[1], begin) || !constant_integers(n.operands[2], size)) return {};
    operands[1] = constant(context, block, ordered(begin));
    operands[2] = constant(context, block, ordered(size));
  } else if (n.op == Op::strided_slice) {
    Dims parts[3];
    if (!plain_slice(n, parts[0], parts[1], parts[2])) return {};
    int64_t masks[2] = {0, 0};
    for (size_t i = 0; i < perm.size(); ++i) {
      bool written = static_cast<int64_t>(i) < n.operands[1].node->constant.dim(0);
      if (!written) {
        parts[0].push_back(0), parts[1].push_back(0), parts[2].push_back(1);
      }
      for (int m = 0; m < 2; ++m) {
        int64_t mask = n.attrs.get_int(m ? Attr::end_mask : Attr::begin_mask);
        if (!written || (mask >> i & 1)) masks[m] |= int64_t{1} << perm[i];
      }
    }
    for (size_t k = 0; k < 3; ++k) operands[k + 1] = constant(context, block, ordered(parts[k]));
    attrs = ir::with_int(ir::with_int(attrs, Attr::begin_mask, masks[0]), Attr::end_mask, masks[1]);
  }
  for (Ref r : operands) {
    if (!r) return {};
  }
  Result<Node*> made = ir::append(context, block, n.op, std::move(operands), std::move(attrs));
  if (!made) return {};
  (*made)->location = n.location;
  (*made)->variable = n.variable;
  return {*made, 0};
}

}  // namespace tfl::optimizer::layouts
