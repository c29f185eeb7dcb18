// How error messages name the place of an index.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace tfl {

/// "[1,0]": the position of element `flat` of a row-major tensor of these sizes; empty for a scalar.
std::string index_position(std::span<const int64_t> dims, int64_t flat);

}  // namespace tfl
