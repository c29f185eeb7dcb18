#include "runtime/tensor/text_type.h"

namespace tfl {

bool all_ascii(const Tensor& t) {
  bool ascii = true;
  auto look = [&](auto&& self, int axis, int64_t offset) -> void {
    if (axis == t.rank()) {
      for (char c : t.data<std::string>()[offset]) ascii = ascii && static_cast<unsigned char>(c) < 0x80;
      return;
    }
    for (int64_t i = 0; ascii && i < t.dim(axis); ++i) self(self, axis + 1, offset + i * t.strides()[static_cast<size_t>(axis)]);
  };
  look(look, 0, 0);
  return ascii;
}

void hand_on_text_type(std::span<const Tensor> operands, std::span<Tensor> results, bool joined) {
  TextType type;
  int width = 0;
  bool first = true;
  for (const Tensor& t : operands) {
    if (t.dtype() != DType::String) continue;
    width = joined ? width + text_type(t).width : std::max<int>(width, text_type(t).width);
    type = first ? text_type(t) : promote(type, text_type(t));
    first = false;
  }
  if (type.kind == TextKind::text) {
    for (const Tensor& t : operands) {
      if (t.dtype() == DType::String && text_type(t).kind == TextKind::bytes && !all_ascii(t))
        type.kind = TextKind::bytes_objects;
    }
  }
  type.width = static_cast<uint16_t>(std::min<int>(width, kUnboundedWidth));
  for (Tensor& t : results) {
    if (t.dtype() == DType::String && t.rep()->extra == 0) set_text_type(t, type);
  }
}

}  // namespace tfl
