// The text form of a graph: printed canonically, parsed back to an equal graph. One line a node:
//
//   func @dense(%x: f32[?,784], %w: variable f32[784,10]) -> (f32[?,10]) {
//     %0 = read_variable(%w) : f32[784,10]
//     %1 = matmul(%x, %0) {transpose_a = false} : f32[?,10]  @ "model.tfl":7:12
//     %2 = cond(%p, %1) : f32[?,10] then (%a: f32[?,10]) { ... yield %b } else (...) { ... }
//     return %2
//   }
//
// Region keywords: then/else of cond, case of switch_case, while/do of while_loop. Constants: `constant 1.5 : f32`,
// `constant [1, 2] : i32[2]` (elements row by row, whatever the rank), `constant splat 0 : f32[1000]`; a float that is not the
// usual NaN is written as its bits, 0x7fc00001; `constant apart 3 : f32[1000]` is a tensor that comes with the text. A call to a
// function around it is `call recursive @f(...)`. Values are named in their block only. A function is followed by those it calls.
#pragma once

#include <span>

#include "ir/graph.h"

namespace tfl::ir {

struct TextOptions {
  bool locations = false;
  bool names = false;               // TensorFlow-like node names and the user's variables
  size_t most_elements = SIZE_MAX;  // longer constants are shown by their first elements; such a text does not parse
  /// Where constants of more than 256 different elements go, if anywhere: the text has `constant apart N : TYPE` for them.
  std::vector<Tensor>* apart = nullptr;
};
std::string to_text(const Function& f, const TextOptions& options = {});
/// Several functions and those they call in one text, each once; `names` are what the several are called there.
std::string to_text(std::span<const Function* const> functions, const TextOptions& options, std::vector<std::string>& names);
/// Parses one or more functions (a call names its callee). Errors carry line and column; nothing is trusted: verify() runs on it.
/// `apart`: the tensors that the text has the numbers of.
Result<std::vector<std::shared_ptr<Function>>> parse_text(Context& context, std::string_view text, std::string_view file,
                                                          std::span<const Tensor> apart = {});

}  // namespace tfl::ir
