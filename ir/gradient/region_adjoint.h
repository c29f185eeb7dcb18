// Gradients inside regions. A region is closed, so what its gradient reads of the forward side goes through stacks: the forward
// region pushes, the gradient's region pops. Stacks of regions further in pass through as they are.
#pragma once

#include "ir/gradient/block_adjoint.h"

namespace tfl::gradient {

/// A stack that a region needs: where it enters and leaves the forward region and the gradient's region.
struct Stack {
  ir::Type type;
  int number = kUnnumbered;
  ir::Ref forward_in, forward_out;
  ir::Ref backward_in, backward_out;
};

/// What an iteration began with is popped, `where(true, pop(stack), origin)`, and the bottom of the stack is the origin, a parameter of
/// the gradient's body: gradients of the gradient go on there with the sum for that value. Empty for other nodes.
ir::Ref origin_of(const ir::Node& node);

class RegionAdjoint : public BlockAdjoint {
 public:
  using BlockAdjoint::BlockAdjoint;

  Result<ir::Ref> open_stack(const ir::Type& stack, ir::Node& node, int number) override;
  Result<V> enter_stack(ir::Ref before, ir::Ref after) override;
  void leave_stack(ir::Ref before, V rest) override;

  std::vector<Stack>& stacks() { return stacks_; }
  /// The stack of this number; a new one unless the block has it.
  Stack& stack_of(ir::Type type, int number);

  /// Parameters of the forward region that the gradient's region gets as they are: parameter index, and the gradient's parameter.
  /// Of a branch all inputs; of a loop body what does not change.
  struct Passed {
    size_t param;
    ir::Ref backward;
  };
  const std::vector<Passed>& passed() const { return passed_; }

  /// Results of the forward region that its gradient reads. They are what the node gave, and come in as that: whoever differentiates
  /// the gradient adds what they get to what the node's results get, as without a region. In a loop the result of an iteration is what
  /// the next one began with: a variable of the gradient's loop hands it on (`next`, what the iteration itself began with).
  struct ReadResult {
    size_t index;
    ir::Ref backward;
    ir::Ref next;
  };
  const std::vector<ReadResult>& results_read() const { return results_read_; }
  /// `begins`: the variables whose popped values say what the loop began with (origin_of). `left`: how many iterations there are up to this
  /// one, an int32 of the gradient's region; empty: nobody knows, and variables that count are kept.
  void set_loop(std::vector<bool> begins, ir::Ref left) {
    loop_ = true;
    begins_ = std::move(begins);
    left_ = left;
  }

  /// Parameters from `first` on are the same in every run of the region and may be passed.
  void pass_from(size_t first) { first_passed_ = first; }

 protected:
  Result<ir::Ref> carry(ir::Ref value) override;

 private:
  /// Whether `value` follows from passed parameters, variables that count and constants, none of which has a gradient, by a few operations
  /// without effects.
  bool recomputable(ir::Ref value, int& budget) const;
  /// What each iteration adds to an integer variable of the loop or takes from it, the same in all of them; empty for other values.
  ir::Ref step_of(ir::Ref value) const;
  /// first + step * (left - 1); or what it takes away.
  Result<ir::Ref> counted(ir::Ref variable, ir::Ref step);
  Result<ir::Ref> recompute(ir::Ref value);
  Result<ir::Ref> with_origin(ir::Ref popped, size_t param);
  Stack& new_stack(ir::Type type, int number);
  size_t param_index(const ir::Node* node) const;

  std::vector<Stack> stacks_;
  std::vector<Passed> passed_;
  std::vector<ReadResult> results_read_;
  bool loop_ = false;
  std::vector<bool> begins_;
  ir::Ref left_;
  size_t first_passed_ = 0;
};

}  // namespace tfl::gradient
