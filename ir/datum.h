// What flows through a running graph: tensors, arrays of tensors, and resources. This header must not know about nodes.
#pragma once

#include <memory>
#include <vector>

#include "ir/type.h"

namespace tfl::ir {

/// Something outside the graph. The front end makes subclasses for its variables, iterators and callables.
struct Resource {
  virtual ~Resource() = default;
};

struct VariableResource : Resource {
  virtual Type type() const = 0;
  /// FailedPreconditionError while it has no value.
  virtual Result<Tensor> read() = 0;
  virtual Result<void> assign(Tensor value) = 0;
  virtual bool initialized() const = 0;
  /// Of the variable: two resources may stand for one.
  virtual const void* identity() const { return this; }
};

struct Datum;
struct CallableResource : Resource {
  virtual Result<void> call(std::span<const Datum> arguments, std::vector<Datum>& results) = 0;
};

/// The elements of an array; an empty tensor is one that was never written.
struct ArrayContent {
  TensorType element;
  bool grows = false;
  std::vector<Tensor> items;
};

struct Datum {
  Tensor tensor;                        // of a tensor
  std::shared_ptr<ArrayContent> array;  // of an array
  std::shared_ptr<Resource> resource;   // of a resource
};

}  // namespace tfl::ir
