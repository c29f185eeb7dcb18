#include "ir/text_values.h"

#include "runtime/tensor/element.h"

namespace tfl::ir {

bool element_of_text(std::string_view s, DType dtype, std::byte* to) {
  int64_t i = 0;
  uint64_t bits = 0;
  double d = 0;
  bool good = false;
  switch (dtype_group(dtype)) {
    case DTypeGroup::String: break;  // quoted: the token has its bytes
    case DTypeGroup::Complex: {      // quoted, too: two numbers
      size_t space = s.find(' ');
      DType part = part_dtype(dtype);
      good = space != std::string_view::npos && element_of_text(s.substr(0, space), part, to) &&
             element_of_text(s.substr(space + 1), part, to + dtype_size(part));
      break;
    }
    case DTypeGroup::Bool:
      good = s == "true" || s == "false";
      if (good) store_int(dtype, s == "true", to);
      break;
    case DTypeGroup::Signed:
      good = number(s, i);
      if (good) store_int(dtype, i, to);
      good = good && load_int(dtype, to) == i;
      break;
    case DTypeGroup::Unsigned:
      good = number(s, bits);
      if (good) store_int(dtype, static_cast<int64_t>(bits), to);
      good = good && static_cast<uint64_t>(load_int(dtype, to)) == bits;
      break;
    case DTypeGroup::Float:
      if (s.size() > 2 && s.starts_with("0x")) {
        size_t size = dtype_size(dtype);
        good = number(s.substr(2), bits, 16) && (size == 8 || bits >> (size * 8) == 0);
        for (size_t k = 0; good && k < size; ++k) to[k] = static_cast<std::byte>(bits >> (8 * k));
      } else {
        good = float_number(s, d);
        if (good) store_double(dtype, d, to);
      }
      break;
  }
  return good;
}

}  // namespace tfl::ir
