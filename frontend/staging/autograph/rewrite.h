// One definition on its way to a converted one: found, copied, rewritten and put into a module of its own, ready to be compiled.
// This header must not know about values.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "frontend/syntax/ast/ast.h"
#include "frontend/syntax/parse/parse.h"

namespace tfl::autograph {

struct Rewritten {
  std::shared_ptr<const ParseResult> parsed;  // owns the text of names
  std::unique_ptr<ast::Arena> arena;          // owns the new tree
  ast::FunctionDef* def = nullptr;            // one of these is set
  ast::Lambda* lambda = nullptr;
  ast::Module module;                       // def or lambda, in a function that binds what it takes from outside
  std::unordered_set<const void*> helpers;  // functions and lambdas that stand for a part of the one around them
  std::vector<const void*> wrappers;        // definitions around it that are nobody's
  bool generator = false;                   // not rewritten: it yields
  bool found() const { return def || lambda; }
};

/// The converted text of a function of a file, "f" or "Class.method" or "outer.inner"; of every top-level function when `path` is
/// empty. Empty text: there is no such function.
std::string converted_text(const Source& source, std::string_view path);

/// `free_names`: what the code takes from functions around it.
Rewritten rewrite(const Source& source, Span span, bool lambda, const std::vector<std::string_view>& free_names);

}  // namespace tfl::autograph
