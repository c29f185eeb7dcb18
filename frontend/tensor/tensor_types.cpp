// The array type as the registry of types wants it.
#include "frontend/vm/interp.h"

namespace tfl {

namespace {
void destroy_plain(Object* o) { Heap::release(o, sizeof(Object)); }
}  // namespace

extern const Slots ndarray_slots;
const Slots ndarray_slots = {.kind = Kind::NdArray, .destroy = destroy_plain};

std::span<const NativeDef> ndarray_methods() { return {}; }

}  // namespace tfl
