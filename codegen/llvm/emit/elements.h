// Elements in LLVM IR: rows of the operation table, casts, reductions and memory accesses over `lanes` elements at once. With one
// lane values are scalars, else fixed vectors <lanes x T>. In registers Bool is i1, half types are the f32 of their value
// (rounded after each operation), everything else its own type. This header must not know plans or kernels.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "runtime/kernels/reduce/reduce.h"
#include "runtime/ops/op.h"

namespace tfl::codegen {

using Builder = llvm::IRBuilder<>;

/// The type of `lanes` elements in registers; in memory (Bool: i8, half types: i16).
llvm::Type* register_type(Builder& b, DType dtype, int lanes);
llvm::Type* memory_type(Builder& b, DType dtype);

/// The value of elementwise row `op` for operands of element type `dtype` (of `choice` rows: that of the last two); null when the
/// row does not take it. May create blocks: the builder stands at the end of the last one afterwards. An operand that is the same
/// constant in all lanes leaves only what depends on the others. Lanes where the row would raise get some value.
llvm::Value* emit_row(Builder& b, Op op, DType dtype, int lanes, std::span<llvm::Value* const> operands);
/// An i1 a lane: where the row would raise for these operands; null where it cannot.
llvm::Value* emit_violation(Builder& b, Op op, DType dtype, int lanes, std::span<llvm::Value* const> operands);
llvm::Value* emit_cast(Builder& b, DType from, DType to, int lanes, llvm::Value* x);
llvm::Value* emit_bitcast(Builder& b, DType from, DType to, int lanes, llvm::Value* x);

/// Partial results of a reduction have this element type (f32 for half types, 64 bits for wide sums); Bool reduces as U8.
DType partial_type(ReduceKind kind, DType dtype);
/// What spare lanes begin with: neutral to the bit.
llvm::Value* emit_neutral(Builder& b, ReduceKind kind, DType dtype, int lanes);
/// An element as a partial result; two partial results; a partial result as an element of `to`, divided by the scalar i64
/// `divisor` unless that is null.
llvm::Value* emit_to_partial(Builder& b, ReduceKind kind, DType dtype, int lanes, llvm::Value* x);
llvm::Value* emit_combine(Builder& b, ReduceKind kind, DType dtype, int lanes, llvm::Value* x, llvm::Value* y);
llvm::Value* emit_finish(Builder& b, ReduceKind kind, DType dtype, DType to, int lanes, llvm::Value* partial,
                         llvm::Value* divisor);

/// `lanes` elements in a row from `address` (of an element). `mask` (i1 a lane) or null; lanes that are off read zero.
llvm::Value* emit_load(Builder& b, DType dtype, int lanes, llvm::Value* address, llvm::Value* mask = nullptr);
void emit_store(Builder& b, DType dtype, int lanes, llvm::Value* value, llvm::Value* address, llvm::Value* mask = nullptr);
/// Elements at address + offsets[lane] (i64 vector, in elements).
llvm::Value* emit_gather(Builder& b, DType dtype, int lanes, llvm::Value* address, llvm::Value* offsets,
                         llvm::Value* mask = nullptr);
void emit_scatter(Builder& b, DType dtype, int lanes, llvm::Value* value, llvm::Value* address, llvm::Value* offsets,
                  llvm::Value* mask = nullptr);

}  // namespace tfl::codegen
