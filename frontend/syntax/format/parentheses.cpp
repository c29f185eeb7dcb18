// Parentheses that a statement does not need are made invisible, and invisible ones are put round what may be split in parentheses.
#include <algorithm>

#include "frontend/syntax/format/statement.h"

namespace tfl::format {

namespace {

using Leaves = std::vector<Leaf*>;

struct Inside {
  bool comma = false, one_tuple = false, walrus = false, generator = false, star = false, yield = false;
};

/// What may go although it says something elsewhere.
struct Allow {
  bool comma = false;       // parentheses of a tuple may go
  bool star = false;        // also where it unpacks
  bool keep_walrus = true;  // those of an assignment expression may not
  bool keep_yield = true;
};

class Parentheses {
 public:
  Parentheses(Statement& statement, LeafPool& pool) : leaves_(statement.leaves), pool_(pool) {}

  void run() {
    if (leaves_.empty() || leaves_[0]->is != LeafIs::Token) return;
    word_ = leaves_[0]->statement;
    powers();
    bracketed_items();
    statement();
    ternaries();
  }

 private:
  // ------------------------------------------------------------------------------------------------- looking
  size_t mate(size_t at) const {
    for (size_t i = at + 1; i < leaves_.size(); ++i) {
      if (leaves_[i] == leaves_[at]->mate) return i;
    }
    return at;
  }
  /// The first place in [from, end) where f holds outside of all brackets that begin there; end: none.
  template <class F>
  size_t find(size_t from, size_t end, F&& f) const {
    int depth = 0, lambdas = 0;
    for (size_t i = from; i < end; ++i) {
      const Leaf* l = leaves_[i];
      if (l->closes()) --depth;
      if (depth == 0 && lambdas == 0 && f(l)) return i;
      if (l->opens()) ++depth;
      if (depth == 0 && l->token(TokenKind::Lambda)) ++lambdas;
      if (depth == 0 && l->role == Role::LambdaColon) --lambdas;
    }
    return end;
  }
  size_t find_kind(size_t from, size_t end, TokenKind kind) const {
    return find(from, end, [&](const Leaf* l) { return l->token(kind); });
  }
  /// Are the leaves [b, e) one pair of parentheses that is not part of a call?
  bool atom(size_t b, size_t e) const {
    return e - b >= 2 && leaves_[b]->token(TokenKind::Lparen) && leaves_[b]->role == Role::Atom &&
           leaves_[b]->mate == leaves_[e - 1];
  }
  Inside inside(size_t b, size_t e) const {
    Inside in;
    size_t comma = find_kind(b + 1, e - 1, TokenKind::Comma);
    in.comma = comma < e - 1;
    in.one_tuple = comma == e - 2;
    in.walrus = find_kind(b + 1, e - 1, TokenKind::Walrus) < e - 1;
    in.generator = find(b + 1, e - 1, [](const Leaf* l) { return l->token(TokenKind::For); }) < e - 1;
    in.star = find(b + 1, e - 1, [](const Leaf* l) { return l->role == Role::Vararg; }) < e - 1;
    size_t first = b + 1;
    while (first < e - 1 && leaves_[first]->token(TokenKind::Lparen) && mate(first) == e - 2 - (first - b - 1)) ++first;
    in.yield = first < e - 1 && leaves_[first]->token(TokenKind::Yield);
    return in;
  }

  // ------------------------------------------------------------------------------------------------- changing
  Leaf* parenthesis(bool open, bool visible) {
    Leaf& leaf = pool_.emplace_back();
    leaf.kind = open ? TokenKind::Lparen : TokenKind::Rparen;
    leaf.role = Role::Atom;
    if (visible) leaf.text = open ? "(" : ")";
    return &leaf;
  }
  /// Puts parentheses round [b, e).
  void wrap(size_t b, size_t e, bool visible = false) {
    Leaf* open = parenthesis(true, visible);
    Leaf* close = parenthesis(false, visible);
    open->mate = close;
    close->mate = open;
    Leaf* first = leaves_[b];
    open->spaces = first->spaces;
    open->annotated = close->annotated = first->annotated;
    open->comments = std::move(first->comments);
    open->newlines_inside = first->newlines_inside;
    first->comments.clear();
    first->newlines_inside = 0;
    first->spaces = 0;
    leaves_.insert(leaves_.begin() + static_cast<ptrdiff_t>(e), close);
    leaves_.insert(leaves_.begin() + static_cast<ptrdiff_t>(b), open);
  }
  void erase(size_t at) {
    Leaf* gone = leaves_[at];
    leaves_.erase(leaves_.begin() + static_cast<ptrdiff_t>(at));
    if (at < leaves_.size() && !gone->comments.empty()) {
      auto& to = leaves_[at]->comments;
      to.insert(to.begin(), gone->comments.begin(), gone->comments.end());
    }
  }

  /// Makes the parentheses of the atom [b, e) invisible, where that is safe; those inside that say the same go. False: they stay.
  bool hide(size_t b, size_t e, Allow allow) {
    if (e - b == 2) return false;  // an empty tuple
    Inside in = inside(b, e);
    if (in.one_tuple || in.generator || (in.yield && allow.keep_yield)) return false;
    if (in.comma && (!allow.comma || in.walrus)) return false;
    if (in.comma && in.star && !allow.star) return false;
    if (in.walrus && allow.keep_walrus) return false;
    leaves_[b]->text.clear();
    leaves_[e - 1]->text.clear();
    if (atom(b + 1, e - 1)) {
      size_t size = leaves_.size();
      hide(b + 1, e - 1, allow);
      e -= size - leaves_.size();
      if (leaves_[b + 1]->text.empty() && leaves_[b + 1]->mate == leaves_[e - 2]) {
        erase(e - 2);
        erase(b + 1);
      }
    }
    return true;
  }

  /// What a statement does with an expression of its own.
  void operand(size_t b, size_t e, Allow allow = {}) {
    if (b >= e) return;
    if (atom(b, e)) {
      hide(b, e, allow);
      return;
    }
    size_t comma = find_kind(b, e, TokenKind::Comma);
    if (comma == e - 1) return wrap(b, e, true);  // a tuple of one
    if (e - b == 1 && is_multiline_string(leaves_[b])) return;
    wrap(b, e);
  }

  // ----------------------------------------------------------------------------------------------- statements
  void statement() {
    const size_t n = leaves_.size();
    auto block = [&] { return find(0, leaves_.size(), [](const Leaf* l) { return l->role == Role::Block; }); };
    if (word_ == "return" || word_ == "del") return operand(1, n);
    if (word_ == "if" || word_ == "elif" || word_ == "while") return operand(1, block(), {.keep_walrus = false});
    if (word_ == "assert") {
      size_t comma = find_kind(1, n, TokenKind::Comma);
      if (comma < n) operand(comma + 1, n);
      return operand(1, comma);
    }
    if (word_ == "for") {
      size_t in = find(1, n, [](const Leaf* l) { return l->role == Role::ForIn; });
      operand(in + 1, block());
      return operand(1, in, {.comma = true});
    }
    if (word_ == "except") {
      size_t end = block(), as = find_kind(1, end, TokenKind::As);
      if (end > 1 && !leaves_[1]->token(TokenKind::Star)) operand(1, as);
      return;
    }
    if (word_ == "with") return with(block());
    if (word_ == "from") return import_names();
    if (word_ == "def") return definition();
    if (word_ == "class" || word_ == "@" || word_ == "import" || word_ == "raise" || word_ == "global" || word_ == "nonlocal" ||
        word_ == "else" || word_ == "try" || word_ == "finally" || word_ == "pass" || word_ == "break" || word_ == "continue") {
      return;
    }
    expression();
  }

  void expression() {
    std::vector<size_t> cuts;
    size_t end = leaves_.size();
    for (size_t at = 0; at < end;) {
      at = find(at, end, [](const Leaf* l) { return l->role == Role::Assign || l->role == Role::Annotation; });
      if (at < end) cuts.push_back(at++);
    }
    if (cuts.empty()) {
      if (arithmetic(0, end)) wrap(0, end);
      return;
    }
    bool annotated = leaves_[cuts[0]]->role == Role::Annotation;
    for (size_t i = cuts.size(); i-- > 0;) {
      size_t b = cuts[i] + 1, e = i + 1 < cuts.size() ? cuts[i + 1] : end;
      operand(b, e, {.keep_yield = false});
    }
    // The first target.
    size_t e = cuts[0];
    if (atom(0, e)) {
      bool one_name = e == 3 && leaves_[1]->token(TokenKind::Name);
      bool several_lines = false;
      for (size_t i = 1; i + 1 < e; ++i) several_lines = several_lines || leaves_[i]->newlines_inside > 0;
      if (several_lines || (annotated && one_name)) return;
      hide(0, e, {.comma = true, .star = true});
    } else if (find_kind(0, e, TokenKind::Comma) < e) {
      operand(0, e);
    } else if (leaves_[0]->opens() && leaves_[0]->mate == leaves_[e - 1]) {
      wrap(0, e);
    }
  }

  /// A sum, a shift or a bitwise and as a statement.
  bool arithmetic(size_t b, size_t e) const {
    bool found = false, other = false;
    find(b, e, [&](const Leaf* l) {
      TokenKind k = l->kind;
      bool weak = l->role == Role::Binary && (k == TokenKind::Plus || k == TokenKind::Minus || k == TokenKind::LeftShift ||
                                              k == TokenKind::RightShift || k == TokenKind::Ampersand || k == TokenKind::Caret);
      found = found || weak;
      other = other || l->role == Role::Compare || l->role == Role::Ternary || k == TokenKind::And || k == TokenKind::Or ||
              k == TokenKind::Not || k == TokenKind::Lambda || k == TokenKind::Comma || k == TokenKind::Yield ||
              (l->role == Role::Binary && k == TokenKind::Bar);
      return false;
    });
    return found && !other;
  }

  void with(size_t end) {
    if (leaves_[1]->token(TokenKind::WithLparen))
      leaves_[1]->kind = TokenKind::Lparen, leaves_[1]->role = leaves_[1]->mate->role = Role::Atom;
    bool whole = atom(1, end);
    Allow allow{.comma = true};
    if (whole) {
      if (!hide(1, end, allow)) return;
      // Fewer leaves may be left.
      end = mate(1) + 1;
    } else {
      wrap(1, end);
      end += 2;
    }
    // The parts: `(a) as b` loses its parentheses.
    for (size_t b = 2; b < end - 1;) {
      size_t stop = find_kind(b, end - 1, TokenKind::Comma);
      size_t as = find_kind(b, stop, TokenKind::As);
      size_t size = leaves_.size();
      if (as < stop && atom(b, as) && !inside(b, as).comma) hide(b, as, allow);
      size_t gone = size - leaves_.size();
      end -= gone;
      b = stop - gone + 1;
    }
  }

  void import_names() {
    size_t at = find_kind(0, leaves_.size(), TokenKind::Import) + 1;
    if (at >= leaves_.size() || leaves_[at]->token(TokenKind::Star)) return;
    if (leaves_[at]->token(TokenKind::Lparen)) {
      leaves_[at]->text.clear();
      leaves_.back()->text.clear();
    } else {
      wrap(at, leaves_.size());
      leaves_[at]->role = leaves_.back()->role = Role::ImportNames;
    }
  }

  void definition() {
    size_t arrow = find_kind(0, leaves_.size(), TokenKind::Arrow);
    if (arrow < leaves_.size()) {
      size_t end = find(arrow, leaves_.size(), [](const Leaf* l) { return l->role == Role::Block; });
      size_t b = arrow + 1;
      if (atom(b, end))
        hide(b, end, {});
      else
        wrap(b, end);
    }
    // Annotations of parameters.
    for (size_t i = 3; i + 1 < leaves_.size(); ++i) {
      if (leaves_[i]->role != Role::Annotation || !leaves_[i + 1]->token(TokenKind::Lparen)) continue;
      size_t close = mate(i + 1);
      const Leaf* next = leaves_[close + 1];
      bool whole = next->closes() || next->token(TokenKind::Comma) || next->role == Role::TypedDefault;
      if (whole && atom(i + 1, close + 1)) hide(i + 1, close + 1, {});
    }
  }

  // ---------------------------------------------------------------------------------------------- expressions
  /// [(x)] is [x].
  void bracketed_items() {
    for (size_t i = 0; i + 3 < leaves_.size(); ++i) {
      const Leaf* l = leaves_[i];
      if (l->role != Role::Atom || !(l->token(TokenKind::Lbracket) || l->token(TokenKind::Lbrace))) continue;
      if (leaves_[i + 1]->token(TokenKind::Lparen) && leaves_[i + 1]->role == Role::Atom) {
        size_t close = mate(i + 1);
        if (close + 1 < leaves_.size() && leaves_[close + 1] == l->mate) hide(i + 1, close + 1, {.keep_walrus = false});
      }
    }
  }

  /// Behind a primary that begins at `at`.
  size_t primary_end(size_t at) const {
    if (leaves_[at]->opens()) at = mate(at);
    ++at;
    while (at < leaves_.size()) {
      const Leaf* l = leaves_[at];
      if (l->role == Role::Attribute)
        at += 2;
      else if (l->opens() && (l->role == Role::Call || l->role == Role::Subscript))
        at = mate(at) + 1;
      else
        break;
    }
    return at;
  }
  size_t factor_end(size_t at) const {
    while (at < leaves_.size() && leaves_[at]->role == Role::Unary) ++at;
    at = primary_end(at);
    if (at < leaves_.size() && leaves_[at]->token(TokenKind::DoubleStar) && leaves_[at]->role == Role::Binary)
      at = factor_end(at + 1);
    return at;
  }

  /// -x ** 2 is written -(x**2), and 1 .real (1).real.
  void powers() {
    for (size_t i = 0; i + 1 < leaves_.size(); ++i) {
      Leaf* l = leaves_[i];
      if (l->token(TokenKind::Number) && leaves_[i + 1]->role == Role::Attribute) {
        bool plain = l->text.find_first_of("xXbBoOjJ") == std::string::npos;
        if (plain) wrap(i, i + 1, true);
      }
      if (l->role != Role::Unary) continue;
      size_t base = i + 1;
      if (leaves_[base]->role == Role::Unary) continue;
      size_t behind = leaves_[base]->opens() ? mate(base) + 1 : base + 1;
      if (behind >= leaves_.size() || !leaves_[behind]->token(TokenKind::DoubleStar) || leaves_[behind]->role != Role::Binary)
        continue;
      wrap(base, factor_end(behind + 1), true);
    }
  }

  /// Conditional expressions may be split in parentheses of their own.
  void ternaries() {
    for (size_t i = 0; i < leaves_.size(); ++i) {
      if (!leaves_[i]->token(TokenKind::If) || leaves_[i]->role != Role::Ternary) continue;
      size_t b = begin_of_ternary(i);
      size_t e = end_of_ternary(i);
      bool alone = b > 0 && leaves_[b - 1]->token(TokenKind::Lparen) && e < leaves_.size() && leaves_[e] == leaves_[b - 1]->mate;
      if (alone) continue;
      wrap(b, e);
      ++i;
    }
  }
  static bool cuts(const Leaf* l) {
    switch (l->kind) {
      case TokenKind::Comma:
      case TokenKind::Colon:
      case TokenKind::Assign:
      case TokenKind::AugAssign:
      case TokenKind::Walrus:
      case TokenKind::Arrow:
      case TokenKind::Return:
      case TokenKind::Yield:
      case TokenKind::From:
      case TokenKind::Raise:
      case TokenKind::Assert:
      case TokenKind::While:
      case TokenKind::Elif:
      case TokenKind::With:
      case TokenKind::Except:
      case TokenKind::As:
      case TokenKind::Del: return true;
      case TokenKind::Lambda: return false;
      case TokenKind::Else: return true;
      case TokenKind::If: return l->role != Role::Ternary;
      case TokenKind::In: return l->role == Role::ForIn;
      default: return l->role == Role::Vararg || l->role == Role::Decorator;
    }
  }
  size_t begin_of_ternary(size_t at) const {
    while (at > 0) {
      const Leaf* l = leaves_[at - 1];
      if (l->closes()) {
        while (leaves_[at - 1] != l->mate) --at;
        --at;
        continue;
      }
      if (l->opens() || cuts(l)) break;
      --at;
    }
    return at;
  }
  size_t end_of_ternary(size_t at) const {
    int elses = 0, lambdas = 0;  // `if`s whose `else` is yet to come
    for (; at < leaves_.size(); ++at) {
      const Leaf* l = leaves_[at];
      if (l->closes()) break;
      if (l->opens()) {
        at = mate(at);
        continue;
      }
      if (l->token(TokenKind::If)) {
        if (l->role != Role::Ternary) break;
        ++elses;
      } else if (l->token(TokenKind::Else)) {
        --elses;
      } else if (l->token(TokenKind::Lambda)) {
        ++lambdas;
      } else if (l->role == Role::LambdaColon && lambdas > 0) {
        --lambdas;
      } else if (lambdas == 0 && (cuts(l) || l->token(TokenKind::For))) {
        break;
      }
    }
    return at;
  }

  Leaves& leaves_;
  LeafPool& pool_;
  std::string_view word_;
};

}  // namespace

void place_parentheses(Statement& statement, LeafPool& pool) { Parentheses(statement, pool).run(); }

}  // namespace tfl::format
