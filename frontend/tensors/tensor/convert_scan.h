/// \file First pass over a value that becomes a tensor: what sizes and what kind of elements nested sequences have.
#pragma once

#include <optional>

#include "frontend/core/tensor_api.h"

namespace tfl {

/// What the elements of a nested sequence are.
enum class Leaf : uint8_t { None, Bool, Int, Float, Complex, Text };

/// What a nested sequence turned out to be.
struct Scan {
  Dims dims;
  Leaf leaf = Leaf::None;
  bool wide = false;             // an int outside 32 bits
  bool tensors = false;          // tensors are among the leaves
  bool objects = false;          // the leaf that was refused is an instance of a class
  std::optional<DType> decided;  // dtype of the first tensor among the leaves
  std::optional<DType> arrays;   // dtype of NumPy's scalars and arrays, when these are all the leaves and alike
  DType real = DType::F32;       // of floats: NumPy's float64 and float16 stay what they are when they come first
  bool by_numpy = false;         // as in a graph
  bool hosts = false;            // leaves that are neither tensors nor NumPy's
};

constexpr int kMaxNesting = 64;

constexpr int64_t kPollMask = 0xFFFF;  // items between two looks for an interrupt

/// Fills `scan` with what v is, which lies `depth` sequences deep. `first`: no sibling before it has given the sizes.
/// Errors: ValueError for sequences that are not rectangular, of mixed types, nested deeper than kMaxNesting, or with other objects.
Result<void> scan_value(Interp& interp, const Value& v, size_t depth, Scan& scan, bool first);

/// A list, tuple, range or shape.
bool is_sequence(const Value& v);
int64_t sequence_length(const Value& v);
/// Items of lists and tuples in place; of ranges and shapes made on the way.
Value sequence_item(const Value& v, int64_t i);

bool is_tensor_or_variable(const Value& v);
/// The concrete tensor inside a tensor-like value; false when v is none (or symbolic).
bool concrete_of(const Value& v, Tensor& out);

/// ValueError: v is of a type that no tensor is made of.
Failure unsupported(Interp& interp, const Value& v);

}  // namespace tfl
