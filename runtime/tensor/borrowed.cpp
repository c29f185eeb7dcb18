#include "runtime/tensor/borrowed.h"

#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

/// Never called, because the lender has a reference; it tells borrowed buffers from others.
void of_a_lender(Buffer*) {}

}  // namespace

Tensor borrow(Context& context, DType dtype, std::span<const int64_t> dims, std::span<const int64_t> strides, void* data,
              Borrowed*& lender) {
  // The buffer begins at the lowest address; the view says where the first element is.
  int64_t lowest = 0, highest = 0;
  bool none = false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0) none = true;
    const int64_t reach = strides[i] * (dims[i] - 1);
    (reach < 0 ? lowest : highest) += reach;
  }
  if (none) lowest = highest = 0;
  const auto size = static_cast<int64_t>(dtype_size(dtype));
  std::byte* begin = static_cast<std::byte*>(data) + lowest * size;
  const int64_t count = none ? 0 : highest - lowest + 1;
  lender = new Borrowed{{2, false, static_cast<size_t>(count * size), begin, nullptr, of_a_lender}, nullptr, nullptr};
  Tensor whole = Tensor::foreign(context, dtype, Dims{count}, lender);
  return Tensor::view(context, whole, dims, strides, -lowest);
}

bool is_borrowed(const Tensor& t) {
  const Buffer* b = t.rep()->buffer;
  return b && !b->pool && b->release == of_a_lender;
}

Result<Tensor> own_elements(Context& context, Tensor t) {
  if (!is_borrowed(t)) [[likely]]
    return t;
  Tensor copy = TFL_TRY(Tensor::empty(context, t.dtype(), t.dims()));
  copy_strided(context, t.dtype(), t.dims(), copy.raw(), copy.strides(), t.raw(), t.strides());
  return copy;
}

}  // namespace tfl
