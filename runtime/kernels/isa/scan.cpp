// Prefix sums and products of this level.
#include "runtime/kernels/reduce/scan_loops.h"

namespace tfl {
inline namespace TFL_ISA {

extern const RoutineFunction kScan;
constexpr RoutineFunction kScan = scans::run;

}  // namespace TFL_ISA
}  // namespace tfl
