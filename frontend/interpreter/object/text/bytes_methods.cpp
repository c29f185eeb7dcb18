// The methods of bytes.
#include <algorithm>

#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/core/str.h"
#include "frontend/text/codec.h"
#include "frontend/text/hex_digits.h"
#include "frontend/text/search.h"

namespace tfl {

namespace {

constexpr size_t kNone = std::string_view::npos;

std::string_view self_data(Value* a) { return a[0].as<Bytes>()->data; }
Value make(Interp& interp, Value* a, std::string_view data) { return bytes_of_kind(interp, a[0], std::string(data)); }

/// An argument's bytes; a memoryview in it gives place to a copy.
Result<std::string_view> need_bytes(Interp& interp, Value& v) {
  v = TFL_TRY(bytes_like(interp, v));
  return std::string_view(v.as<Bytes>()->data);
}

/// What find() and count() look for: bytes, or one byte as a number.
Result<std::string> needle(Interp& interp, const Value& v) {
  if (is_bytes_like(v)) {
    Value held = TFL_TRY(bytes_like(interp, v));
    return held.as<Bytes>()->data;
  }
  Value plain = unboxed(v);
  if (!plain.is_int() && !plain.is_bool()) {
    return fail(ErrorKind::TypeError, "argument should be integer or bytes-like object, not '{}'", interp.type_name(v));
  }
  if (plain.as_int() < 0 || plain.as_int() > 255) return fail(ErrorKind::ValueError, "byte must be in range(0, 256)");
  return std::string(1, static_cast<char>(plain.as_int()));
}

Result<int64_t> find_in(Interp& interp, Value* a, bool last) {
  std::string what = TFL_TRY(needle(interp, a[1]));
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], static_cast<int64_t>(self_data(a).size()), from, to));
  if (from > to) return int64_t{-1};
  std::string_view part = self_data(a).substr(static_cast<size_t>(from), static_cast<size_t>(to - from));
  size_t at = last ? find_last(part, what) : find_first(part, what);
  return at == kNone ? int64_t{-1} : from + static_cast<int64_t>(at);
}

template <bool Last>
Result<Value> find(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_in(interp, a, Last));
  return Value::integer(i);
}
template <bool Last>
Result<Value> index(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_in(interp, a, Last));
  if (i < 0) return fail(ErrorKind::ValueError, "subsection not found");
  return Value::integer(i);
}

Result<Value> count(Interp& interp, Value* a) {
  std::string what = TFL_TRY(needle(interp, a[1]));
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], static_cast<int64_t>(self_data(a).size()), from, to));
  if (from > to) return Value::integer(0);
  int64_t n = count_occurrences(self_data(a).substr(static_cast<size_t>(from), static_cast<size_t>(to - from)), what,
                                Alphabet::Bytes, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return Value::integer(n);
}

template <bool Suffix>
Result<Value> has_affix(Interp& interp, Value* a) {
  const char* name = Suffix ? "endswith" : "startswith";
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], static_cast<int64_t>(self_data(a).size()), from, to));
  bool in_range = from <= to;
  std::string_view part =
      in_range ? self_data(a).substr(static_cast<size_t>(from), static_cast<size_t>(to - from)) : std::string_view();
  auto matches = [&](const Value& v) {
    const std::string& what = v.as<Bytes>()->data;
    return in_range && (Suffix ? part.ends_with(what) : part.starts_with(what));
  };
  if (is_bytes_like(a[1])) {
    Value held = TFL_TRY(bytes_like(interp, a[1]));
    return Value::boolean(matches(held));
  }
  if (!a[1].is(Kind::Tuple)) {
    return fail(ErrorKind::TypeError, "{} first arg must be bytes or a tuple of bytes, not {}", name, interp.type_name(a[1]));
  }
  for (const Value& v : a[1].as<Tuple>()->span()) {
    Value held = TFL_TRY(bytes_like(interp, v));
    if (matches(held)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> pieces_to_list(Interp& interp, Value* a, const std::vector<std::string_view>& pieces) {
  std::vector<Value> out;
  TFL_TRY(look_for_interrupt(interp));
  out.reserve(pieces.size());
  for (std::string_view p : pieces) {
    out.push_back(make(interp, a, p));
    if (out.size() % kLookEvery == 0) TFL_TRY(look_for_interrupt(interp));
  }
  return interp.list(std::move(out));
}

template <bool FromRight>
Result<Value> split(Interp& interp, Value* a) {
  int64_t limit = TFL_TRY(to_index(interp, a[2]));
  if (a[1].is_none())
    return pieces_to_list(interp, a, split_blanks(self_data(a), limit, FromRight, Alphabet::Bytes, stop_of(interp)));
  std::string_view separator = TFL_TRY(need_bytes(interp, a[1]));
  if (separator.empty()) return fail(ErrorKind::ValueError, "empty separator");
  return pieces_to_list(interp, a, split_at(self_data(a), separator, limit, FromRight, stop_of(interp)));
}

Result<Value> splitlines(Interp& interp, Value* a) {
  bool keep = TFL_TRY(truth(interp, a[1]));
  return pieces_to_list(interp, a, split_lines(self_data(a), keep, Alphabet::Bytes, stop_of(interp)));
}

template <bool Last>
Result<Value> partition(Interp& interp, Value* a) {
  std::string_view separator = TFL_TRY(need_bytes(interp, a[1]));
  if (separator.empty()) return fail(ErrorKind::ValueError, "empty separator");
  std::string_view s = self_data(a);
  size_t at = Last ? find_last(s, separator) : find_first(s, separator);
  if (at == kNone) {
    Value whole = a[0].is(Kind::Bytes) ? a[0] : make(interp, a, s);
    Value before = make(interp, a, {}), behind = make(interp, a, {});
    return Last ? interp.tuple({before, behind, whole}) : interp.tuple({whole, before, behind});
  }
  return interp.tuple(
      {make(interp, a, s.substr(0, at)), make(interp, a, separator), make(interp, a, s.substr(at + separator.size()))});
}

template <bool Left, bool Right>
Result<Value> strip(Interp& interp, Value* a) {
  if (a[1].is_none()) return make(interp, a, strip_blanks(self_data(a), Left, Right, Alphabet::Bytes));
  std::string_view characters = TFL_TRY(need_bytes(interp, a[1]));
  return make(interp, a, strip_characters(self_data(a), characters, Left, Right, Alphabet::Bytes));
}

Result<Value> replace(Interp& interp, Value* a) {
  std::string_view what = TFL_TRY(need_bytes(interp, a[1]));
  std::string_view with = TFL_TRY(need_bytes(interp, a[2]));
  int64_t limit = TFL_TRY(to_index(interp, a[3]));
  int64_t n = count_occurrences(self_data(a), what, Alphabet::Bytes, stop_of(interp));
  size_t grown = TFL_TRY(guard_repeat(interp, with.size(), n, 1));
  TFL_TRY(guard_memory(interp, grown + self_data(a).size()));
  std::string made = replace_occurrences(self_data(a), what, with, limit, Alphabet::Bytes, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return make(interp, a, made);
}

template <bool Suffix>
Result<Value> remove_affix(Interp& interp, Value* a) {
  std::string_view what = TFL_TRY(need_bytes(interp, a[1]));
  std::string_view s = self_data(a);
  if (Suffix ? s.ends_with(what) : s.starts_with(what)) s = Suffix ? s.substr(0, s.size() - what.size()) : s.substr(what.size());
  return make(interp, a, s);
}

Result<Value> join(Interp& interp, Value* a) {
  auto items = to_vector(interp, a[1]);
  if (!items) {
    if (items.error().kind == ErrorKind::TypeError && !items.error().payload)
      return fail(ErrorKind::TypeError, "can only join an iterable");
    return items.failure();
  }
  std::string out;
  for (size_t i = 0; i < items->size(); ++i) {
    Value v = (*items)[i];
    if (!is_bytes_like(v)) {
      return fail(ErrorKind::TypeError, "sequence item {}: expected a bytes-like object, {} found", i, interp.type_name(v));
    }
    v = TFL_TRY(bytes_like(interp, v));
    TFL_TRY(guard_memory(interp, v.as<Bytes>()->data.size() + self_data(a).size()));
    if (i) out += self_data(a);
    out += v.as<Bytes>()->data;
  }
  return bytes_of_kind(interp, a[0], std::move(out));
}

Result<Value> decode(Interp& interp, Value* a) {
  Str* encoding = TFL_TRY(need_str(interp, a[1]));
  Str* errors = TFL_TRY(need_str(interp, a[2]));
  CodecFault fault;
  auto text = decode_text(self_data(a), encoding->text, errors->text, &fault, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  if (!text)
    return codec_failure(interp, text.failure(), fault, a[0].is(Kind::Bytes) ? a[0] : interp.bytes(std::string(self_data(a))));
  return interp.str(text.take());
}

Result<Value> hex(Interp& interp, Value* a) {
  std::string separator;
  if (a[1].is_str())
    separator = text_of(a[1]);
  else if (a[1].is(Kind::Bytes))
    separator = a[1].as<Bytes>()->data;
  if (!a[1].is_empty() && separator.size() != 1) return fail(ErrorKind::ValueError, "sep must be length 1.");
  int64_t group = TFL_TRY(to_index(interp, a[2]));
  std::string out;
  std::string_view s = self_data(a);
  TFL_TRY(guard_memory(interp, s.size() * 3));
  if (separator.empty()) return interp.ascii(hex_text(s));
  auto n = static_cast<int64_t>(s.size());
  int64_t size = group < 0 ? -group : group;
  for (int64_t i = 0; i < n; ++i) {
    bool boundary = size > 0 && i > 0 && (group > 0 ? (n - i) % size == 0 : i % size == 0);
    if (boundary) out += separator;
    auto byte = static_cast<unsigned char>(s[static_cast<size_t>(i)]);
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return interp.str(std::move(out));
}

Result<Value> fromhex(Interp& interp, Value* a) {
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "fromhex() argument must be str, not {}", interp.type_name(a[1]));
  const std::string& s = text_of(a[1]);
  TFL_TRY(guard_memory(interp, s.size() / 2));
  std::string out(s.size() / 2, '\0');
  size_t to = 0;
  for (size_t i = 0; i < s.size();) {
    if (int byte = hex_pair(s.c_str() + i); byte >= 0) {  // the text ends with a zero, which is no digit
      out[to++] = static_cast<char>(byte);
      i += 2;
      continue;
    }
    if (s[i] == ' ' || (s[i] >= 9 && s[i] <= 13)) {
      ++i;
      continue;
    }
    bool first = kHexValues[static_cast<unsigned char>(s[i])] == kNoHexDigit;
    return fail(ErrorKind::ValueError, "non-hexadecimal number found in fromhex() arg at position {}", first ? i : i + 1);
  }
  out.resize(to);
  // As the class that it is called on.
  Value data = interp.bytes(std::move(out));
  if (!a[0].is(Kind::Type) || a[0].as<Type>() == interp.types.bytes) return data;
  return interp.call(a[0], {data});
}

// ------------------------------------------------------------------------------------------------- ASCII letters

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_alpha(char c) { return is_upper(c) || is_lower(c); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alnum(char c) { return is_alpha(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || (c >= 9 && c <= 13); }
char to_upper(char c) { return is_lower(c) ? static_cast<char>(c - 32) : c; }
char to_lower(char c) { return is_upper(c) ? static_cast<char>(c + 32) : c; }
char to_other(char c) { return is_upper(c) ? to_lower(c) : to_upper(c); }

template <char (*F)(char)>
Result<Value> mapped(Interp& interp, Value* a) {
  std::string out(self_data(a));
  for (char& c : out) c = F(c);
  return bytes_of_kind(interp, a[0], std::move(out));
}

template <bool OnlyFirst>
Result<Value> title(Interp& interp, Value* a) {
  std::string out(self_data(a));
  bool inside = false;
  for (char& c : out) {
    c = inside ? to_lower(c) : to_upper(c);
    inside = OnlyFirst || is_alpha(c);
  }
  return bytes_of_kind(interp, a[0], std::move(out));
}

template <bool (*Test)(char)>
Result<Value> all_are(Interp&, Value* a) {
  for (char c : self_data(a)) {
    if (!Test(c)) return Value::boolean(false);
  }
  return Value::boolean(!self_data(a).empty());
}

template <bool (*Test)(char)>
Result<Value> cased_are(Interp&, Value* a) {
  bool any = false;
  for (char c : self_data(a)) {
    if (Test(c))
      any = true;
    else if (is_alpha(c))
      return Value::boolean(false);
  }
  return Value::boolean(any);
}

Result<Value> istitle(Interp&, Value* a) {
  bool inside = false, any = false;
  for (char c : self_data(a)) {
    if (is_alpha(c) && is_upper(c) == inside) return Value::boolean(false);
    inside = is_alpha(c);
    any = any || inside;
  }
  return Value::boolean(any);
}

Result<Value> translate(Interp& interp, Value* a) {
  std::string_view table, without;
  if (!a[1].is_none()) table = TFL_TRY(need_bytes(interp, a[1]));
  if (!a[1].is_none() && table.size() != 256) return fail(ErrorKind::ValueError, "translation table must be 256 characters long");
  if (!a[2].is_empty()) without = TFL_TRY(need_bytes(interp, a[2]));
  std::string out;
  for (char c : self_data(a)) {
    if (without.find(c) != kNone) continue;
    out += a[1].is_none() ? c : table[static_cast<unsigned char>(c)];
  }
  return bytes_of_kind(interp, a[0], std::move(out));
}

Result<Value> maketrans(Interp& interp, Value* a) {
  std::string_view from = TFL_TRY(need_bytes(interp, a[0]));
  std::string_view to = TFL_TRY(need_bytes(interp, a[1]));
  if (from.size() != to.size()) return fail(ErrorKind::ValueError, "maketrans arguments must have same length");
  std::string table(256, '\0');
  for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<char>(i);
  for (size_t i = 0; i < from.size(); ++i) table[static_cast<unsigned char>(from[i])] = to[i];
  return interp.bytes(std::move(table));
}

Result<Value> isascii(Interp&, Value* a) {
  for (char c : self_data(a)) {
    if (static_cast<unsigned char>(c) >= 0x80) return Value::boolean(false);
  }
  return Value::boolean(true);
}

template <int Where>
Result<Value> padded(Interp& interp, Value* a) {
  int64_t width = TFL_TRY(to_index(interp, a[1]));
  std::string_view fill = " ";
  if (!a[2].is_empty()) {
    if (!(a[2].is(Kind::Bytes) || a[2].is(Kind::ByteArray)) || a[2].as<Bytes>()->data.size() != 1) {
      return fail(ErrorKind::TypeError, "{}() argument 2 must be a byte string of length 1, not {}",
                  Where == 0   ? "ljust"
                  : Where == 1 ? "rjust"
                               : "center",
                  a[2].is_none() ? "None" : interp.type_name(a[2]));
    }
    fill = a[2].as<Bytes>()->data;
  }
  std::string_view s = self_data(a);
  int64_t missing = std::max<int64_t>(0, width - static_cast<int64_t>(s.size()));
  TFL_TRY(guard_repeat(interp, 1, missing, 1));
  int64_t before = Where == 0 ? 0 : Where == 1 ? missing : missing / 2 + (missing & width & 1);
  std::string out(static_cast<size_t>(before), fill[0]);
  out += s;
  out.append(static_cast<size_t>(missing - before), fill[0]);
  return bytes_of_kind(interp, a[0], std::move(out));
}

Result<Value> zfill(Interp& interp, Value* a) {
  int64_t width = TFL_TRY(to_index(interp, a[1]));
  std::string out(self_data(a));
  int64_t missing = std::max<int64_t>(0, width - static_cast<int64_t>(out.size()));
  TFL_TRY(guard_repeat(interp, 1, missing, 1));
  bool sign = !out.empty() && (out[0] == '+' || out[0] == '-');
  out.insert(sign ? 1 : 0, static_cast<size_t>(missing), '0');
  return bytes_of_kind(interp, a[0], std::move(out));
}

Result<Value> expandtabs(Interp& interp, Value* a) {
  int64_t size = TFL_TRY(to_index(interp, a[1]));
  int64_t tabs = count_occurrences(self_data(a), "\t", Alphabet::Bytes);
  TFL_TRY(guard_repeat(interp, static_cast<size_t>(tabs), size, 1));
  return make(interp, a, expand_tabs(self_data(a), size, Alphabet::Bytes));
}

constexpr NativeDef kMethods[] = {
    method("find", "self, sub, start=None, end=None, /", find<false>),
    method("rfind", "self, sub, start=None, end=None, /", find<true>),
    method("index", "self, sub, start=None, end=None, /", index<false>),
    method("rindex", "self, sub, start=None, end=None, /", index<true>),
    method("count", "self, sub, start=None, end=None, /", count),
    method("startswith", "self, prefix, start=None, end=None, /", has_affix<false>),
    method("endswith", "self, suffix, start=None, end=None, /", has_affix<true>),
    method("split", "self, /, sep=None, maxsplit=-1", split<false>),
    method("rsplit", "self, /, sep=None, maxsplit=-1", split<true>),
    method("splitlines", "self, /, keepends=False", splitlines),
    method("partition", "self, sep, /", partition<false>),
    method("rpartition", "self, sep, /", partition<true>),
    method("strip", "self, bytes=None, /", strip<true, true>),
    method("lstrip", "self, bytes=None, /", strip<true, false>),
    method("rstrip", "self, bytes=None, /", strip<false, true>),
    method("replace", "self, old, new, count=-1, /", replace),
    method("removeprefix", "self, prefix, /", remove_affix<false>),
    method("removesuffix", "self, suffix, /", remove_affix<true>),
    method("join", "self, iterable_of_bytes, /", join),
    method("decode", "self, /, encoding='utf-8', errors='strict'", decode),
    method("hex", "self, /, sep=..., bytes_per_sep=1", hex),
    class_method("fromhex", "cls, string, /", fromhex),
    method("upper", "self, /", mapped<to_upper>),
    method("lower", "self, /", mapped<to_lower>),
    method("swapcase", "self, /", mapped<to_other>),
    method("title", "self, /", title<false>),
    method("capitalize", "self, /", title<true>),
    method("isalpha", "self, /", all_are<is_alpha>),
    method("isalnum", "self, /", all_are<is_alnum>),
    method("isdigit", "self, /", all_are<is_digit>),
    method("isspace", "self, /", all_are<is_space>),
    method("isupper", "self, /", cased_are<is_upper>),
    method("islower", "self, /", cased_are<is_lower>),
    method("istitle", "self, /", istitle),
    method("translate", "self, table, /, delete=...", translate),
    static_method("maketrans", "frm, to, /", maketrans),
    method("isascii", "self, /", isascii),
    method("ljust", "self, width, fillchar=..., /", padded<0>),
    method("rjust", "self, width, fillchar=..., /", padded<1>),
    method("center", "self, width, fillchar=..., /", padded<2>),
    method("zfill", "self, width, /", zfill),
    method("expandtabs", "self, /, tabsize=8", expandtabs),
};

}  // namespace

std::span<const NativeDef> bytes_methods() { return kMethods; }

}  // namespace tfl
