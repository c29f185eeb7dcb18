// Which parts of a script may raise errors on purpose: what stands in a `try`, what it calls, what is handed to functions that catch.
// This header must not know what is checked.
#pragma once

#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontend/syntax/ast/ast.h"

namespace tfl::check {

class Certainty {
 public:
  explicit Certainty(const ast::Module& module);

  /// Whether errors in the body of a function, a class or a lambda are errors of the script.
  bool body_counts(const void* definition) const { return !uncertain_.contains(definition); }
  /// Attributes that the script asks for before it uses them, or sets on what it did not make.
  bool is_dynamic(std::string_view attribute) const { return dynamic_.contains(attribute); }

  /// A `try` that may catch what is reported here.
  static bool catches(const ast::Try* s);
  /// A `with` that may: raises(...), suppress(...), or one of the script's own.
  bool catches(const ast::With* s) const;
  /// A call that does: assertRaises(...), or a function of the script that calls what it is given inside a `try`.
  bool catches(const ast::Call* c) const;
  /// A condition that asks what there is: hasattr(...), a version.
  static bool guards(const ast::Expr* condition);

 private:
  struct Definition {
    const void* node;
    std::string_view name, owner;  // of a method: its class
    const ast::Stmt* body;         // null: a lambda
  };

  void block(ast::Block statements, std::string_view owner, bool caught);
  void statement(const ast::Stmt* s, std::string_view owner, bool caught);
  void expression(const ast::Expr* e, bool caught);
  void caught_call(const ast::Call* c);
  void spread();

  std::vector<Definition> definitions_;
  std::unordered_set<std::string_view> functions_,
      imports_;                                         // names of the script's own functions and classes, and of what it imports
  std::unordered_set<std::string_view> called_safely_;  // names that are called, or handed on, where errors are caught
  std::unordered_set<std::string_view> handed_on_;      // functions that are values somewhere
  std::unordered_set<std::string_view> dynamic_, catchers_;
  std::unordered_set<const void*> uncertain_;
  std::vector<std::string_view> given_;  // parameters and what loops go over, around the place that is looked at
  bool harness_ = false;                 // calls what it is given and catches what that raises
  bool objects_ = false;                 // catches what methods raise
};

/// The last name of what is called: raises of tf.test.raises(...).
std::string_view called_name(const ast::Expr* function);

}  // namespace tfl::check
