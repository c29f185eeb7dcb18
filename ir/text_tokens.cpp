#include "ir/text_tokens.h"

#include <fmt/core.h>

namespace tfl::ir {

namespace {

bool word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

int hex_digit(char c) {
  if (digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Failure TokenReader::error(const Token& at, std::string_view what) const {
  return fail(ErrorKind::SyntaxError, "{}:{}:{}: {}", file_, at.line, at.column, what);
}

void TokenReader::step() {
  if (text_[at_] == '\n') {
    ++line_;
    column_ = 1;
  } else {
    ++column_;
  }
  ++at_;
}

Result<std::string> TokenReader::quoted(const Token& start) {
  std::string out;
  step();
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') {
    if (text_[at_] != '\\') {
      out += text_[at_];
      step();
      continue;
    }
    step();
    if (at_ == text_.size()) break;
    char c = text_[at_];
    step();
    if (c == 'n')
      out += '\n';
    else if (c == 't')
      out += '\t';
    else if (c == '"' || c == '\\')
      out += c;
    else if (c == 'x' && at_ + 1 < text_.size() && hex_digit(text_[at_]) >= 0 && hex_digit(text_[at_ + 1]) >= 0) {
      out += static_cast<char>(hex_digit(text_[at_]) * 16 + hex_digit(text_[at_ + 1]));
      step();
      step();
    } else {
      return error(start, "unknown escape in a string");
    }
  }
  if (at_ == text_.size() || text_[at_] != '"') return error(start, "a string without an end");
  step();
  return out;
}

Result<Token> TokenReader::next() {
  for (;;) {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) step();
    if (at_ + 1 >= text_.size() || text_[at_] != '/' || text_[at_ + 1] != '/') break;
    while (at_ < text_.size() && text_[at_] != '\n') step();
  }
  Token t;
  t.line = line_;
  t.column = column_;
  if (at_ == text_.size()) return t;
  size_t start = at_;
  char c = text_[at_];
  auto word = [this] {
    size_t from = at_;
    while (at_ < text_.size() && (word_start(text_[at_]) || digit(text_[at_]))) step();
    return text_.substr(from, at_ - from);
  };
  if (c == '"') {
    t.kind = TokenKind::Text;
    t.text = TFL_TRY(quoted(t));
  } else if (word_start(c)) {
    t.kind = TokenKind::Word;
    t.spelling = word();
  } else if (c == '%') {
    step();
    t.kind = TokenKind::Value;
    t.spelling = word();
    if (t.spelling.empty()) return error(t, "a value has a name");
  } else if (c == '@' && at_ + 1 < text_.size() && (word_start(text_[at_ + 1]) || text_[at_ + 1] == '"')) {
    step();
    t.kind = TokenKind::Function;
    if (text_[at_] == '"')
      t.text = TFL_TRY(quoted(t));
    else
      t.text = std::string(word());
  } else if (digit(c) || (c == '-' && at_ + 1 < text_.size() && (digit(text_[at_ + 1]) || text_[at_ + 1] == 'i'))) {
    t.kind = TokenKind::Number;
    step();
    char before = c;
    while (at_ < text_.size()) {
      char now = text_[at_];
      bool sign = (now == '-' || now == '+') && (before == 'e' || before == 'E');
      if (!digit(now) && !word_start(now) && now != '.' && !sign) break;
      before = now;
      step();
    }
    t.spelling = text_.substr(start, at_ - start);
  } else {
    t.kind = TokenKind::Punctuation;
    step();
    if (c == '-' && at_ < text_.size() && text_[at_] == '>') step();
    t.spelling = text_.substr(start, at_ - start);
  }
  return t;
}

}  // namespace tfl::ir
