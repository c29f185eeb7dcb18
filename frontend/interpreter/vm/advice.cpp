#include <cctype>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

std::string did_you_mean(std::string_view near) {
  return near.empty() ? std::string() : "Did you mean: '" + std::string(near) + "'?";
}

namespace {

struct Advice {
  ErrorKind kind;                     // Exception: any that a value causes
  std::string_view begins, contains;  // of the message
  std::string_view hint;
};

constexpr Advice kAdvice[] = {
#define TFL_ADVICE(kind, begins, contains, hint) {ErrorKind::kind, begins, contains, hint},
#include "frontend/interpreter/vm/advice.def"
#undef TFL_ADVICE
};

/// float32, of what has a dtype
std::string typed_name(Interp& interp, const Value& v) {
  auto dtype = find_attr(interp, v, interp.intern("dtype"));
  if (!dtype || dtype->is_empty()) return {};
  auto name = find_attr(interp, *dtype, interp.intern("name"));
  return name && name->is_str() ? name->as<Str>()->text : std::string();
}

constexpr std::string_view kForeignWords[][2] = {
    {"true", "True"},    {"false", "False"}, {"null", "None"},   {"nil", "None"},     {"undefined", "None"},
    {"NULL", "None"},    {"TRUE", "True"},   {"FALSE", "False"}, {"xrange", "range"}, {"raw_input", "input"},
    {"unicode", "str"},  {"long", "int"},    {"length", "len"},  {"lenght", "len"},   {"strlen", "len"},
    {"printf", "print"}, {"echo", "print"},  {"this", "self"},   {"NaN", "math.nan"}, {"inf", "math.inf"},
    {"pi", "math.pi"}};
constexpr std::string_view kUsualImports[][2] = {{"tf", "import tensorflow as tf"},
                                                 {"np", "import numpy as np"},
                                                 {"keras", "from tensorflow import keras"},
                                                 {"layers", "from tensorflow.keras import layers"},
                                                 {"plt", "import plot as plt"},
                                                 {"Counter", "from collections import Counter"},
                                                 {"defaultdict", "from collections import defaultdict"},
                                                 {"dataclass", "from dataclasses import dataclass"},
                                                 {"partial", "from functools import partial"},
                                                 {"Path", "from pathlib import Path"}};

/// Methods that arrays have and tensors have not.
constexpr std::string_view kReductions[] = {"sum", "mean", "max", "min", "prod", "any", "all", "std"};

/// The classes in which one mistake shows: while tracing, and when it runs.
bool is_of_value(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::TypeError:
    case ErrorKind::ValueError:
    case ErrorKind::InvalidArgumentError:
    case ErrorKind::UnimplementedError:
    case ErrorKind::NotImplementedError: return true;
    default: return false;
  }
}

std::string name_advice(Exception* e) {
  if (!e->name.is_str()) return {};
  const std::string& name = e->name.as<Str>()->text;
  for (auto& [foreign, ours] : kForeignWords) {
    if (name == foreign) return "write " + std::string(ours);
  }
  for (auto& [known, line] : kUsualImports) {
    if (name == known) return "write at the top: " + std::string(line);
  }
  if (is_module(name)) return "write at the top: import " + name;
  return {};
}

/// TensorFlow's names of dtypes in messages as they are written: float is tf.float32.
std::string dtype_word(std::string_view text, std::string_view before) {
  size_t at = text.find(before);
  if (at == text.npos) return {};
  at += before.size();
  if (text.substr(at).starts_with("tf.")) at += 3;
  size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  std::string word(text.substr(at, end - at));
  return word == "float" ? "float32" : word == "double" ? "float64" : word == "half" ? "float16" : word;
}

/// Two operands of different dtypes: the one to convert by its name. Whole numbers become floats, else the second what the first is.
std::string cast_advice(Interp& interp, Exception* e, std::string_view text) {
  std::string first = dtype_word(text, "was expected to be a "), second = dtype_word(text, "tensor but is a ");
  if (first.empty()) first = dtype_word(text, "must have the same dtype, got "), second = dtype_word(text, " != ");
  if (first.empty()) first = dtype_word(text, "does not match type "), second = dtype_word(text, "Op has type ");
  if (first.empty())
    first = dtype_word(text, "Tensor conversion requested dtype "), second = dtype_word(text, "for Tensor with dtype ");
  if (first.empty() || second.empty()) return {};
  if (first.starts_with("bool") || second.starts_with("bool") || first == "string" || second == "string") return {};
  bool whole = !first.starts_with("float") && !first.starts_with("bfloat");
  bool other_whole = !second.starts_with("float") && !second.starts_with("bfloat");
  const std::string& to = whole && !other_whole ? second : first;
  const std::string& from = &to == &first ? second : first;
  if (e->obj.is(Kind::Tuple)) {
    auto noted = e->obj.as<Tuple>()->span();
    for (size_t i = 0; i + 1 < noted.size(); i += 2) {
      if (typed_name(interp, noted[i + 1]) == from) return "tf.cast(" + noted[i].as<Str>()->text + ", tf." + to + ") converts it";
    }
  }
  return "convert one of them: tf.cast(x, tf." + to + ")";
}

/// Why the gradient is None that a tape gave in the function that fails: what the tape knows (_gradients._lost: file, line, why).
std::string lost_gradient(Interp& interp, const Exception* e) {
  constexpr int64_t kNear = 60;  // lines
  Value module = dict_get_str(interp.modules.as<Dict>(), interp.intern("tensorflow.autodiff._tape"));
  if (!module.is(Kind::Module)) return {};
  Value lost = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_lost"));
  if (!lost.is(Kind::Tuple) || lost.as<Tuple>()->size != 3) return {};
  auto parts = lost.as<Tuple>()->span();
  for (const TraceEntry& entry : e->trace) {
    if (!is_shown(entry) || !entry.code->source || entry.code->source->name != parts[0].as<Str>()->text) continue;
    int64_t after = static_cast<int64_t>(entry.span.line) - parts[1].as_int();
    if (after < 0 || after > kNear) return {};
    return "the gradient that line " + std::to_string(parts[1].as_int()) + " takes is None: " + parts[2].as<Str>()->text;
  }
  return {};
}

/// A size that is not known while tracing is None: told where a tensor of the line has such a size.
std::string unknown_size(Interp& interp, const Exception* e, std::string_view text) {
  if (!text.starts_with("unsupported operand") || !e->obj.is(Kind::Tuple)) return {};
  auto noted = e->obj.as<Tuple>()->span();
  for (size_t i = 0; i + 1 < noted.size(); i += 2) {
    if (!noted[i + 1].is(Kind::Symbolic)) continue;
    auto shape = find_attr(interp, noted[i + 1], interp.intern("shape"));
    auto sizes = shape ? str_text(interp, *shape) : Result<std::string>(std::string());
    if (sizes && sizes->find("None") != std::string::npos) {
      const std::string& name = noted[i].as<Str>()->text;
      return "a size that is not known while tracing is None in " + name + ".shape: tf.shape(" + name + ")[0] has its value";
    }
  }
  return {};
}

}  // namespace

std::string advice(Interp& interp, Exception* e) {
  ErrorKind kind = e->type->error_kind;
  if (kind == ErrorKind::NameError) return name_advice(e);
  auto text = exception_text(interp, e);
  if (!text) return {};
  if (kind == ErrorKind::AttributeError && e->name.is_str() && text->find("EagerTensor' object") != std::string::npos) {
    for (std::string_view r : kReductions) {
      if (e->name.as<Str>()->text == r) return "write tf.reduce_" + std::string(r) + "(x)";
    }
  }
  if (text->find("None") != text->npos || text->starts_with("No gradients provided")) {
    if (std::string lost = lost_gradient(interp, e); !lost.empty()) return lost;
    if (std::string size = unknown_size(interp, e, *text); !size.empty()) return size;
  }
  if (kind == ErrorKind::KeyError && e->obj.is(Kind::Tuple)) {
    // The key that was perhaps meant.
    auto noted = e->obj.as<Tuple>()->span();
    auto args = e->args.as<Tuple>()->span();
    for (size_t i = 1; i < noted.size() && args.size() == 1 && args[0].is_str(); i += 2) {
      if (!noted[i].is(Kind::Dict)) continue;
      std::vector<std::string_view> keys;
      for (const Dict::Entry& entry : noted[i].as<Dict>()->entries) {
        if (entry.key.is_str()) keys.push_back(entry.key.as<Str>()->text);
      }
      if (std::string near = did_you_mean(suggest(args[0].as<Str>()->text, keys)); !near.empty()) return near;
    }
    return {};
  }
  if (is_of_value(kind)) {
    if (std::string cast = cast_advice(interp, e, *text); !cast.empty()) return cast;
  }
  if (text->find(" while ") != std::string::npos && kind == ErrorKind::RecursionError) return {};  // of data, not of calls
  for (const Advice& a : kAdvice) {
    bool any = a.kind == ErrorKind::Exception && is_of_value(kind);
    if ((any || a.kind == kind) && text->starts_with(a.begins) && text->find(a.contains) != std::string::npos)
      return std::string(a.hint);
  }
  return {};
}

}  // namespace tfl
