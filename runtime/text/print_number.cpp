#include "runtime/text/print_number.h"

#include <charconv>
#include <cmath>

namespace tfl {

namespace {

/// printf's %.<precision>g, whatever the locale says.
std::string general(double v, int precision) {
  char buffer[48];
  auto r = std::to_chars(buffer, buffer + sizeof buffer, v, std::chars_format::general, precision);
  return {buffer, r.ptr};
}

template <class T>
std::string print_any(T v, int few, int many) {
  if (std::isnan(v)) return "nan";
  if (std::isinf(v)) return v < 0 ? "-inf" : "inf";
  std::string text = general(static_cast<double>(v), few);
  T back = 0;
  std::from_chars(text.data(), text.data() + text.size(), back);
  return back == v ? text : general(static_cast<double>(v), many);
}

}  // namespace

std::string print_number(float v) { return print_any(v, 6, 9); }
std::string print_number(double v) { return print_any(v, 15, 17); }

}  // namespace tfl
