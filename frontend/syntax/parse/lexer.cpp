// Drives ANTLR's lexer automaton over the bytes of a source. The Lexer class's own token objects are bypassed: one allocation for
// each token would cost more than matching it.
#include <antlr4-runtime.h>

#include "TflLexer.h"
#include "frontend/syntax/parse/token.h"

namespace tfl::parse {
namespace {

#define TFL_TOKEN(name, antlr, text)                                                          \
  static_assert(static_cast<size_t>(TokenKind::name) == static_cast<size_t>(TflLexer::antlr), \
                "tokens.def is not in the grammar's order");
#include "frontend/syntax/parse/tokens.def"

/// The bytes of a source as ANTLR's characters, bytes beyond ASCII as U+0001 (see TflLexer.g4).
class ByteStream final : public antlr4::CharStream {
 public:
  ByteStream(std::string_view text) : text_(text) {}
  size_t LA(ssize_t i) override {
    size_t index = at_ + static_cast<size_t>(i) - (i > 0 ? 1 : 0);
    if (index >= text_.size()) return antlr4::IntStream::EOF;
    auto c = static_cast<unsigned char>(text_[index]);
    return c >= 0x80 ? 1 : c == 1 ? 2 : c;
  }
  void consume() override { ++at_; }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  size_t index() override { return at_; }
  void seek(size_t index) override { at_ = index; }
  size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<Token> lex(const Source& source, uint32_t begin, uint32_t end, uint32_t line, uint32_t column) {
  if (begin == end) return {{TokenKind::EndOfFile, end, end, line, column}};
  std::string_view text = std::string_view(source.text()).substr(0, end);
  ByteStream bytes(text);
  bytes.seek(begin);
  TflLexer lexer(&bytes);
  bytes.seek(begin);
  auto* automaton = lexer.getInterpreter<antlr4::atn::LexerATNSimulator>();
  std::vector<Token> tokens;
  tokens.reserve((end - begin) / 4 + 8);
  uint32_t at = begin;
  while (at < end) {
    auto kind = static_cast<TokenKind>(automaton->match(&bytes, 0));
    auto stop = static_cast<uint32_t>(bytes.index());
    std::string_view word = text.substr(at, stop - at);
    if (kind == TokenKind::Name) kind = keyword_or_name(word);
    if (kind != TokenKind::Space && kind != TokenKind::Comment && kind != TokenKind::LineJoin) {
      tokens.push_back({kind, at, stop, line, column});
    }
    // Only these can hold line ends.
    bool lines = kind == TokenKind::Newline || kind == TokenKind::LineJoin || kind == TokenKind::String ||
                 kind == TokenKind::UnterminatedString || kind == TokenKind::UnterminatedLongString;
    if (lines && word.find_first_of("\r\n") != std::string_view::npos) {
      line = source.line_at(stop);
      column = source.column_at(stop, line);
    } else {
      column += count_characters(word);
    }
    at = stop;
  }
  tokens.push_back({TokenKind::EndOfFile, end, end, line, column});
  return tokens;
}

}  // namespace tfl::parse
