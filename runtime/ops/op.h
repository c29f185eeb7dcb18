// The operations: one enumerator for each row of runtime/ops/*.def, what a row says, and `apply`, which runs one eagerly. The same
// table serves the graph, the reference evaluator and code generation: code looks at an operation's kind, never at its name.
#pragma once

#include <span>

#include "runtime/core/context.h"
#include "runtime/ops/attrs.h"
#include "runtime/ops/type_class.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

enum class Op : uint16_t {
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) name,
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
#define TFL_OP(name, tf_name, kind, form, min_operands, max_operands, results, ...) name,
#include "runtime/ops/structural.def"
#undef TFL_OP
#define TFL_CONTROL(name, tf_name, kind, min_operands, max_operands, results, ...) name,
#include "runtime/ops/control.def"
#undef TFL_CONTROL
};

enum class OpKind : uint8_t {
  Elementwise,
  Reduce,
  Scan,
  View,
  Move,
  Contract,
  Gather,
  Create,
  Random,
  Check,
  Effect,
  Control,
  Text
};

struct OpInfo {
  std::string_view name;     // "matmul": script name, IR text, documentation
  std::string_view tf_name;  // "BatchMatMulV2": TensorFlow's, in its messages and graph definitions
  OpKind kind;
  int min_operands;
  int max_operands;   // -1: any number
  int results;        // -1: depends on attributes
  TypeClass types;    // elementwise only
  ResultType result;  // elementwise only
};

const OpInfo& op_info(Op op);
int op_count();
/// Rows of runtime/ops/control.def: operations that only graphs have.
bool is_control(Op op);

using Tensors = SmallVec<Tensor, 2>;

/// A dtype and sizes. A negative size is unknown while tracing (its meaning belongs to the graph); `ranked` false: nothing is known.
struct TensorType {
  DType dtype = DType::F32;
  bool ranked = true;
  Dims dims;
  bool operator==(const TensorType&) const = default;
};

/// What shape inference sees of one operand: its type and, where it is known, its value (else an empty Tensor).
struct OperandInfo {
  TensorType type;
  Tensor value;
};

/// The types of the results, or the error TensorFlow raises for these operands (class and text) — the one place where an
/// operation's operands are checked: eager execution and tracing both call it.
Result<void> infer(Context& context, Op op, std::span<const OperandInfo> operands, const Attrs& attrs,
                   SmallVec<TensorType, 2>& results);

/// Runs one operation on concrete operands: checks as `infer` does, then computes.
Result<void> apply(Context& context, Op op, std::span<const Tensor> operands, const Attrs& attrs, Tensors& results);
/// The same with operands that the caller may lose: the result may take over the memory of one that nobody else holds.
Result<void> apply_consuming(Context& context, Op op, std::span<Tensor> operands, const Attrs& attrs, Tensors& results);
/// An elementwise operation of two operands, where both are small and of one element type that needs no checks. Null where they are not: `apply`
/// computes these, or tells why not.
Tensor apply_small_pair(Context& context, Op op, TensorRep* a, TensorRep* b);
/// An error of this operation, worded as TensorFlow words them: "TEXT [Op:AddV2] name: NAME".
Failure op_failure(ErrorKind kind, Op op, const Attrs& attrs, std::string_view text);

/// The same for an operation with one result.
/// After an interrupt kernels leave work out: what they made is no value. Operations ask this at their end; the front end words the error.
inline Result<void> check_whole(const Context& context) {
  if (context.interrupt.load(std::memory_order_relaxed) == 0) [[likely]]
    return {};
  return fail(ErrorKind::KeyboardInterrupt, "");
}

Result<Tensor> apply1(Context& context, Op op, std::initializer_list<Tensor> operands, const Attrs& attrs = {});

}  // namespace tfl
