// What a token is is seen from the token before it and from the brackets round it: that suffices in a text that parses.
#include <algorithm>

#include "frontend/syntax/format/statement.h"

namespace tfl::format {

namespace {

bool ends_operand(const Leaf* leaf) {
  switch (leaf->kind) {
    case TokenKind::Name:
    case TokenKind::Number:
    case TokenKind::String:
    case TokenKind::None:
    case TokenKind::True:
    case TokenKind::False:
    case TokenKind::Ellipsis: return true;
    default: return leaf->closes();
  }
}

bool is_operator(TokenKind kind) {
  switch (kind) {
    case TokenKind::Plus:
    case TokenKind::Minus:
    case TokenKind::Star:
    case TokenKind::DoubleStar:
    case TokenKind::Slash:
    case TokenKind::DoubleSlash:
    case TokenKind::Percent:
    case TokenKind::At:
    case TokenKind::Ampersand:
    case TokenKind::Bar:
    case TokenKind::Caret:
    case TokenKind::Tilde:
    case TokenKind::LeftShift:
    case TokenKind::RightShift: return true;
    default: return false;
  }
}

/// Words that make what follows a block.
bool is_compound(std::string_view word) {
  constexpr std::string_view kWords[] = {"if",     "elif",    "else", "while", "for",  "try",
                                         "except", "finally", "with", "def",   "class"};
  return std::find(std::begin(kWords), std::end(kWords), word) != std::end(kWords);
}

struct Frame {
  Leaf* open = nullptr;
  int lambdas = 0;             // whose colon is yet to come
  int targets = 0;             // of `for`, whose `in` is yet to come
  bool comprehension = false;  // a `for` has been seen
  bool annotation = false;     // of a parameter, since the last comma
  std::vector<Leaf*> colons;   // of a slice, since the last comma
  bool complex = false;        // what stands between two commas of a subscript
};

class Roles {
 public:
  explicit Roles(std::vector<Leaf*>& leaves) : leaves_(leaves), word_(leaves[0]->statement) {}

  void run() {
    frames_.emplace_back();
    for (at_ = 0; at_ < leaves_.size(); ++at_) {
      Leaf* leaf = leaves_[at_];
      leaf->annotated = returns_ ? Annotated::Returns : annotated();
      token(leaf);
    }
    for (size_t i = 0; i < leaves_.size(); ++i) leaves_[i]->spaces = i == 0 ? 0 : spaces(leaves_[i - 1], leaves_[i]);
  }

 private:
  Frame& frame() { return frames_.back(); }
  bool outside() const { return frames_.size() == 1; }
  const Leaf* before() const { return at_ ? leaves_[at_ - 1] : nullptr; }
  bool behind_operand() const { return at_ > 0 && ends_operand(leaves_[at_ - 1]); }
  Annotated annotated() const {
    for (const Frame& f : frames_) {
      if (f.annotation) return Annotated::Parameter;
    }
    return Annotated::No;
  }
  /// What stands in a subscript's part is more than names and numbers.
  void more_than_simple() {
    for (Frame& f : frames_) f.complex = true;
  }

  void token(Leaf* leaf) {
    switch (leaf->kind) {
      case TokenKind::Lparen:
      case TokenKind::WithLparen:
      case TokenKind::Lbracket:
      case TokenKind::Lbrace: return open(leaf);
      case TokenKind::Rparen:
      case TokenKind::Rbracket:
      case TokenKind::Rbrace: return close(leaf);
      case TokenKind::Comma: return comma(leaf);
      case TokenKind::Colon: return colon(leaf);
      case TokenKind::Assign: return equal(leaf);
      case TokenKind::AugAssign: leaf->role = Role::Assign; return;
      case TokenKind::Walrus: return more_than_simple();
      case TokenKind::Arrow: returns_ = true; return;
      case TokenKind::Dot:
      case TokenKind::Ellipsis: return dot(leaf);
      case TokenKind::Lambda: ++frame().lambdas; return more_than_simple();
      case TokenKind::Async: leaf->role = at_ == 0 ? Role::Statement : Role::Comprehension; return;
      case TokenKind::For: {
        const bool statement = at_ == 0 || (at_ == 1 && leaves_[0]->token(TokenKind::Async));
        leaf->role = statement ? Role::Statement : Role::Comprehension;
        ++frame().targets;
        frame().comprehension = frame().comprehension || !statement;
        return;
      }
      case TokenKind::In:
        if (frame().targets > 0) {
          --frame().targets;
          leaf->role = Role::ForIn;
        } else {
          leaf->role = Role::Compare;
          more_than_simple();
        }
        return;
      case TokenKind::If:
      case TokenKind::Else:
        leaf->role = at_ == 0 ? Role::Statement : Role::Ternary;
        if (leaf->kind == TokenKind::If && frame().comprehension && frame().lambdas == 0) leaf->role = Role::Comprehension;
        if (leaf->role == Role::Ternary) more_than_simple();
        return;
      case TokenKind::Not: {
        bool part = behind_operand() || (at_ > 0 && leaves_[at_ - 1]->kind == TokenKind::Is);
        leaf->role = part ? Role::Compare : Role::None;
        return more_than_simple();
      }
      case TokenKind::Is:
      case TokenKind::Eq:
      case TokenKind::Ne:
      case TokenKind::Lt:
      case TokenKind::Le:
      case TokenKind::Gt:
      case TokenKind::Ge: leaf->role = Role::Compare; return more_than_simple();
      case TokenKind::And:
      case TokenKind::Or: return more_than_simple();
      default:
        if (is_operator(leaf->kind)) return operator_(leaf);
    }
  }

  void open(Leaf* leaf) {
    if (leaf->kind == TokenKind::Lbrace)
      leaf->role = Role::Atom;
    else if (leaf->kind == TokenKind::Lbracket)
      leaf->role = behind_operand() ? Role::Subscript : Role::Atom;
    else if (word_ == "def" && outside() && at_ == 2)
      leaf->role = Role::Params;
    else if (word_ == "class" && outside() && at_ == 2)
      leaf->role = Role::ClassArgs;
    else if (word_ == "from" && outside() && before()->kind == TokenKind::Import)
      leaf->role = Role::ImportNames;
    else
      leaf->role = behind_operand() ? Role::Call : Role::Atom;
    if (leaf->role == Role::Subscript || leaf->role == Role::Call) more_than_simple();
    frames_.emplace_back();
    frame().open = leaf;
  }

  void close(Leaf* leaf) {
    end_of_part();
    if (frames_.size() > 1) {
      Leaf* open = frame().open;
      leaf->mate = open;
      open->mate = leaf;
      leaf->role = open->role;
      frames_.pop_back();
    }
    // The bracket belongs to what it closes.
    leaf->annotated = returns_ ? Annotated::Returns : annotated();
  }

  void end_of_part() {
    for (Leaf* c : frame().colons) c->complex = frame().complex;
    frame().colons.clear();
    frame().complex = false;
  }

  void comma(Leaf* leaf) {
    leaf->target_comma = frame().targets > 0;
    Role around = frame().open ? frame().open->role : Role::None;
    if (frame().lambdas == 0) {
      leaf->argument_comma = around == Role::Call || around == Role::Params || around == Role::ClassArgs;
      frame().annotation = false;
      end_of_part();
      if (around == Role::Params) leaf->annotated = Annotated::No;
    }
  }

  void colon(Leaf* leaf) {
    if (frame().lambdas > 0) {
      --frame().lambdas;
      leaf->role = Role::LambdaColon;
    } else if (outside()) {
      leaf->role = is_compound(word_) ? Role::Block : Role::Annotation;
      returns_ = false;
      if (leaf->role == Role::Block) leaf->annotated = Annotated::No;
    } else if (frame().open->role == Role::Params) {
      leaf->role = Role::Annotation;
      frame().annotation = true;
    } else if (frame().open->kind == TokenKind::Lbracket) {
      leaf->role = Role::Slice;
      frame().colons.push_back(leaf);
    } else {
      leaf->role = Role::DictColon;
    }
  }

  void equal(Leaf* leaf) {
    if (frame().lambdas > 0) {
      leaf->role = Role::Default;
    } else if (outside()) {
      leaf->role = Role::Assign;
    } else if (frame().open->role == Role::Params) {
      leaf->role = frame().annotation ? Role::TypedDefault : Role::Default;
      frame().annotation = false;
      leaf->annotated = Annotated::No;
    } else {
      leaf->role = Role::Keyword;
    }
  }

  void dot(Leaf* leaf) {
    bool import = outside() && (word_ == "from" || word_ == "import");
    if (import)
      leaf->role = Role::ImportDot;
    else if (leaf->kind == TokenKind::Dot) {
      leaf->role = Role::Attribute;
      more_than_simple();
    }
  }

  void operator_(Leaf* leaf) {
    if (at_ == 0 && leaf->kind == TokenKind::At) {
      leaf->role = Role::Decorator;
    } else if (behind_operand()) {
      leaf->role = Role::Binary;
      more_than_simple();
    } else if (leaf->kind == TokenKind::Star || leaf->kind == TokenKind::DoubleStar || leaf->kind == TokenKind::Slash) {
      leaf->role = Role::Vararg;
      more_than_simple();
    } else {
      leaf->role = Role::Unary;
    }
  }

  static uint8_t spaces(const Leaf* prev, const Leaf* leaf) {
    if (leaf->closes() || leaf->kind == TokenKind::Comma) return 0;
    if (leaf->kind == TokenKind::Colon) {
      if (leaf->role != Role::Slice || prev->opens()) return 0;
      if (prev->role == Role::Slice && prev->kind == TokenKind::Colon) return 0;
      return prev->kind == TokenKind::Comma || leaf->complex ? 1 : 0;
    }
    if (prev->opens() || prev->role == Role::Unary || prev->role == Role::Decorator) return 0;
    if (prev->kind == TokenKind::Colon && prev->role == Role::Slice) return prev->complex ? 1 : 0;
    if (prev->role == Role::Vararg && prev->kind != TokenKind::Slash) return 0;
    if (prev->role == Role::Keyword || prev->role == Role::Default) return 0;
    if (leaf->role == Role::Keyword || leaf->role == Role::Default) return 0;
    if (leaf->role == Role::Attribute || prev->role == Role::Attribute) return 0;
    if (leaf->role == Role::ImportDot) return prev->kind == TokenKind::From ? 1 : 0;
    if (prev->role == Role::ImportDot) return leaf->kind == TokenKind::Import ? 1 : 0;
    if (leaf->opens())
      return leaf->role == Role::Call || leaf->role == Role::Params || leaf->role == Role::ClassArgs ||
                     leaf->role == Role::Subscript
                 ? 0
                 : 1;
    if (leaf->kind == TokenKind::Star && prev->kind == TokenKind::Except) return 0;
    return 1;
  }

  std::vector<Leaf*>& leaves_;
  std::string_view word_;
  size_t at_ = 0;
  std::vector<Frame> frames_;
  bool returns_ = false;
};

}  // namespace

void assign_roles(std::vector<Leaf*>& leaves) {
  if (!leaves.empty()) Roles(leaves).run();
}

}  // namespace tfl::format
