// Shape rules of products with matrices that are given by their elements.
#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

bool has_rank(const TensorType& t, size_t rank) { return !t.ranked || t.dims.size() == rank; }

/// The number of rows and columns of the first matrix, as far as they are known.
Dims sizes_of(const OperandInfo& shape) {
  std::optional<Dims> sizes = integers(shape);
  return sizes && sizes->size() == 2 ? *sizes : Dims{-1, -1};
}

}  // namespace

Result<void> infer_sparse_dense_matmul(InferCall& call) {
  const TensorType &indices = call.operands[0].type, &values = call.operands[1].type, &shape = call.operands[2].type,
                   &b = call.operands[3].type;
  TFL_TRY(check_index_dtype(call.op, "Tindices", indices.dtype, false));
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 2, DType::I64, shape.dtype));
  TFL_TRY(check_same_dtype(op_info(call.op).tf_name, 3, values.dtype, b.dtype));
  if (!is_numeric(values.dtype)) return invalid(call.op, "Value for attr 'T' of {} is not a number", dtype_tf_name(values.dtype));
  if (!has_rank(b, 2)) return invalid(call.op, "Tensor 'b' is not a matrix");
  if (!has_rank(shape, 1)) return invalid(call.op, "Tensor 'a_shape' is not a vector");
  if (shape.ranked && known(shape.dims[0]) && shape.dims[0] != 2)
    return invalid(call.op, "Tensor 'a_shape' must have 2 elements");
  if (!has_rank(values, 1)) return invalid(call.op, "Tensor 'a_values' is not a vector");
  if (!has_rank(indices, 2)) return invalid(call.op, "Tensor 'a_indices' is not a matrix");
  if (indices.ranked && values.ranked && !may_equal(indices.dims[0], values.dims[0]))
    return invalid(call.op, "Number of rows of a_indices does not match number of entries in a_values");
  if (indices.ranked && known(indices.dims[1]) && indices.dims[1] != 2)
    return invalid(call.op, "Number of columns of a_indices does not match number of entries in a_shape");
  Dims sizes = sizes_of(call.operands[2]);
  for (int64_t size : sizes) {
    if (size < -1) return invalid(call.op, "Dimension {} must be >= 0", size);
  }
  bool adjoint = call.attrs.get_bool(Attr::adjoint);
  int64_t rows = sizes[adjoint ? 1 : 0], inner = sizes[adjoint ? 0 : 1];
  if (b.ranked && !may_equal(inner, b.dims[0])) {
    return invalid(call.op,
                   "Cannot multiply A and B because inner dimension does not match: {} vs. {}.  Did you forget a transpose?  "
                   "Dimensions of A: [{}, {}).  Dimensions of B: {}",
                   inner, b.dims[0], sizes[0], sizes[1], shape_words(b.dims));
  }
  return give(call, ranked(values.dtype, Dims{rows, b.ranked ? b.dims[1] : -1}));
}

}  // namespace tfl
