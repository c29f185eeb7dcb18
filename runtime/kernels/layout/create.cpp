// Tensors made from sizes: fill and eye.
#include <algorithm>
#include <cstring>

#include "runtime/ops/structural.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

Result<void> run_fill(RunCall& call) {
  const Tensor& value = call.operands[1];
  Tensor out = TFL_TRY(call.allocate());
  fill_elements(call.context, out.dtype(), out.raw(), out.size(), value.raw());
  return call.give(std::move(out));
}

Result<void> run_eye(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  if (out.dtype() == DType::String) return fail(ErrorKind::TypeError, "Cannot convert 1 to EagerTensor of dtype string");
  std::memset(out.raw(), 0, out.bytes());
  if (out.size() == 0 || out.rank() < 2) return call.give(std::move(out));
  int64_t rows = out.dim(out.rank() - 2), columns = out.dim(out.rank() - 1);
  with_element_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (!std::is_same_v<T, std::string>) {
      T one;
      if constexpr (std::is_same_v<T, f16>) {
        one = to_f16(1.0f);
      } else if constexpr (std::is_same_v<T, bf16>) {
        one = to_bf16(1.0f);
      } else {
        one = static_cast<T>(1);
      }
      for (T* matrix = out.data<T>(); matrix < out.data<T>() + out.size(); matrix += rows * columns) {
        for (int64_t i = 0; i < std::min(rows, columns); ++i) matrix[i * columns + i] = one;
      }
    }
  });
  return call.give(std::move(out));
}

}  // namespace tfl
