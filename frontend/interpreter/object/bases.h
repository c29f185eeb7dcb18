// What several bases come to: the layout of instances, the order in which names are looked up, the metaclass. Knows nothing of
// namespaces and how a class is filled.
#pragma once

#include <memory>

#include "frontend/core/protocol.h"

namespace tfl {

struct Bases {
  Type* layout = nullptr;          // whose slots instances have: __base__
  Value several;                   // Tuple, where there is more than one
  std::unique_ptr<Type*[]> order;  // with room for the class itself in front; null where it is the chain of `layout`
};

/// `bases`: Tuple of classes, Empty or without any for object.
Result<Bases> resolve_bases(Interp& interp, const Value& bases);
/// The most derived of `metaclass` and the bases' own.
Result<Type*> resolve_metaclass(Interp& interp, Type* metaclass, const Value& bases);
/// The bases of a class statement, where some are no classes and say by __mro_entries__ what stands for them.
Result<Value> resolve_entries(Interp& interp, const Value& bases);

}  // namespace tfl
