// What a graph reaches outside of itself: variables, callables of the script.
#pragma once

#include "frontend/core/tensor_api.h"
#include "ir/datum.h"

namespace tfl {

/// The resource that stands for a variable.
std::shared_ptr<ir::VariableResource> variable_resource(Interp&, VariableObject* v);
/// The resource for a callable of the script, which is called with eager tensors and gives a list of them.
std::shared_ptr<ir::CallableResource> callable_resource(Interp&, const Value& callable);
/// True for host values that are captured as resources: what `_graph.resource` made.
bool is_resource_value(Interp&, const Value& v);

}  // namespace tfl
