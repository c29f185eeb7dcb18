// Arrays of tensors as tensors: what plans are made from has one row an element. This header must not know plans.
#pragma once

#include <memory>

#include "ir/graph.h"

namespace tfl::plan {

/// A copy of `f` in which every array is a tensor; `f` has neither parameters nor results that are arrays. Where an element is read that has
/// never been written, and whose sizes the array does not declare, a check fails. Null when the function has no array, or one whose
/// elements have sizes that only the run knows (`possible` tells which).
std::shared_ptr<ir::Function> without_arrays(Context& context, const ir::Function& f, bool& possible);

/// Whether an array operation has a form over tensors.
bool is_array_of_rows(const ir::Node& n);

}  // namespace tfl::plan
