// What others need of TensorShape.
#pragma once

#include "frontend/core/tensor_api.h"

namespace tfl {

/// A TensorShape from a TensorShape, None (unknown rank), a sequence of sizes, or one size.
Result<Value> as_shape(Interp&, const Value& v);
bool shapes_compatible(const ShapeObject* a, const ShapeObject* b);
std::string shape_object_text(const ShapeObject* s);

}  // namespace tfl
