// Methods of str that change case, pad, ask about characters, translate and format; the table of all of them.
#include <algorithm>

#include "frontend/core/exception.h"
#include "frontend/core/str.h"
#include "frontend/text/codec.h"
#include "frontend/text/search.h"
#include "frontend/text/unicode.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

const std::string& self_text(Value* a) { return text_of(a[0]); }

template <std::string (*F)(std::string_view, Stop)>
Result<Value> mapped(Interp& interp, Value* a) {
  TFL_TRY(guard_memory(interp, self_text(a).size()));
  std::string made = F(self_text(a), stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return interp.str(std::move(made));
}

/// True when there are characters and all of them pass.
template <bool (*Test)(char32_t)>
Result<Value> all_are(Interp&, Value* a) {
  const std::string& s = self_text(a);
  for (size_t at = 0; at < s.size();) {
    if (!Test(utf8::next(s, at))) return Value::boolean(false);
  }
  return Value::boolean(!s.empty());
}

/// isupper and islower: some letter has the case, and none another one.
template <bool (*Test)(char32_t)>
Result<Value> cased_are(Interp&, Value* a) {
  const std::string& s = self_text(a);
  bool any = false;
  for (size_t at = 0; at < s.size();) {
    char32_t c = utf8::next(s, at);
    if (Test(c))
      any = true;
    else if (unicode::is_cased(c))
      return Value::boolean(false);
  }
  return Value::boolean(any);
}

Result<Value> isascii(Interp&, Value* a) {
  str_length(a[0].as<Str>());
  return Value::boolean(a[0].as<Str>()->ascii());
}

Result<Value> isprintable(Interp&, Value* a) {
  const std::string& s = self_text(a);
  for (size_t at = 0; at < s.size();) {
    if (!unicode::is_printable(utf8::next(s, at))) return Value::boolean(false);
  }
  return Value::boolean(true);
}

Result<Value> isidentifier(Interp&, Value* a) { return Value::boolean(unicode::is_identifier(self_text(a))); }

Result<Value> istitle(Interp&, Value* a) {
  const std::string& s = self_text(a);
  bool inside = false, any = false;
  for (size_t at = 0; at < s.size();) {
    char32_t c = utf8::next(s, at);
    bool start = unicode::is_upper(c) || unicode::is_title(c), rest = unicode::is_lower(c);
    if ((start && inside) || (rest && !inside)) return Value::boolean(false);
    any |= start || rest;
    inside = start || rest;
  }
  return Value::boolean(any);
}

/// center, ljust, rjust: `left` says how much of the missing width goes before the text.
template <class Left>
Result<Value> pad_to(Interp& interp, Value* a, Left&& left) {
  int64_t width = TFL_TRY(to_index(interp, a[1]));
  if (!a[2].is_str())
    return fail(ErrorKind::TypeError, "The fill character must be a unicode character, not {}", interp.type_name(a[2]));
  Str* fill = a[2].as<Str>();
  if (str_length(fill) != 1) return fail(ErrorKind::TypeError, "The fill character must be exactly one character long");
  Str* s = a[0].as<Str>();
  int64_t missing = width - str_length(s);
  if (missing <= 0) return s->type == interp.types.str ? a[0] : interp.str(s->text);
  TFL_TRY(guard_repeat(interp, fill->text.size(), missing, 1));
  int64_t before = left(missing, width);
  std::string out;
  out.reserve(s->text.size() + static_cast<size_t>(missing) * fill->text.size());
  auto pad = [&](int64_t n) {
    if (fill->text.size() == 1) {
      out.append(static_cast<size_t>(n), fill->text[0]);
      return;
    }
    for (int64_t i = 0; i < n; ++i) out += fill->text;
  };
  pad(before);
  out += s->text;
  pad(missing - before);
  return interp.str(std::move(out));
}

Result<Value> center(Interp& interp, Value* a) {
  return pad_to(interp, a, [](int64_t missing, int64_t width) { return missing / 2 + (missing & width & 1); });
}
Result<Value> ljust(Interp& interp, Value* a) {
  return pad_to(interp, a, [](int64_t, int64_t) { return int64_t{0}; });
}
Result<Value> rjust(Interp& interp, Value* a) {
  return pad_to(interp, a, [](int64_t missing, int64_t) { return missing; });
}

Result<Value> zfill(Interp& interp, Value* a) {
  int64_t width = TFL_TRY(to_index(interp, a[1]));
  Str* s = a[0].as<Str>();
  int64_t missing = width - str_length(s);
  if (missing <= 0) return interp.str(s->text);
  TFL_TRY(guard_repeat(interp, 1, missing, 1));
  std::string out = s->text;
  bool sign = !out.empty() && (out[0] == '+' || out[0] == '-');
  out.insert(sign ? 1 : 0, static_cast<size_t>(missing), '0');
  return interp.str(std::move(out));
}

Result<Value> expandtabs(Interp& interp, Value* a) {
  int64_t size = TFL_TRY(to_index(interp, a[1]));
  int64_t tabs = count_occurrences(self_text(a), "\t", Alphabet::Text);
  TFL_TRY(guard_repeat(interp, static_cast<size_t>(tabs), size, 1));
  return interp.str(expand_tabs(self_text(a), size, Alphabet::Text));
}

Result<Value> encode(Interp& interp, Value* a) {
  Str* encoding = TFL_TRY(need_str(interp, a[1]));
  Str* errors = TFL_TRY(need_str(interp, a[2]));
  CodecFault fault;
  auto data = encode_text(self_text(a), encoding->text, errors->text, &fault, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  if (!data) return codec_failure(interp, data.failure(), fault, a[0]);
  return interp.bytes(data.take());
}

/// What a table of translate() says about one character: itself, nothing, or a text.
struct Translated {
  enum class Is : uint8_t { Unknown, Same, Text } is = Is::Unknown;
  std::string text;
};

Result<Translated> translated(Interp& interp, const Value& table, char32_t c) {
  auto to = get_item(interp, table, Value::integer(static_cast<int64_t>(c)));
  if (!to) {
    Value exception = interp.exception_of(to.error());
    if (!interp.is_instance(exception, interp.exception_type(ErrorKind::LookupError))) return to.failure();
    return Translated{Translated::Is::Same, {}};
  }
  if (to->is_none()) return Translated{Translated::Is::Text, {}};
  if (to->is_str()) return Translated{Translated::Is::Text, text_of(*to)};
  if (!to->is_int()) return fail(ErrorKind::TypeError, "character mapping must return integer, None or str");
  if (to->as_int() < 0 || to->as_int() > 0x10FFFF)
    return fail(ErrorKind::ValueError, "character mapping must be in range(0x110000)");
  Translated made{Translated::Is::Text, {}};
  utf8::append(made.text, static_cast<char32_t>(to->as_int()));
  return made;
}

Result<Value> translate(Interp& interp, Value* a) {
  std::string out;
  Value self = a[0], table = a[1];
  const std::string& s = text_of(self);
  out.reserve(s.size());
  // A dict is asked once for each character of ASCII; what a script's table says may change. `fast` has for those what is one of ASCII, too.
  constexpr unsigned char kGone = 0x80, kAsk = 0x81;
  bool plain = table.is(Kind::Dict) && table.object()->type == interp.types.dict;
  std::vector<Translated> known(plain ? 128 : 0);
  unsigned char fast[256];
  std::fill(std::begin(fast), std::end(fast), kAsk);
  size_t looks = 0;
  for (size_t at = 0; at < s.size();) {
    char block[512];
    size_t n = 0;
    for (; at < s.size() && n < sizeof block; ++at) {
      const unsigned char to = fast[static_cast<unsigned char>(s[at])];
      if (to == kAsk) break;
      block[n] = static_cast<char>(to);
      n += to != kGone;
    }
    out.append(block, n);
    if (++looks % 64 == 0) TFL_TRY(look_for_interrupt(interp));
    if (at == s.size() || n == sizeof block) continue;
    size_t start = at;
    char32_t c = utf8::next(s, at);
    TFL_TRY(guard_memory(interp, out.capacity() - out.size() < 64 ? out.size() : 0));
    if (c < known.size()) {
      Translated& to = known[c];
      if (to.is == Translated::Is::Unknown) {
        to = TFL_TRY(translated(interp, table, c));
        if (to.is == Translated::Is::Same)
          fast[c] = static_cast<unsigned char>(c);
        else if (to.text.empty())
          fast[c] = kGone;
        else if (to.text.size() == 1)
          fast[c] = static_cast<unsigned char>(to.text[0]);
      }
      if (to.is == Translated::Is::Same)
        out += static_cast<char>(c);
      else
        out += to.text;
      continue;
    }
    Translated to = TFL_TRY(translated(interp, table, c));
    if (to.is == Translated::Is::Same)
      out.append(s, start, at - start);
    else
      out += to.text;
  }
  return interp.str(std::move(out));
}

Result<Value> maketrans(Interp& interp, Value* a) {
  Value out = interp.dict();
  Dict* d = out.as<Dict>();
  auto code = [](char32_t c) { return Value::integer(static_cast<int64_t>(c)); };
  if (a[1].is_empty()) {
    if (!a[0].is(Kind::Dict)) return fail(ErrorKind::TypeError, "if you give only one argument to maketrans it must be a dict");
    size_t at = 0;
    while (Dict::Entry* e = dict_next(a[0].as<Dict>(), at)) {
      Value key = e->key;
      if (key.is_str()) {
        if (str_length(key.as<Str>()) != 1)
          return fail(ErrorKind::ValueError, "string keys in translate table must be of length 1");
        key = code(utf8::first(text_of(key)));
      } else if (!key.is_int()) {
        return fail(ErrorKind::TypeError, "keys in translate table must be strings or integers");
      }
      TFL_TRY(dict_set(interp, d, key, e->value));
    }
    return out;
  }
  for (int i = 0; i < 3; ++i) {
    if (i == 2 && a[2].is_empty()) break;
    if (!a[i].is_str()) {
      if (i == 0) return fail(ErrorKind::TypeError, "first maketrans argument must be a string if there is a second argument");
      return fail(ErrorKind::TypeError, "maketrans() argument {} must be str, not {}", i + 1, interp.type_name(a[i]));
    }
  }
  std::u32string from = utf8::decode(text_of(a[0])), to = utf8::decode(text_of(a[1]));
  if (from.size() != to.size()) return fail(ErrorKind::ValueError, "the first two maketrans arguments must have equal length");
  for (size_t i = 0; i < from.size(); ++i) TFL_TRY(dict_set(interp, d, code(from[i]), code(to[i])));
  if (!a[2].is_empty()) {
    for (char32_t c : utf8::decode(text_of(a[2]))) TFL_TRY(dict_set(interp, d, code(c), Value::none()));
  }
  return out;
}

Result<Value> format(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is_str()) {
    return fail(ErrorKind::TypeError, "unbound method str.format() needs an argument");
  }
  Value named = interp.dict();
  for (size_t k = 0; k < args.keywords.size(); ++k) dict_set_str(named.as<Dict>(), args.keywords[k], args.values[args.count + k]);
  std::vector<Value> positional(args.values + 1, args.values + args.count);
  std::string text = TFL_TRY(format_fields(interp, text_of(args.values[0]), &positional, named));
  return interp.str(std::move(text));
}

Result<Value> format_map(Interp& interp, Value* a) {
  std::string text = TFL_TRY(format_fields(interp, self_text(a), nullptr, a[1]));
  return interp.str(std::move(text));
}

constexpr NativeDef kMethods[] = {
    method("upper", "self, /", mapped<unicode::upper>),
    method("lower", "self, /", mapped<unicode::lower>),
    method("title", "self, /", mapped<unicode::title>),
    method("capitalize", "self, /", mapped<unicode::capitalize>),
    method("swapcase", "self, /", mapped<unicode::swapcase>),
    method("casefold", "self, /", mapped<unicode::casefold>),
    method("isalpha", "self, /", all_are<unicode::is_alpha>),
    method("isalnum", "self, /", all_are<unicode::is_alnum>),
    method("isdecimal", "self, /", all_are<unicode::is_decimal>),
    method("isdigit", "self, /", all_are<unicode::is_digit>),
    method("isnumeric", "self, /", all_are<unicode::is_numeric>),
    method("isspace", "self, /", all_are<unicode::is_space>),
    method("isupper", "self, /", cased_are<unicode::is_upper>),
    method("islower", "self, /", cased_are<unicode::is_lower>),
    method("istitle", "self, /", istitle),
    method("isascii", "self, /", isascii),
    method("isprintable", "self, /", isprintable),
    method("isidentifier", "self, /", isidentifier),
    method("center", "self, width, fillchar=' ', /", center),
    method("ljust", "self, width, fillchar=' ', /", ljust),
    method("rjust", "self, width, fillchar=' ', /", rjust),
    method("zfill", "self, width, /", zfill),
    method("expandtabs", "self, /, tabsize=8", expandtabs),
    method("encode", "self, /, encoding='utf-8', errors='strict'", encode),
    method("translate", "self, table, /", translate),
    static_method("maketrans", "x, y=..., z=..., /", maketrans),
    raw_method("format", format),
    method("format_map", "self, mapping, /", format_map),
    method("find", "self, sub, start=None, end=None, /", str_method::find),
    method("rfind", "self, sub, start=None, end=None, /", str_method::rfind),
    method("index", "self, sub, start=None, end=None, /", str_method::index),
    method("rindex", "self, sub, start=None, end=None, /", str_method::rindex),
    method("count", "self, sub, start=None, end=None, /", str_method::count),
    method("startswith", "self, prefix, start=None, end=None, /", str_method::startswith),
    method("endswith", "self, suffix, start=None, end=None, /", str_method::endswith),
    method("replace", "self, old, new, count=-1, /", str_method::replace),
    method("split", "self, /, sep=None, maxsplit=-1", str_method::split),
    method("rsplit", "self, /, sep=None, maxsplit=-1", str_method::rsplit),
    method("splitlines", "self, /, keepends=False", str_method::splitlines),
    method("partition", "self, sep, /", str_method::partition),
    method("rpartition", "self, sep, /", str_method::rpartition),
    method("strip", "self, chars=None, /", str_method::strip),
    method("lstrip", "self, chars=None, /", str_method::lstrip),
    method("rstrip", "self, chars=None, /", str_method::rstrip),
    method("removeprefix", "self, prefix, /", str_method::removeprefix),
    method("removesuffix", "self, suffix, /", str_method::removesuffix),
    method("join", "self, iterable, /", str_method::join),
};

}  // namespace

std::span<const NativeDef> str_methods() { return kMethods; }

}  // namespace tfl
