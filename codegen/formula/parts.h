// Parts of formulas that are worth a function of their own: how large they are, what they use, and whether two are the same.
// This header must not know a back end.
#pragma once

#include <cstdint>

#include "codegen/formula/formula.h"

namespace tfl::formula {

/// Instructions of a region and those inside it that compute something; without rarely run ones that weigh `rare` or more.
int weight(const Formula& f, uint32_t region, int rare = INT32_MAX);
/// What a region, with those inside it, uses of the outside: values, each once, in the order of use. Arguments count as outside.
std::vector<Id> captures(const Formula& f, uint32_t region);
/// Equal for regions that compute the same from their captures.
struct Digest {
  uint64_t high = 0, low = 0;
  bool operator==(const Digest&) const = default;
};
Digest digest(const Formula& f, uint32_t region, const std::vector<Id>& captures);
/// Whether an element of 64 bits occurs in it.
bool has_wide(const Formula& f, uint32_t region);

}  // namespace tfl::formula
