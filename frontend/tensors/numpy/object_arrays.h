// NumPy's arrays of objects (frontend/core/object_elements.h): how they are made, what operators do with their elements, how they are shown.
#pragma once

#include "frontend/core/object_elements.h"
#include "frontend/tensors/numpy/array.h"

namespace tfl {

/// Whether the elements are objects of the language, and not bytes that a tensor of strings has.
bool holds_objects(const Tensor& t);
bool holds_objects(Interp& interp, const Value& v);
/// Whether some of them are not text.
Result<bool> has_object_codes(Interp& interp, const Tensor& t);

/// np.array(v, dtype=object): nested lists of equal lengths are axes, `most` of them at most.
Result<Tensor> objects_of(Interp& interp, const Value& v, size_t most = 64);
/// Whether np.array(v) is an array of objects: a sequence with something in it that is no number, text or array.
bool becomes_objects(const Value& v);
/// The same elements as objects.
Result<Tensor> numbers_as_objects(Interp& interp, const Tensor& t);

/// Operators apply to each element, as the language has them.
Result<Value> objects_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Result<Value> objects_compare(Interp& interp, CompareOp op, const Value& a, const Value& b);
Result<Value> objects_unary(Interp& interp, UnaryOp op, const Value& a);

/// The texts that stand for the elements in the text of the array.
Result<Tensor> shown_objects(Interp& interp, const Tensor& t);

}  // namespace tfl
