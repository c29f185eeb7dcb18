#include "frontend/syntax/parse/foreign_words.h"

#include <iterator>

#include "frontend/syntax/diagnostics/suggest.h"

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

// Those of two letters are near too many names.
constexpr std::string_view kKeywords[] = {
    "and",    "assert", "break",  "class",    "continue", "def",  "del",   "elif",   "else", "except", "finally", "for",  "from",
    "global", "import", "lambda", "nonlocal", "not",      "pass", "raise", "return", "try",  "while",  "with",    "yield"};

}  // namespace

const ForeignWord* foreign_statement(std::string_view word) {
  for (const ForeignWord& row : kWords) {
    if (row.word == word) return &row;
  }
  return nullptr;
}

std::string_view misspelt_keyword(std::string_view word) {
  if (word.size() < 3) return {};
  return suggest(word, {std::begin(kKeywords), std::end(kKeywords)});
}

}  // namespace tfl::parse
