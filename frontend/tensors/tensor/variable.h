// Making variables and writing to them. This header must not know about modules.
#pragma once

#include "frontend/core/tensor_api.h"

namespace tfl {

/// tf.Variable(...): arguments as given, None where omitted.
Result<Value> make_variable(Interp&, Type* type, Value initial, const Value& dtype, const Value& name, const Value& trainable,
                            const Value& shape, const Value& constraint);
/// Lets `item`, which is variable[key], be assigned to: `v[0].assign(1)`.
Value hang_slice(Interp&, Value item, const Value& variable, const Value& key);
/// item.assign(value) of such an item; Empty when `item` is a tensor like any other.
Result<Value> assign_slice(Interp&, Value& item, const Value& value);
/// The method `assign` of such an item; Empty for other tensors.
Result<Value> slice_assign_method(Interp&, const Value& item);
/// Installs what frees such links (Context::release_host).
void init_variables(Interp&);

}  // namespace tfl
