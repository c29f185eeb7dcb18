// The parser's door: source text in, syntax tree and diagnostics out.
// This header must not know about ANTLR, tokens, or what happens to the tree.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/syntax/ast/ast.h"
#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

struct ParseResult {
  std::unique_ptr<ast::Arena> arena;    // owns the tree
  ast::Module module;                   // without the statements that have errors
  std::vector<Diagnostic> diagnostics;  // errors and warnings, by place
  bool ok() const { return !has_errors(diagnostics); }
};

/// Parses a whole file. Finds all independent syntax errors, up to a limit; never fails otherwise, whatever the text.
/// Trees are at most some thousand nodes deep, except that the left side of Binary, and the object of Attribute, Call and
/// Subscript, form chains of any length: walk those in a loop.
ParseResult parse_module(const Source& source);

/// The same for a text that somebody is typing: of a statement with errors the tree holds what was understood, without the lines that were not.
/// It is a tree like any other, but not the program that is meant.
ParseResult parse_tolerant(const Source& source);

/// What a line editor wants to know about the text typed so far.
enum class InteractiveState { Complete, Incomplete, Error };

struct InteractiveResult {
  InteractiveState state;
  ParseResult parsed;  // as far as the state is not Incomplete
};

/// Parses text typed at a prompt. A compound statement is complete after an empty line.
InteractiveResult parse_interactive(const Source& source);

/// One token a line: place, kind, text.
std::string dump_tokens(const Source& source);

}  // namespace tfl
