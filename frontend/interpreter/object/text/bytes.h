// What bytes and bytearray share: the same slots serve both.
#pragma once

#include <string>

#include "frontend/core/native.h"

namespace tfl {

/// The bytes that bytes(...) and bytearray(...) are made of; `function` is its name in messages.
Result<std::string> bytes_from_arguments(Interp& interp, std::string_view function, CallArgs& args);
Result<Value> bytes_get_item(Interp& interp, const Value& self, const Value& key);
Result<Value> bytes_iter(Interp& interp, const Value& self);
Result<bool> bytes_contains(Interp& interp, const Value& self, const Value& item);
Result<Value> bytes_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b);
Result<Value> bytes_compare(Interp& interp, CompareOp op, const Value& a, const Value& b);

}  // namespace tfl
