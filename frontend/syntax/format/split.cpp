// How Black splits a line: at the last bracket whose head is short enough, then at the delimiters that bind least, then again what is
// still too long. Brackets that were invisible may become visible on the way.
#include "frontend/syntax/format/split.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

#include "frontend/syntax/format/right_hand.h"

namespace tfl::format {

namespace {

using Lines = std::vector<Line>;
using Split = std::optional<Lines>;  // nothing: that way it cannot be done

Leaf* new_comma(LeafPool& pool) {
  Leaf& leaf = pool.emplace_back();
  leaf.kind = TokenKind::Comma;
  leaf.text = ",";
  leaf.made = true;
  return &leaf;
}

/// A function's line is split at its parameters.
Split left_hand_split(const Line& line, LeafPool& pool) {
  std::vector<Leaf*> head, body, tail;
  std::vector<Leaf*>* current = &head;
  Leaf* open = nullptr;
  for (Leaf* leaf : line.leaves) {
    if (current == &body && leaf->closes() && leaf->mate == open) {
      show(leaf);
      show(open);
      current = body.empty() ? &head : &tail;
    }
    current->push_back(leaf);
    if (current == &head && leaf->token(TokenKind::Lparen)) {
      open = leaf;
      current = &body;
    }
  }
  if (!open || tail.empty()) return {};
  Line h = part_line(head, line, open, Part::Head, pool), b = part_line(body, line, open, Part::Body, pool),
       t = part_line(tail, line, open, Part::Tail, pool);
  if (!split_succeeded(b, t)) return {};
  Lines out;
  for (Line* part : {&h, &b, &t}) {
    if (!part->empty()) out.push_back(std::move(*part));
  }
  return out;
}

void no_spaces_in_front(Lines& lines) {
  for (Line& l : lines) {
    if (!l.leaves.empty()) l.leaves[0]->spaces = 0;
  }
}

void add_trailing_comma(bool safe, int priority, Line& line, LeafPool& pool) {
  if (!safe || priority != kComma || line.leaves.empty()) return;
  const Leaf* last = line.leaves.back();
  if (last->token(TokenKind::Comma) || last->standalone()) return;
  line.append(new_comma(pool));
}

/// At the delimiters that bind least.
Split delimiter_split(const Line& line, LeafPool& pool) {
  if (line.leaves.empty()) return {};
  const Leaf* last = line.leaves.back();
  const int priority = line.tracker.max_priority(last);
  if (priority == 0) return {};
  if (priority == kDot && line.tracker.count(priority) == 1) return {};
  Lines out;
  Line current(*line.options, line.depth, line.inside_brackets);
  auto next_line = [&] {
    out.push_back(std::move(current));
    current = Line(*line.options, line.depth, line.inside_brackets);
  };
  auto add = [&](Leaf* leaf) {
    if (current.append_safe(leaf)) return;
    next_line();
    current.append(leaf);
  };
  auto priority_of = [&](const Leaf* leaf) {
    auto it = line.tracker.delimiters.find(leaf);
    return it == line.tracker.delimiters.end() ? 0 : it->second;
  };
  const bool comments_move = priority == kString || priority == kComma;
  size_t last_code = 0;
  for (size_t i = line.leaves.size(); i-- > 1;) {
    if (!line.leaves[i]->standalone()) {
      last_code = i;
      break;
    }
  }
  for (size_t i = 0; i < line.leaves.size(); ++i) {
    Leaf* leaf = line.leaves[i];
    add(leaf);
    if (i == 0 || priority_of(line.leaves[i - 1]) != priority || comments_move) {
      for (Leaf* c : line.comments_after(leaf)) add(c);
    }
    if (last->standalone() && i == last_code && i > 0) add_trailing_comma(true, priority, current, pool);
    if (priority_of(leaf) != priority) continue;
    if (i + 1 < line.leaves.size() && !comments_move) {
      for (Leaf* c : line.comments_after(line.leaves[i + 1])) add(c);
    }
    next_line();
  }
  if (!current.empty()) {
    add_trailing_comma(true, priority, current, pool);
    out.push_back(std::move(current));
  }
  no_spaces_in_front(out);
  return out;
}

/// Comments on lines of their own leave the line.
Split comment_split(const Line& line) {
  if (!line.has_standalone_comments()) return {};
  Lines out;
  Line current(*line.options, line.depth, line.inside_brackets);
  auto add = [&](Leaf* leaf) {
    if (current.append_safe(leaf)) return;
    out.push_back(std::move(current));
    current = Line(*line.options, line.depth, line.inside_brackets);
    current.append(leaf);
  };
  for (Leaf* leaf : line.leaves) {
    add(leaf);
    for (Leaf* c : line.comments_after(leaf)) add(c);
  }
  if (!current.empty()) out.push_back(std::move(current));
  no_spaces_in_front(out);
  return out;
}

// ------------------------------------------------------------------------------------------------- powers

bool chained(const Leaf* past, const Leaf* now) {
  switch (past->kind) {
    case TokenKind::Name: return now->token(TokenKind::Dot);
    case TokenKind::Rparen:
    case TokenKind::Rbracket: return now->token(TokenKind::Rparen) || now->token(TokenKind::Rbracket);
    case TokenKind::Lparen:
    case TokenKind::Lbracket:
      return now->token(TokenKind::Name) || now->token(TokenKind::Lparen) || now->token(TokenKind::Lbracket);
    default: return false;
  }
}

bool word_or_number(const Leaf* leaf) {
  return leaf->is == LeafIs::Token &&
         (leaf->kind == TokenKind::Name || leaf->kind == TokenKind::Number || (parse::is_keyword(leaf->kind)));
}
bool is_name(const Leaf* leaf) {
  return leaf->is == LeafIs::Token && (leaf->kind == TokenKind::Name || parse::is_keyword(leaf->kind));
}

bool simple_before(const std::vector<Leaf*>& leaves, size_t at) {
  bool bracket = false;
  for (size_t i = at + 1; i-- > 0;) {
    bracket = bracket || leaves[i]->token(TokenKind::Rparen) || leaves[i]->token(TokenKind::Rbracket);
    if (i < at && !chained(leaves[i + 1], leaves[i])) return !bracket;
  }
  return true;
}

bool simple_behind(const std::vector<Leaf*>& leaves, size_t at) {
  for (size_t i = at; i < leaves.size(); ++i) {
    const Leaf* l = leaves[i];
    if (l->token(TokenKind::Lparen) || l->token(TokenKind::Lbracket)) return false;
    if (!(is_name(l) || l->token(TokenKind::Dot)) || l->token(TokenKind::For)) return true;
  }
  return true;
}

bool simple_operand(const std::vector<Leaf*>& leaves, size_t at, bool before) {
  const Leaf* l = leaves[at];
  if (word_or_number(l)) return before ? simple_before(leaves, at) : simple_behind(leaves, at);
  bool sign = l->token(TokenKind::Plus) || l->token(TokenKind::Minus) || l->token(TokenKind::Tilde);
  return sign && at + 1 < leaves.size() && word_or_number(leaves[at + 1]) && simple_behind(leaves, at + 1);
}

/// No spaces round `**` between simple operands. The leaves that it changes are copies: what is tried and given up changes nothing.
std::optional<Line> hug_powers(const Line& line, LeafPool& pool) {
  const auto& leaves = line.leaves;
  if (std::none_of(leaves.begin(), leaves.end(), [](const Leaf* l) { return l->token(TokenKind::DoubleStar); })) return {};
  Line out = line.clone();
  bool hug = false;
  for (size_t i = 0; i < leaves.size(); ++i) {
    bool here = hug;
    hug = i > 0 && i + 1 < leaves.size() && leaves[i]->token(TokenKind::DoubleStar) && !leaves[i - 1]->token(TokenKind::Lambda) &&
          simple_operand(leaves, i - 1, true) && simple_operand(leaves, i + 1, false);
    Leaf* leaf = leaves[i];
    if (here || hug) {
      Leaf copy = *leaf;
      copy.spaces = 0;
      leaf = &pool.emplace_back(std::move(copy));
    }
    out.append(leaf);
    for (Leaf* c : line.comments_after(leaves[i])) out.append(c);
  }
  return out;
}

// ---------------------------------------------------------------------------------------- bringing it together

/// Does the annotation of what a function returns want its own split?
bool returns_split_first(const Line& line) {
  std::vector<Leaf*> returns;
  bool in = false;
  for (Leaf* leaf : line.leaves) {
    if (leaf->token(TokenKind::Colon)) in = false;
    if (in) returns.push_back(leaf);
    if (leaf->token(TokenKind::Arrow)) in = true;
  }
  Line result(*line.options, line.depth);
  std::unordered_set<const Leaf*> inside = inside_brackets(returns);
  for (Leaf* leaf : returns) result.append(leaf, inside.contains(leaf));
  if (result.magic_comma) return true;
  auto visible = std::find_if(returns.begin(), returns.end(), [](const Leaf* l) { return !l->text.empty(); });
  return visible != returns.end() && (*visible)->token(TokenKind::String) && !fits(result);
}

using Transform = std::function<Split(const Line&, bool)>;

/// Runs one way of splitting and splits what it gives; nothing: it gives nothing new.
Split run(const Line& line, const std::string& text, const Transform& transform, bool right_hand, LeafPool& pool, bool force) {
  std::vector<Leaf*> optional;
  for (Leaf* b : line.tracker.invisible) {
    if (b->depth == 0) optional.push_back(b);
  }
  Split parts = transform(line, force);
  if (!parts) return {};
  Lines result;
  for (const Line& part : *parts) {
    if (part.text() == text) return {};
  }
  for (const Line& part : *parts) {
    for (Line& l : split(part, pool, force)) result.push_back(std::move(l));
  }
  if (result.empty()) return {};
  if (force || !right_hand || line.tracker.invisible.empty() ||
      std::any_of(optional.begin(), optional.end(), [](const Leaf* b) { return !b->text.empty(); }) ||
      line.has_multiline_strings() || fits(result[0]) || long_by_comment(result[0]) ||
      std::any_of(line.leaves.begin(), line.leaves.end(), [](const Leaf* l) { return l->made || l->standalone(); })) {
    return result;
  }
  // Once more, with the optional parentheses there.
  Line copy = line.clone();
  std::unordered_map<const Leaf*, Leaf*> fresh;
  for (Leaf* leaf : line.leaves) {
    Leaf* twin = &pool.emplace_back(*leaf);
    fresh[leaf] = twin;
    if (leaf->mate) {
      if (auto it = fresh.find(leaf->mate); it != fresh.end()) twin->mate = it->second, it->second->mate = twin;
    }
    copy.append(twin, true);
    for (Leaf* c : line.comments_after(leaf)) copy.append(c);
  }
  Split second = run(copy, text, transform, right_hand, pool, true);
  if (second && std::all_of(second->begin(), second->end(), [](const Line& l) { return fits(l); })) return second;
  return result;
}

}  // namespace

std::vector<Line> split(const Line& line, LeafPool& pool, bool force) {
  if (line.is_comment()) return {line};
  std::optional<Line> hugged = hug_powers(line, pool);
  const std::string text = line.text();
  const std::string shortest = hugged ? hugged->text() : text;
  const bool whole = !line.split_at_once && !line.magic_comma && fits(line, shortest, line.options->line_length) &&
                     !(line.inside_brackets && line.has_standalone_comments()) && !line.has_commented_string_row();
  std::vector<std::pair<Transform, bool>> transforms;
  Transform right = [&](const Line& l, bool f) { return right_hand_split_with_omits(l, pool, f); };
  if (!whole) {
    if (line.is_def() && !returns_split_first(line)) {
      transforms.push_back({[&](const Line& l, bool) { return left_hand_split(l, pool); }, false});
    } else {
      if (line.inside_brackets) {
        transforms.push_back({[&](const Line& l, bool) { return delimiter_split(l, pool); }, false});
        transforms.push_back({[&](const Line& l, bool) { return comment_split(l); }, false});
      }
      transforms.push_back({right, true});
    }
  }
  for (const auto& [transform, right_hand] : transforms) {
    if (Split result = run(line, text, transform, right_hand, pool, force)) return std::move(*result);
  }
  if (hugged && shortest != text) return {std::move(*hugged)};
  if (!line.has_standalone_comments() || line.leaves.size() < 2) return {line};
  // What is left of comments inside must not swallow what follows them.
  Lines out;
  Line current(*line.options, line.depth, line.inside_brackets);
  for (Leaf* leaf : line.leaves) {
    bool cut = !current.leaves.empty() && (leaf->standalone() || current.is_comment()) &&
               !(current.is_comment() && leaf->token(TokenKind::Colon));
    if (cut) {
      out.push_back(std::move(current));
      current = Line(*line.options, line.depth, line.inside_brackets);
    }
    current.append(leaf);
    for (Leaf* c : line.comments_after(leaf)) current.append(c);
  }
  if (!current.empty()) out.push_back(std::move(current));
  return out;
}

}  // namespace tfl::format
