// Shape rules of Fourier transforms.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

constexpr DType kReal[] = {DType::F32, DType::F64};

/// How many of x's axes are those of the numbers: their parts are an axis of 2 behind them.
size_t numbers(const TensorType& x) { return x.dims.size() - 1; }

Result<void> check_numbers(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(op_info(call.op).tf_name, "T", x.dtype, kReal));
  if (!x.ranked) return {};
  if (x.dims.empty() || numbers(x) == 0) return invalid(call.op, "Input must have rank of at least 1 but got: []");
  if (!may_equal(x.dims.back(), 2)) return invalid(call.op, "complex numbers are an axis of 2, not of {}", x.dims.back());
  return {};
}

int64_t bins(int64_t n) { return known(n) ? n / 2 + 1 : -1; }

}  // namespace

Result<void> infer_fft(InferCall& call) {
  TFL_TRY(check_numbers(call));
  const TensorType& x = call.operands[0].type;
  const int64_t axis = call.attrs.get_int(Attr::axis, -1);
  if (x.ranked && front_axis(axis, static_cast<int64_t>(numbers(x))) < 0)
    return invalid(call.op, "no axis {} of a tensor of rank {}", axis, numbers(x));
  return give(call, x);
}

Result<void> infer_rfft(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_dtype(op_info(call.op).tf_name, "Treal", x.dtype, kReal));
  if (!x.ranked) return give(call, unranked(x.dtype));
  if (x.dims.empty()) return invalid(call.op, "Input must have rank of at least 1 but got: []");
  TensorType out = ranked(x.dtype, x.dims);
  out.dims.back() = bins(x.dims.back());
  out.dims.push_back(2);
  TFL_TRY(product(call.op, out.dims));
  return give(call, std::move(out));
}

Result<void> infer_irfft(InferCall& call) {
  TFL_TRY(check_numbers(call));
  const TensorType &x = call.operands[0].type, &shape = call.operands[1].type;
  TFL_TRY(check_index_dtype(call.op, "Tshape", shape.dtype));
  std::optional<Dims> sizes = integers(call.operands[1]);
  if (!sizes) {
    if (!x.ranked) return give(call, unranked(x.dtype));
    Dims open(x.dims.begin(), x.dims.begin() + static_cast<ptrdiff_t>(numbers(x)));
    open.back() = -1;
    return give(call, ranked(x.dtype, std::move(open)));
  }
  if (sizes->empty() || (x.ranked && sizes->size() != numbers(x)))
    return invalid(call.op, "the result has rank {} and the input other axes", sizes->size());
  for (size_t i = 0; i < sizes->size(); ++i) {
    const int64_t size = (*sizes)[i], own = x.ranked ? x.dims[i] : -1;
    const bool last = i + 1 == sizes->size();
    if (!last && !may_equal(own, size)) return invalid(call.op, "the result has other rows than the input");
    if (last && !may_equal(own, bins(size)))
      return invalid(call.op, "Input dimension {} must have length of {} but got: {}", i, bins(size), own);
  }
  TFL_TRY(product(call.op, *sizes));
  return give(call, ranked(x.dtype, std::move(*sizes)));
}

}  // namespace tfl
