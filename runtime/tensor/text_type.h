// What the elements of a tensor of strings are in NumPy: TensorFlow's tensors hold bytes, NumPy's arrays text or bytes of a fixed width,
// or objects. Views, copies and operations hand it on (hand_on_text_type); it lies in Counted::extra of the tensor's header.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "runtime/tensor/tensor.h"

namespace tfl {

/// bytes_objects is what x.numpy() of a string tensor has: dtype object, elements `bytes`.
enum class TextKind : uint8_t { bytes_objects, bytes, text, text_objects };

/// `width`: characters (text) or bytes of the widest element, as in '<U5' and '|S5'; kUnboundedWidth and more are not told apart.
struct TextType {
  TextKind kind = TextKind::bytes_objects;
  uint16_t width = 0;

  bool operator==(const TextType&) const = default;
  bool fixed() const { return kind == TextKind::bytes || kind == TextKind::text; }
  /// Elements are str in the language, and not bytes.
  bool is_text() const { return kind == TextKind::text || kind == TextKind::text_objects; }
};
inline constexpr uint16_t kUnboundedWidth = 0x3FFF;

inline TextType text_type(const Tensor& t) {
  return {static_cast<TextKind>(t.rep()->extra >> 14), static_cast<uint16_t>(t.rep()->extra & kUnboundedWidth)};
}
inline void set_text_type(Tensor& t, TextType type) {
  t.rep()->extra = static_cast<uint16_t>(static_cast<uint16_t>(type.kind) << 14 | std::min(type.width, kUnboundedWidth));
}

/// What a result made of both is: objects where one has objects, text where one has text and the other bytes of a fixed width.
inline TextType promote(TextType a, TextType b) {
  TextKind kind = a.kind;
  if (a.kind != b.kind) {
    if (a.fixed() && b.fixed())
      kind = TextKind::text;
    else
      kind = a.is_text() && b.is_text() ? TextKind::text_objects : TextKind::bytes_objects;
  }
  return {kind, std::max(a.width, b.width)};
}
/// Whether text can be made of these bytes as NumPy makes it.
bool all_ascii(const Tensor& t);

/// Results that are strings get the promoted type of the operands that are; `joined`: elements are put one behind the other. Bytes that
/// are not ASCII do not become text (whose elements are UTF-8): the results are objects then.
void hand_on_text_type(std::span<const Tensor> operands, std::span<Tensor> results, bool joined = false);

}  // namespace tfl
