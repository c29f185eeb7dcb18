// What a library says when an operation fails: the text that the evaluator would give, put together by the library's own runtime
// from what is known when the library is made and from tensors of the call. This header must not know how the runtime writes
// tensors.
#pragma once

#include <string>
#include <vector>

#include "ir/graph.h"

namespace tfl::codegen {

struct FailureText {
  struct Piece {
    enum class Kind : uint8_t {
      text,
      tensor,   // `a` as tf.print writes it, `number` items at each end of an axis
      index,    // the first of the indices `a` that is outside of size `number` of `b`: "indices[1] = 12 is not in [0, 10)"
      element,  // where the scalar `a` is no index for that size: "slice index 6 of dimension 0 out of bounds."
      shape     // the sizes of `a`: "[2,3]"
    } kind = Kind::text;
    std::string text;
    int64_t a = 0, b = 0;  // tensors: input i as i, result k of the explanation as ~k
    int64_t number = 0;
  };
  std::string place;  // "model.tfl:12"
  std::vector<Piece> pieces;
  std::vector<Piece> sizes;  // where sizes of inputs do not go together; empty: the runtime has words for it
  int64_t explanation = -1;  // of the function's parts: computes what is shown from the same inputs
};

struct Explanation {
  uint32_t location;
  std::shared_ptr<ir::Function> graph;  // takes what `f` takes
};

/// The pieces of what a string_format says: text(view) -> bool and operand(ref) -> bool in their order; false as soon as one is.
template <class Text, class Operand>
bool format_pieces(const ir::Node& n, Text text, Operand operand) {
  std::string_view rest = n.attrs.get_text(Attr::template_text), placeholder = n.attrs.get_text(Attr::placeholder);
  for (ir::Ref r : n.operands) {
    size_t at = rest.find(placeholder);
    if (at == std::string_view::npos) break;
    if (!text(rest.substr(0, at)) || !operand(r)) return false;
    rest.remove_prefix(at + placeholder.size());
  }
  return text(rest);
}

/// Gives each node that may fail, in `f` or its regions, a location of its own, and tells by location what it says. What a text
/// shows that is no input of `f` is computed by an explanation, where it can be.
std::vector<FailureText> find_failures(Context& context, ir::Function& f, std::vector<Explanation>& explanations);

}  // namespace tfl::codegen
