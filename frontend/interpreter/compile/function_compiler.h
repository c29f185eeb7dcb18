// From the tree of one function, class body, comprehension or module to its code. One compiler a code object; those of inner
// functions are made when their definition is reached, and again for every copy of a `finally` block they stand in.
// Register discipline: parameters, other locals and cells, free variables' cells, then temporaries used as a stack. An expression
// is evaluated into a register the caller chose; a local is written only by the last instruction of what is assigned to it, so
// that an error on the way leaves it alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/interpreter/compile/code_builder.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/syntax/scope/scope.h"

namespace tfl::compile {

// Here these are nodes of the tree, not host values.
using ast::List;
using ast::Module;
using ast::Slice;
using ast::Tuple;

/// One source line by columns. Where it is ASCII, they are its bytes.
struct LineColumns {
  uint32_t number = 0;
  std::string_view text;
  bool ascii = true;
  std::vector<uint32_t> starts;  // byte offsets of the characters

  char at(uint32_t column) const {
    if (ascii) return column < text.size() ? text[column] : '\n';
    return column < starts.size() ? text[starts[column]] : '\n';
  }
};

/// What all compilers of one file share.
struct Session {
  Interp& interp;
  std::shared_ptr<const Source> source;
  const CompileOptions& options;
  scope::ScopeTree& scopes;
  std::vector<Diagnostic>& diagnostics;
  size_t instructions = 0;  // of all finished code objects and those in progress
  bool failed = false;
  LineColumns line{};  // the one asked for last

  const LineColumns& columns_of(uint32_t number);
  void report(DiagnosticId id, Span span, std::initializer_list<std::string_view> args = {});
};

/// A statement that has to be left properly by return, break, continue and errors.
struct Enclosing {
  enum class What : uint8_t { Loop, Try, Finally, FinallyHandler, With, Handler };
  What what;
  Protected* region = nullptr;  // what is protected while inside; null for loops
  Reg reg = 0;                  // For's iterator, With's exit method, a handler's exception
  bool has_reg = false;         // Loop: it is a `for`
  Label* break_to = nullptr;
  Label* continue_to = nullptr;
  ast::Block finally = {};
  std::string_view name = {};  // Handler: the `as` name
  Span span = {};
  bool asynchronous = false;  // With: what __aexit__ gives is awaited
};

class FunctionCompiler {
 public:
  FunctionCompiler(Session& session, const scope::Scope& scope);

  Value compile_module(const ast::Module& module);
  Value compile_function(const ast::FunctionDef* def);
  Value compile_lambda(const ast::Lambda* lambda);
  Value compile_class(const ast::ClassDef* def);
  Value compile_comprehension(const ast::Comprehension* comprehension);

 private:
  // functions.cpp, definitions.cpp: code objects and what makes them
  void prologue();
  Value finish(Span span);
  void set_parameters(Code& code, ast::List<ast::Parameter> params) const;
  void body_with_docstring(ast::Block block);
  void function_definition(const ast::FunctionDef* def);
  void class_definition(const ast::ClassDef* def);
  void make_function(Reg dst, const Value& code, const scope::Scope& inner, ast::List<ast::Parameter> params,
                     const ast::FunctionDef* annotated);
  void annotations(Reg dst, const ast::FunctionDef* def);
  void annotation(Reg dst, const ast::Expr* e);
  bool is_type_notation(const ast::Expr* e) const;
  Reg decorators(ast::List<ast::Expr*> list);
  void apply_decorators(ast::List<ast::Expr*> list, Reg first);
  std::string source_text(Span span) const;

  // comprehensions.cpp
  void comprehension(const ast::Comprehension* e, Reg dst);
  void comprehension_clause(const ast::Comprehension* e, size_t clause, Reg result);

  // variables.cpp
  struct Variable {
    scope::Storage storage;
    Reg reg = 0;
    std::string_view name;
    const scope::Symbol* symbol = nullptr;
  };
  Variable variable(std::string_view id) const;
  void load_name(const ast::Name* e, Reg dst);
  void load(const Variable& v, Reg dst);
  void store(const Variable& v, Reg value, bool temp);
  void remove(const Variable& v);
  void forget(std::string_view id);  // unbinds without asking whether it was bound
  void check_local(const Variable& v);
  bool assigned(const Variable& v) const;
  /// The register of a plain local, which can be read in place; nothing for everything else.
  std::optional<Reg> local_in_place(const ast::Expr* e);

  // expressions.cpp
  void into(const ast::Expr* e, Reg dst);
  Reg operand(const ast::Expr* e);
  Reg operand_in(const ast::Expr* e, Reg temp);
  Reg in_temp(const ast::Expr* e);
  void load_const(Reg dst, const Value& v);
  void bool_op(const ast::BoolOp* e, Reg dst);
  void compare(const ast::Compare* e, Reg dst);
  void conditional(const ast::Conditional* e, Reg dst);
  void unary(const ast::Unary* e, Reg dst);
  void named(const ast::NamedExpr* e, Reg dst);
  void formatted(const ast::FormattedString* e, Reg dst);
  void slice(const ast::Slice* e, Reg dst);
  void yield(const ast::Yield* e, Reg dst);
  void yield_from(const ast::YieldFrom* e, Reg dst);
  void await(Reg value, uint8_t from = 0);  // r[value] = await r[value]; from: GetAwaitable's x
  void jump_if(const ast::Expr* e, Label& to, bool when);
  void jump_if_compare(const ast::Compare* e, Label& to, bool when);
  void compare_one(ast::CompareOp op, Reg left, const ast::Expr* right, Label& to, bool when);
  bool too_deep(Span span);

  // chains.cpp: left spines of operators, attributes, subscripts and calls
  void chain(const ast::Expr* e, Reg dst);
  void arithmetic(ast::BinaryOp op, Reg dst, Reg left, const ast::Expr* right, bool in_place);
  void arithmetic_reg(ast::BinaryOp op, Reg dst, Reg left, Reg right, bool in_place);
  void call(const ast::Call* e, Reg dst, Reg base, uint32_t fixed);
  void call_spread(const ast::Call* e, Reg dst, Reg base);
  void spread_positional(const ast::Call* e, Reg dst);
  void spread_keywords(const ast::Call* e, Reg dst, Reg callee);
  static bool is_plain_call(const ast::Call* e);
  Span anchor_of(const ast::Expr* e) const;
  Span attribute_span(const ast::Attribute* e) const;

  // displays.cpp
  void sequence(ast::List<ast::Expr*> items, Opcode build, Reg dst);
  bool constant_list(ast::List<ast::Expr*> items, Reg dst);
  void list_of(ast::List<ast::Expr*> items, Reg list, Opcode build, Opcode append, Opcode extend);
  void dict_display(const ast::DictDisplay* e, Reg dst);

  // assignment.cpp
  void assign(const ast::Assign* s);
  void assign_to(const ast::Expr* target, Reg value, bool temp);
  void unpack(ast::List<ast::Expr*> targets, Reg value, bool temp, Span span);
  bool assign_in_parallel(const ast::Expr* target, const ast::Expr* value);
  void augmented(const ast::AugAssign* s);
  void annotated(const ast::AnnAssign* s);
  void remove_target(const ast::Expr* e);

  // statements.cpp
  void block(ast::Block statements);
  void statement(const ast::Stmt* s);
  void mark_line(const ast::Stmt* s);
  void mark_for_debugger(const ast::Stmt* s);
  void mark_way(const ast::Stmt* s, int way);
  void mark(const Value& key);
  void expression_statement(const ast::Expression* s);
  void if_chain(const ast::If* s);
  void return_statement(const ast::Return* s);
  // decisions.cpp
  struct Deciding {
    Decision decision;
    bool kept = false;  // there is something that a tensor would renew
  };
  Deciding deciding(const ast::Stmt* s);
  Deciding deciding(Reg result);
  void add_condition(const Deciding& d, uint32_t first);
  void renew(const Deciding& d);
  void find_returns(ast::Block body);
  void raise_statement(const ast::Raise* s);
  void assert_statement(const ast::Assert* s);
  void assert_failed(const ast::Assert* s);
  void import(const ast::Import* s);
  void import_from(const ast::ImportFrom* s);

  // loops.cpp
  void while_loop(const ast::While* s);
  void for_loop(const ast::For* s);
  void async_for_loop(const ast::For* s);
  /// What comes next of the asynchronous iterator in r[iterator], into r[iterator + 1]; `ended`: there was nothing more.
  void loop_body(const ast::For* s, Reg iterator, Label& top, Label& broken);
  void async_next(Reg iterator, Label& ended);
  void leave_loop(const ast::Stmt* s, bool is_break);
  void unwind(size_t depth);
  bool enclosed_by_more_than_loops() const;
  void push(const Enclosing& e);

  // try.cpp
  void try_statement(const ast::Try* s);
  void try_finally(const ast::Try* s);
  Reg guarded(const ast::Try* s, Label& end);
  void try_except(const ast::Try* s);
  void try_except_groups(const ast::Try* s);
  void handler_clause(const ast::ExceptHandler& h, Reg caught, Reg cleanup, Label& failed, Label& end);
  void reraise(Reg exception);
  void hold(Reg r);
  void release_held(Reg from);
  void with_statement(const ast::With* s, size_t item);
  /// A loop, try or with begins; as many as in CPython may stand in each other.
  void enter_block(Span span) {
    if (++nesting_ > 20 && !session_.failed) session_.report(DiagnosticId::TooManyBlocks, span);
  }
  void leave_block() { --nesting_; }

  Session& session_;
  Interp& interp_;
  const scope::Scope& scope_;
  CodeBuilder code_;
  std::unordered_map<std::string_view, Reg> registers_;       // locals and cells
  std::unordered_map<std::string_view, Reg> free_registers_;  // cells that come with the closure
  std::vector<Str*> register_names_;
  std::vector<Enclosing> enclosing_;
  std::vector<bool> held_;  // temporaries that have held an iterator or exit method across statements
  Value doc_ = Value::none();
  Reg class_cell_ = 0;
  int depth_ = 0;
  int nesting_ = 0;  // of loops, try and with
  /// Parts of a rewritten assert's condition whose values stay until it is known to hold.
  struct Kept {
    const ast::Expr* e = nullptr;
    Reg reg = 0;
    bool done = false;
  };
  Kept kept_[2];
  uint32_t deciding_ = 0;             // conditions so far
  bool returns_are_decided_ = false;  // a `return` stands under a condition
};

/// The value of an expression made of literals; Empty for every other one.
Value fold(Interp& interp, const ast::Expr* e);

}  // namespace tfl::compile
