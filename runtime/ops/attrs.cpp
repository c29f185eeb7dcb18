#include "runtime/ops/attrs.h"

namespace tfl {

std::string_view attr_name(Attr name) {
  static constexpr std::string_view kNames[] = {
#define TFL_ATTR(name) #name,
#include "runtime/ops/attrs.def"
#undef TFL_ATTR
  };
  return kNames[static_cast<int>(name)];
}

}  // namespace tfl
