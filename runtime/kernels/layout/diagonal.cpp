// Diagonals and bands of matrices.
#include "runtime/shapes/diagonal.h"

#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

struct Matrices {
  int64_t batch, rows, cols;
};

Matrices matrices(std::span<const int64_t> dims) {
  Matrices m{1, dims[dims.size() - 2], dims.back()};
  for (size_t i = 0; i + 2 < dims.size(); ++i) m.batch *= dims[i];
  return m;
}

// visit(matrix offset, packed offset) for each element of the band of one matrix.
template <class F>
void for_each_in_band(const DiagonalBand& band, int64_t rows, int64_t cols, F&& visit) {
  int64_t longest = band.longest(rows, cols);
  for (int64_t d = band.high; d >= band.low; --d) {
    int64_t length = DiagonalBand::length(d, rows, cols);
    int64_t packed = (band.high - d) * longest + band.start(d, rows, cols);
    int64_t at = d >= 0 ? d : -d * cols;
    for (int64_t i = 0; i < length; ++i) visit(at + i * (cols + 1), packed + i);
  }
}

template <class T>
T padding_value(const RunCall& call) {
  return call.operands.size() > 1 ? *call.operands[1].data<T>() : T();
}

template <class T>
void put_diagonals(const Matrices& m, const DiagonalBand& band, T* to, const T* packed) {
  int64_t per_matrix = band.count() * band.longest(m.rows, m.cols);
  for (int64_t b = 0; b < m.batch; ++b) {
    for_each_in_band(band, m.rows, m.cols, [&](int64_t at, int64_t from) { to[at] = packed[from]; });
    to += m.rows * m.cols;
    packed += per_matrix;
  }
}

}  // namespace

Result<void> run_matrix_diag_part(RunCall& call) {
  const Tensor& input = call.operands[0];
  DiagonalBand band = diagonal_band(call.attrs);
  if (band.count() == 1) {
    int rank = input.rank();
    int64_t row = input.strides()[rank - 2], col = input.strides()[rank - 1];
    Dims strides(input.strides().begin(), input.strides().end() - 2);
    strides.push_back(row + col);
    int64_t offset = input.size() == 0 ? 0 : band.low >= 0 ? band.low * col : -band.low * row;
    return call.give(Tensor::view(call.context, input, call.types[0].dims, strides, offset));
  }
  Tensor x = TFL_TRY(contiguous(call.context, input));
  Tensor out = TFL_TRY(call.allocate());
  Matrices m = matrices(x.dims());
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T padding = padding_value<T>(call);
    T* to = out.template data<T>();
    const T* from = x.data<T>();
    for (int64_t i = 0; i < out.size(); ++i) to[i] = padding;
    for (int64_t b = 0; b < m.batch; ++b) {
      for_each_in_band(band, m.rows, m.cols, [&](int64_t at, int64_t packed) { to[packed] = from[at]; });
      to += band.count() * band.longest(m.rows, m.cols);
      from += m.rows * m.cols;
    }
  });
  return call.give(std::move(out));
}

Result<void> run_matrix_diag(RunCall& call) {
  Tensor d = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  with_storage_type(d.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T padding = padding_value<T>(call);
    T* to = out.template data<T>();
    for (int64_t i = 0; i < out.size(); ++i) to[i] = padding;
    put_diagonals<T>(matrices(out.dims()), diagonal_band(call.attrs), to, d.data<T>());
  });
  return call.give(std::move(out));
}

Result<void> run_matrix_set_diag(RunCall& call) {
  const Tensor& x = call.operands[0];
  Tensor d = TFL_TRY(contiguous(call.context, call.operands[1]));
  Tensor out = TFL_TRY(call.allocate());
  copy_strided(call.context, x.dtype(), x.dims(), out.raw(), out.strides(), x.raw(), x.strides());
  if (out.size() == 0) return call.give(std::move(out));
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    put_diagonals<T>(matrices(out.dims()), diagonal_band(call.attrs), out.template data<T>(), d.data<T>());
  });
  return call.give(std::move(out));
}

Result<void> run_matrix_band_part(RunCall& call) {
  const Tensor& x = call.operands[0];
  Tensor out = TFL_TRY(call.allocate());
  copy_strided(call.context, x.dtype(), x.dims(), out.raw(), out.strides(), x.raw(), x.strides());
  int64_t lower = shape_rules::integers(call.operands[1])[0], upper = shape_rules::integers(call.operands[2])[0];
  Matrices m = matrices(x.dims());
  if (lower < 0) lower = m.rows;
  if (upper < 0) upper = m.cols;
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.template data<T>();
    for (int64_t r = 0; r < m.batch * m.rows; ++r, to += m.cols) {
      int64_t row = r % m.rows;
      for (int64_t j = 0; j < std::min(m.cols, row - lower); ++j) to[j] = T();
      for (int64_t j = std::min(m.cols, row + upper + 1); j < m.cols; ++j) to[j] = T();
    }
  });
  return call.give(std::move(out));
}

}  // namespace tfl
