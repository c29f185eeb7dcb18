// The array type as the registry of types wants it, where the front end is built without NumPy's part: numpy() gives host values.
#include "frontend/tensor/tensor_api.h"

namespace tfl {

namespace {
void destroy_plain(Object* o) { Heap::release(o, sizeof(Object)); }
}  // namespace

extern const Slots ndarray_slots;
__attribute__((weak)) const Slots ndarray_slots = {.kind = Kind::NdArray, .destroy = destroy_plain};

__attribute__((weak)) std::span<const NativeDef> ndarray_methods() { return {}; }

__attribute__((weak)) Value ndarray_value(Interp& interp, Tensor t, Value) {
  auto v = to_host(interp, t);
  return v ? *v : Value::none();
}
__attribute__((weak)) Value numpy_scalar_value(Interp& interp, Tensor t) {
  auto v = to_host(interp, t);
  return v ? *v : Value::none();
}

}  // namespace tfl
