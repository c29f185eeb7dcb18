// Choosing among the instruction set levels that runtime/kernels/isa is compiled for. A file that includes this header must not
// include runtime/math: there the portable level is an inline namespace.
#pragma once

#include "runtime/core/context.h"

// TFL_EVERY_LEVEL(declarations): the same declarations for every level there is.
// TFL_CALL_LEVEL(isa, expression): the expression, looked up in the level's namespace.
#define TFL_IN_LEVEL(level, ...) \
  namespace level {              \
  __VA_ARGS__                    \
  }
#if TFL_HAVE_ISA_V4
#define TFL_EVERY_LEVEL(...)      \
  TFL_IN_LEVEL(base, __VA_ARGS__) \
  TFL_IN_LEVEL(v3, __VA_ARGS__)   \
  TFL_IN_LEVEL(v4, __VA_ARGS__)
#define TFL_CALL_LEVEL(isa, ...) \
  ((isa) == ::tfl::IsaLevel::v4 ? v4::__VA_ARGS__ : (isa) == ::tfl::IsaLevel::v3 ? v3::__VA_ARGS__ : base::__VA_ARGS__)
#else
#define TFL_EVERY_LEVEL(...) TFL_IN_LEVEL(base, __VA_ARGS__)
#define TFL_CALL_LEVEL(isa, ...) ((void)(isa), base::__VA_ARGS__)
#endif
