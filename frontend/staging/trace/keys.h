// Keys of traces: what of a call's arguments decides which trace serves it, and the tensors among them. This header must not know
// how traces are kept.
#pragma once

#include <string>
#include <vector>

#include "frontend/core/tensor_api.h"

namespace tfl {

struct ArgumentKey {
  std::string exact;          // everything: structure, host values, element types, shapes
  std::vector<Value> leaves;  // tensors, arrays, variables: the inputs of the graph, in order
  std::vector<Value> pins;    // objects of the key that must live as long as it
  std::vector<VariableObject*> variables;
  std::vector<Value> typed;  // tracing types of objects that have one: compared by what they say of each other
  bool shapes = true;        // false: `exact` leaves shapes out
  bool lasting = true;       // false: the key says too little to be remembered without asking the library again
};

Result<void> add_to_key(Interp&, ArgumentKey& key, const Value& v, int depth = 0);
/// The number by which a key knows an object that counts by identity; 0 when it has none yet.
uint64_t known_identity(Interp&, const Value& v);
/// Whether instances of this class count by identity, and not by what they say of themselves.
bool counts_by_identity(Interp&, Type* type);
/// A copy of `v` in which `replacements` stand for the leaves, in the order add_to_key finds them.
Result<Value> replace_leaves(Interp&, const Value& v, std::span<const Value> replacements, size_t& at, int depth = 0);

}  // namespace tfl
