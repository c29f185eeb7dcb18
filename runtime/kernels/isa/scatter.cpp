// Writes by index of this level.
#include "runtime/kernels/index/scatter_loops.h"

namespace tfl {
inline namespace TFL_ISA {

extern const RoutineFunction kScatter;
constexpr RoutineFunction kScatter = scatters::run;

}  // namespace TFL_ISA
}  // namespace tfl
