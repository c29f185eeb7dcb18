#include "runtime/tensor/dtype.h"

#include <string>

namespace tfl {

namespace {

struct Row {
  std::string_view name;
  std::string_view short_name;
  std::string_view tf_name;
  size_t size;
  DTypeGroup group;
};

constexpr Row kRows[] = {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) {#name, #short_name, #tf_name, size, DTypeGroup::group},
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
};
static_assert(sizeof(kRows) / sizeof(kRows[0]) == kDTypeCount);
static_assert(sizeof(std::string) == 32);

}  // namespace

std::string_view dtype_name(DType d) { return kRows[static_cast<int>(d)].name; }
std::string_view dtype_short_name(DType d) { return kRows[static_cast<int>(d)].short_name; }
std::string_view dtype_tf_name(DType d) { return kRows[static_cast<int>(d)].tf_name; }
size_t dtype_size(DType d) { return kRows[static_cast<int>(d)].size; }
DTypeGroup dtype_group(DType d) { return kRows[static_cast<int>(d)].group; }

std::optional<DType> dtype_from_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].name == name || kRows[i].tf_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_short_name(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i) {
    if (kRows[i].short_name == name) return static_cast<DType>(i);
  }
  return std::nullopt;
}

}  // namespace tfl
