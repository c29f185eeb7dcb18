// What the loops of a kernel walk over and how: axes that lie in a row for every access are one, one of them is cut into
// vectors, and every expression belongs to the loop whose index it needs. This header must not know LLVM.
#pragma once

#include <optional>
#include <vector>

#include "codegen/llvm/compile.h"
#include "codegen/plan/plan.h"

namespace tfl::codegen {

/// Axes that are walked as one; the inner one has the strides.
struct AxisGroup {
  plan::Sizes sizes;      // the index runs to their product
  uint32_t axis = 0;      // of the plan, the innermost
  uint32_t first = 0;     // of the plan, the outermost
  int64_t known() const;  // the product, -1 when it is not known
};

/// Where an expression is computed.
enum class Level : uint8_t {
  function,  // once
  unit,      // for each combination of outer indices; after the passes whose results it takes
  middle,    // for each row of a columns kernel
  vector,    // a vector of elements at a time
};

struct KernelSpace {
  std::vector<AxisGroup> groups;  // never empty
  uint32_t vector = 0;            // the group that is cut into vectors
  uint32_t middle = plan::kNone;  // the reduced group of a columns kernel
  std::vector<uint32_t> outer;    // the others, outermost first
  uint32_t turned = plan::kNone;  // of a map: a group along which memory is read that vectors are written across, in squares
  bool by_first_axis = false;     // a map whose units are indices of the first axis
  bool by_elements = false;       // a map whose units are elements
  bool by_digits = false;         // a map that goes through elements of several groups as one row; units are of the first
  int lanes = 16;                 // elements of a vector
  int unroll = 1;                 // vectors side by side
  std::vector<Level> levels;      // of expressions
  std::vector<bool> in_loop;      // depends on a variable of the kernel's loop
  std::vector<bool> after_loop;   // depends on what the loop gave

  plan::Size stride(const plan::Access& a, uint32_t group) const;
};

/// Elements of the vector axis that are one unit of a map with outer axes.
inline constexpr int64_t kMapChunk = 1 << 15;

/// The value of a size that follows from numbers alone: strides below 0 are symbols, too.
std::optional<int64_t> known_size(const plan::Plan& plan, plan::Size s);
/// Columns of a strip of a columns kernel: whole vectors.
int64_t strip_columns(const KernelSpace& space);
/// Whether units of a map with outer axes are chunks of the vector axis.
bool map_has_chunks(const KernelSpace& space);
/// Whether a load is along `turned` and across the vectors.
bool turns(const KernelSpace& space, const plan::Access& a, uint32_t turned);
/// Units that an outer group of `size` indices is: squares of a turned one.
inline int64_t outer_step(const KernelSpace& space, uint32_t group) { return group == space.turned ? space.lanes : 1; }
/// Units of a kernel that is always run as a whole, since there is little to do: a known number. None for others.
std::optional<int64_t> whole_units(const plan::Kernel& kernel, const KernelSpace& space);
/// What one element costs, the iterations of a loop inside included.
int64_t element_cost(const plan::Kernel& kernel);
KernelSpace kernel_space(const plan::Plan& plan, uint32_t kernel, Cpu cpu);
/// Which expressions the given ones need, themselves included.
std::vector<bool> needed_expressions(const plan::Kernel& kernel, std::vector<plan::ExprId> roots);
/// What a stage names: its expression, the indices and the mask of its target.
void add_roots(const plan::Stage& stage, std::vector<plan::ExprId>& roots);
/// Operands of an expression in the kernel, those of its access included.
template <class F>
void for_each_operand(const plan::Kernel& kernel, const plan::Expr& e, F&& f) {
  if (e.kind == plan::ExprKind::apply || e.kind == plan::ExprKind::cast || e.kind == plan::ExprKind::bitcast) {
    for (plan::ExprId o : e.operands) f(o);
  }
  if (e.kind == plan::ExprKind::load) {
    for (const auto& i : e.access.indexed) f(i.index);
    if (e.access.mask != plan::kNone) f(e.access.mask);
  }
  if (e.kind == plan::ExprKind::looped) {
    for (const plan::KernelLoop& loop : kernel.loops) {
      for (const auto& v : loop.variables) {
        f(v.init);
        f(v.next);
      }
      if (loop.condition != plan::kNone) f(loop.condition);
    }
  }
}

}  // namespace tfl::codegen
