#include "codegen/formula/measure.h"

#include <algorithm>
#include <atomic>

#include "codegen/formula/parts.h"
#include "codegen/formula/record.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/ops/facts.h"

namespace tfl::formula {

namespace {

// The four classes of costs that plans distinguish, and what separates them: instructions, divisions among them, ways and loops.
constexpr uint8_t kCheap = 1, kDivides = 4, kSeries = 12, kManyWays = 40;
constexpr int kFewInstructions = 20, kManyInstructions = 130, kManyRegions = 4, kRare = 8;

bool is_slow(Prim p) { return p == Prim::divide || p == Prim::sqrt; }
bool rounds(const Inst& i) {
  switch (i.prim) {
    case Prim::add:
    case Prim::subtract:
    case Prim::multiply:
    case Prim::divide:
    case Prim::sqrt:
    case Prim::fma: return is_float(i.type);
    default: return false;
  }
}

uint8_t cost_of(const Formula& f) {
  bool slow = false, loops = false;
  for (const Region& region : f.regions) {
    for (Id id : region.body) {
      slow = slow || is_slow(f.at(id).prim);
      loops = loops || f.at(id).prim == Prim::iterate;
    }
  }
  if (loops || f.regions.size() > kManyRegions || weight(f, 0, kRare) > kManyInstructions) return kManyWays;
  if (weight(f, 0) > kFewInstructions) return kSeries;
  return slow ? kDivides : kCheap;
}

int roundings_of(const Formula& f) {
  int count = 0;
  for (const Region& region : f.regions) {
    for (Id id : region.body) count += rounds(f.at(id));
  }
  return count;
}

}  // namespace

// Where integers are taken they are what programs have most; their formula is the shorter one.
Measure measure(Op op) {
  Measure m{kManyWays, 0};
  for (DType dtype : {DType::F32, DType::I32, DType::Bool}) {
    std::optional<Formula> f = record_row(op, dtype, {});
    if (!f) continue;
    m.cost = std::min(m.cost, cost_of(*f));
    m.roundings = std::max(m.roundings, roundings_of(*f));
  }
  return m;
}

int64_t cost_of(Op op) {
  static std::atomic<uint8_t> known[kElementwiseCount];  // 0: not yet; every thread finds the same
  std::atomic<uint8_t>& at = known[static_cast<size_t>(op)];
  uint8_t cost = at.load(std::memory_order_relaxed);
  if (cost == 0) at.store(cost = measure(op).cost, std::memory_order_relaxed);
  return cost;
}

Accuracy accuracy_of(Op op) {
  constexpr int kFewRoundings = 8;
  const int roundings = measure(op).roundings;
  if (roundings <= 1 || op_facts(op).steps_are_exact) return Accuracy::exact;
  return roundings <= kFewRoundings ? Accuracy::rounded_steps : Accuracy::ulp;
}

}  // namespace tfl::formula
