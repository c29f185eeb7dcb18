// re.Pattern: searching, splitting and replacing with a compiled pattern.
#include <algorithm>

#include "frontend/core/buffer.h"
#include "frontend/core/str.h"
#include "frontend/interpreter/modules/regex_objects.h"

namespace tfl::patterns {

namespace {

constexpr int64_t kEnd = INT64_MAX;

Pattern& of(const Value& v) { return *v.as<Pattern>(); }
const std::string& content(const Value& v) { return v.is_str() ? text_of(v) : v.as<Bytes>()->data; }

}  // namespace

Result<Subject> subject_of(Interp& interp, const Value& pattern, const Value& string, int64_t pos, int64_t endpos) {
  Subject s;
  s.pattern = pattern.as<Pattern>();
  if (string.is(Kind::ByteArray) || string.is(Kind::MemoryView)) {  // which may change while it is searched
    Value held = TFL_TRY(bytes_like(interp, string));
    return subject_of(interp, pattern, interp.bytes(held.as<Bytes>()->data), pos, endpos);
  }
  if (!string.is_str() && !string.is(Kind::Bytes)) {
    return fail(ErrorKind::TypeError, "expected string or bytes-like object, got '{}'", interp.type_name(string));
  }
  bool bytes = s.pattern->bytes;
  if (string.is_str() == bytes) {
    return fail(ErrorKind::TypeError, "cannot use a {} pattern on a {} object", bytes ? "bytes" : "string",
                bytes ? "string-like" : "bytes-like");
  }
  s.string = string;
  s.text = content(string);
  int64_t length = bytes ? static_cast<int64_t>(s.text.size()) : str_length(string.as<Str>());
  s.pos = std::clamp<int64_t>(pos, 0, length);
  s.endpos = std::clamp<int64_t>(endpos, 0, length);
  s.empty = s.pos > s.endpos;
  auto offset = [&](int64_t place) { return s.single() ? static_cast<size_t>(place) : str_offset(string.as<Str>(), place); };
  if (s.endpos < length) s.text = s.text.substr(0, offset(s.endpos));
  if (s.pos > 0) s.at = offset(s.pos);
  return s;
}

Result<bool> Matches::next() {
  if (subject_.empty) return false;
  if ((found_++ & 0xFF) == 0) TFL_TRY(interp_.check_interrupt());
  bool yes = TFL_TRY(subject_.pattern->regex->search(subject_.text, at_, advance_ ? kMatchAdvance : 0, spans_));
  if (!yes) return false;
  advance_ = spans_[0].end == spans_[0].begin;
  at_ = spans_[0].end;
  return true;
}

namespace {

/// search, match and fullmatch: the match or None.
template <uint32_t How>
Result<Value> one(Interp& interp, Value* a) {
  int64_t pos = TFL_TRY(to_index(interp, a[2])), endpos = TFL_TRY(to_index(interp, a[3]));
  Subject subject = TFL_TRY(subject_of(interp, a[0], a[1], pos, endpos));
  if (subject.empty) return Value::none();
  std::vector<Regex::Span> spans;
  bool found = TFL_TRY(subject.pattern->regex->search(subject.text, subject.at, How, spans));
  if (!found) return Value::none();
  return make_match(interp, a[0], subject, std::move(spans));
}

/// A text of no characters, as groups that took no part are told by findall and sub.
Value nothing(Interp& interp, const Pattern& p) { return p.bytes ? interp.bytes(std::string()) : interp.ascii(std::string()); }

Result<void> guard_growth(Interp& interp, const std::vector<Value>& items) {
  return guard_memory(interp, items.size() == items.capacity() ? items.size() * 2 * sizeof(Value) : 0);
}

Result<Value> findall(Interp& interp, Value* a) {
  int64_t pos = TFL_TRY(to_index(interp, a[2])), endpos = TFL_TRY(to_index(interp, a[3]));
  Subject subject = TFL_TRY(subject_of(interp, a[0], a[1], pos, endpos));
  Value absent = nothing(interp, *subject.pattern);
  std::vector<Value> found;
  Matches matches(interp, subject);
  while (TFL_TRY(matches.next())) {
    TFL_TRY(guard_growth(interp, found));
    const std::vector<Regex::Span>& spans = matches.spans();
    if (spans.size() <= 2) {
      found.push_back(subject.group(interp, spans.back(), absent));
      continue;
    }
    Tuple* row = new_tuple(interp, interp.types.tuple, static_cast<int64_t>(spans.size()) - 1);
    for (size_t i = 1; i < spans.size(); ++i) row->items[i - 1] = subject.group(interp, spans[i], absent);
    found.push_back(Value::adopt(row));
  }
  return interp.list(std::move(found));
}

// --------------------------------------------------------------------------------------------------------- finditer

/// State: a Tuple (pattern, string, pos, endpos). Position: twice the byte to go on at, odd when the last match was empty; -1 at the end.
Result<Value> next_match(Interp& interp, Value& state, int64_t& position) {
  Tuple* t = state.as<Tuple>();
  if (position < 0) return Value();
  Value pattern = t->items[0], string = t->items[1];
  Subject subject = TFL_TRY(subject_of(interp, pattern, string, t->items[2].as_int(), t->items[3].as_int()));
  Matches matches(interp, subject);
  matches.go_on(static_cast<size_t>(position >> 1), position & 1);
  bool found = TFL_TRY(matches.next());
  if (!found) {
    position = -1;
    return Value();
  }
  position = static_cast<int64_t>(matches.at() << 1) | matches.advance();
  return make_match(interp, pattern, subject, std::move(matches.spans()));
}

Result<Value> finditer(Interp& interp, Value* a) {
  int64_t pos = TFL_TRY(to_index(interp, a[2])), endpos = TFL_TRY(to_index(interp, a[3]));
  Subject subject = TFL_TRY(subject_of(interp, a[0], a[1], pos, endpos));
  Value state = interp.tuple({a[0], a[1], Value::integer(subject.pos), Value::integer(subject.endpos)});
  int64_t position = subject.empty ? -1 : static_cast<int64_t>(subject.at << 1);
  return make_iterator(interp, interp.types.callable_iterator, next_match, state, position);
}

// ------------------------------------------------------------------------------------------------------- split and sub

Result<int64_t> limit_of(Interp& interp, const Value& v) {
  int64_t n = TFL_TRY(to_index(interp, v));
  return n > 0 ? n : n < 0 ? 0 : kEnd;
}

Result<Value> split(Interp& interp, Value* a) {
  int64_t limit = TFL_TRY(limit_of(interp, a[2]));
  Subject subject = TFL_TRY(subject_of(interp, a[0], a[1], 0, kEnd));
  std::vector<Value> parts;
  Matches matches(interp, subject);
  size_t at = 0;
  while (limit-- > 0 && TFL_TRY(matches.next())) {
    const std::vector<Regex::Span>& spans = matches.spans();
    TFL_TRY(guard_growth(interp, parts));
    parts.push_back(subject.part(interp, at, spans[0].begin));
    for (size_t i = 1; i < spans.size(); ++i) parts.push_back(subject.group(interp, spans[i], Value::none()));
    at = spans[0].end;
  }
  parts.push_back(subject.part(interp, at, subject.text.size()));
  return interp.list(std::move(parts));
}

/// replace(pattern, parts, string, count): (text, number). `parts` is a function that gets each match, or the list of texts and numbers of
/// groups that re.tfl makes of a template.
Result<Value> replace(Interp& interp, Value* a) {
  Value pattern = a[0], parts = a[1];
  int64_t limit = TFL_TRY(limit_of(interp, a[3]));
  Subject subject = TFL_TRY(subject_of(interp, pattern, a[2], 0, kEnd));
  const bool bytes = subject.pattern->bytes, is_template = parts.is(Kind::List);
  std::string out;
  int64_t pieces = 0, number = 0;  // what CPython joins: errors name the place in that list
  size_t at = 0;
  auto add = [&](std::string_view piece) -> Result<void> {
    if (out.capacity() - out.size() < piece.size()) TFL_TRY(guard_memory(interp, out.size() * 2 + piece.size()));
    out += piece;
    return {};
  };
  Matches matches(interp, subject);
  for (; number < limit && TFL_TRY(matches.next()); ++number) {
    const std::vector<Regex::Span>& spans = matches.spans();
    size_t begin = spans[0].begin, end = spans[0].end;
    if (begin > at) {
      TFL_TRY(add(subject.text.substr(at, begin - at)));
      ++pieces;
    }
    at = end;
    if (is_template) {
      for (const Value& part : parts.as<List>()->items) {
        if (!part.is_int()) {
          TFL_TRY(add(content(part)));
        } else if (const Regex::Span& s = spans[static_cast<size_t>(part.as_int())]; s.matched()) {
          TFL_TRY(add(subject.text.substr(s.begin, s.end - s.begin)));
        }
      }
      ++pieces;
      continue;
    }
    Value piece = TFL_TRY(interp.call(parts, {make_match(interp, pattern, subject, std::move(matches.spans()))}));
    if (piece.is_none()) continue;
    if (!(bytes ? piece.is(Kind::Bytes) : piece.is_str())) {
      return fail(ErrorKind::TypeError, "sequence item {}: expected {}, {} found", pieces,
                  bytes ? "a bytes-like object" : "str instance", interp.type_name(piece));
    }
    TFL_TRY(add(content(piece)));
    ++pieces;
  }
  if (number == 0 && subject.string.object()->type == (bytes ? interp.types.bytes : interp.types.str)) {
    return interp.tuple({subject.string, Value::integer(0)});
  }
  TFL_TRY(add(subject.text.substr(at)));
  return interp.tuple({bytes ? interp.bytes(std::move(out)) : interp.str(std::move(out)), Value::integer(number)});
}

/// sub and subn: a template's words are read in re.tfl.
Result<Value> substituted(Interp& interp, Value* a) {
  Value args[4] = {a[0], a[1], a[2], a[3]};
  if (!is_callable(interp, a[1])) {
    Value function = dict_get_str(interp.find_module("_re").as<Module>()->dict.as<Dict>(), interp.intern("_template"));
    args[1] = TFL_TRY(interp.call(function, {a[0], a[1]}));
    if (!args[1].is(Kind::List)) return fail(ErrorKind::SystemError, "a template without parts");
  }
  return replace(interp, args);
}
Result<Value> subn(Interp& interp, Value* a) { return substituted(interp, a); }
Result<Value> sub(Interp& interp, Value* a) {
  Value both = TFL_TRY(substituted(interp, a));
  return both.as<Tuple>()->items[0];
}

// ------------------------------------------------------------------------------------------------------- attributes

Result<Value> pattern(Interp&, Value* a) { return of(a[0]).source; }
Result<Value> flags(Interp&, Value* a) { return Value::integer(of(a[0]).flags); }
Result<Value> groups(Interp&, Value* a) { return Value::integer(of(a[0]).groups); }
Result<Value> itself(Interp&, Value* a) { return a[0]; }

Result<Value> groupindex(Interp& interp, Value* a) {
  Value types = TFL_TRY(interp.import_module("types"));
  Value proxy = TFL_TRY(get_attr(interp, types, interp.intern("MappingProxyType")));
  return interp.call(proxy, {of(a[0]).names});
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  constexpr struct {
    int64_t bit;
    const char* name;
  } kFlags[] = {{2, "re.IGNORECASE"}, {4, "re.LOCALE"},   {8, "re.MULTILINE"}, {16, "re.DOTALL"},
                {32, "re.UNICODE"},   {64, "re.VERBOSE"}, {128, "re.DEBUG"},   {256, "re.ASCII"}};
  Pattern& p = of(self);
  int64_t shown = p.bytes ? p.flags : p.flags & ~int64_t{32};
  std::string names;
  for (const auto& flag : kFlags) {
    if (shown & flag.bit) names += (names.empty() ? ", " : "|") + std::string(flag.name);
  }
  Value text = TFL_TRY(repr(interp, p.source));
  std::string begin(str_range(text.as<Str>(), 0, std::min<int64_t>(200, str_length(text.as<Str>()))));
  return interp.str("re.compile(" + begin + names + ")");
}

bool is_pattern(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &kPattern; }

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !is_pattern(a) || !is_pattern(b)) return interp.not_implemented;
  bool same = of(a).flags == of(b).flags && of(a).bytes == of(b).bytes && content(of(a).source) == content(of(b).source);
  return Value::boolean(same == (op == CompareOp::Eq));
}

Result<uint64_t> hash_slot(Interp& interp, const Value& self) {
  uint64_t hash = TFL_TRY(hash_value(interp, interp.tuple({Value::integer(of(self).flags), of(self).source})));
  return hash;
}

Result<Value> refuse(Interp&, Type*, CallArgs&) { return fail(ErrorKind::TypeError, "cannot create 're.Pattern' instances"); }

#define TFL_RANGE "self, /, string, pos=0, endpos=9223372036854775807"
constexpr NativeDef kMethods[] = {
    method("search", TFL_RANGE, one<0>),
    method("match", TFL_RANGE, one<kMatchAtStart>),
    method("fullmatch", TFL_RANGE, one<kMatchAtStart | kMatchToEnd>),
    method("findall", TFL_RANGE, findall),
    method("finditer", TFL_RANGE, finditer),
    method("scanner", TFL_RANGE, finditer),
    method("split", "self, /, string, maxsplit=0", split),
    method("sub", "self, /, repl, string, count=0", sub),
    method("subn", "self, /, repl, string, count=0", subn),
    method("__copy__", "self, /", itself),
    method("__deepcopy__", "self, memo, /", itself),
    getter("pattern", pattern),
    getter("flags", flags),
    getter("groups", groups),
    getter("groupindex", groupindex),
};
#undef TFL_RANGE

constexpr Slots slots() {
  Slots s{};
  s.kind = Kind::Native;
  s.destroy = destroy_object<Pattern>;
  s.construct = refuse;
  s.repr = repr_slot;
  s.hash = hash_slot;
  s.compare = compare_slot;
  return s;
}

}  // namespace

const Slots kPattern = slots();
std::span<const NativeDef> pattern_methods() { return kMethods; }

}  // namespace tfl::patterns
