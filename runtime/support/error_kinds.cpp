#include "runtime/support/result.h"

namespace tfl {

namespace {

struct Row {
  std::string_view name;
  std::string_view module;
  ErrorKind base;
};

constexpr Row kRows[] = {
#define TFL_ERROR_KIND(name, base, module) {#name, #module, ErrorKind::base},
#include "runtime/support/error_kinds.def"
#undef TFL_ERROR_KIND
};

}  // namespace

std::string_view error_kind_name(ErrorKind kind) { return kRows[static_cast<int>(kind)].name; }
std::string_view error_kind_module(ErrorKind kind) { return kRows[static_cast<int>(kind)].module; }
ErrorKind error_kind_base(ErrorKind kind) { return kRows[static_cast<int>(kind)].base; }

}  // namespace tfl
