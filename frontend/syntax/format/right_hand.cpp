#include "frontend/syntax/format/right_hand.h"

#include <algorithm>

namespace tfl::format {

namespace {

using Lines = std::vector<Line>;
using Split = std::optional<Lines>;
using Omit = std::unordered_set<const Leaf*>;

struct Parts {
  Line head, body, tail;
  Leaf* open;
  Leaf* close;
};

std::optional<Parts> first_split(const Line& line, const Omit& omit, LeafPool& pool) {
  std::vector<Leaf*> head, body, tail;
  std::vector<Leaf*>* current = &tail;
  Leaf* open = nullptr;
  Leaf* close = nullptr;
  for (size_t i = line.leaves.size(); i-- > 0;) {
    Leaf* leaf = line.leaves[i];
    if (current == &body && leaf == open) current = body.empty() ? &tail : &head;
    current->push_back(leaf);
    if (current == &tail && leaf->closes() && !omit.contains(leaf)) {
      open = leaf->mate;
      close = leaf;
      current = &body;
    }
  }
  if (!open || !close || head.empty()) return {};
  for (auto* part : {&head, &body, &tail}) std::reverse(part->begin(), part->end());
  Parts p{part_line(std::move(head), line, open, Part::Head, pool), part_line(std::move(body), line, open, Part::Body, pool),
          part_line(std::move(tail), line, open, Part::Tail, pool), open, close};
  if (!split_succeeded(p.body, p.tail)) return {};
  return p;
}

struct Measured {
  const Leaf* leaf;
  uint32_t width;
};

/// Each leaf with its width and that of its comments, up to a text of several lines; from the right where asked.
std::vector<Measured> measured(const Line& line, bool reversed) {
  std::vector<Measured> out;
  for (size_t k = 0; k < line.leaves.size(); ++k) {
    const Leaf* leaf = line.leaves[reversed ? line.leaves.size() - 1 - k : k];
    if (leaf->text.find('\n') != std::string::npos) break;
    auto width = static_cast<uint32_t>(leaf->spaces + count_characters(leaf->text));
    for (const Leaf* c : line.comments_after(leaf)) width += count_characters(c->text);
    out.push_back({leaf, width});
  }
  return out;
}

bool can_be_split(const Line& line) {
  const auto& leaves = line.leaves;
  if (leaves.size() < 2) return false;
  if (leaves[0]->token(TokenKind::String) && leaves[1]->token(TokenKind::Dot)) {
    int calls = 0, dots = 0;
    const Leaf* next = leaves.back();
    for (size_t i = leaves.size() - 1; i-- > 0;) {
      const Leaf* leaf = leaves[i];
      if (leaf->opens()) {
        if (!next->closes()) return false;
        ++calls;
      } else if (leaf->token(TokenKind::Dot)) {
        ++dots;
      } else if (leaf->token(TokenKind::Name)) {
        if (!(next->token(TokenKind::Dot) || next->opens())) return false;
      } else if (!leaf->closes()) {
        return false;
      }
      if (dots > 1 && calls > 1) return false;
    }
  }
  return true;
}

bool can_omit_opening(const Line& line, const Leaf* first) {
  bool rest = false;
  uint32_t length = 4 * static_cast<uint32_t>(line.depth);
  std::vector<Measured> all = measured(line, false);
  for (const Measured& m : all) {
    if (m.leaf->closes() && m.leaf->mate == first) rest = true;
    if (!rest) continue;
    length += m.width;
    if (length > line.options->line_length) return false;
    if (m.leaf->opens()) rest = false;
  }
  return all.size() == line.leaves.size();
}

bool can_omit_closing(const Line& line, const Leaf* last) {
  uint32_t length = 4 * static_cast<uint32_t>(line.depth);
  bool others = false;
  for (const Measured& m : measured(line, false)) {
    length += m.width;
    if (m.leaf == last->mate) {
      if (others || length <= line.options->line_length) return true;
    } else if (m.leaf->opens()) {
      others = true;
    }
  }
  return false;
}

/// Is the body fine without the optional parentheses round it?
bool can_omit_parentheses(const Parts& p) {
  const Line& line = p.body;
  if (p.open->invisible() && !p.head.comments_after(p.open).empty()) return false;
  const Leaf* closing = nullptr;
  for (size_t i = line.leaves.size(); i-- > 0;) {
    const Leaf* leaf = line.leaves[i];
    if (closing && leaf == closing->mate) closing = nullptr;
    if (leaf->standalone() && !closing) return false;
    if (!closing && leaf->closes() && !leaf->text.empty() &&
        std::find(line.leaves.begin(), line.leaves.end(), leaf->mate) != line.leaves.end()) {
      closing = leaf;
    }
  }
  if (line.tracker.delimiters.empty()) return true;
  const int priority = line.tracker.max_priority();
  const size_t count = line.tracker.count(priority);
  if (count > 1) return false;
  if (count == 1 && priority == kComma && p.head.is_statement("with")) return false;
  if (priority == kDot) return true;
  if (line.leaves.size() < 2) return false;
  const Leaf* first = line.leaves[0];
  if (first->opens() && !line.leaves[1]->closes() && can_omit_opening(line, first)) return true;
  const Leaf* last = line.leaves.back();
  const Leaf* before = line.leaves[line.leaves.size() - 2];
  if (last->token(TokenKind::Rparen) || last->token(TokenKind::Rbrace) ||
      (last->token(TokenKind::Rbracket) && last->role != Role::Subscript)) {
    if (before->opens()) return false;
    if (is_multiline_string(first)) return true;
    if (can_omit_closing(line, last)) return true;
  }
  return false;
}

size_t equals(const Line& line) {
  return static_cast<size_t>(
      std::count_if(line.leaves.begin(), line.leaves.end(), [](const Leaf* l) { return l->token(TokenKind::Assign); }));
}

/// Is the split further left, without the optional parentheses, better than the one with them?
bool prefer_without(const Parts& without, const Parts& with) {
  const auto& head = with.head.leaves;
  if (!(head.size() >= 2 && head[head.size() - 2]->token(TokenKind::Assign))) return true;
  if (std::none_of(head.begin(), head.end() - 1, [](const Leaf* l) { return l->bracket(); })) return true;
  if (!fits(with.head, with.head.text(), with.head.options->line_length - 1)) return true;
  if (with.head.magic_comma) return true;
  size_t all = equals(with.head);
  if (all > 1 && all > equals(without.head)) return false;
  for (size_t i = without.head.leaves.size(); i-- > 0;) {
    const Leaf* leaf = without.head.leaves[i];
    if (leaf->token(TokenKind::Assign)) break;
    if (leaf->closes()) return true;
  }
  return equals(without.head) > 0 && fits(without.head);
}

Split maybe_without(Parts p, const Line& line, LeafPool& pool, bool force, const Omit& omit) {
  if (!force && p.open->token(TokenKind::Lparen) && p.open->invisible() && p.close->invisible() && !line.is_import() &&
      can_omit_parentheses(p)) {
    Omit more = omit;
    more.insert(p.close);
    bool failed = true;
    if (std::optional<Parts> without = first_split(line, more, pool)) {
      failed = false;
      if (prefer_without(*without, p)) {
        if (Split done = maybe_without(std::move(*without), line, pool, force, more)) return done;
        failed = true;
      }
    }
    if (failed && !line.chained_assignment()) {
      if (!can_be_split(p.body) && !fits(p.body)) return {};
      if (p.head.has_multiline_strings() || p.tail.has_multiline_strings()) return {};
    }
  }
  show(p.open);
  show(p.close);
  Lines out;
  for (Line* part : {&p.head, &p.body, &p.tail}) {
    if (!part->empty()) out.push_back(std::move(*part));
  }
  return out;
}

Split right_hand_split(const Line& line, LeafPool& pool, bool force, const Omit& omit) {
  std::optional<Parts> p = first_split(line, omit, pool);
  if (!p) return {};
  return maybe_without(std::move(*p), line, pool, force, omit);
}

/// Sets of closing brackets to pass over, each larger than the one before: trailers that stay together at the end of the line.
std::vector<Omit> trailers_to_omit(const Line& line) {
  std::vector<Omit> out;
  Omit omit, inner;
  if (!line.magic_comma) out.push_back(omit);
  uint32_t length = 4 * static_cast<uint32_t>(line.depth);
  const Leaf* open = nullptr;
  const Leaf* close = nullptr;
  std::vector<Measured> all = measured(line, true);
  for (size_t k = 0; k < all.size(); ++k) {
    const Leaf* leaf = all[k].leaf;
    const size_t index = line.leaves.size() - 1 - k;
    length += all[k].width;
    if (length > line.options->line_length) break;
    if (leaf->standalone() || !line.comments_after(leaf).empty()) break;
    const Leaf* prev = index > 0 ? line.leaves[index - 1] : nullptr;
    auto ends_in_comma = [&] {
      return prev && prev->token(TokenKind::Comma) && leaf->mate && !one_item_between(leaf->mate, leaf, line.leaves);
    };
    if (open) {
      if (leaf == open) {
        open = nullptr;
      } else if (leaf->closes()) {
        if (ends_in_comma()) break;
        inner.insert(leaf);
      }
    } else if (leaf->closes()) {
      if (prev && prev->opens()) {
        inner.insert(leaf);
        continue;
      }
      if (close) {
        omit.insert(close);
        omit.insert(inner.begin(), inner.end());
        inner.clear();
        out.push_back(omit);
      }
      if (ends_in_comma()) break;
      if (!leaf->text.empty()) {
        open = leaf->mate;
        close = leaf;
      }
    }
  }
  return out;
}

bool annotation_comma(const Leaf* leaf) { return leaf->token(TokenKind::Comma) && leaf->annotated == Annotated::No; }

bool wants_trailing_comma(const std::vector<Leaf*>& leaves, const Line& original, const Leaf* open) {
  if (leaves.empty()) return false;
  if (original.is_import()) return true;
  if (!original.is_def() || open->text != "(") return false;
  if (std::any_of(leaves.begin(), leaves.end(), annotation_comma)) return false;
  auto code = std::find_if(leaves.begin(), leaves.end(), [](const Leaf* l) { return l->is == LeafIs::Token; });
  return code == leaves.end() || (*code)->annotated != Annotated::Returns;
}

/// Is what stands in these brackets always one item a line?
bool explodes(const Line& line, const Leaf* open) {
  if (line.leaves.empty()) return false;
  const Leaf* last = line.leaves.back();
  bool trailing = last->token(TokenKind::Comma);
  if (line.tracker.max_priority(trailing ? last : nullptr) != kComma) return false;
  return (line.options->magic_trailing_comma && trailing) || open->role == Role::Atom || open->role == Role::ImportNames;
}

}  // namespace

void show(Leaf* bracket) {
  if (bracket->token(TokenKind::Lparen)) bracket->text = "(";
  if (bracket->token(TokenKind::Rparen)) bracket->text = ")";
}

std::unordered_set<const Leaf*> inside_brackets(const std::vector<Leaf*>& leaves) {
  std::unordered_set<const Leaf*> ids;
  std::vector<size_t> open;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (leaves[i]->opens()) open.push_back(i);
    if (!leaves[i]->closes() || open.empty()) continue;
    if (leaves[open.back()] == leaves[i]->mate) {
      for (size_t k = open.back(); k <= i; ++k) ids.insert(leaves[k]);
      open.pop_back();
    }
  }
  return ids;
}

bool split_succeeded(const Line& body, const Line& tail) {
  if (!body.empty()) return true;
  std::string text = tail.text();
  size_t begin = text.find_first_not_of(' ');
  return begin != std::string::npos && text.size() - begin >= 3;
}

bool long_by_comment(const Line& line) {
  if (line.leaves.empty() || line.comments.empty()) return false;
  Line bare = line;
  bare.comments.clear();
  if (text_width(bare.text()) > line.options->line_length) return false;
  return std::all_of(line.comments.begin(), line.comments.end(),
                     [](const auto& c) { return c.second.empty() || c.first->token(TokenKind::Lbracket); });
}

Line part_line(std::vector<Leaf*> leaves, const Line& original, const Leaf* open, Part part, LeafPool& pool) {
  Line result(*original.options, original.depth);
  if (part == Part::Body) {
    result.inside_brackets = true;
    ++result.depth;
    if (wants_trailing_comma(leaves, original, open)) {
      for (size_t i = leaves.size(); i-- > 0;) {
        if (leaves[i]->standalone()) continue;
        if (!leaves[i]->token(TokenKind::Comma)) {
          Leaf& comma = pool.emplace_back();
          comma.kind = TokenKind::Comma;
          comma.text = ",";
          comma.made = true;
          leaves.insert(leaves.begin() + static_cast<ptrdiff_t>(i) + 1, &comma);
        }
        break;
      }
    }
  }
  std::unordered_set<const Leaf*> tracked;
  if (part == Part::Head) tracked = inside_brackets(leaves);
  for (Leaf* leaf : leaves) {
    result.append(leaf, tracked.contains(leaf));
    for (Leaf* c : original.comments_after(leaf)) result.append(c);
  }
  result.split_at_once = part == Part::Body && explodes(result, open);
  return result;
}

std::optional<std::vector<Line>> right_hand_split_with_omits(const Line& line, LeafPool& pool, bool force) {
  std::unordered_map<const Leaf*, uint32_t> begins;
  uint32_t length = 4 * static_cast<uint32_t>(line.depth);
  for (const Leaf* leaf : line.leaves) {
    begins[leaf] = length;
    length += leaf->spaces + count_characters(leaf->text);
  }
  Split first;
  for (const Omit& omit : trailers_to_omit(line)) {
    if (!omit.empty()) {
      const Leaf* target = nullptr;
      for (size_t i = line.leaves.size(); i-- > 0;) {
        if (line.leaves[i]->closes() && !omit.contains(line.leaves[i])) {
          target = line.leaves[i]->mate;
          break;
        }
      }
      if (target && !target->text.empty() && begins.contains(target) && begins[target] > line.options->line_length) continue;
    }
    Split lines = right_hand_split(line, pool, force, omit);
    if (!lines || lines->empty()) return {};
    if (omit.empty() && !first) first = lines;
    if (fits(lines->front()) || (!omit.empty() && long_by_comment(lines->front()))) return lines;
  }
  if (first) return first;
  return right_hand_split(line, pool, force, {});
}

}  // namespace tfl::format
