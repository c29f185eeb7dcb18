// The formatter's way: tokens, statements, lines, empty lines between them. What comes out is parsed again and compared before anybody
// gets it.
#include "frontend/syntax/format/format.h"

#include <algorithm>

#include "frontend/syntax/ast/dump.h"
#include "frontend/syntax/format/empty_lines.h"
#include "frontend/syntax/format/split.h"
#include "frontend/syntax/format/statement.h"
#include "frontend/syntax/parse/parse.h"

namespace tfl {

namespace format {
namespace {

constexpr int kMostPasses = 5;

class Formatter {
 public:
  Formatter(const Source& source, const parse::Layout& layout, const FormatOptions& options)
      : source_(source), options_(options), read_(read_statements(source, layout)) {}

  std::string run() {
    std::vector<Statement>& list = read_.list;
    for (at_ = 0; at_ < list.size(); ++at_) {
      if (comments(list[at_])) continue;
      if (!list[at_].leaves.empty()) statement(list[at_]);
    }
    set_empty_lines(blocks_);
    std::string out;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      uint32_t before = blocks_[i].before;
      if (i > 0 && !blocks_[i].kept) before += blocks_[i - 1].after;
      out.append(before, '\n');
      out += texts_[i];
    }
    return out;
  }

 private:
  bool selected(uint32_t first, uint32_t last) const {
    if (options_.ranges.empty()) return true;
    return std::any_of(options_.ranges.begin(), options_.ranges.end(),
                       [&](const LineRange& r) { return first <= r.last && last >= r.first; });
  }
  static std::string margin(int depth) { return std::string(static_cast<size_t>(depth) * 4, ' '); }

  void put(Block block, std::string text) {
    if (!text.ends_with('\n')) text += '\n';
    blocks_.push_back(block);
    texts_.push_back(std::move(text));
  }

  /// The comments before a statement. True: formatting was switched off there, and the statement has been written.
  bool comments(Statement& s) {
    for (size_t i = 0; i < s.before.size(); ++i) {
      const CommentText& c = s.before[i];
      uint32_t line = source_.line_at(c.begin);
      Block b{.depth = static_cast<int>(c.column), .blank = c.blank, .comment = true};
      b.kept = !selected(line, line);
      if (is_directive(c.text, "off")) return switched_off(i, b);
      put(b, margin(b.depth) + c.text);
    }
    return false;
  }

  /// From `# fmt: off` to `# fmt: on`, to the end of the block, or of the file, the text stays as it is.
  bool switched_off(size_t comment, Block b) {
    std::vector<Statement>& list = read_.list;
    const uint32_t begin = list[at_].before[comment].begin;
    const int depth = b.depth;
    uint32_t end = begin;
    size_t from = comment + 1;
    for (size_t k = at_; k < list.size(); ++k, from = 0) {
      Statement& s = list[k];
      for (size_t i = from; i < s.before.size(); ++i) {
        const CommentText& c = s.before[i];
        bool on = is_directive(c.text, "on");
        if (on || static_cast<int>(c.column) < depth) {
          put_verbatim(b, begin, end);
          s.before.erase(s.before.begin(), s.before.begin() + static_cast<ptrdiff_t>(i));
          at_ = k - 1;  // the statement is looked at once more, with what is left before it
          return true;
        }
        end = end_of_line(c.begin);
      }
      if (s.leaves.empty()) continue;
      if (s.depth < depth) {
        put_verbatim(b, begin, end);
        s.before.clear();
        at_ = k - 1;
        return true;
      }
      end = end_of_line(s.end);
    }
    put_verbatim(b, begin, end == begin ? end_of_line(begin) : end);
    at_ = list.size() - 1;
    return true;
  }

  uint32_t end_of_line(uint32_t at) const {
    size_t end = source_.text().find('\n', at);
    return static_cast<uint32_t>(end == std::string::npos ? source_.text().size() : end);
  }

  void put_verbatim(Block b, uint32_t begin, uint32_t end) {
    if (end < begin) end = end_of_line(begin);
    std::string text = source_.text().substr(begin, end - begin);
    size_t last = text.find_last_not_of(" \t\n");
    text.resize(last == std::string::npos ? 0 : last + 1);
    put(b, margin(b.depth) + text);
  }

  static bool any_directive(const Statement& s, std::string_view word, bool inside) {
    auto has = [&](const std::vector<CommentText>& all) {
      return std::any_of(all.begin(), all.end(), [&](const CommentText& c) { return is_directive(c.text, word); });
    };
    if (!inside) return has(s.behind);
    return std::any_of(s.leaves.begin(), s.leaves.end(), [&](const Leaf* l) { return has(l->comments); });
  }

  /// How many statements there are on the logical line of this one.
  size_t on_line() const {
    size_t n = 1;
    while (at_ + n < read_.list.size() && read_.list[at_ + n].same_line) ++n;
    return n;
  }

  void statement(Statement& s) {
    const Statement& last = read_.list[at_ + on_line() - 1];
    bool keep = any_directive(s, "skip", true) || any_directive(s, "off", true) || any_directive(last, "skip", false);
    bool chosen = selected(s.first_line, last.last_line);
    Block b = block_of(s);
    if (keep || !chosen) {
      if (s.same_line) b.before = 0;
      b.kept = !chosen;
      uint32_t end = last.behind.empty() ? last.end : end_of_line(last.behind.back().begin);
      at_ += on_line() - 1;
      put_verbatim(b, s.begin, end);
      return;
    }
    assign_roles(s.leaves);
    literals(s);
    place_parentheses(s, read_.pool);
    bool stub = at_ + 1 < read_.list.size() && stub_body(s, read_.list[at_ + 1]);
    Line line(options_, s.depth);
    fill(line, s);
    if (stub) {
      const Statement& body = read_.list[at_ + 1];
      Leaf* dots = body.leaves[0];
      dots->spaces = 1;
      line.append(dots, true);
      for (const CommentText& c : body.behind) line.append(comment_leaf(c), true);
      b.stub_def = b.def;
      b.opens_block = false;
      ++at_;
    } else {
      for (const CommentText& c : s.behind) line.append(comment_leaf(c), true);
    }
    std::string text;
    for (const Line& l : split(line, read_.pool)) text += l.text() + "\n";
    put(b, std::move(text));
  }

  Block block_of(const Statement& s) const {
    Block b{.depth = s.depth, .blank = s.same_line ? 0 : s.blank};
    b.word = s.leaves[0]->statement;
    b.decorator = b.word == "@";
    b.def = b.word == "def";
    b.klass = b.word == "class";
    b.import = b.word == "import" || b.word == "from";
    b.docstring = s.docstring;
    b.opens_block = s.leaves.back()->token(TokenKind::Colon);
    return b;
  }

  /// `def f(): ...` stays on one line.
  bool stub_body(const Statement& s, const Statement& body) const {
    std::string_view word = s.leaves[0]->statement;
    if ((word != "def" && word != "class") || !s.leaves.back()->token(TokenKind::Colon) || !s.behind.empty()) return false;
    if (body.depth != s.depth + 1 || body.leaves.size() != 1 || !body.leaves[0]->token(TokenKind::Ellipsis)) return false;
    if (!body.before.empty()) return false;
    if (at_ + 2 >= read_.list.size()) return true;
    const Statement& next = read_.list[at_ + 2];
    bool more = !next.leaves.empty() && next.depth > s.depth;
    bool comment = !next.before.empty() && static_cast<int>(next.before[0].column) > s.depth;
    return !more && !comment && !next.same_line;
  }

  Leaf* comment_leaf(const CommentText& c) {
    Leaf& leaf = read_.pool.emplace_back();
    leaf.kind = TokenKind::Comment;
    leaf.is = c.trailing ? LeafIs::Comment : LeafIs::Standalone;
    leaf.text = c.text;
    return &leaf;
  }

  void fill(Line& line, const Statement& s) {
    // class A(): is class A:
    size_t n = s.leaves.size();
    bool bare = n == 5 && s.leaves[0]->statement == "class" && s.leaves[2]->token(TokenKind::Lparen) &&
                s.leaves[3]->token(TokenKind::Rparen) && s.leaves[3]->comments.empty();
    for (size_t i = 0; i < n; ++i) {
      if (bare && (i == 2 || i == 3)) continue;
      for (const CommentText& c : s.leaves[i]->comments) line.append(comment_leaf(c), true);
      line.append(s.leaves[i], true);
    }
  }

  void literals(Statement& s) {
    for (Leaf* l : s.leaves) {
      if (l->token(TokenKind::Number)) l->text = normal_number(l->text);
      if (!l->token(TokenKind::String)) continue;
      l->text = s.docstring
                    ? normal_docstring(l->text, static_cast<size_t>(s.depth) * 4, options_.line_length, options_.normal_quotes)
                    : normal_string(l->text, options_.normal_quotes);
    }
  }

  const Source& source_;
  const FormatOptions& options_;
  Statements read_;
  size_t at_ = 0;
  std::vector<Block> blocks_;
  std::vector<std::string> texts_;
};

/// A tree as text without places; what a formatter may change is left out.
std::vector<std::string> tree_lines(const ast::Module& module) {
  std::vector<std::string> out;
  std::string text = ast::dump_ast(module);
  bool statement = false;  // the line before is an expression as a statement
  for (size_t at = 0; at < text.size();) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    std::string line = text.substr(at, end - at);
    at = end + 1;
    size_t place = line.find_last_of(' ');
    if (place != std::string::npos && line.find(':', place) != std::string::npos) line.resize(place);
    size_t word = line.find_first_not_of(' ');
    std::string_view rest = word == std::string::npos ? std::string_view() : std::string_view(line).substr(word);
    if (rest == "Tuple ()") line.resize(line.size() - 3);
    if (statement && rest.starts_with("String '")) {
      // A docstring's lines may be indented anew.
      std::string bare;
      for (size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '\\' && i + 1 < rest.size() && (rest[i + 1] == 'n' || rest.substr(i).starts_with("\\x09"))) {
          i += rest[i + 1] == 'n' ? 1 : 3;
        } else if (rest[i] != ' ') {
          bare += rest[i];
        }
      }
      line.replace(word, std::string::npos, bare);
    }
    statement = rest == "Expression";
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace
}  // namespace format

FormatResult format_source(const Source& given, const FormatOptions& options) {
  FormatResult result;
  result.text = given.text();
  // Lines end as the first one does.
  std::string text;
  text.reserve(given.text().size());
  const size_t first_end = given.text().find_first_of("\r\n");
  const bool crlf = first_end != std::string::npos && given.text().compare(first_end, 2, "\r\n") == 0;
  for (size_t i = 0; i < given.text().size(); ++i) {
    char c = given.text()[i];
    if (c == '\r' && (i + 1 == given.text().size() || given.text()[i + 1] != '\n'))
      text += '\n';
    else if (c != '\r')
      text += c;
  }
  if (text.find_first_not_of(" \t\n\f") == std::string::npos) {
    result.text = text.find('\n') == std::string::npos ? "" : crlf ? "\r\n" : "\n";
    if (text.empty()) result.text.clear();
    return result;
  }
  Source source(given.name, std::move(text));
  ParseResult parsed = parse_module(source);
  if (!parsed.ok()) {
    result.diagnostics = std::move(parsed.diagnostics);
    return result;
  }
  // A second look may find a better form: commas that were added, parentheses that are on one line now. What comes out is left as it is
  // the next time.
  std::string fresh = source.text();
  for (int i = 0; i < format::kMostPasses; ++i) {
    Source from(given.name, fresh);
    parse::Layout layout = parse::lay_out(from);
    if (!layout.diagnostics.empty()) break;
    std::string next = format::Formatter(from, layout, options).run();
    bool same = next == fresh;
    fresh = std::move(next);
    if (same || !options.ranges.empty()) break;
  }
  Source again(given.name, fresh);
  ParseResult reparsed = parse_module(again);
  if (!reparsed.ok()) {
    const Diagnostic& d = reparsed.diagnostics.front();
    result.problem = "line " + std::to_string(d.span.line) + " of the formatted text does not parse: " + d.message;
    return result;
  }
  std::vector<std::string> before = format::tree_lines(parsed.module), after = format::tree_lines(reparsed.module);
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i < before.size() && i < after.size() && before[i] == after[i]) continue;
    auto shown = [](const std::string& s) { return s.substr(std::min(s.find_first_not_of(' '), s.size())); };
    result.problem = "the formatted text would mean something else: '" + (i < before.size() ? shown(before[i]) : "nothing") +
                     "' would be '" + (i < after.size() ? shown(after[i]) : "nothing") + "'";
    return result;
  }
  if (crlf) {
    std::string lines;
    for (char c : fresh) {
      if (c == '\n') lines += '\r';
      lines += c;
    }
    fresh = std::move(lines);
  }
  result.text = std::move(fresh);
  return result;
}

}  // namespace tfl
