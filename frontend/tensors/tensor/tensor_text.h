// Text of tensors, shapes and references. Digits and layout are runtime/text's.
#pragma once

#include "frontend/core/tensor_api.h"

namespace tfl {

/// (2, None): negative sizes are None.
std::string dims_text(std::span<const int64_t> dims);
/// What str() and repr() of t.numpy() print; repr of a rank-0 tensor is that of the host number.
std::string elements_str(Interp&, const Tensor& t);
std::string elements_repr(Interp&, const Tensor& t);

/// t.ref(): a hashable key for a tensor or variable.
Result<Value> reference_to(Interp&, Value* args);

}  // namespace tfl
