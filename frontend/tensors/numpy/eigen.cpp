// Eigenvalues of general matrices, in NumPy's order.
#include "frontend/tensors/numpy/eigen.h"

#include "frontend/core/protocol.h"
#include "frontend/tensors/numpy/array.h"
#include "runtime/kernels/linalg/real_schur.h"
#include "runtime/kernels/linalg/schur.h"
#include "runtime/ops/op.h"

namespace tfl {

Result<Value> numpy_eigen(Interp& interp, Value* args) {
  Tensor x = TFL_TRY(as_array(interp, args[0]));
  bool complex = is_complex(x.dtype());
  x = TFL_TRY(contiguous(interp.context, TFL_TRY(cast_tensor(interp, x, complex ? DType::C128 : DType::F64))));
  int64_t n = x.dim(x.rank() - 1), count = n ? x.size() / (n * n) : 0;
  Dims sizes(x.dims());
  Tensor vectors = TFL_TRY(Tensor::empty(interp.context, DType::C128, sizes));
  sizes.pop_back();
  Tensor values = TFL_TRY(Tensor::empty(interp.context, DType::C128, sizes));
  for (int64_t i = 0; i < count; ++i) {
    TFL_TRY(check_whole(interp.context));
    std::vector<schur::Z> w;
    schur::Matrix v;
    bool found;
    if (complex) {
      auto* from = x.data<schur::Z>() + i * n * n;
      found = schur::eigen(n, schur::Matrix(from, from + n * n), schur::Order::found, w, v);
    } else {
      auto* from = x.data<double>() + i * n * n;
      found = schur::real_eigen(n, std::vector<double>(from, from + n * n), true, w, v);
    }
    if (!found) return fail(ErrorKind::LinAlgError, "Eigenvalues did not converge");
    std::copy(w.begin(), w.end(), values.data<schur::Z>() + i * n);
    std::copy(v.begin(), v.end(), vectors.data<schur::Z>() + i * n * n);
  }
  return interp.tuple({ndarray_value(interp, values), ndarray_value(interp, vectors)});
}

}  // namespace tfl
