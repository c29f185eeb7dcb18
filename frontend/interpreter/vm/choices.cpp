// A message that lists what an argument may be: which of these was perhaps meant by what came.
#include <iterator>
#include <vector>

#include "frontend/core/advice.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

namespace {

bool in_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

size_t word_end(std::string_view text, size_t at) {
  while (at < text.size() && in_word(text[at])) ++at;
  return at;
}

/// What stands before the word that came, as TensorFlow, Keras and NumPy say it.
constexpr std::string_view kBefore[] = {"Received: ",
                                        "Received ",
                                        "received ",
                                        "unsupported value ",
                                        "value: ",
                                        "argument: ",
                                        "`type_value`: ",
                                        "data type ",
                                        "Cannot convert ",
                                        "Value for attr 'padding' of ",
                                        "Value for attr 'data_format' of ",
                                        "got "};
/// What stands before the words that may come.
constexpr std::string_view kLists[] = {"one of", "alues are", "allowed values:", "must be", "should be", "alues include"};
constexpr std::string_view kDTypes[] = {"float32", "float64", "float16", "bfloat16", "int8",   "int16", "int32",
                                        "int64",   "uint8",   "uint16",  "uint32",   "uint64", "bool",  "string",
                                        "float",   "double",  "half",    "int",      "long",   "str"};
/// What dtypes are called elsewhere.
constexpr std::string_view kOther[][2] = {{"float", "float32"}, {"double", "float64"}, {"half", "float16"},
                                          {"int", "int32"},     {"long", "int64"},     {"str", "string"}};

/// A word at `at`, behind quotes and `name =`.
std::string_view word_at(std::string_view text, size_t at) {
  for (int names = 0; names < 3; ++names) {
    while (at < text.size() && (text[at] == '\'' || text[at] == '"' || text[at] == '`' || text[at] == ' ')) ++at;
    size_t end = word_end(text, at);
    size_t equals = end;
    while (equals < text.size() && (text[equals] == '`' || text[equals] == ' ')) ++equals;
    if (equals < text.size() && text[equals] == '=') {
      at = equals + 1;
      continue;
    }
    return text.substr(at, end - at);
  }
  return {};
}

std::string_view word_that_came(std::string_view text) {
  for (std::string_view before : kBefore) {
    size_t at = text.find(before);
    if (at == text.npos) continue;
    if (std::string_view word = word_at(text, at + before.size()); word.size() > 1) return word;
  }
  // 'liner' is not a valid method.
  return text.starts_with('\'') ? word_at(text, 0) : std::string_view();
}

}  // namespace

std::string choice_hint(std::string_view text) {
  std::string_view came = word_that_came(text);
  if (came.empty()) return {};
  std::vector<std::string_view> words;
  for (size_t at = 0; at < text.size(); ++at) {
    bool quoted = text[at] == '\'' || text[at] == '"';
    bool begins = quoted && (at == 0 || !in_word(text[at - 1]));
    if (!begins) continue;
    size_t end = word_end(text, at + 1);
    if (end > at + 1 && end < text.size() && text[end] == text[at]) words.push_back(text.substr(at + 1, end - at - 1)), at = end;
  }
  for (std::string_view list : kLists) {
    for (size_t at = text.find(list); at != text.npos; at = text.npos) {
      for (at += list.size(); at < text.size() && text[at] != '.' && text[at] != '\n';) {
        size_t end = word_end(text, at);
        if (end > at + 2) words.push_back(text.substr(at, end - at));
        at = end + 1;
      }
    }
  }
  bool dtypes = text.find("DType") != text.npos || text.starts_with("data type");
  if (dtypes) words.insert(words.end(), std::begin(kDTypes), std::end(kDTypes));
  std::string_view near = suggest(came, words);
  for (auto& [other, ours] : kOther) {
    if (dtypes && (came == other || near == other)) near = ours;
  }
  return near.empty() ? std::string() : "did you mean '" + std::string(near) + "'?";
}

}  // namespace tfl
