// The writer behind unparse.h: expressions by how tightly they bind, statements by indentation.
// This header must not know where the tree comes from.
#pragma once

#include <string>

#include "frontend/syntax/ast/ast.h"

namespace tfl::ast {

/// How tightly a form binds; an operand that binds less is put in parentheses.
enum Level : int {
  kNever,  // always in parentheses
  kAny,
  kNamed,
  kTest,
  kConditional,
  kOr,
  kAnd,
  kNot,
  kCompare,
  kBitOr,
  kBitXor,
  kBitAnd,
  kShift,
  kSum,
  kTerm,
  kFactor,
  kPower,
  kAwait,
  kPrimary,
};

struct BinaryForm {
  std::string_view text;
  Level level;
};

inline constexpr BinaryForm kBinaryForms[] = {{"+", kSum},    {"-", kSum},    {"*", kTerm},  {"/", kTerm},   {"//", kTerm},
                                              {"%", kTerm},   {"**", kPower}, {"@", kTerm},  {"<<", kShift}, {">>", kShift},
                                              {"&", kBitAnd}, {"|", kBitOr},  {"^", kBitXor}};

class Writer {
 public:
  std::string out;

  void expr(const Expr* e, Level least);
  void block(Block b, int indent);
  void statement(const Stmt* s, int indent);

 private:
  static Level tighter(Level l) { return static_cast<Level>(l + 1); }
  static Level level(const Expr* e);
  // Chains on the left may be of any length.
  void bare(const Expr* e);
  void primary_chain(const Expr* e);
  void atom(const Expr* e);
  void constant(const Constant* c);
  /// What stands between the quotes of an f-string, braces doubled.
  std::string formatted(const FormattedString* f);
  /// In quotes that do not occur inside, so that expressions of an f-string stay as they are.
  static std::string quote(const std::string& text);
  void list(List<Expr*> all);
  void items(List<Expr*> all);
  void arguments(const Call* c);
  void clauses(const Comprehension* c);
  void comprehension(const Comprehension* c);
  void parameters(List<Parameter> params, bool annotated);
  void decorators(List<Expr*> all, int indent);
  void if_chain(const If* s, int indent);
  void try_(const Try* s, int indent);
  void otherwise(std::string_view word, Block b, int indent);
  void suite(Block b, int indent);
  void aliases(List<Alias> names);
  void identifiers(List<Identifier> names);
  void line(int indent) { out.append(static_cast<size_t>(indent) * 4, ' '); }
};

}  // namespace tfl::ast
