// The text of tensors as NumPy 2.4 writes arrays: alignment, line breaks, nesting, summaries.
// This header must not know about host values; "tf.Tensor(...)" around the text is the front end's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/tensor/text_type.h"

namespace tfl {

enum class FloatMode : uint8_t { fixed, unique, maxprec, maxprec_equal };

/// NumPy's print options, with their defaults.
struct PrintOptions {
  int precision = 8;
  int64_t threshold = 1000;  // more elements than this are summarised
  int64_t edge_items = 3;
  int64_t line_width = 75;
  bool suppress = false;
  FloatMode float_mode = FloatMode::maxprec;
  char sign = '-';  // '+' and ' ' show or leave room for the sign of positive numbers
  std::string nan = "nan";
  std::string inf = "inf";
  std::string (*quote)(std::string_view text, bool ascii_only) = nullptr;  // repr() of text in NumPy's arrays; none: as bytes
};

/// "<U5", "|S2" or "object": how NumPy names the element type.
std::string text_type_name(TextType type);

/// numpy.array2string(t, separator=separator, prefix=prefix, suffix=suffix).
std::string array_text(const Tensor& t, const PrintOptions& options = {}, std::string_view separator = " ",
                       std::string_view prefix = "", std::string_view suffix = "");
/// str(t.numpy()): an array, or the text of a NumPy scalar for rank 0.
std::string array_str(const Tensor& t, const PrintOptions& options = {});
/// repr(t.numpy()) for rank > 0: "array([1., 2.], dtype=float32)". Rank 0 gives "array(1., dtype=float32)".
std::string array_repr(const Tensor& t, const PrintOptions& options = {});

/// The first element: str() of the NumPy scalar ("1e+20"), and repr() of it as a Python object ("1.0000000200408773e+20", "b'a'").
std::string element_str(const Tensor& t);
std::string element_item_repr(const Tensor& t);

}  // namespace tfl
