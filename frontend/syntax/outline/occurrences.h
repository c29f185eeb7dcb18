// Where each name of a text stands and which of them are one name, its outline and what folds, from the tolerant parser's tree and the scopes.
// This header must not know about values or the interpreter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

struct NameRow {
  uint32_t line, column, length;
  std::string key;        // the same for all places of one name; empty for attributes
  std::string_view kind;  // namespace, function, class, parameter, variable, property, builtin
  bool definition;
};

struct SymbolRow {
  std::string_view kind;  // class, function, method, variable
  std::string name;
  Span span, name_span;
  int parent;  // index, -1: none
};

struct AssignmentRow {
  std::string key;
  Span value;
  Span function;  // line 0: the value is no call
};

struct Occurrences {
  std::vector<NameRow> names;
  std::vector<SymbolRow> symbols;
  std::vector<std::pair<uint32_t, uint32_t>> folds;
  std::vector<AssignmentRow> assignments;
};

Occurrences find_occurrences(const Source& source);

}  // namespace tfl
