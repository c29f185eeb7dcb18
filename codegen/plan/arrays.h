// Arrays of tensors as tensors: what plans are made from has one row an element. This header must not know plans.
#pragma once

#include <memory>
#include <vector>

#include "ir/graph.h"
#include "ir/ref_map.h"

namespace tfl::plan {

/// A copy of `f` in which every array is a tensor; `f` has neither parameters nor results that are arrays. Where an element is read that has
/// never been written, and whose sizes the array does not declare, a check fails. Null when the function has no array, or one whose
/// elements have sizes that only the run knows (`possible` tells which).
///
/// An array that grows from nothing is a tensor and a count; those among the results, which may be such arrays, are the tensors, and the counts
/// stand behind all others. Where there are any (`growing` allows it), the copy has one more parameter, bool[?, 0] with Attr::grows: its first
/// size is the number of rows that the tensors have, and a check with Attr::grows fails where one is too small.
std::shared_ptr<ir::Function> without_arrays(Context& context, const ir::Function& f, bool& possible, bool growing);

/// Whether an array operation has a form over tensors.
bool is_array_of_rows(const ir::Node& n);
/// Whether arrays are among its operands or results, or in its regions.
bool has_arrays(const ir::Node& n);

/// The values of a block that are arrays which grow, as far as it tells.
ir::RefSet growing_arrays(const ir::Block& b);
/// Whether an operand is one of these.
bool takes_growing(const ir::Node& n, const ir::RefSet& growing);
/// Whether an operand or a result is.
bool touches_growing(const ir::Node& n, const ir::RefSet& growing);
/// Whether it makes a tensor of as many rows as such an array has elements, which only the run knows: clusters hand the array out instead.
bool has_its_length(const ir::Node& n, const ir::RefSet& growing);

}  // namespace tfl::plan
