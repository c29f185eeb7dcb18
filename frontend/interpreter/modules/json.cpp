// The native half of the json module: parsing; json_encode.cpp writes. stdlib/python/json.tfl has the rest.
#include <charconv>
#include <cmath>
#include <limits>

#include "frontend/core/big_int.h"
#include "frontend/interpreter/modules/json.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

namespace {

constexpr int kMaxDepth = 900;  // as deep as CPython's parser goes before its recursion limit

/// A recursive descent over the bytes of a text. An error is a tuple (message, byte position), from which json.tfl makes the exception.
struct Parser {
  Interp& interp;
  std::string_view text;
  Value object_hook, pairs_hook, parse_float, parse_int, parse_constant;
  size_t at = 0;
  std::string problem;
  size_t problem_at = 0;

  Failure wrong(std::string message, size_t where) {
    problem = std::move(message);
    problem_at = where;
    return fail(ErrorKind::ValueError, "json");
  }
  void skip_space() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r')) ++at;
  }
  bool take(std::string_view word) {
    if (text.substr(at, word.size()) != word) return false;
    at += word.size();
    return true;
  }
  Result<Value> constant(std::string_view name, double value) {
    if (!parse_constant.is_none()) return interp.call(parse_constant, {interp.str(std::string(name))});
    return Value::real(value);
  }

  Result<Value> value(int depth) {
    if (depth > kMaxDepth)
      return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded while decoding a JSON document");
    if (at >= text.size()) return wrong("Expecting value", at);
    char c = text[at];
    if (c == '"') {
      ++at;
      return interp.str(TFL_TRY(string()));
    }
    if (c == '{') return object(depth);
    if (c == '[') return array(depth);
    if (take("null")) return Value::none();
    if (take("true")) return Value::boolean(true);
    if (take("false")) return Value::boolean(false);
    if (take("NaN")) return constant("NaN", std::numeric_limits<double>::quiet_NaN());
    if (take("Infinity")) return constant("Infinity", std::numeric_limits<double>::infinity());
    if (take("-Infinity")) return constant("-Infinity", -std::numeric_limits<double>::infinity());
    return number();
  }

  Result<Value> number() {
    size_t start = at;
    size_t p = at;
    auto digits = [&] {
      size_t first = p;
      while (p < text.size() && text[p] >= '0' && text[p] <= '9') ++p;
      return p - first;
    };
    if (p < text.size() && text[p] == '-') ++p;
    if (p < text.size() && text[p] == '0')
      ++p;
    else if (digits() == 0)
      return wrong("Expecting value", start);
    size_t whole_end = p;
    bool real = false;
    if (p < text.size() && text[p] == '.') {
      ++p;
      if (digits() > 0) {
        real = true;
        whole_end = p;
      } else {
        p = whole_end;
      }
    }
    if (p < text.size() && (text[p] == 'e' || text[p] == 'E')) {
      ++p;
      if (p < text.size() && (text[p] == '+' || text[p] == '-')) ++p;
      if (digits() > 0) {
        real = true;
        whole_end = p;
      }
    }
    at = whole_end;
    std::string_view token = text.substr(start, at - start);
    if (real) {
      if (!parse_float.is_none()) return interp.call(parse_float, {interp.str(std::string(token))});
      double d = 0;
      auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), d);
      if (error == std::errc::result_out_of_range) d = std::strtod(std::string(token).c_str(), nullptr);
      return Value::real(d);
    }
    if (!parse_int.is_none()) return interp.call(parse_int, {interp.str(std::string(token))});
    int64_t i = 0;
    auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), i);
    if (error != std::errc()) return int_of_text(interp, token, 10, token);
    return Value::integer(i);
  }

  Result<int> hex4(size_t where) {
    int code = 0;
    if (at + 4 > text.size()) return wrong("Invalid \\uXXXX escape", where);
    auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    if (error != std::errc() || end != text.data() + at + 4 || text[at] == '-') return wrong("Invalid \\uXXXX escape", where);
    at += 4;
    return code;
  }

  /// The text behind an opening quote.
  Result<std::string> string() {
    size_t begin = at - 1;
    std::string out;
    for (;;) {
      size_t run = at;
      while (at < text.size() && text[at] != '"' && text[at] != '\\' && static_cast<unsigned char>(text[at]) >= 0x20) ++at;
      out.append(text, run, at - run);
      if (at >= text.size()) return wrong("Unterminated string starting at", begin);
      char c = text[at];
      if (c == '"') {
        ++at;
        return out;
      }
      if (c != '\\') return wrong("Invalid control character at", at);
      ++at;
      if (at >= text.size()) return wrong("Unterminated string starting at", begin);
      char e = text[at++];
      switch (e) {
        case '"':
        case '\\':
        case '/': out += e; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          int code = TFL_TRY(hex4(at));
          auto c32 = static_cast<char32_t>(code);
          if (code >= 0xD800 && code < 0xDC00 && text.substr(at, 2) == "\\u") {
            size_t back = at;
            at += 2;
            int low = TFL_TRY(hex4(at));
            if (low >= 0xDC00 && low < 0xE000)
              c32 = 0x10000 + ((static_cast<char32_t>(code) - 0xD800) << 10) + (static_cast<char32_t>(low) - 0xDC00);
            else
              at = back;
          }
          if (c32 >= 0xD800 && c32 < 0xE000) c32 = 0xFFFD;  // a lone surrogate has no UTF-8 form
          append_utf8(out, c32);
          break;
        }
        default: return wrong("Invalid \\escape", at - 2);
      }
    }
  }

  Result<Value> array(int depth) {
    ++at;
    std::vector<Value> items;
    skip_space();
    if (at < text.size() && text[at] == ']') {
      ++at;
      return interp.list();
    }
    for (;;) {
      items.push_back(TFL_TRY(value(depth + 1)));
      skip_space();
      char c = at < text.size() ? text[at] : 0;
      if (c == ']') break;
      if (c != ',') return wrong("Expecting ',' delimiter", at);
      ++at;
      skip_space();
    }
    ++at;
    return interp.list(std::move(items));
  }

  Result<Value> object(int depth) {
    ++at;
    Value dict = interp.dict();
    std::vector<Value> pairs;
    bool keep_pairs = !pairs_hook.is_none();
    skip_space();
    if (at < text.size() && text[at] == '}') {
      ++at;
    } else {
      for (;;) {
        if (at >= text.size() || text[at] != '"') return wrong("Expecting property name enclosed in double quotes", at);
        ++at;
        Value key = interp.str(TFL_TRY(string()));
        skip_space();
        if (at >= text.size() || text[at] != ':') return wrong("Expecting ':' delimiter", at);
        ++at;
        skip_space();
        Value item = TFL_TRY(value(depth + 1));
        if (keep_pairs)
          pairs.push_back(interp.tuple({key, item}));
        else
          TFL_TRY(dict_set(interp, dict.as<Dict>(), key, std::move(item)));
        skip_space();
        char c = at < text.size() ? text[at] : 0;
        if (c == '}') break;
        if (c != ',') return wrong("Expecting ',' delimiter", at);
        ++at;
        skip_space();
      }
      ++at;
    }
    if (keep_pairs) return interp.call(pairs_hook, {interp.list(std::move(pairs))});
    if (!object_hook.is_none()) return interp.call(object_hook, {dict});
    return dict;
  }
};

/// (value, None, 0), or (None, message, character position) when the text is not JSON.
Result<Value> json_parse(Interp& interp, Value* args) {
  const std::string& text = text_of(args[0]);
  Parser p{interp, text, args[1], args[2], args[3], args[4], args[5], 0, {}, 0};
  p.skip_space();
  auto result = p.value(0);
  if (result) {
    p.skip_space();
    if (p.at == text.size()) return interp.tuple({result.take(), Value::none(), Value::integer(0)});
    p.problem = "Extra data";
    p.problem_at = p.at;
  } else if (p.problem.empty()) {
    return result.failure();
  }
  int64_t position = count_characters(std::string_view(text).substr(0, p.problem_at));
  return interp.tuple({Value::none(), interp.str(p.problem), Value::integer(position)});
}

constexpr NativeDef kJson[] = {
    function("parse", "text: str, object_hook, pairs_hook, parse_float, parse_int, parse_constant, /", json_parse),
    function("quote", "text: str, ascii: bool, /", json::quote),
    function(
        "encode",
        "value, indent, item_separator, key_separator, default, sort_keys, skipkeys, ensure_ascii, check_circular, allow_nan, /",
        json::encode),
};

}  // namespace

Result<void> init_json(Interp& interp, Module& module) {
  define_all(interp, module, kJson);
  return {};
}

}  // namespace tfl
