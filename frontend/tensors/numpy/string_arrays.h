// NumPy's arrays of text: which elements an array of strings has ('<U5', '|S2', objects), and how they are made of other values.
#pragma once

#include "frontend/tensors/numpy/array.h"
#include "runtime/tensor/text_type.h"

namespace tfl {

/// Gives `t`, just made of `v` (a str, bytes, or nested sequences of them), the type that NumPy finds in it.
void find_text_type(Interp& interp, const Value& v, Tensor& t);
/// The same strings as elements of `type`, cut to its width; width 0 takes the widest element's.
Result<Tensor> with_text_type(Interp& interp, const Tensor& t, TextType type);
/// a.astype(type) for an array of anything: numbers as str() writes them.
Result<Tensor> to_text(Interp& interp, const Tensor& t, TextType type);
/// What to_text makes of `t` for elements of `target`. TypeError where text would come among bytes in an array of objects.
Result<Tensor> text_to_store(Interp& interp, const Tensor& t, const Tensor& target);
/// a.astype(float) of an array of strings. ValueError as float() and int() word it.
Result<Tensor> from_text(Interp& interp, const Tensor& t, DType dtype);
/// An array of text from nested lists that hold text beside numbers: np.array(["a", 1]). Empty where there is something else in them.
Result<std::optional<Tensor>> mixed_text(Interp& interp, const Value& v);

/// np.dtype('<U5').
Value text_dtype_value(Interp& interp, TextType type);
/// The element of a tensor of rank 0: np.str_, np.bytes_, or the str or bytes that an array of objects holds.
Result<Value> text_element(Interp& interp, const Tensor& t);

/// Bytes of an array of fixed width, as NumPy stores them: UTF-32 (text) or bytes, padded with zeros.
std::string fixed_bytes(const Tensor& t);
/// The array of sizes `dims` in such bytes (as many as it needs).
Result<Tensor> from_fixed_bytes(Interp& interp, std::string_view bytes, TextType type, std::span<const int64_t> dims);

}  // namespace tfl
