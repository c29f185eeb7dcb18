// Tokens of the graph's text form. This header must not know what they mean.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/support/result.h"

namespace tfl::ir {

enum class TokenKind : uint8_t { Word, Value, Function, Number, Text, Punctuation, End };

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view spelling;  // as written; of values and functions without the sign in front
  std::string text;           // of a string, or a quoted function name
  uint32_t line = 1, column = 1;
};

/// Reads tokens one by one; comments run from // to the end of the line.
class TokenReader {
 public:
  TokenReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}
  Result<Token> next();
  Failure error(const Token& at, std::string_view what) const;

 private:
  Result<std::string> quoted(const Token& at);
  void step();

  std::string_view text_, file_;
  size_t at_ = 0;
  uint32_t line_ = 1, column_ = 1;
};

}  // namespace tfl::ir
