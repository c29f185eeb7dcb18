// Formulas as LLVM IR. This header must not know operations or element types of tensors.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include <span>

#include "codegen/formula/formula.h"

namespace tfl::codegen {

/// The type of `lanes` elements: a scalar, or a vector when there are several. Masks are i1, and with `truth` u8 is i1, too.
llvm::Type* elem_type(llvm::IRBuilder<>& b, formula::Elem elem, int lanes, bool truth = false);

/// `x` itself, a result of a conversion between float types, in a form that passes do not look through. LLVM 19 takes
/// `convert(x) < 0 ? 0 : convert(x)` for a maximum and loses -0 (select patterns with a cast); and it would compare half types in
/// themselves, which processors cannot do. It costs no instruction.
llvm::Value* opaque(llvm::IRBuilder<>& b, llvm::Value* x);
/// Between f32 and f16, rounded to nearest.
llvm::Value* emit_from_half(llvm::IRBuilder<>& b, llvm::Value* x, int lanes);
llvm::Value* emit_to_half(llvm::IRBuilder<>& b, llvm::Value* x, int lanes);

/// The value of the formula for these arguments. What is rarely needed becomes a block that is entered when a lane needs it; the
/// builder, which stands at the end of a block, stands at the end of the last one afterwards.
llvm::Value* emit_formula(llvm::IRBuilder<>& b, const formula::Formula& f, int lanes, bool truth,
                          std::span<llvm::Value* const> arguments);

}  // namespace tfl::codegen
