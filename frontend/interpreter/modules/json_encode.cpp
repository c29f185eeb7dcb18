// Values as JSON texts: what json.JSONEncoder writes, with its `default` called for what JSON does not know.
#include <algorithm>
#include <charconv>
#include <cmath>

#include "frontend/core/attributes.h"
#include "frontend/core/big_int.h"
#include "frontend/interpreter/modules/json.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/sort.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/text/float_text.h"

namespace tfl::json {

namespace {

/// The bytes that stand for themselves in a quoted text.
bool is_plain(unsigned char c) { return c >= 0x20 && c < 0x7F && c != '"' && c != '\\'; }

void append_escape(std::string& out, uint32_t unit) {
  constexpr char kDigits[] = "0123456789abcdef";
  const char text[] = {'\\', 'u', kDigits[unit >> 12], kDigits[unit >> 8 & 15], kDigits[unit >> 4 & 15], kDigits[unit & 15]};
  out.append(text, sizeof text);
}

void append_quoted(std::string& out, std::string_view text, bool ascii) {
  out += '"';
  for (size_t i = 0; i < text.size();) {
    size_t run = i;
    while (i < text.size() && is_plain(static_cast<unsigned char>(text[i]))) ++i;
    out.append(text, run, i - run);
    if (i == text.size()) break;
    auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x80) {
      size_t start = i;
      char32_t c32 = decode_utf8(text, i);
      if (!ascii) {
        out.append(text, start, i - start);
      } else if (c32 < 0x10000) {
        append_escape(out, c32);
      } else {
        append_escape(out, 0xD800 + ((c32 - 0x10000) >> 10));
        append_escape(out, 0xDC00 + ((c32 - 0x10000) & 0x3FF));
      }
      continue;
    }
    ++i;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '\f': out += "\\f"; break;
      case '\b': out += "\\b"; break;
      default:
        if (c < 0x20 || ascii)
          append_escape(out, c);
        else
          out += static_cast<char>(c);
    }
  }
  out += '"';
}

struct Encoder {
  Interp& interp;
  std::string indent;
  bool indented;
  std::string item_separator, key_separator;
  Value other;  // JSONEncoder.default
  bool sort_keys, skip_keys, ascii, check_circular, allow_nan;
  std::string out;
  std::vector<Counted*> open;

  Result<void> number(double v) {
    if (std::isfinite(v)) {
      out += float_repr(v);
      return {};
    }
    if (!allow_nan) return fail(ErrorKind::ValueError, "Out of range float values are not JSON compliant");
    out += std::isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity";
    return {};
  }
  void integer(int64_t i) {
    char digits[24];
    auto end = std::to_chars(digits, digits + sizeof digits, i);
    out.append(digits, end.ptr);
  }
  void new_line(size_t level) {
    if (!indented) return;
    out += '\n';
    for (size_t i = 0; i < level; ++i) out += indent;
  }

  /// The number behind a value that is a float or an int, NumPy's float64 and instances of derived classes among them.
  Result<bool> as_number(const Value& v) {
    if (v.is_int()) {
      integer(v.as_int());
      return true;
    }
    if (v.is_float()) {
      TFL_TRY(number(v.as_float()));
      return true;
    }
    if (v.is(Kind::BigInt)) {
      out += TFL_TRY(int_text(interp, v));
      return true;
    }
    if (v.is(Kind::Boxed)) return as_number(unboxed(v));
    if (v.is_bool()) {  // within an instance of a class derived from int
      integer(v.as_int());
      return true;
    }
    if (!v.is(Kind::NumPyScalar)) return false;
    bool real = TFL_TRY(is_instance_of(interp, v, Value::share(interp.types.float_)));
    if (!real) return false;
    double d = TFL_TRY(to_double(interp, v));
    TFL_TRY(number(d));
    return true;
  }

  Result<void> value(const Value& v, size_t level) {
    switch (v.tag()) {
      case Tag::None: out += "null"; return {};
      case Tag::Bool: out += v.as_bool() ? "true" : "false"; return {};
      case Tag::Int: integer(v.as_int()); return {};
      case Tag::Float: return number(v.as_float());
      default: break;
    }
    if (v.is_str()) {
      append_quoted(out, text_of(v), ascii);
      return guard_memory(interp, out.capacity() - out.size() < 256 ? out.size() : 0);
    }
    if (TFL_TRY(as_number(v))) return {};
    Nesting nesting(interp);
    if (!nesting.ok()) return too_deep(" while encoding a JSON object");
    if (check_circular) {
      if (std::find(open.begin(), open.end(), v.counted()) != open.end())
        return fail(ErrorKind::ValueError, "Circular reference detected");
      open.push_back(v.counted());
    }
    Value keep = v;
    if (v.is(Kind::List) || v.is(Kind::Tuple)) {
      TFL_TRY(items(keep, level));
    } else if (v.is(Kind::Dict)) {
      TFL_TRY(pairs(keep, level));
    } else {
      Value instead = TFL_TRY(interp.call(other, {keep}));
      TFL_TRY(value(instead, level));
    }
    if (check_circular) open.pop_back();
    return {};
  }

  Result<void> items(const Value& v, size_t level) {
    auto size = [&] { return v.is(Kind::List) ? v.as<List>()->items.size() : static_cast<size_t>(v.as<Tuple>()->size); };
    if (size() == 0) {
      out += "[]";
      return {};
    }
    out += '[';
    for (size_t i = 0; i < size(); ++i) {
      if (i) out += item_separator;
      new_line(level + 1);
      Value item = v.is(Kind::List) ? v.as<List>()->items[i] : v.as<Tuple>()->items[i];
      TFL_TRY(value(item, level + 1));
    }
    new_line(level);
    out += ']';
    return {};
  }

  /// False: the key is left out.
  Result<bool> key(const Value& k, bool first, size_t level) {
    size_t begin = out.size();
    if (!first) out += item_separator;
    new_line(level + 1);
    if (k.is_str()) {
      append_quoted(out, text_of(k), ascii);
    } else {
      out += '"';
      if (k.is_none()) {
        out += "null";
      } else if (k.is_bool()) {
        out += k.as_bool() ? "true" : "false";
      } else if (!TFL_TRY(as_number(k))) {
        out.resize(begin);
        if (skip_keys) return false;
        return fail(ErrorKind::TypeError, "keys must be str, int, float, bool or None, not {}", interp.type_of(k)->name->text);
      }
      out += '"';
    }
    out += key_separator;
    return true;
  }

  Result<void> pairs(const Value& v, size_t level) {
    Dict* d = v.as<Dict>();
    if (d->live == 0) {
      out += "{}";
      return {};
    }
    out += '{';
    bool first = true;
    auto pair = [&](const Value& k, const Value& item) -> Result<void> {
      bool written = TFL_TRY(key(k, first, level));
      if (!written) return {};
      first = false;
      return value(item, level + 1);
    };
    Type* type = v.object()->type;
    const Value* own_items = type->script ? script_lookup(interp, type, interp.intern("items")) : nullptr;
    if (sort_keys || own_items) {
      Value listed = TFL_TRY(interp.call_method(v, interp.intern("items"), {}));
      std::vector<Value> all = TFL_TRY(to_vector(interp, listed));
      if (sort_keys) TFL_TRY(sort_values(interp, all, Value::none(), false));
      for (const Value& p : all) {
        if (!p.is(Kind::Tuple) || p.as<Tuple>()->size != 2) return fail(ErrorKind::ValueError, "items must return 2-tuples");
        Value keep = p;
        TFL_TRY(pair(keep.as<Tuple>()->items[0], keep.as<Tuple>()->items[1]));
      }
    } else {
      size_t at = 0;
      while (Dict::Entry* e = dict_next(d, at)) {
        Value k = e->key, item = e->value;
        TFL_TRY(pair(k, item));
      }
    }
    new_line(level);
    out += '}';
    return {};
  }
};

}  // namespace

Result<Value> quote(Interp& interp, Value* args) {
  std::string out;
  append_quoted(out, text_of(args[0]), args[1].as_bool());
  return interp.str(std::move(out));
}

Result<Value> encode(Interp& interp, Value* args) {
  bool on[5];
  for (int i = 0; i < 5; ++i) on[i] = TFL_TRY(truth(interp, args[5 + i]));
  for (int i : {3, 2}) {
    if (!args[i].is_str())
      return fail(ErrorKind::TypeError, "make_encoder() argument {} must be str, not {}", i == 2 ? 6 : 5,
                  interp.type_name(args[i]));
  }
  bool indented = !args[1].is_none();
  if (indented && !args[1].is_str())
    return fail(ErrorKind::TypeError, "indent must be a text, not {}", interp.type_name(args[1]));
  Encoder encoder{interp,
                  indented ? text_of(args[1]) : std::string(),
                  indented,
                  text_of(args[2]),
                  text_of(args[3]),
                  args[4],
                  on[0],
                  on[1],
                  on[2],
                  on[3],
                  on[4],
                  {},
                  {}};
  TFL_TRY(encoder.value(Value(args[0]), 0));
  return interp.str(std::move(encoder.out));
}

}  // namespace tfl::json
