// Which names statements and expressions read and bind, as seen from the function they stand in. Nested functions count with what
// they take from outside; comprehensions with what is not theirs. This header must not know what the answers are for.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/ast/walk.h"

namespace tfl::ast {

/// Ordered, so that everything made from it is the same in every run.
using NameSet = std::set<std::string_view>;

inline void add(NameSet& to, const NameSet& from) { to.insert(from.begin(), from.end()); }
inline NameSet common(const NameSet& a, const NameSet& b) {
  NameSet out;
  for (std::string_view n : a) {
    if (b.contains(n)) out.insert(n);
  }
  return out;
}

struct Names {
  NameSet reads;
  NameSet binds;               // assigned, deleted, imported, defined, a target
  NameSet mutates;             // `x.append(v)`, `x[i] = v`: to staging as good as binding x
  NameSet writes_from_inside;  // bound by nested functions that declare them nonlocal
  NameSet globals, nonlocals;  // declared so
  /// Attributes and items that are assigned: `self.x`, `d['k']`, with the expression that reads each.
  std::map<std::string, const Expr*> composites;
};

/// Of one expression, read.
void names_of(const Expr* e, Names& out);
/// Of a statement and all in it; bodies of nested functions and classes only as far as they reach outside.
void names_of(const Stmt* s, Names& out);
void names_of(Block block, Names& out);
/// Only of the statement's own expressions and targets, not of its blocks.
void own_names_of(const Stmt* s, Names& out);
/// What a target binds, and reads on the way.
void target_names(const Expr* target, Names& out);

/// What a nested function, class or lambda takes from outside: names it reads, and those it binds there.
struct Captures {
  NameSet reads, writes;
};
Captures captures_of(const FunctionDef* def);
Captures captures_of(const Lambda* lambda);

/// Every identifier in the text of a function: what a new name must not be.
void all_identifiers(const Stmt* s, NameSet& out);
void all_identifiers(const Expr* e, NameSet& out);

/// The text of a chain of attributes and items with constant keys on a name, `a.b['k']`; empty for anything else, and for a name.
std::string composite_text(const Expr* e);
/// The name it begins with.
std::string_view root_of(const Expr* e);

bool contains_walrus(const Expr* e);
/// Does the function itself, not one inside it, yield?
bool is_generator(const FunctionDef* def);

/// Methods of lists that change the list in place.
bool is_mutating_method(std::string_view name);

}  // namespace tfl::ast
