// The plan of a cluster: which loops run, over what, in which order, and where every value lies. It is made from a graph whose nodes
// are all native (codegen/plan/outline.h) and is what back ends turn into machine code. This header must not know LLVM, a processor
// or a device; nor may a plan change a result: every float operation is the one of the graph, in its order.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/kernels/routine.h"
#include "runtime/kernels/window/window_job.h"
#include "runtime/ops/op.h"
#include "runtime/support/small_vec.h"
#include "runtime/tensor/tensor.h"

namespace tfl::plan {

/// A number of elements: >= 0 as it is, < 0 symbol number ~size of the plan.
using Size = int64_t;
inline bool is_known(Size s) { return s >= 0; }
inline uint32_t symbol_of(Size s) { return static_cast<uint32_t>(~s); }
using Sizes = SmallVec<Size, 4>;
inline constexpr uint32_t kNone = UINT32_MAX;

/// An integer that is computed once when the plan is entered, from the sizes of its inputs and earlier symbols. Overflow and division
/// by zero decline the plan.
struct Symbol {
  /// divide rounds towards minus infinity; element is one of an integer input, which only the steps of libraries have
  enum class Kind : uint8_t { dim, add, subtract, multiply, divide, maximum, minimum, element };
  Kind kind = Kind::dim;
  uint32_t input = 0, axis = 0;  // dim, element: of Plan::inputs, and which
  Size a = 0, b = 0;             // the others
};

/// What the plan takes for granted. Where it does not hold the caller runs the graph in another way.
struct Guard {
  enum class Kind : uint8_t { equal, at_least };  // a == b, a >= b
  Kind kind = Kind::equal;
  Size a = 0, b = 0;
  uint32_t location = 0;  // of the operation that needs it; not part of the text
};

/// Where a value lies. Everything but a scalar is row-major without gaps.
enum class Home : uint8_t {
  input,      // the caller's memory; never written, unless Plan::donations says so
  constant,   // Plan::constants
  result,     // memory of a result, allocated before the run
  temporary,  // a slot of the arena
  pointer,    // memory that a frame word points to, which changes from one iteration of a loop to the next
  scalar,     // rank 0: a register of the driver
};

struct Value {
  DType dtype = DType::F32;
  Sizes dims;
  Home home = Home::temporary;
  uint32_t index = 0;     // of Plan::inputs, constants, results, slots; nothing for pointers and scalars
  uint32_t word = kNone;  // Frame::words[word] holds its address; of a scalar: its bits, where kernels read it (the driver writes
                          // them there as soon as the scalar has its value). Bool is a byte of 0 or 1, half types their 16 bits.
  std::string name;       // for the text
};
using ValueId = uint32_t;
using ExprId = uint32_t;

/// Element offset + sum of strides[k] * (index along kernel axis k) + sum of factor * (value of expression) of `value`.
/// Lanes whose `mask` (a Bool expression) is false are not touched: a load gives zero there.
struct Access {
  struct Indexed {
    ExprId index;  // an integer expression of the same kernel (or, in the driver, a scalar value)
    Size factor;
  };
  ValueId value = kNone;
  Size offset = 0;
  Sizes strides;  // one for each axis of the kernel; none in the driver
  SmallVec<Indexed, 2> indexed;
  ExprId mask = kNone;
};

enum class ExprKind : uint8_t {
  constant,  // `bits`, the element's bytes in memory, low bytes first
  value,     // scalar `access.value` of the driver
  load,      // an element of memory
  index,     // the index along kernel axis `axis`
  size,      // `size`
  apply,     // elementwise row `op` over `operands`, which have the row's types
  cast,      // operands[0] to dtype, as the operation `cast` does
  bitcast,   // operands[0] to a dtype of the same size
  reduced,   // the result of stage `stage` for this row or column; dtype is that of the reduction's result
  kept,      // what stage `stage` kept for this element of the row
  variable,  // variable number `axis` of the kernel's loop, in its body
  looped,    // the same after the loop
};

struct Expr {
  ExprKind kind = ExprKind::constant;
  DType dtype = DType::F32;
  Op op = Op{};
  uint32_t axis = 0;
  uint32_t stage = 0;
  Size size = 0;
  uint64_t bits = 0;
  SmallVec<ExprId, 3> operands;  // in the driver: ValueIds of scalars
  Access access;
  uint32_t location = 0;  // in ir::Function::locations
};

/// How a kernel walks through its axes. A unit is what is given to threads; units are independent.
enum class Form : uint8_t {
  map,  // every index of `axes` once; no reductions. A unit is an index of the first axis when there are several, else an element.
  rows,     // a unit is an index of all axes but the last; pass after pass over the last axis.
  columns,  // axes [outer..., length, columns]: reductions over `length`, for each outer index and column; one pass. A unit is a
            // strip of columns of one outer index, chosen by the back end.
  blocks,   // axes [outer..., length]: one reduction in blocks of kReduceBlock; a unit is a block. Stage 0 is the reduction, its
            // `target` has an element a block: [outer..., blocks], of the partial type. Nothing else is stored.
  tree,  // axes [outer..., blocks]: combines what a blocks kernel left; stage 0 is the reduction, its expression the load of the
         // partials; then stores a row. A unit is an outer index.
};

/// One thing done with the elements that a pass goes through.
struct Stage {
  enum class Kind : uint8_t {
    store,       // expr to target, for each element
    keep,        // expr to scratch of the row, read as `kept` by later passes; rows only
    reduce,      // expr combined in the canonical order (runtime/kernels/reduce/reduce.h); the result is one a row or column
    store_once,  // expr to target once a row or column: expr uses no element, the access no index of the reduced axis
  };
  Kind kind = Kind::store;
  uint32_t pass = 0;  // 0, 1, ...: stages of one pass share a loop; store_once of a pass follow its loop
  ExprId expr = 0;
  Access target;
  ReduceKind reduce = ReduceKind::sum;
  Size divisor = 0;  // the result is divided by it before it is rounded to its dtype; 0: not. Integers divide towards zero.
  DType dtype = DType::F32;  // of the result of a reduction
};

/// An elementwise while loop that has changed places with the loops over elements: all its iterations run for a tile of elements
/// in registers. The condition is the same for all elements: it depends on variables that do, on scalars and constants.
struct KernelLoop {
  struct Variable {
    ExprId init, next;  // next: in terms of `variable` expressions
    DType dtype;
  };
  std::vector<Variable> variables;
  ExprId condition = kNone;
  int64_t limit = -1;  // iterations at most; -1: no limit
};

struct Kernel {
  Form form = Form::map;
  Sizes axes;
  std::vector<Expr> exprs;  // operands stand before their users; a loop's initial values stand before its variables
  std::vector<Stage> stages;
  std::vector<KernelLoop> loops;  // at most one
  int64_t cost = 1;               // of one element, in cheap operations
  std::string name;               // of the operations in it: "multiply_add_relu"
};

/// A matrix product with `batch` independent ones: result[b, i, j] = sum over p of a[b, i, p] b[b, p, j].
struct Product {
  ValueId a = 0, b = 0, result = 0;
  bool transpose_a = false, transpose_b = false;
  Size batch = 1, m = 0, n = 0, k = 0;
  Size a_batch = 0, b_batch = 0;  // elements from one matrix to the next; 0: the same for all
  uint32_t window = kNone;  // of Plan::windows: what is computed instead, with operands and result as WindowKind says; m by n is
                            // the result's size then, or nothing where no rows are told
  uint32_t epilogue = kNone;  // a map kernel over [m, n] (batch == 1) that is run on rows as soon as they are finished; it may
                              // overwrite `result`
};

/// A convolution, pooling, or a gradient of these.
struct Window {
  WindowKind kind = WindowKind::convolution;
  Size batch = 0;
  Convolution shape;  // without the batch
  /// The words of a WindowCall.
  SmallVec<Size, kWindowWords> words() const {
    SmallVec<Size, kWindowWords> w{static_cast<Size>(kind), batch, shape.channels_in, shape.channels_out, shape.groups};
    for (const WindowAxis& a : shape.windows.axes) {
      for (int64_t v : {a.in, a.kernel, a.stride, a.dilation, a.out, a.before}) w.push_back(v);
    }
    return w;
  }
};

/// A call of a routine of the program: runtime/kernels/routine.h says what its parts are.
struct RoutineStep {
  Routine routine = Routine::scan;
  int64_t flags = 0;
  DType dtype = DType::F32, index_dtype = DType::I32;
  SmallVec<ValueId, kRoutinePointers> at;  // kNone: null
  SmallVec<Size, 4> sizes;
  uint32_t location = 0;
};

struct Block;
struct Step {
  enum class Kind : uint8_t {
    scalar,   // `result` = `expr`
    kernel,   // Plan::kernels[index]
    product,  // Plan::products[index]
    routine,  // Plan::routines[index]
    check,  // fails unless the scalar `condition` is true; `room`: not for what the graph does, but because Plan::room is too small
    point,   // pointer value `result` takes the address of value `from`
    branch,  // blocks[condition ? 0 : 1], or with several: the index, out of range: the last. Block results go to `results`
    loop,    // blocks[0] computes the condition (its one result), blocks[1] the next values of `results`, whose first values are
             // `initial`; only scalars. Memory is handed on by `point` steps.
  };
  Kind kind = Kind::scalar;
  uint32_t index = 0;
  ValueId result = kNone, from = kNone, condition = kNone;
  Expr expr;                              // operands are scalars (ValueIds); a load has no strides
  std::vector<ValueId> initial, results;  // scalars
  std::vector<Block> blocks;
  int64_t limit = -1;  // iterations of a loop at most; -1: no limit
  bool beside =
      false;  // a loop that may run at the same time as the step before it, and as those that one may run beside. Scalars
              // that such loops and other steps share are in the frame
  bool room = false;
  uint32_t location = 0;
};
struct Block {
  std::vector<ValueId> params;  // of a loop's blocks: its variables in that block
  std::vector<Step> steps;
  std::vector<ValueId> results;  // scalars
};

struct InputType {
  DType dtype;
  Sizes dims;
};
/// What a result is, after the run.
struct ResultPlace {
  enum class Kind : uint8_t { memory, scalar, input, constant } kind = Kind::memory;
  uint32_t index = 0;  // scalar: the ValueId; input, constant: the number
  DType dtype = DType::F32;
  Sizes dims;
};
/// The memory of an input that nobody else holds may become that of a result of the same type: all reads of an element come before
/// its write.
struct Donation {
  uint32_t input, result;
};

struct Plan {
  std::vector<InputType> inputs;
  std::vector<ResultPlace> results;
  std::vector<Symbol> symbols;  // Frame::words[i] is symbol i
  std::vector<Guard> guards;
  std::vector<Value> values;
  std::vector<Tensor> constants;
  std::vector<Size> slots;  // of the arena: bytes, each aligned to 64
  std::vector<Donation> donations;
  std::vector<Kernel> kernels;
  std::vector<Product> products;
  std::vector<Window> windows;
  std::vector<RoutineStep> routines;
  Block body;
  uint32_t words = 0;     // of a frame
  uint32_t room = kNone;  // an input without elements that no argument gives, bool[n, 0]: n elements are the most that arrays
                          // which grow can have in this run
  std::string name;       // of the function
};

/// The canonical text of a plan.
std::string plan_text(const Plan& p);

}  // namespace tfl::plan
