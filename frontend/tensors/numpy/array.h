// NumPy arrays and scalars as host values: who owns the elements, which type a mixed operation has, and conversion.
//
// An array may see elements that a tensor holds too; nobody must notice a change on the other side. So the root array of a
// family of views copies its elements before the first write, and the views find the copy by their offset.
#pragma once

#include "frontend/core/tensor_api.h"

namespace tfl {

/// The elements of an array as they are now (a view follows its root).
Tensor& array_content(Interp& interp, NdArrayObject* a);
/// The elements, after making sure that no tensor sees them: for writing. ValueError when the array is read-only.
Result<Tensor*> array_for_write(Interp& interp, NdArrayObject* a);
/// An array over part of `base`'s elements.
Value array_view(Interp& interp, const Value& base, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 int64_t offset);
/// The elements in memory of their own, row-major.
Result<Tensor> copy_of(Interp& interp, const Tensor& t);
/// A result: an array that owns `t`, or a NumPy scalar for rank 0.
Value array_result(Interp& interp, Tensor t);

/// What np.asarray(v) holds; `wanted` overrides the element type. Python numbers give int64, float64 and bool.
Result<Tensor> as_array(Interp& interp, const Value& v, std::optional<DType> wanted = {});
/// as_array, but an array stays the object that it is.
Result<Value> as_array_value(Interp& interp, const Value& v, std::optional<DType> wanted = {});

/// NumPy's common type of two arrays (NEP 50).
DType promote_types(DType a, DType b);
/// An operand of a mixed operation: Python's numbers are weak and take the other side's type.
struct Operand {
  Tensor t;
  enum class Weak : uint8_t { No, Bool, Int, Float, Complex } weak = Weak::No;
};
Result<Operand> operand_of(Interp& interp, const Value& v);
Result<DType> common_type(Interp& interp, const Operand& a, const Operand& b);
Result<Tensor> cast_tensor(Interp& interp, const Tensor& t, DType dtype);

/// Python's integers in an array of a narrower type: NumPy refuses those that do not fit.
Result<void> check_fits(const Tensor& t, DType wanted);

/// a[key], a[key] = value.
Result<Value> array_get_item(Interp& interp, const Value& self, const Value& key);
Result<void> array_set_item(Interp& interp, const Value& self, const Value& key, const Value& value);

/// The operators of arrays and scalars; NotImplemented for what is neither array nor data.
Result<Value> numpy_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Result<Value> numpy_unary(Interp& interp, UnaryOp op, const Value& a);
Result<Value> numpy_compare(Interp& interp, CompareOp op, const Value& a, const Value& b);
/// The methods and attributes that arrays and scalars share; those not native are looked up in stdlib's numpy._methods.
Result<Value> numpy_get_attr(Interp& interp, const Value& self, Str* name);

/// The class np.float32 etc. of an element type; null where NumPy has none.
Type* numpy_scalar_type(Interp& interp, DType dtype);

}  // namespace tfl
