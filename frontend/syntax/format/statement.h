// One statement of a file as the formatter sees it: its leaves in order, what stands before it, how deep it lies.
// This header must not know how lines are split or written.
#pragma once

#include "frontend/syntax/format/leaf.h"
#include "frontend/syntax/parse/layout.h"

namespace tfl::format {

struct Statement {
  std::vector<Leaf*> leaves;        // without the line end
  std::vector<CommentText> behind;  // at the end of its last line
  std::vector<CommentText> before;  // on lines of their own, each with its depth in `column`
  uint32_t blank = 0;               // empty lines right before it
  int depth = 0;
  uint32_t first_line = 0, last_line = 0;
  uint32_t begin = 0, end = 0;  // bytes of the source
  bool first_of_block = false;  // of an indented block or of the file
  bool same_line = false;       // stands behind the colon of a compound statement, or behind a semicolon
  bool docstring = false;
};

/// A file as statements; comments at its end are those of a last one without leaves.
struct Statements {
  LeafPool pool;
  std::vector<Statement> list;
};

Statements read_statements(const Source& source, const parse::Layout& layout);

/// What each leaf of a statement is, and the spaces before it.
void assign_roles(std::vector<Leaf*>& leaves);

/// Optional parentheses are made invisible, and put, invisible, where a split may need them.
void place_parentheses(Statement& statement, LeafPool& pool);

/// Strings and numbers as they are written; `indent` is that of a docstring.
std::string normal_string(const std::string& text, bool quotes);
std::string normal_docstring(const std::string& text, size_t indent, uint32_t line_length, bool quotes);
std::string normal_number(const std::string& text);
std::string normal_comment(std::string_view text);

/// Does a comment hold one of these words: off, on, skip?
bool is_directive(std::string_view comment, std::string_view word);

}  // namespace tfl::format
