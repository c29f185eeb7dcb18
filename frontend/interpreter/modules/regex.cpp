// The module `_re`: patterns are compiled here, for stdlib/python/re.tfl; regex_pattern.cpp and regex_match.cpp have what they do.

#include "frontend/interpreter/modules/regex_objects.h"
#include "frontend/interpreter/modules/regex_syntax.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

/// compile(pattern, flags): a Pattern, or (message, place) of what is wrong.
Result<Value> compile(Interp& interp, Value* args) {
  bool bytes = args[0].is(Kind::Bytes);
  const std::string& pattern = bytes ? args[0].as<Bytes>()->data : text_of(args[0]);
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
  Type* type = TFL_TRY(module_type(interp, "_re", "Pattern", patterns::kPattern));
  Type* match = TFL_TRY(module_type(interp, "_re", "Match", patterns::kMatch));
  auto* object = interp.allocate<patterns::Pattern>(type);
  Value held = Value::adopt(object);
  object->regex = std::make_unique<Regex>(made.take());
  object->bytes = bytes;
  object->source = args[0];
  object->flags = static_cast<int64_t>(flags);
  object->groups = static_cast<int64_t>(translated.groups);
  object->match = match;
  object->names = interp.dict();
  for (const auto& [name, number] : translated.names) {
    dict_set_str(object->names.as<Dict>(), interp.intern(name), Value::integer(static_cast<int64_t>(number)));
  }
  std::vector<Value> closing;
  for (size_t number : translated.closing) closing.push_back(Value::integer(static_cast<int64_t>(number)));
  object->closing = interp.tuple(closing);
  return held;
}

constexpr NativeDef kRe[] = {
    function("compile", "pattern: str|bytes, flags, /", compile),
};

}  // namespace

Result<void> init_re(Interp& interp, Module& module) {
  define_all(interp, module, kRe);
  define_native_type(interp, module, "Pattern", patterns::kPattern, patterns::pattern_methods(), "re");
  define_native_type(interp, module, "Match", patterns::kMatch, patterns::match_methods(), "re");
  return {};
}

}  // namespace tfl
