// The module `_re`: compiled patterns and searches, for stdlib/re.tfl. Places are told in characters.
#include "runtime/text/regex.h"

#include <algorithm>

#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/core/str.h"
#include "frontend/interpreter/modules/regex_syntax.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

struct RegexObject : Object {
  std::unique_ptr<Regex> regex;
  bool bytes = false;
};

const Slots kRegexSlots = {.kind = Kind::Native, .destroy = destroy_object<RegexObject>};

const std::string& content(const Value& v) { return v.is_str() ? text_of(v) : v.as<Bytes>()->data; }

/// compile(pattern, flags): (regex, flags, groups, {name: number}, order in which groups close), or (message, place) of what is wrong.
Result<Value> compile(Interp& interp, Value* args) {
  bool bytes = args[0].is(Kind::Bytes);
  const std::string& pattern = content(args[0]);
  auto flags = static_cast<uint32_t>(TFL_TRY(to_index(interp, args[1])));
  PythonRegex translated;
  PythonRegexProblem problem;
  auto refused = [&](const std::string& text, std::optional<size_t> offset) {
    Value place = Value::none();
    if (offset) {
      std::string_view before = std::string_view(pattern).substr(0, *offset);
      place = Value::integer(bytes ? static_cast<int64_t>(before.size()) : utf8::count(before));
    }
    return interp.tuple({interp.str(text), place});
  };
  if (!translate_python_regex(pattern, flags, bytes, translated, problem)) return refused(problem.text, problem.offset);
  flags = translated.flags;
  bool ascii = bytes || (flags & kPyAscii);
  if (!ascii) flags |= kPyUnicode;
  uint32_t how = 0;
  if (flags & kPyIgnoreCase) how |= kRegexIgnoreCase;
  if (flags & kPyMultiLine) how |= kRegexMultiLine;
  if (flags & kPyDotAll) how |= kRegexDotAll;
  if (!bytes) how |= kRegexUtf8 | kRegexValidText;
  if (!ascii) how |= kRegexUnicodeClasses;
  RegexProblem library;
  auto made = Regex::compile(translated.pattern, how, &library);
  if (!made) return refused(library.text, {});
  Value type = dict_get_str(interp.find_module("_re").as<Module>()->dict.as<Dict>(), interp.intern("_Regex"));
  auto* object = interp.allocate<RegexObject>(type.as<Type>());
  Value regex = Value::adopt(object);
  object->regex = std::make_unique<Regex>(made.take());
  object->bytes = bytes;
  Value names = interp.dict();
  for (const auto& [name, number] : translated.names) {
    dict_set_str(names.as<Dict>(), interp.intern(name), Value::integer(static_cast<int64_t>(number)));
  }
  std::vector<Value> closing;
  for (size_t number : translated.closing) closing.push_back(Value::integer(static_cast<int64_t>(number)));
  return interp.tuple({regex, Value::integer(flags), Value::integer(static_cast<int64_t>(translated.groups)), names, interp.tuple(closing)});
}

/// find(regex, text, pos, endpos, how, limit): at most `limit` matches one after the other, each (texts, places): texts and
/// places of all groups, the whole first. `how`: 0 search, 1 match, 2 fullmatch.
Result<Value> find(Interp& interp, Value* args) {
  auto* object = args[0].as<RegexObject>();
  if (!args[0].is(Kind::Native) || object->type->slots != &kRegexSlots) return fail(ErrorKind::TypeError, "a compiled pattern is required");
  if (!args[1].is_str() && !args[1].is(Kind::Bytes)) {
    return fail(ErrorKind::TypeError, "expected string or bytes-like object, got '{}'", interp.type_name(args[1]));
  }
  if (args[1].is_str() == object->bytes) {
    return fail(ErrorKind::TypeError, "cannot use a {} pattern on a {} object", object->bytes ? "bytes" : "string", object->bytes ? "string-like" : "bytes-like");
  }
  const std::string& whole = content(args[1]);
  bool same = object->bytes || (str_length(args[1].as<Str>()), args[1].as<Str>()->ascii());
  int64_t length = object->bytes ? static_cast<int64_t>(whole.size()) : str_length(args[1].as<Str>());
  int64_t pos = std::clamp<int64_t>(TFL_TRY(to_index(interp, args[2])), 0, length);
  int64_t end = std::clamp<int64_t>(TFL_TRY(to_index(interp, args[3])), 0, length);
  int64_t mode = TFL_TRY(to_index(interp, args[4]));
  int64_t limit = TFL_TRY(to_index(interp, args[5]));
  std::vector<Value> found;
  if (pos > end) return interp.list();
  std::string_view subject = whole;
  if (end < length) subject = subject.substr(0, same ? static_cast<size_t>(end) : str_offset(args[1].as<Str>(), end));
  size_t at = same ? static_cast<size_t>(pos) : str_offset(args[1].as<Str>(), pos);
  auto place = [&](size_t byte) { return Value::integer(same ? static_cast<int64_t>(byte) : str_character(args[1].as<Str>(), byte)); };
  std::vector<Regex::Span> spans;
  uint32_t fixed = (mode >= 1 ? kMatchAtStart : 0) | (mode == 2 ? kMatchToEnd : 0);
  bool advance = false;
  while (static_cast<int64_t>(found.size()) < limit) {
    if ((found.size() & 0xFF) == 0) TFL_TRY(interp.check_interrupt());
    bool yes = TFL_TRY(object->regex->search(subject, at, fixed | (advance ? kMatchAdvance : 0), spans));
    if (!yes) break;
    std::vector<Value> texts, where;
    for (const Regex::Span& s : spans) {
      if (!s.matched()) {
        texts.push_back(Value::none());
        where.push_back(interp.tuple({Value::integer(-1), Value::integer(-1)}));
        continue;
      }
      TFL_TRY(guard_memory(interp, s.end - s.begin));
      std::string piece(subject.substr(s.begin, s.end - s.begin));
      texts.push_back(object->bytes ? interp.bytes(std::move(piece)) : interp.str(std::move(piece)));
      where.push_back(interp.tuple({place(s.begin), place(s.end)}));
    }
    found.push_back(interp.tuple({interp.tuple(texts), interp.tuple(where)}));
    advance = spans[0].end == spans[0].begin;
    at = spans[0].end;
  }
  return interp.list(std::move(found));
}

constexpr NativeDef kRe[] = {
    function("compile", "pattern, flags, /", compile),
    function("find", "regex, text, pos, endpos, how, limit, /", find),
};

}  // namespace

Result<void> init_re(Interp& interp, Module& module) {
  define_all(interp, module, kRe);
  define_native_type(interp, module, "_Regex", kRegexSlots);
  return {};
}

}  // namespace tfl
