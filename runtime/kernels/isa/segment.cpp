// Rows combined by id of this level.
#include "runtime/kernels/index/segment_loops.h"

namespace tfl {
inline namespace TFL_ISA {

extern const RoutineFunction kSegment;
constexpr RoutineFunction kSegment = segments::run;

}  // namespace TFL_ISA
}  // namespace tfl
