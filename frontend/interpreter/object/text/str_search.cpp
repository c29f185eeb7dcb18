// Methods of str that find, split, strip and join.
#include <algorithm>

#include "frontend/core/str.h"
#include "frontend/text/search.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr size_t kNone = std::string_view::npos;

std::string_view self_text(Value* a) { return text_of(a[0]); }

/// A part of `whole`: what is known to be ASCII has parts that are.
Value part_of(Interp& interp, const Str* whole, std::string_view part) {
  if (part.size() == 1) return interp.character(static_cast<unsigned char>(part[0]));  // one byte is one character
  Value v = interp.str(std::string(part));
  if (whole->ascii()) v.as<Str>()->length = static_cast<int64_t>(part.size());
  return v;
}

Result<Value> pieces_to_list(Interp& interp, const Value& whole, const std::vector<std::string_view>& pieces) {
  std::vector<Value> out;
  TFL_TRY(look_for_interrupt(interp));
  out.reserve(pieces.size());
  for (std::string_view p : pieces) {
    out.push_back(part_of(interp, whole.as<Str>(), p));
    if (out.size() % kLookEvery == 0) TFL_TRY(look_for_interrupt(interp));
  }
  return interp.list(std::move(out));
}

/// find and rfind: a[1] what, a[2], a[3] bounds. -1: not there.
Result<int64_t> find_in(Interp& interp, Value* a, bool last) {
  Str* what = TFL_TRY(need_str(interp, a[1]));
  Str* s = a[0].as<Str>();
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], str_length(s), from, to));
  if (from > to) return int64_t{-1};
  std::string_view part = str_range(s, from, to);
  size_t at = last ? find_last(part, what->text) : find_first(part, what->text);
  if (at == kNone) return int64_t{-1};
  return at == 0 ? from : str_character(s, static_cast<size_t>(part.data() - s->text.data()) + at);
}

Result<Value> find_or_fail(Interp& interp, Value* a, bool last) {
  int64_t i = TFL_TRY(find_in(interp, a, last));
  if (i < 0) return fail(ErrorKind::ValueError, "substring not found");
  return Value::integer(i);
}

Result<Value> has_affix(Interp& interp, Value* a, bool suffix) {
  const char* name = suffix ? "endswith" : "startswith";
  Str* s = a[0].as<Str>();
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], str_length(s), from, to));
  bool in_range = from <= to;
  std::string_view part = in_range ? str_range(s, from, to) : std::string_view();
  auto matches = [&](const Value& v) { return in_range && (suffix ? part.ends_with(text_of(v)) : part.starts_with(text_of(v))); };
  if (a[1].is_str()) return Value::boolean(matches(a[1]));
  if (!a[1].is(Kind::Tuple)) {
    return fail(ErrorKind::TypeError, "{} first arg must be str or a tuple of str, not {}", name, interp.type_name(a[1]));
  }
  for (const Value& v : a[1].as<Tuple>()->span()) {
    if (!v.is_str()) return fail(ErrorKind::TypeError, "tuple for {} must only contain str, not {}", name, interp.type_name(v));
    if (matches(v)) return Value::boolean(true);
  }
  return Value::boolean(false);
}

Result<Value> split_any(Interp& interp, Value* a, bool from_right) {
  int64_t limit = TFL_TRY(to_index(interp, a[2]));
  if (a[1].is_none())
    return pieces_to_list(interp, a[0], split_blanks(self_text(a), limit, from_right, Alphabet::Text, stop_of(interp)));
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "must be str or None, not {}", interp.type_name(a[1]));
  if (text_of(a[1]).empty()) return fail(ErrorKind::ValueError, "empty separator");
  return pieces_to_list(interp, a[0], split_at(self_text(a), text_of(a[1]), limit, from_right, stop_of(interp)));
}

Result<Value> partition_at(Interp& interp, Value* a, bool last) {
  Str* separator = TFL_TRY(need_str(interp, a[1]));
  if (separator->text.empty()) return fail(ErrorKind::ValueError, "empty separator");
  std::string_view s = self_text(a);
  size_t at = last ? find_last(s, separator->text) : find_first(s, separator->text);
  Value empty = at == kNone ? interp.str(std::string()) : Value();
  if (at == kNone) return last ? interp.tuple({empty, empty, a[0]}) : interp.tuple({a[0], empty, empty});
  const Str* whole = a[0].as<Str>();
  return interp.tuple(
      {part_of(interp, whole, s.substr(0, at)), a[1], part_of(interp, whole, s.substr(at + separator->text.size()))});
}

Result<Value> strip_any(Interp& interp, Value* a, const char* name, bool left, bool right) {
  std::string_view s = self_text(a), r;
  if (a[1].is_none())
    r = strip_blanks(s, left, right, Alphabet::Text);
  else if (a[1].is_str())
    r = strip_characters(s, text_of(a[1]), left, right, Alphabet::Text);
  else
    return fail(ErrorKind::TypeError, "{} arg must be None or str", name);
  if (r.size() == s.size() && a[0].object()->type == interp.types.str) return a[0];
  return part_of(interp, a[0].as<Str>(), r);
}

Result<void> need_str_argument(Interp& interp, const char* function, const char* which, const Value& v) {
  if (v.is_str()) return {};
  return fail(ErrorKind::TypeError, "{}() argument {}must be str, not {}", function, which, interp.type_name(v));
}

}  // namespace

namespace str_method {

Result<Value> find(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_in(interp, a, false));
  return Value::integer(i);
}
Result<Value> rfind(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(find_in(interp, a, true));
  return Value::integer(i);
}
Result<Value> index(Interp& interp, Value* a) { return find_or_fail(interp, a, false); }
Result<Value> rindex(Interp& interp, Value* a) { return find_or_fail(interp, a, true); }

Result<Value> count(Interp& interp, Value* a) {
  Str* what = TFL_TRY(need_str(interp, a[1]));
  Str* s = a[0].as<Str>();
  int64_t from, to;
  TFL_TRY(str_bounds(interp, a[2], a[3], str_length(s), from, to));
  if (from > to) return Value::integer(0);
  int64_t n = count_occurrences(str_range(s, from, to), what->text, Alphabet::Text, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return Value::integer(n);
}

Result<Value> startswith(Interp& interp, Value* a) { return has_affix(interp, a, false); }
Result<Value> endswith(Interp& interp, Value* a) { return has_affix(interp, a, true); }

Result<Value> replace(Interp& interp, Value* a) {
  TFL_TRY(need_str_argument(interp, "replace", "1 ", a[1]));
  TFL_TRY(need_str_argument(interp, "replace", "2 ", a[2]));
  int64_t limit = TFL_TRY(to_index(interp, a[3]));
  const std::string &what = text_of(a[1]), &with = text_of(a[2]);
  std::string_view s = self_text(a);
  if (with.size() > what.size()) {
    int64_t n = count_occurrences(s, what, Alphabet::Text, stop_of(interp));
    if (limit >= 0) n = std::min(n, limit);
    size_t grown = TFL_TRY(guard_repeat(interp, with.size(), n, 1));
    TFL_TRY(guard_memory(interp, grown + s.size()));
  }
  std::string made = replace_occurrences(s, what, with, limit, Alphabet::Text, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return interp.str(std::move(made));
}

Result<Value> split(Interp& interp, Value* a) { return split_any(interp, a, false); }
Result<Value> rsplit(Interp& interp, Value* a) { return split_any(interp, a, true); }

Result<Value> splitlines(Interp& interp, Value* a) {
  bool keep = TFL_TRY(truth(interp, a[1]));
  return pieces_to_list(interp, a[0], split_lines(self_text(a), keep, Alphabet::Text, stop_of(interp)));
}

Result<Value> partition(Interp& interp, Value* a) { return partition_at(interp, a, false); }
Result<Value> rpartition(Interp& interp, Value* a) { return partition_at(interp, a, true); }
Result<Value> strip(Interp& interp, Value* a) { return strip_any(interp, a, "strip", true, true); }
Result<Value> lstrip(Interp& interp, Value* a) { return strip_any(interp, a, "lstrip", true, false); }
Result<Value> rstrip(Interp& interp, Value* a) { return strip_any(interp, a, "rstrip", false, true); }

Result<Value> removeprefix(Interp& interp, Value* a) {
  TFL_TRY(need_str_argument(interp, "removeprefix", "", a[1]));
  std::string_view s = self_text(a);
  if (s.starts_with(text_of(a[1]))) s.remove_prefix(text_of(a[1]).size());
  return interp.str(std::string(s));
}
Result<Value> removesuffix(Interp& interp, Value* a) {
  TFL_TRY(need_str_argument(interp, "removesuffix", "", a[1]));
  std::string_view s = self_text(a);
  if (s.ends_with(text_of(a[1]))) s.remove_suffix(text_of(a[1]).size());
  return interp.str(std::string(s));
}

Result<Value> join(Interp& interp, Value* a) {
  // Nothing runs while a list is read, so that its items are taken as they lie.
  bool in_list = a[1].is(Kind::List) && a[1].object()->type == interp.types.list;
  Result<std::vector<Value>> made = in_list ? Result<std::vector<Value>>(std::vector<Value>()) : to_vector(interp, a[1]);
  const std::vector<Value>* items = in_list ? &a[1].as<List>()->items : &*made;
  if (!made) {
    if (made.error().kind == ErrorKind::TypeError && !made.error().payload &&
        made.error().message.ends_with("object is not iterable")) {
      return fail(ErrorKind::TypeError, "can only join an iterable");
    }
    return made.failure();
  }
  std::string_view separator = self_text(a);
  size_t total = 0;
  bool ascii = a[0].as<Str>()->ascii() || separator.empty() || items->size() < 2;
  for (size_t i = 0; i < items->size(); ++i) {
    const Value& v = (*items)[i];
    if (!v.is_str())
      return fail(ErrorKind::TypeError, "sequence item {}: expected str instance, {} found", i, interp.type_name(v));
    total += text_of(v).size() + separator.size();
    ascii = ascii && v.as<Str>()->ascii();
  }
  if (items->size() == 1 && (*items)[0].object()->type == interp.types.str) return (*items)[0];
  TFL_TRY(guard_memory(interp, total));
  std::string out;
  out.reserve(total);
  for (size_t i = 0; i < items->size(); ++i) {
    if (i) out += separator;
    out += text_of((*items)[i]);
  }
  return ascii ? interp.ascii(std::move(out)) : interp.str(std::move(out));
}

}  // namespace str_method

}  // namespace tfl
