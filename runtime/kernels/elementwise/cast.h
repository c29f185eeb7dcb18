// Conversions between element types: the loops of each instruction set level.
// This header must not know tensors' layouts: loops read and write elements in a row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/core/context.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

using CastLoop = void (*)(int64_t n, const std::byte* from, std::byte* to);

/// Every type but strings to every other one; bool elements are bytes of 0 and 1.
inline constexpr int kCastTypes = kDTypeCount - 1;
struct CastLoops {
  CastLoop loops[kCastTypes][kCastTypes];  // [from][to]
};
const CastLoops& cast_loops(IsaLevel isa);
inline CastLoop cast_loop(IsaLevel isa, DType from, DType to) {
  return cast_loops(isa).loops[static_cast<int>(from)][static_cast<int>(to)];
}

}  // namespace tfl
