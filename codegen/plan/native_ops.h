// What plans can express, and how some operations are read: shared by whoever decides about clusters, derives sizes and makes
// plans. This header must not know sizes at run time.
#pragma once

#include <optional>
#include <unordered_set>

#include "ir/graph.h"
#include "runtime/kernels/routine.h"
#include "runtime/kernels/window/window_job.h"

namespace tfl::plan {

/// As in outline.h. Sizes that the operation needs as values must follow from sizes of tensors (shape(x), arithmetic on it); a
/// region of another node has no values from outside it.
bool is_native(Context& context, const ir::Node& node);
/// Small integer values that nodes take as sizes without following from sizes, and everything that is computed of them on the way.
struct SizeValues {
  std::vector<ir::Ref> given, all;
};
/// The same where such values are inputs of the cluster, of parameters with Attr::size: adds those of `node`.
bool is_native(Context& context, const ir::Node& node, SizeValues& values);
/// Why it is not, in a few words; empty when it is. `growing`: arrays that grow are not in the way.
std::string why_not_native(Context& context, const ir::Node& node, bool growing = true);

/// Whether a variable is among its operands.
bool uses_variables(const ir::Node& n);
/// The nodes that results, effects, the conditions of checks and control flow need, and whatever may fail. The others only word
/// what a failed check says: plans leave them out, so they may be of any kind.
std::unordered_set<const ir::Node*> needed_nodes(const ir::Block& block);
/// An integer value that is made of sizes and constants alone, by operations outside of regions that are not `r`'s own.
bool follows_from_sizes(Context& context, ir::Ref r);
inline bool is_tensor_of_numbers(const ir::Type& t) {
  return t.is_tensor() && t.tensor.ranked && t.tensor.dtype != DType::String;
}
inline bool has_rank_0(ir::Ref r) { return r.type().is_tensor() && r.type().tensor.ranked && r.type().tensor.dims.empty(); }
/// Whether an operation on diagonals means the main one.
bool is_main_diagonal(const ir::Node& n);
/// Views: a result is some of the operand's elements, none is computed.
bool is_view(Op op);

/// The integers of a constant, in row-major order, or of what follows from constants; false when it is none of these.
bool known_integers(Context& context, ir::Ref r, Dims& out);
/// The scalar that is element `i` of a rank-1 value made by stack, reshape or expand_dims; nothing when it is not made so.
ir::Ref scalar_behind(ir::Ref vector, size_t i);
/// What a parameter of a region stands for: an operand of its node. Nothing for variables of loops and parameters of functions.
ir::Ref outside(ir::Ref parameter);

/// What is solved with matrices, and what they are taken apart into, for operations that do that.
std::optional<MatrixSolve> matrix_solve(Op op);
std::optional<MatrixFactor> matrix_factor(Op op);

/// What is computed with windows, for operations that do that; false for others.
bool window_kind(Op op, WindowKind& kind);
/// The sizes of such an operation, as far as types tell them; false where they are not known but for the batch.
bool window_shape(const ir::Node& n, WindowKind kind, Convolution& out);

/// An index expression of strided_slice and strided_slice_grad, brought to the axes that it means.
struct SliceAxis {
  int written = -1;  // which entry of begin, end and strides; -1: the axis is taken whole
  bool no_begin = true, no_end = true, shrink = false;
};
struct SliceForm {
  SmallVec<SliceAxis, 4> axes;  // of the operand
  SmallVec<int, 6> results;     // the operand's axis behind each axis of the result; -1 for a new one
};
/// False when the masks do not fit the rank.
bool slice_form(const Attrs& attrs, size_t rank, size_t written, SliceForm& out);

}  // namespace tfl::plan
