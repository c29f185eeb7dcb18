// Words that programs in other languages, or misspelt ones, begin a statement with, and what to write instead.
// This header must not know about tokens.
#pragma once

#include <string_view>

namespace tfl::parse {

struct ForeignWord {
  std::string_view word;
  std::string_view instead;
};

/// The row for `word`, or nullptr.
const ForeignWord* foreign_statement(std::string_view word);

/// The keyword that `word` is a slip of the fingers away from; empty when there is none.
std::string_view misspelt_keyword(std::string_view word);

}  // namespace tfl::parse
