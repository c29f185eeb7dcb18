// Sorting of this level.
#include "runtime/kernels/index/sort_loops.h"

namespace tfl {
inline namespace TFL_ISA {

extern const RoutineFunction kSort;
constexpr RoutineFunction kSort = sorts::run;

}  // namespace TFL_ISA
}  // namespace tfl
