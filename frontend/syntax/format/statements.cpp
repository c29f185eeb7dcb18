// From logical lines to statements: semicolons and blocks on the line of their owner are taken apart, comments found between tokens.
#include <algorithm>

#include "frontend/syntax/format/statement.h"

namespace tfl::format {

namespace {

using parse::Layout;
using parse::LogicalLine;
using parse::Token;

/// What lies between two tokens: comments and empty lines.
struct Gap {
  std::vector<CommentText> comments;
  uint32_t blank = 0;     // empty lines behind the last comment
  uint32_t newlines = 0;  // line breaks in all
};

Gap read_gap(std::string_view text, uint32_t offset, bool begins_line) {
  Gap gap;
  bool first = !begins_line;  // still on the line of the token before
  uint32_t blank = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    bool complete = end != text.npos;
    std::string_view line = text.substr(at, complete ? end - at : text.npos);
    size_t in = line.find_first_not_of(" \t\f");
    bool joined = line.ends_with('\\') && (in == line.npos || line[in] != '#');
    if (in != line.npos && line[in] == '#') {
      gap.comments.push_back(
          {normal_comment(line.substr(in)), first, blank, static_cast<uint32_t>(in), offset + static_cast<uint32_t>(at + in)});
      blank = 0;
    } else if (complete && !first && !joined) {
      ++blank;
    }
    gap.newlines += complete;
    first = first && joined;
    at = complete ? end + 1 : text.size();
  }
  gap.blank = blank;
  return gap;
}

class Reader {
 public:
  Reader(const Source& source, const Layout& layout) : source_(source), layout_(layout), text_(source.text()) {}

  Statements run() {
    uint32_t behind = 0;  // where the last statement ends
    for (size_t i = 0; i < layout_.lines.size(); ++i) {
      const LogicalLine& line = layout_.lines[i];
      const Token& head = layout_.tokens[line.first];
      const auto level = static_cast<int>(line.level);
      Gap gap = read_gap(text_.substr(behind, head.begin - behind), behind, behind == 0);
      if (columns_.size() <= line.level) columns_.resize(line.level + 1, 0);
      columns_[line.level] = column_of(head);
      place_comments(gap, i, level);
      read_line(line, gap.blank, i == 0 || line.indent);
      behind = layout_.tokens[line.end - 1].end;
      previous_level_ = level;
    }
    Gap gap = read_gap(text_.substr(behind), behind, behind == 0);
    place_comments(gap, layout_.lines.size(), 0);
    if (!pending_.empty()) {
      Statement last;
      last.before = std::move(pending_);
      last.begin = last.end = static_cast<uint32_t>(text_.size());
      out_.list.push_back(std::move(last));
    }
    return std::move(out_);
  }

 private:
  uint32_t column_of(const Token& t) const {
    size_t begin = text_.rfind('\n', t.begin ? t.begin - 1 : 0);
    if (begin == text_.npos || t.begin == 0) return t.begin;
    return t.begin - static_cast<uint32_t>(begin) - 1;
  }

  /// A comment belongs to the block before as long as it is indented as that is.
  void place_comments(Gap& gap, size_t line, int level) {
    int at = std::max(previous_level_, level);
    for (CommentText& c : gap.comments) {
      if (c.trailing && line > 0 && !out_.list.empty()) {
        out_.list.back().behind.push_back(c);
        continue;
      }
      while (at > level && c.column < columns_[static_cast<size_t>(at)]) --at;
      c.column = static_cast<uint32_t>(at);
      pending_.push_back(c);
    }
  }

  /// Cuts a logical line into statements.
  void read_line(const LogicalLine& line, uint32_t blank, bool first_of_block) {
    uint32_t depth = 0, begin = line.first;
    int lambdas = 0;
    bool compound = false, header_done = false;
    auto word = [&](uint32_t at) { return layout_.tokens[at].kind; };
    switch (word(begin)) {
      case TokenKind::If:
      case TokenKind::Elif:
      case TokenKind::Else:
      case TokenKind::While:
      case TokenKind::For:
      case TokenKind::Try:
      case TokenKind::Except:
      case TokenKind::Finally:
      case TokenKind::With:
      case TokenKind::Def:
      case TokenKind::Async:
      case TokenKind::Class: compound = true; break;
      default: break;
    }
    int level = static_cast<int>(line.level);
    bool same_line = false;
    const bool of_def = word(begin) == TokenKind::Def || (word(begin) == TokenKind::Async && word(begin + 1) == TokenKind::Def);
    auto emit = [&](uint32_t end, bool docstring_place) {
      if (end > begin)
        statement(begin, end, same_line ? level + (compound ? 1 : 0) : level, same_line ? 0 : blank, same_line, docstring_place);
      same_line = true;
    };
    for (uint32_t i = line.first; i < line.end; ++i) {
      TokenKind kind = word(i);
      if (parse::is_open_bracket(kind)) ++depth;
      if (parse::is_close_bracket(kind)) --depth;
      if (depth == 0 && kind == TokenKind::Lambda) ++lambdas;
      if (depth == 0 && kind == TokenKind::Colon && lambdas > 0) {
        --lambdas;
      } else if (depth == 0 && kind == TokenKind::Colon && compound && !header_done) {
        header_done = true;
        emit(i + 1, false);
        begin = i + 1;
        continue;
      }
      if (depth == 0 && kind == TokenKind::Semicolon) {
        emit(i, !compound ? first_of_block && begin == line.first : of_def && header_done);
        begin = i + 1;
      }
    }
    emit(line.end, !compound ? first_of_block && begin == line.first : of_def && header_done && begin > line.first);
  }

  void statement(uint32_t begin, uint32_t end, int depth, uint32_t blank, bool same_line, bool docstring_place) {
    Statement s;
    s.depth = depth;
    s.blank = blank;
    s.same_line = same_line;
    s.before = std::move(pending_);
    pending_.clear();
    const Token& head = layout_.tokens[begin];
    const Token& last = layout_.tokens[end - 1];
    s.begin = head.begin;
    s.end = last.end;
    s.first_line = head.line;
    s.last_line = source_.line_at(last.end);
    for (uint32_t i = begin; i < end; ++i) {
      const Token& t = layout_.tokens[i];
      Leaf& leaf = out_.pool.emplace_back();
      leaf.kind = t.kind;
      leaf.text = std::string(parse::text_of(source_, t));
      if (i > begin) {
        uint32_t from = layout_.tokens[i - 1].end;
        Gap gap = read_gap(text_.substr(from, t.begin - from), from, false);
        leaf.comments = std::move(gap.comments);
        leaf.newlines_inside = gap.newlines;
      } else {
        leaf.statement = t.kind == TokenKind::At     ? "@"
                         : parse::is_keyword(t.kind) ? parse::token_text(t.kind)
                                                     : std::string_view();
      }
      s.leaves.push_back(&leaf);
    }
    s.docstring = docstring_place && s.leaves.size() == 1 && head.kind == TokenKind::String && is_text(s.leaves[0]->text);
    s.first_of_block = docstring_place;
    out_.list.push_back(std::move(s));
  }

  static bool is_text(const std::string& literal) {
    size_t quote = literal.find_first_of("'\"");
    return literal.substr(0, quote).find_first_of("bBfF") == std::string::npos;
  }

  const Source& source_;
  const Layout& layout_;
  std::string_view text_;
  Statements out_;
  std::vector<CommentText> pending_;
  std::vector<uint32_t> columns_;  // where each level begins
  int previous_level_ = 0;
};

}  // namespace

Statements read_statements(const Source& source, const Layout& layout) { return Reader(source, layout).run(); }

}  // namespace tfl::format
