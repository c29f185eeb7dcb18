// Elementwise kernels: the vector loops compiled for each instruction set level, and the driver that runs them over tensors of
// any layout. This header must not know shape rules: the driver is given operands that fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/core/context.h"
#include "runtime/ops/type_class.h"

namespace tfl {

// Declared here and not included: see type_class.h.
enum class Op : uint16_t;
class Tensor;

inline constexpr int kElementwiseCount = 0
#define TFL_ELEMENTWISE(name, tf_name, arity, types, result, value, gradients, ...) +1
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
    ;
inline bool is_elementwise(Op op) { return static_cast<int>(op) < kElementwiseCount; }
inline constexpr int kMaxArity = 3;

/// Computes n elements in a row. step[k] is 1 when operand k has an element for each, 0 when its one element serves all. The
/// result may lie exactly where an operand of the same element size with step 1 lies.
using ElementwiseLoop = void (*)(int64_t n, std::byte* out, const std::byte* const* in, const int64_t* step);

/// The loops of one level: by element type, then by operation; null where the operation does not take the type. Half types have
/// none: they are widened to f32 a block at a time.
struct ElementwiseLoops {
  const ElementwiseLoop* of[kDTypeCount];
};
const ElementwiseLoops& elementwise_loops(IsaLevel isa);

/// Widening and narrowing of half types, n elements in a row.
struct HalfLoops {
  void (*f16_to_f32)(int64_t n, const std::byte* from, float* to);
  void (*bf16_to_f32)(int64_t n, const std::byte* from, float* to);
  void (*f32_to_f16)(int64_t n, const float* from, std::byte* to);
  void (*f32_to_bf16)(int64_t n, const float* from, std::byte* to);

  void widen(DType half, int64_t n, const std::byte* from, float* to) const {
    (half == DType::F16 ? f16_to_f32 : bf16_to_f32)(n, from, to);
  }
  void narrow(DType half, int64_t n, const float* from, std::byte* to) const {
    (half == DType::F16 ? f32_to_f16 : f32_to_bf16)(n, from, to);
  }
};
const HalfLoops& half_loops(IsaLevel isa);
inline bool is_half_type(DType d) { return d == DType::F16 || d == DType::BF16; }

/// Runs `op` over operands whose types it takes and whose sizes broadcast to those of `out`, which is contiguous.
void run_elementwise(Context& context, Op op, std::span<const Tensor> operands, Tensor& out);
/// Whether an operand's rows lie across what is dense in memory, and it is large: a copy in tiles costs less than such reads.
bool reads_across(const Tensor& t);
/// The same for string operands (equal, not_equal, add, where).
void run_elementwise_strings(Op op, std::span<const Tensor> operands, Tensor& out);
/// Results up to this size are computed in one piece by the calling thread.
inline constexpr int64_t kSmallElements = 1 << 15;

}  // namespace tfl
