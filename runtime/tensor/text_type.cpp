#include "runtime/tensor/text_type.h"

namespace tfl {

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
  type.width = static_cast<uint16_t>(std::min<int>(width, kUnboundedWidth));
  for (Tensor& t : results) {
    if (t.dtype() == DType::String && t.rep()->extra == 0) set_text_type(t, type);
  }
}

}  // namespace tfl
