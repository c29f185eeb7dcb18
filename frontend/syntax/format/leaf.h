// What the formatter moves about: the tokens of a statement with what each one is there, comments among them, and lines made of them.
// This header must not know how lines are split.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/syntax/format/format.h"
#include "frontend/syntax/parse/token.h"

namespace tfl::format {

using parse::TokenKind;

/// What a token is where it stands.
enum class Role : uint8_t {
  None,
  // brackets
  Call,
  Params,
  ClassArgs,
  ImportNames,
  Atom,
  Subscript,
  // operators
  Unary,
  Vararg,
  Binary,
  Decorator,
  // equal signs
  Assign,
  Keyword,
  Default,
  TypedDefault,
  // colons
  Block,
  Slice,
  DictColon,
  LambdaColon,
  Annotation,
  // words
  Statement,
  Ternary,
  Comprehension,
  ForIn,
  Compare,
  // dots
  Attribute,
  ImportDot,
};

enum class LeafIs : uint8_t {
  Token,
  Comment,     // behind what it belongs to
  Standalone,  // on a line of its own, or a text that is kept as it is
};

/// A comment in front of a token.
struct CommentText {
  std::string text;
  bool trailing = false;  // on the line of the token before
  uint32_t blank = 0;     // empty lines before it
  uint32_t column = 0;
  uint32_t begin = 0;  // byte of the source
};

enum class Annotated : uint8_t { No, Parameter, Returns };

struct Leaf {
  TokenKind kind = TokenKind::EndOfFile;
  LeafIs is = LeafIs::Token;
  Role role = Role::None;
  uint8_t spaces = 0;           // before it
  bool complex = false;         // of a slice's colon: the parts are more than names and numbers
  bool argument_comma = false;  // of a call or of parameters
  bool target_comma = false;    // of a loop's target
  bool made = false;            // by the formatter: no token of the source
  Annotated annotated = Annotated::No;
  uint32_t newlines_inside = 0;  // line breaks in the source between it and the token before
  int depth = 0;                 // brackets around it that begin on its line
  std::string text;
  Leaf* mate = nullptr;               // the bracket that opens what this one closes, and the other way about
  std::vector<CommentText> comments;  // in front of it, inside brackets
  std::string_view statement;         // of the first token: the word of its statement

  bool opens() const { return is == LeafIs::Token && parse::is_open_bracket(kind); }
  bool closes() const { return is == LeafIs::Token && parse::is_close_bracket(kind); }
  bool bracket() const { return opens() || closes(); }
  bool token(TokenKind k) const { return is == LeafIs::Token && kind == k; }
  bool standalone() const { return is == LeafIs::Standalone; }
  bool invisible() const { return bracket() && text.empty(); }
};

/// Owns the leaves of one statement while it is laid out.
using LeafPool = std::deque<Leaf>;

enum Priority : int {
  kComprehension = 20,
  kComma = 18,
  kTernary = 16,
  kLogic = 14,
  kString = 12,
  kComparator = 10,
  kDot = 1,
};

/// Follows brackets along a line, and finds where it may be split.
class BracketTracker {
 public:
  int depth = 0;
  std::unordered_map<const Leaf*, int> delimiters;  // places to split behind, with their priority
  std::vector<Leaf*> invisible;

  void mark(Leaf* leaf);
  bool any_open() const { return !open_.empty(); }
  bool any_open_for_or_lambda() const { return !for_depths_.empty() || !lambda_depths_.empty(); }
  /// 0: there is none.
  int max_priority(const Leaf* except = nullptr) const;
  size_t count(int priority) const;

 private:
  struct Open {
    int depth;
    TokenKind closing;
  };
  std::vector<Open> open_;
  std::vector<int> for_depths_, lambda_depths_;
  const Leaf* previous_ = nullptr;
};

/// Whether a text of tokens is short, what it says, where it may be split.
class Line {
 public:
  explicit Line(const FormatOptions& options, int depth = 0, bool inside = false)
      : options(&options), depth(depth), inside_brackets(inside) {}

  const FormatOptions* options;
  int depth;
  std::vector<Leaf*> leaves;
  std::vector<std::pair<const Leaf*, std::vector<Leaf*>>> comments;
  BracketTracker tracker;
  bool inside_brackets;
  bool split_at_once = false;
  const Leaf* magic_comma = nullptr;

  void append(Leaf* leaf, bool track = false);
  /// False where the leaf may not follow: nothing may be behind a comment, and a comment on its own line behind nothing.
  bool append_safe(Leaf* leaf, bool track = false);
  bool empty() const { return leaves.empty() && comments.empty(); }
  std::span<Leaf* const> comments_after(const Leaf* leaf) const;

  bool is_comment() const { return leaves.size() == 1 && leaves[0]->standalone(); }
  bool is_statement(std::string_view word) const { return !leaves.empty() && leaves[0]->statement == word; }
  bool is_import() const { return is_statement("import") || is_statement("from"); }
  bool is_def() const { return is_statement("def"); }
  bool is_class() const { return is_statement("class"); }
  bool is_decorator() const { return is_statement("@"); }
  bool is_stub() const;  // ends in `...` behind a colon
  bool opens_block() const { return !leaves.empty() && leaves.back()->token(TokenKind::Colon); }
  bool chained_assignment() const;
  bool has_standalone_comments() const;
  bool has_multiline_strings() const;
  bool has_commented_string_row() const;
  std::string text() const;
  Line clone() const;

 private:
  void drop_trailing_comma();
  bool append_comment(Leaf* comment);
  bool has_magic_comma(const Leaf* closing) const;
};

bool is_multiline_string(const Leaf* leaf);
/// Is there at most one comma between these brackets (arguments have none)? False for brackets of another kind.
bool one_item_between(const Leaf* opening, const Leaf* closing, const std::vector<Leaf*>& leaves,
                      TokenKind kind = TokenKind::Lparen);
int split_before_priority(const Leaf* leaf, const Leaf* previous);
bool fits(const Line& line, const std::string& text, uint32_t width);
bool fits(const Line& line);
uint32_t text_width(std::string_view text);

}  // namespace tfl::format
