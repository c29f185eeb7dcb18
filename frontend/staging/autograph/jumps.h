// Early exits become flags: `break`, `continue` and `return` set a variable, what would have been skipped is guarded by it, and a loop
// ends when one of its flags is set. The `else` of a loop becomes a statement behind it.
//
//   while a:                       break_ = False
//     if b:                        while a:            (and none of break_ is set)
//       break            ->          if b:
//     c                                break_ = True
//   else:                            else:
//     d                                c
//                                  if ag__.none_of(break_):
//                                    d
//
// This header must not know how statements are staged.
#pragma once

#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/staging/autograph/builder.h"
#include "frontend/syntax/ast/names.h"

namespace tfl::autograph {

/// What is known of a loop beside its tree node.
struct LoopNote {
  std::vector<Identifier> stop;                        // it goes on while none of these flags is set
  bool returns = false;                                // every iteration ends the function, in one branch or the other
  std::vector<std::pair<std::string, Expr*>> options;  // of set_loop_options
};
using LoopNotes = std::unordered_map<const Stmt*, LoopNote>;

/// Gives out names that the function does not use.
class FreshNames {
 public:
  FreshNames(Builder& builder, NameSet taken) : builder_(builder), taken_(std::move(taken)) {}
  Identifier next(std::string_view base);

 private:
  Builder& builder_;
  NameSet taken_;
};

/// Rewrites the body of `def`; functions inside it are left alone.
void lower_jumps(Builder& builder, FreshNames& names, LoopNotes& notes, FunctionDef* def);

}  // namespace tfl::autograph
