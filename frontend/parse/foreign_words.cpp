#include "frontend/parse/foreign_words.h"

namespace tfl::parse {
namespace {

constexpr ForeignWord kWords[] = {
    {"elseif", "write 'elif'"},
    {"elsif", "write 'elif'"},
    {"function", "write 'def'"},
    {"func", "write 'def'"},
    {"fun", "write 'def'"},
    {"fn", "write 'def'"},
    {"var", "write the name alone: an assignment makes the variable"},
    {"let", "write the name alone: an assignment makes the variable"},
    {"const", "write the name alone: an assignment makes the variable"},
    {"auto", "write the name alone: an assignment makes the variable"},
    {"new", "call the class: write 'Name(...)'"},
    {"switch", "write 'if' and 'elif'"},
    {"unless", "write 'if not'"},
    {"until", "write 'while not'"},
    {"foreach", "write 'for x in xs:'"},
    {"throw", "write 'raise'"},
    {"catch", "write 'except'"},
    {"delete", "write 'del'"},
    {"include", "write 'import'"},
    {"require", "write 'import'"},
    {"using", "write 'import'"},
    {"struct", "write 'class'"},
    {"interface", "write 'class'"},
    {"do", "write 'while True:' and leave the loop with 'break'"},
    {"otherwise", "write 'else'"},
    {"default", "write 'else'"},
};

constexpr std::string_view kKeywords[] = {
    "and",     "assert", "break", "class",  "continue", "def",    "del",   "elif", "else",   "except",
    "finally", "for",    "from",  "global", "if",       "import", "in",    "is",   "lambda", "nonlocal",
    "not",     "or",     "pass",  "raise",  "return",   "try",    "while", "with", "yield"};

/// One letter more, less or other, or two neighbours exchanged.
bool one_slip(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) return one_slip(b, a);
  if (b.size() - a.size() > 1) return false;
  size_t i = 0;
  while (i < a.size() && a[i] == b[i]) ++i;
  if (a.size() == b.size()) {
    if (i == a.size()) return false;
    if (a.substr(i + 1) == b.substr(i + 1)) return true;
    return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] && a.substr(i + 2) == b.substr(i + 2);
  }
  return a.substr(i) == b.substr(i + 1);
}

}  // namespace

const ForeignWord* foreign_statement(std::string_view word) {
  for (const ForeignWord& row : kWords) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

std::string_view misspelt_keyword(std::string_view word) {
  if (word.size() < 3) return {};
  for (std::string_view keyword : kKeywords) {
    if (keyword.size() > 2 && one_slip(word, keyword)) return keyword;
  }
  return {};
}

}  // namespace tfl::parse
