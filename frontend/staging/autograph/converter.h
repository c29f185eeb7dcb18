// The rewriting of one function, its lambdas and the functions inside it: statements become calls of operators that look at their
// conditions when they run, with the bodies as nested functions; calls, `and`, `or`, `not`, `in`, the conditional expression, assertions
// and item assignments become operators, too. Works on a tree that it owns. This header must not know values or bytecode.
#pragma once

#include <string>
#include <unordered_set>

#include "frontend/staging/autograph/builder.h"
#include "frontend/staging/autograph/jumps.h"
#include "frontend/staging/autograph/liveness.h"
#include "frontend/syntax/ast/names.h"

namespace tfl::autograph {

/// `__x` as it is called inside class `owner`.
std::string mangled(std::string_view owner, std::string_view id);

class Converter {
 public:
  /// `owner`: the class that the function's text stands in, or empty. Functions and lambdas made here go into `helpers`.
  Converter(Builder& build, std::string_view owner, std::unordered_set<const void*>& helpers)
      : build_(build), owner_(owner), helpers_(helpers) {}

  void function(FunctionDef* def);
  void lambda(Lambda* lambda);

 private:
  /// What is known of the function being rewritten.
  struct Function {
    FreshNames names;
    LoopNotes notes;
    NameSet locals, globals;
    NameSet shared;  // bound by helpers
    NameSet safe;    // what a variable without a value holds does not matter
    const Liveness* live = nullptr;
    std::string_view first_parameter;
  };
  /// The state of a control flow statement.
  struct State {
    NameSet binds;  // what its bodies bind, as far as it is this function's
    std::vector<std::string_view> names;
    size_t outputs = 0;
    Expr* composites = nullptr;
  };

  // statements.cpp
  Block block(Block in);
  void statement(Stmt* s, std::vector<Stmt*>& out);
  void assignment(Assign* s, std::vector<Stmt*>& out);
  void augmented(AugAssign* s, std::vector<Stmt*>& out);
  void item_target(Expr*& target, std::vector<Stmt*>& behind);
  void target(Expr* t);
  bool is_local_item(const Expr* target) const;
  Expr* key(Expr* index);
  void class_body(ClassDef* def);
  void declare(FunctionDef* def, const Names& before);
  void take_options(Block& body, Stmt* loop);
  void find_options(Block block);
  void move_binding_test(While* s);

  // control_flow.cpp
  void if_statement(If* s, std::vector<Stmt*>& out);
  void while_statement(While* s, std::vector<Stmt*>& out);
  void for_statement(For* s, std::vector<Stmt*>& out);
  State state_of(const Stmt* s, const Names& inside, std::vector<Stmt*>& out);
  Expr* helper(std::string_view base, const std::vector<std::string_view>& params, const Names& inside, std::vector<Stmt*> body,
               Span span, std::vector<Stmt*>& out);
  Expr* state_names(const State& state, Span span);
  void state_extras(const State& state, Span span, std::vector<Expr*>& args);
  Expr* stop_test(const Stmt* loop);
  Expr* options(const Stmt* loop, std::string_view iterate);
  NameSet bound_here(const Names& names) const;

  // expressions.cpp
  Expr* expr(Expr* e);
  void optional(Expr*& e) {
    if (e) e = expr(e);
  }
  Expr* node(Expr* e);
  Expr* call(Call* e);
  Expr* bool_op(BoolOp* e);
  Expr* compare(Compare* e);
  Expr* compare_chain(Compare* e, Expr* left, size_t at);
  Expr* comparison(Compare* e, Expr* left, size_t at);
  Expr* conditional(Conditional* e);
  Expr* comprehension(Comprehension* e);
  Expr* list_comprehension(Comprehension* e, size_t at, Expr* into);
  Expr* later(Expr* value);

  Builder& build_;
  std::string owner_;
  std::unordered_set<const void*>& helpers_;
  Function* current_ = nullptr;
};

}  // namespace tfl::autograph
