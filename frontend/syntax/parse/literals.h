// The values of number and string literals.
// This header must not know about ANTLR or trees.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/syntax/parse/token.h"

namespace tfl::parse {

struct NumberLiteral {
  enum class Kind : uint8_t { Int, Float, Large, TooLong, LeadingZeros, Imaginary };
  Kind kind;  // Smallest: 9223372036854775808, an int only behind a minus
  int64_t integer = 0;
  double real = 0;
};

NumberLiteral read_number(std::string_view text);

/// The parts of a string token.
struct StringLiteral {
  bool raw = false;
  bool bytes = false;
  bool formatted = false;
  uint32_t begin = 0;  // of the text between the quotes, in the source
  uint32_t end = 0;
};

StringLiteral split_string(const Source& source, const Token& token);

/// Appends what one character or escape at `at` stands for and moves behind it. Line ends become "\n". Reports to `diagnostics`.
void decode_character(const Source& source, const StringLiteral& literal, uint32_t& at, std::string& out,
                      std::vector<Diagnostic>& diagnostics);

}  // namespace tfl::parse
