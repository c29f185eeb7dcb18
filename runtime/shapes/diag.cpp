// Shape rules of the operations on diagonals and bands of matrices.
#include "runtime/shapes/diagonal.h"
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

DiagonalBand diagonal_band(const Attrs& attrs) {
  DiagonalBand band;
  if (const Dims* k = attrs.get_ints(Attr::k); k && !k->empty()) {
    band.low = (*k)[0];
    band.high = k->back();
  }
  std::string_view align = attrs.get_text(Attr::mode);
  band.left_super = align == "LEFT_RIGHT" || align == "LEFT_LEFT";
  band.left_sub = align.empty() || align == "RIGHT_LEFT" || align == "LEFT_LEFT";
  return band;
}

namespace {

Result<void> check_order(InferCall& call, const DiagonalBand& band) {
  for (int64_t k : {band.low, band.high}) {
    if (k < INT32_MIN || k > INT32_MAX) return invalid(call.op, "diagonal index {} does not fit 32 bits", k);
  }
  if (band.low > band.high)
    return invalid(call.op, "lower_diag_index must not be larger than upper_diag_index: {} > {}", band.low, band.high);
  return {};
}

// Both diagonals must cross a matrix of these sizes.
Result<void> check_bounds(InferCall& call, const DiagonalBand& band, int64_t rows, int64_t cols) {
  if (!known(rows) || !known(cols)) return {};
  auto outside = [&](int64_t d) { return d != 0 && (d <= -rows || d >= cols); };
  if (outside(band.low))
    return invalid(call.op, "lower_diag_index is out of bound: {}. It must be between {} and {}", band.low, -rows, cols);
  if (outside(band.high))
    return invalid(call.op, "upper_diag_index is out of bound: {} It must be between {} and {}", band.high, -rows, cols);
  return {};
}

}  // namespace

Result<void> infer_matrix_diag_part(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  DiagonalBand band = diagonal_band(call.attrs);
  if (call.operands.size() > 1) TFL_TRY(check_same_dtype("MatrixDiagPartV3", 2, x.dtype, call.operands[1].type.dtype));
  TFL_TRY(check_order(call, band));
  if (!x.ranked) return give(call, x);
  if (x.dims.size() < 2) return invalid(call.op, "input must be at least 2-dim, received shape: {}", shape_words(x.dims));
  int64_t rows = x.dims[x.dims.size() - 2], cols = x.dims.back();
  TFL_TRY(check_bounds(call, band, rows, cols));
  Dims dims(x.dims.begin(), x.dims.end() - 2);
  if (band.count() > 1) dims.push_back(band.count());
  dims.push_back(known(rows) && known(cols) ? band.longest(rows, cols) : -1);
  return give(call, ranked(x.dtype, std::move(dims)));
}

Result<void> infer_matrix_diag(InferCall& call) {
  const TensorType& d = call.operands[0].type;
  DiagonalBand band = diagonal_band(call.attrs);
  if (call.operands.size() > 1) TFL_TRY(check_same_dtype("MatrixDiagV3", 4, d.dtype, call.operands[1].type.dtype));
  TFL_TRY(check_order(call, band));
  if (!d.ranked) return give(call, d);
  if (d.dims.empty()) return invalid(call.op, "diagonal must be at least 1-dim, received shape: {}", shape_words(d.dims));
  bool several = band.count() > 1;
  if (several && d.dims.size() < 2)
    return invalid(call.op, "diagonal must be at least 2-dim, received shape: {}", shape_words(d.dims));
  if (several && !may_equal(d.dims[d.dims.size() - 2], band.count())) {
    return invalid(call.op,
                   "The number of diagonals provided in the input does not match the lower_diag_index and "
                   "upper_diag_index range.");
  }
  int64_t length = d.dims.back(), rows = call.attrs.get_int(Attr::num_rows, -1), cols = call.attrs.get_int(Attr::num_cols, -1);
  if (known(length)) {
    int64_t min_rows = length - std::min<int64_t>(band.high, 0), min_cols = length + std::max<int64_t>(band.low, 0);
    if (rows < 0 && cols < 0) {
      rows = cols = std::max(min_rows, min_cols);
    } else if (rows < 0) {
      rows = min_rows;
    } else if (cols < 0) {
      cols = min_cols;
    }
    if (rows < min_rows) return invalid(call.op, "The number of rows is too small.");
    if (cols < min_cols) return invalid(call.op, "The number of columns is too small.");
    if (rows != min_rows && cols != min_cols) {
      return invalid(call.op,
                     "The number of rows or columns is not consistent with the specified d_lower, d_upper, and diagonal.");
    }
    TFL_TRY(check_bounds(call, band, rows, cols));
  }
  Dims dims(d.dims.begin(), d.dims.end() - (several ? 2 : 1));
  dims.push_back(rows);
  dims.push_back(cols);
  TFL_TRY(product(call.op, dims));
  return give(call, ranked(d.dtype, std::move(dims)));
}

Result<void> infer_matrix_set_diag(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  const TensorType& d = call.operands[1].type;
  DiagonalBand band = diagonal_band(call.attrs);
  TFL_TRY(check_same_dtype("MatrixSetDiagV3", 1, x.dtype, d.dtype));
  TFL_TRY(check_order(call, band));
  if (!x.ranked) return give(call, x);
  if (x.dims.size() < 2) return invalid(call.op, "input must be at least 2-dim, received shape: {}", shape_words(x.dims));
  int64_t rows = x.dims[x.dims.size() - 2], cols = x.dims.back();
  TFL_TRY(check_bounds(call, band, rows, cols));
  Dims expected(x.dims.begin(), x.dims.end() - 2);
  if (band.count() > 1) expected.push_back(band.count());
  expected.push_back(known(rows) && known(cols) ? band.longest(rows, cols) : -1);
  bool fits = !d.ranked || d.dims.size() == expected.size();
  for (size_t i = 0; fits && d.ranked && i < expected.size(); ++i) fits = may_equal(d.dims[i], expected[i]);
  if (!fits) {
    return invalid(call.op,
                   "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to the "
                   "longests diagonal in range "
                   "[lower_diag_index:upper_diag_index].\nInput shape: {}\nDiagonal shape: {}\nExpected diagonal shape: {}",
                   shape_words(x.dims), shape_words(d.dims), shape_words(expected));
  }
  return give(call, x);
}

Result<void> infer_matrix_band_part(InferCall& call) {
  const TensorType& x = call.operands[0].type;
  TFL_TRY(check_index_dtype(call.op, "Tindex", call.operands[1].type.dtype, false));
  TFL_TRY(check_same_dtype("MatrixBandPart", 2, call.operands[1].type.dtype, call.operands[2].type.dtype));
  for (size_t i = 1; i < 3; ++i) {
    const TensorType& t = call.operands[i].type;
    if (t.ranked && !t.dims.empty())
      return invalid(call.op, "num_{} must be scalar, got shape {}", i == 1 ? "lower" : "upper", shape_words(t.dims));
  }
  if (!x.ranked) return give(call, x);
  if (x.dims.size() < 2) return invalid(call.op, "input must be at least 2-dim, received shape: {}", shape_words(x.dims));
  int64_t rows = x.dims[x.dims.size() - 2], cols = x.dims.back();
  std::optional<Dims> lower = integers(call.operands[1]), upper = integers(call.operands[2]);
  if (lower && known(rows) && lower->front() > rows) {
    return invalid(call.op, "num_lower must be negative or less or equal to number of rows ({}) got: {}", rows, lower->front());
  }
  if (upper && known(cols) && upper->front() > cols) {
    return invalid(call.op, "num_upper must be negative or less or equal to number of columns ({}) got: {}", cols,
                   upper->front());
  }
  return give(call, x);
}

}  // namespace tfl
