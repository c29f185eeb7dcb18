// Lists of what a function takes and gives, for the texts of headers and bindings.
#pragma once

#include <string>

#include "codegen/library/library.h"

namespace tfl::codegen {

/// `first` and a text for each argument, size that the caller chooses, and result, with commas between them; empty ones are left
/// out.
template <class Argument, class Size, class Result>
std::string listed(std::string first, const Interface& face, const Argument& argument, const Size& size, const Result& result) {
  auto add = [&](const std::string& item) {
    if (!item.empty()) first += (first.empty() ? "" : ", ") + item;
  };
  for (const Interface::Value& v : face.arguments) add(argument(v));
  for (const Interface::OpenSize& o : face.open) add(size(o));
  for (const Interface::Value& v : face.outputs) add(result(v));
  return first;
}
inline constexpr auto kLeftOut = [](const auto&) { return std::string(); };

}  // namespace tfl::codegen
