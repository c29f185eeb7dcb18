// Types of the values in a graph. This header must not know about nodes or host values.
#pragma once

#include <string>
#include <vector>

#include "runtime/ops/op.h"

namespace tfl::ir {

enum class TypeKind : uint8_t {
  Tensor,
  Array,     // a list of tensors of one element type (TensorArray, a list appended to in a staged loop)
  Resource,  // something outside the graph that an effect names: a variable, an iterator, a callable
};

/// `tensor` is the type of the tensor, of an array's elements, or of a variable's value. Sizes: >= 0 known, -1 unknown,
/// -2 - i the symbolic dimension i of the function (Function::symbols).
struct Type {
  TypeKind kind = TypeKind::Tensor;
  TensorType tensor;
  bool opaque = false;  // a resource that is no variable
  bool operator==(const Type&) const = default;

  static Type of(TensorType t) { return {TypeKind::Tensor, std::move(t)}; }
  static Type array(TensorType element) { return {TypeKind::Array, std::move(element)}; }
  static Type variable(TensorType value) { return {TypeKind::Resource, std::move(value)}; }
  static Type resource() { return {TypeKind::Resource, {}, true}; }
  bool is_tensor() const { return kind == TypeKind::Tensor; }
};

/// True when every value of type `inner` is one of type `outer` (unknown sizes and ranks of `outer` accept any).
bool is_subtype(const Type& inner, const Type& outer);
/// True when some value may be of both types.
bool may_overlap(const Type& a, const Type& b);
/// The most specific type that holds the values of both; null-optional semantics: false when dtype or kind differ.
bool join(const Type& a, const Type& b, Type& out);
/// "f32[2,?,n]", "f32[...]" (no rank known), "array f32[2]", "variable f32[784,10]", "resource".
std::string type_text(const Type& t, const std::vector<std::string>* symbols = nullptr);

}  // namespace tfl::ir
