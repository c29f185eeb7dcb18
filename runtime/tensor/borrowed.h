// Tensors over memory of the program around TFL, which is not copied. The lender keeps one reference of the buffer, so that nobody thinks
// himself alone with the elements and writes over them.
#pragma once

#include "runtime/tensor/tensor.h"

namespace tfl {

/// One piece of borrowed memory.
struct Borrowed : Buffer {
  void (*give_back)(void* user);
  void* user;
  /// Whether no tensor sees the memory any more.
  bool unused() const { return refs == 1; }
};

/// A tensor of the elements at `data`, `strides` elements apart. `lender` gets the buffer, which it deletes when it is `unused`.
Tensor borrow(Context& context, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, void* data,
              Borrowed*& lender);
/// Does it see borrowed memory?
bool is_borrowed(const Tensor& t);
/// `t`, or a copy of it where it sees borrowed memory: for those who keep it after the call that lent it.
Result<Tensor> own_elements(Context& context, Tensor t);

}  // namespace tfl
