#include "frontend/stdlib/compiler/exports.h"

#include <algorithm>
#include <map>

#include "frontend/tensors/tensor/natives.h"

namespace tfl {

namespace {

/// tf.linalg is the module tensorflow.linalg, keras.layers is tensorflow.keras.layers, np is numpy.
std::string module_of(std::string_view shown) {
  const size_t dot = std::min(shown.find('.'), shown.size());
  const std::string_view root = shown.substr(0, dot), rest = shown.substr(dot);
  if (root == "tf") return "tensorflow" + std::string(rest);
  if (root == "keras") return "tensorflow.keras" + std::string(rest);
  if (root == "np") return "numpy" + std::string(rest);
  return {};
}

/// tensorflow/nn/__init__.tfl holds the module tensorflow.nn.
std::string module_in(std::string name) {
  name.resize(name.size() - std::string_view(".tfl").size());
  constexpr std::string_view kPackage = "/__init__";
  if (name.ends_with(kPackage)) name.resize(name.size() - kPackage.size());
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

struct Table {
  std::map<std::string, std::string> lines;  // by "MODULE NAME"
  std::string error;

  void add(const std::string& module, std::string_view name, const std::string& home, std::string_view own) {
    const std::string key = module + ' ' + std::string(name), value = home + ' ' + std::string(own);
    auto [at, fresh] = lines.emplace(key, value);
    if (!fresh && at->second != value) error += key + " is at home in " + at->second + " and in " + value + "\n";
  }
};

/// The marks of one file: @export("tf.norm", "tf.linalg.norm"), before other decorators and `def` or `class`.
void marks_of(std::string_view text, const std::string& home, Table& table) {
  constexpr std::string_view kMark = "\n@export(";
  for (size_t at = text.find(kMark); at != text.npos; at = text.find(kMark, at + 1)) {
    const size_t close = std::min(text.find(")\n", at), text.size());
    const std::string_view names = text.substr(at + kMark.size(), close - at - kMark.size());
    std::string_view own = text.substr(std::min(close + 2, text.size()));
    while (own.starts_with('@')) own.remove_prefix(std::min(own.find('\n') + 1, own.size()));
    for (std::string_view word : {"def ", "class "}) {
      if (own.starts_with(word)) own.remove_prefix(word.size());
    }
    own = own.substr(0, own.find_first_of("(:\n"));
    for (size_t quote = names.find('"'); quote != names.npos; quote = names.find('"', quote + 1)) {
      const size_t end = std::min(names.find('"', quote + 1), names.size());
      const std::string_view name = names.substr(quote + 1, end - quote - 1);
      const size_t dot = name.rfind('.');
      const std::string module = dot == name.npos ? std::string() : module_of(name.substr(0, dot));
      if (module.empty() || own.empty())
        table.error += home + ": @export(\"" + std::string(name) + "\") names no module of tf, keras or np\n";
      else
        table.add(module, name.substr(dot + 1), home, own);
      quote = end;
    }
  }
}

}  // namespace

std::string exports_table(const std::vector<std::pair<std::string, std::string>>& files, std::string& error) {
  Table table;
  for (const auto& [name, text] : files) marks_of(text, module_in(name), table);
  each_native_export([&](std::string_view shown, std::string_view name, std::string_view own) {
    table.add(module_of(shown == "tf" ? shown : "tf." + std::string(shown)), name, "_tf", own);
  });
  std::string out;
  for (const auto& [key, value] : table.lines) ((out += key) += ' ') += value + '\n';
  error = std::move(table.error);
  return out;
}

}  // namespace tfl
