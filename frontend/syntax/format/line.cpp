#include <algorithm>

#include "frontend/syntax/diagnostics/render.h"
#include "frontend/syntax/format/leaf.h"

namespace tfl::format {

namespace {

int math_priority(TokenKind kind) {
  switch (kind) {
    case TokenKind::Bar: return 9;
    case TokenKind::Caret: return 8;
    case TokenKind::Ampersand: return 7;
    case TokenKind::LeftShift:
    case TokenKind::RightShift: return 6;
    case TokenKind::Plus:
    case TokenKind::Minus: return 5;
    case TokenKind::Star:
    case TokenKind::Slash:
    case TokenKind::DoubleSlash:
    case TokenKind::Percent:
    case TokenKind::At: return 4;
    case TokenKind::DoubleStar: return 2;
    default: return 0;
  }
}

int split_after_priority(const Leaf* leaf) { return leaf->token(TokenKind::Comma) && !leaf->target_comma ? kComma : 0; }

}  // namespace

int split_before_priority(const Leaf* leaf, const Leaf* previous) {
  if (leaf->is != LeafIs::Token || leaf->role == Role::Vararg) return 0;
  switch (leaf->kind) {
    case TokenKind::Dot: return leaf->role == Role::Attribute && (!previous || previous->closes()) ? kDot : 0;
    case TokenKind::Eq:
    case TokenKind::Ne:
    case TokenKind::Lt:
    case TokenKind::Le:
    case TokenKind::Gt:
    case TokenKind::Ge:
    case TokenKind::Is: return kComparator;
    case TokenKind::String: return previous && previous->token(TokenKind::String) ? kString : 0;
    case TokenKind::Async: return leaf->role == Role::Comprehension ? kComprehension : 0;
    case TokenKind::For:
      return leaf->role == Role::Comprehension && !(previous && previous->token(TokenKind::Async)) ? kComprehension : 0;
    case TokenKind::If:
    case TokenKind::Else: return leaf->role == Role::Comprehension ? kComprehension : leaf->role == Role::Ternary ? kTernary : 0;
    case TokenKind::In: return leaf->role == Role::Compare && !(previous && previous->token(TokenKind::Not)) ? kComparator : 0;
    case TokenKind::Not: return leaf->role == Role::Compare && !(previous && previous->token(TokenKind::Is)) ? kComparator : 0;
    case TokenKind::And:
    case TokenKind::Or: return kLogic;
    default: return leaf->role == Role::Binary ? math_priority(leaf->kind) : 0;
  }
}

void BracketTracker::mark(Leaf* leaf) {
  if (leaf->is == LeafIs::Comment) return;
  auto is_open = [&](TokenKind closing) {
    for (const Open& o : open_) {
      if (o.depth == depth && o.closing == closing) return true;
    }
    return false;
  };
  if (depth == 0 && leaf->closes() && !is_open(leaf->kind)) return;
  if (!for_depths_.empty() && for_depths_.back() == depth && leaf->token(TokenKind::In)) {
    --depth;
    for_depths_.pop_back();
  }
  if (!lambda_depths_.empty() && lambda_depths_.back() == depth && leaf->token(TokenKind::Colon)) {
    --depth;
    lambda_depths_.pop_back();
  }
  if (leaf->closes()) {
    --depth;
    for (size_t i = open_.size(); i-- > 0;) {
      if (open_[i].depth == depth && open_[i].closing == leaf->kind) {
        open_.erase(open_.begin() + static_cast<ptrdiff_t>(i));
        break;
      }
    }
    if (leaf->text.empty()) invisible.push_back(leaf);
  }
  leaf->depth = depth;
  if (depth == 0) {
    int before = split_before_priority(leaf, previous_);
    if (before && previous_)
      delimiters[previous_] = before;
    else if (int after = split_after_priority(leaf))
      delimiters[leaf] = after;
  }
  if (leaf->opens()) {
    open_.push_back({depth, parse::closing(leaf->kind)});
    ++depth;
    if (leaf->text.empty()) invisible.push_back(leaf);
  }
  previous_ = leaf;
  if (leaf->token(TokenKind::Lambda)) lambda_depths_.push_back(++depth);
  if (leaf->token(TokenKind::For)) for_depths_.push_back(++depth);
}

int BracketTracker::max_priority(const Leaf* except) const {
  int most = 0;
  for (const auto& [leaf, priority] : delimiters) {
    if (leaf != except) most = std::max(most, priority);
  }
  return most;
}

size_t BracketTracker::count(int priority) const {
  size_t n = 0;
  for (const auto& [leaf, p] : delimiters) n += p == priority;
  return n;
}

std::span<Leaf* const> Line::comments_after(const Leaf* leaf) const {
  for (const auto& [owner, list] : comments) {
    if (owner == leaf) return list;
  }
  return {};
}

void Line::append(Leaf* leaf, bool track) {
  if (leaf->is == LeafIs::Token && leaf->text.empty() && !leaf->bracket()) return;
  if (inside_brackets || track) {
    tracker.mark(leaf);
    if (has_magic_comma(leaf)) {
      if (options->magic_trailing_comma)
        magic_comma = leaf;
      else
        drop_trailing_comma();
    }
  }
  if (!append_comment(leaf)) leaves.push_back(leaf);
}

void Line::drop_trailing_comma() {
  const Leaf* comma = leaves.back();
  leaves.pop_back();
  for (auto& [owner, list] : comments) {
    if (owner == comma) owner = leaves.back();
  }
}

bool Line::append_safe(Leaf* leaf, bool track) {
  if (tracker.depth == 0 || tracker.any_open_for_or_lambda()) {
    if (is_comment()) return false;
    if (!leaves.empty() && leaf->standalone()) return false;
  }
  append(leaf, track);
  return true;
}

bool Line::append_comment(Leaf* comment) {
  if (comment->standalone() || comment->is != LeafIs::Comment) return false;
  if (leaves.empty()) {
    comment->is = LeafIs::Standalone;
    comment->spaces = 0;
    return false;
  }
  Leaf* owner = leaves.back();
  if (owner->token(TokenKind::Rparen) && owner->text.empty() && owner->role == Role::Atom && owner->mate && leaves.size() >= 3 &&
      leaves[leaves.size() - 3] == owner->mate && !has_standalone_comments()) {
    // A comment behind optional parentheses round one token belongs to that token.
    owner = leaves[leaves.size() - 2];
  }
  for (auto& [leaf, list] : comments) {
    if (leaf == owner) {
      list.push_back(comment);
      return true;
    }
  }
  comments.push_back({owner, {comment}});
  return true;
}

bool one_item_between(const Leaf* opening, const Leaf* closing, const std::vector<Leaf*>& leaves, TokenKind kind) {
  if (!opening->token(kind)) return false;
  auto it = std::find(leaves.begin(), leaves.end(), opening);
  if (it == leaves.end()) return false;
  const int depth = closing->depth + 1;
  int commas = 0;
  for (++it; it != leaves.end() && *it != closing; ++it) {
    if ((*it)->depth != depth || !(*it)->token(TokenKind::Comma)) continue;
    commas += (*it)->argument_comma ? 2 : 1;
    if (commas > 1) break;
  }
  return commas < 2;
}

bool Line::has_magic_comma(const Leaf* closing) const {
  if (!closing->closes() || leaves.empty() || !leaves.back()->token(TokenKind::Comma)) return false;
  if (closing->kind == TokenKind::Rbrace) return true;
  if (closing->kind == TokenKind::Rbracket) {
    return !(closing->mate && closing->mate->role == Role::Subscript &&
             one_item_between(closing->mate, closing, leaves, TokenKind::Lbracket));
  }
  if (is_import()) return true;
  return closing->mate && !one_item_between(closing->mate, closing, leaves);
}

bool Line::is_stub() const {
  return leaves.size() >= 2 && leaves.back()->token(TokenKind::Ellipsis) && leaves[leaves.size() - 2]->token(TokenKind::Colon);
}

bool Line::chained_assignment() const {
  return std::count_if(leaves.begin(), leaves.end(), [](const Leaf* l) { return l->token(TokenKind::Assign); }) > 1;
}

bool Line::has_standalone_comments() const {
  return std::any_of(leaves.begin(), leaves.end(), [](const Leaf* l) { return l->standalone(); });
}

bool Line::has_multiline_strings() const { return std::any_of(leaves.begin(), leaves.end(), is_multiline_string); }

/// Strings in a row of which one has a comment behind it.
bool Line::has_commented_string_row() const {
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i]->token(TokenKind::String)) continue;
    bool row =
        (i > 0 && leaves[i - 1]->token(TokenKind::String)) || (i + 1 < leaves.size() && leaves[i + 1]->token(TokenKind::String));
    if (row && !comments_after(leaves[i]).empty()) return true;
  }
  return false;
}

std::string Line::text() const {
  std::string out(static_cast<size_t>(depth) * 4, ' ');
  bool first = true;
  for (const Leaf* leaf : leaves) {
    if (!first) out.append(leaf->spaces, ' ');
    // What stands first keeps its space only where nothing visible is before it.
    first = first && leaf->text.empty();
    out += leaf->text;
  }
  for (const auto& [leaf, list] : comments) {
    for (const Leaf* comment : list) out += "  " + comment->text;
  }
  return out;
}

Line Line::clone() const {
  Line line(*options, depth, inside_brackets);
  line.split_at_once = split_at_once;
  line.magic_comma = magic_comma;
  return line;
}

bool is_multiline_string(const Leaf* leaf) {
  if (!leaf->token(TokenKind::String)) return false;
  size_t quote = leaf->text.find_first_of("'\"");
  if (quote == std::string::npos) return false;
  std::string_view rest = std::string_view(leaf->text).substr(quote);
  return (rest.starts_with("\"\"\"") || rest.starts_with("'''")) && rest.find('\n') != std::string_view::npos;
}

uint32_t text_width(std::string_view text) {
  uint32_t width = 0;
  for (size_t at = 0; at < text.size();) {
    auto c = static_cast<unsigned char>(text[at]);
    if (c < 0x80)
      ++at, ++width;
    else
      width += static_cast<uint32_t>(display_width(decode_utf8(text, at)));
  }
  return width;
}

bool fits(const Line& line) { return fits(line, line.text(), line.options->line_length); }

bool fits(const Line& line, const std::string& text, uint32_t width) {
  if (line.has_standalone_comments()) return false;
  size_t first = text.find('\n');
  if (first == std::string::npos) return text_width(text) <= width;
  std::string_view view = text;
  if (text_width(view.substr(0, first)) > width || text_width(view.substr(view.rfind('\n') + 1)) > width) return false;
  // A string of several lines may stay where it is if nothing else shares its brackets.
  std::vector<int> commas;
  size_t string_at = line.leaves.size();
  const Leaf* string = nullptr;
  int open_level = -1;  // >= 0: the brackets with the string have ended at this depth
  for (size_t i = 0; i < line.leaves.size(); ++i) {
    const Leaf* leaf = line.leaves[i];
    const auto depth = static_cast<size_t>(std::max(leaf->depth, 0));
    if (open_level < 0) {
      int had = -1;
      if (depth + 1 > commas.size()) {
        commas.resize(depth + 1, 0);
      } else if (depth + 1 < commas.size()) {
        had = commas.back();
        commas.pop_back();
      }
      if (had >= 0 && string && string->depth == leaf->depth + 1) {
        open_level = leaf->depth;
        if (had > 0) return false;
      }
    }
    if ((open_level < 0 || leaf->depth <= open_level) && leaf->token(TokenKind::Comma)) {
      bool inside = line.inside_brackets || leaf->depth > 0;
      bool directly_behind = false;
      if (i + 1 == line.leaves.size() && string) {
        directly_behind = true;
        for (size_t k = string_at + 1; k < i; ++k) {
          directly_behind = directly_behind && !(line.leaves[k]->token(TokenKind::Comma) && line.leaves[k]->depth <= leaf->depth);
        }
      }
      if (inside && !directly_behind && depth < commas.size()) ++commas[depth];
    }
    if (open_level >= 0) open_level = std::min(open_level, leaf->depth);
    if (!is_multiline_string(leaf)) continue;
    auto ternary = [&](size_t k) { return k < line.leaves.size() && line.leaves[k]->role == Role::Ternary; };
    if ((i > 0 && ternary(i - 1)) || ternary(i + 1) || string) return false;
    if (i > 0 && line.leaves[i - 1]->role == Role::DictColon && i + 1 < line.leaves.size() &&
        line.leaves[i + 1]->role == Role::Binary) {
      return false;
    }
    string = leaf;
    string_at = i;
  }
  if (!string) return true;
  return std::all_of(commas.begin(), commas.end(), [](int n) { return n == 0; });
}

}  // namespace tfl::format
