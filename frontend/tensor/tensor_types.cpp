// The types of tensors and what belongs to them, as the registry of types wants them.
#include "frontend/vm/interp.h"

namespace tfl {

namespace {
void destroy_tensor(Object* o) { Tensor::destroy(reinterpret_cast<TensorRep*>(o)); }
void destroy_plain(Object* o) { Heap::release(o, sizeof(Object)); }
}  // namespace

extern const Slots tensor_slots, variable_slots, dtype_slots, shape_slots, ndarray_slots;
const Slots tensor_slots = {.kind = Kind::Tensor, .destroy = destroy_tensor};
const Slots variable_slots = {.kind = Kind::Variable, .destroy = destroy_plain};
const Slots dtype_slots = {.kind = Kind::DType, .destroy = destroy_plain};
const Slots shape_slots = {.kind = Kind::Shape, .destroy = destroy_plain};
const Slots ndarray_slots = {.kind = Kind::NdArray, .destroy = destroy_plain};

std::span<const NativeDef> tensor_methods() { return {}; }
std::span<const NativeDef> variable_methods() { return {}; }
std::span<const NativeDef> dtype_methods() { return {}; }
std::span<const NativeDef> shape_methods() { return {}; }
std::span<const NativeDef> ndarray_methods() { return {}; }

}  // namespace tfl
