// re.Match: the groups of a match as texts and as places.
#include "frontend/core/str.h"
#include "frontend/interpreter/modules/regex_objects.h"

namespace tfl::patterns {

int64_t Subject::place(size_t byte) const {
  return single() ? static_cast<int64_t>(byte) : str_character(string.as<Str>(), byte);
}

Value Subject::part(Interp& interp, size_t begin, size_t end) const {
  std::string_view piece = text.substr(begin, end - begin);
  if (pattern->bytes) return interp.bytes(std::string(piece));
  if (piece.size() == 1) return interp.character(static_cast<unsigned char>(piece[0]));
  return single() ? interp.ascii(std::string(piece)) : interp.str(std::string(piece));
}

Subject subject_of(const Match& match) {
  Subject s;
  s.pattern = match.pattern.as<Pattern>();
  s.string = match.string;
  s.text = match.string.is_str() ? text_of(match.string) : match.string.as<Bytes>()->data;
  s.pos = match.pos;
  s.endpos = match.endpos;
  return s;
}

Value make_match(Interp& interp, const Value& pattern, const Subject& subject, std::vector<Regex::Span> spans) {
  auto* m = interp.allocate<Match>(subject.pattern->match);
  m->pattern = pattern;
  m->string = subject.string;
  m->pos = subject.pos;
  m->endpos = subject.endpos;
  m->spans = std::move(spans);
  return Value::adopt(m);
}

namespace matching {

namespace {

Match& of(const Value& v) { return *v.as<Match>(); }
const Pattern& pattern_of(const Match& m) { return *m.pattern.as<Pattern>(); }

/// The number of a group that is told by number or name.
Result<size_t> group_number(Interp& interp, const Match& m, const Value& group) {
  int64_t number = -1;
  if (group.is_int()) {
    number = group.as_int();
  } else if (group.is_str()) {
    Value known = TFL_TRY(dict_get(interp, pattern_of(m).names.as<Dict>(), group));
    if (!known.is_empty()) number = known.as_int();
  } else if (auto index = to_index(interp, group)) {
    number = *index;
  } else if (index.error().payload || index.error().kind != ErrorKind::TypeError) {
    return index.failure();
  }
  if (number < 0 || number >= static_cast<int64_t>(m.spans.size())) return fail(ErrorKind::IndexError, "no such group");
  return static_cast<size_t>(number);
}

Result<Value> group_of(Interp& interp, const Value& self, const Value& group) {
  Match& m = of(self);
  size_t number = TFL_TRY(group_number(interp, m, group));
  return subject_of(m).group(interp, m.spans[number], Value::none());
}

Result<Value> group(Interp& interp, CallArgs& args) {
  if (!args.keywords.empty()) return fail(ErrorKind::TypeError, "Match.group() takes no keyword arguments");
  const Value& self = args.values[0];
  if (args.count == 1) return subject_of(of(self)).group(interp, of(self).spans[0], Value::none());
  if (args.count == 2) return group_of(interp, self, args.values[1]);
  std::vector<Value> found;
  for (uint32_t i = 1; i < args.count; ++i) found.push_back(TFL_TRY(group_of(interp, self, args.values[i])));
  return interp.tuple(found);
}

Result<Value> groups(Interp& interp, Value* args) {
  Match& m = of(args[0]);
  Subject subject = subject_of(m);
  std::vector<Value> found;
  for (size_t i = 1; i < m.spans.size(); ++i) found.push_back(subject.group(interp, m.spans[i], args[1]));
  return interp.tuple(found);
}

Result<Value> groupdict(Interp& interp, Value* args) {
  Match& m = of(args[0]);
  Subject subject = subject_of(m);
  Value made = interp.dict();
  size_t at = 0;
  while (Dict::Entry* e = dict_next(pattern_of(m).names.as<Dict>(), at)) {
    dict_set_str(made.as<Dict>(), e->key.as<Str>(),
                 subject.group(interp, m.spans[static_cast<size_t>(e->value.as_int())], args[1]));
  }
  return made;
}

Value place_of(const Subject& subject, size_t byte) {
  return Value::integer(byte == Regex::Span::kNone ? -1 : subject.place(byte));
}

Result<Value> start(Interp& interp, Value* args) {
  size_t number = TFL_TRY(group_number(interp, of(args[0]), args[1]));
  return place_of(subject_of(of(args[0])), of(args[0]).spans[number].begin);
}
Result<Value> end(Interp& interp, Value* args) {
  size_t number = TFL_TRY(group_number(interp, of(args[0]), args[1]));
  return place_of(subject_of(of(args[0])), of(args[0]).spans[number].end);
}

Value span_of(Interp& interp, const Match& m, size_t number) {
  Subject subject = subject_of(m);
  return interp.tuple({place_of(subject, m.spans[number].begin), place_of(subject, m.spans[number].end)});
}
Result<Value> span(Interp& interp, Value* args) {
  size_t number = TFL_TRY(group_number(interp, of(args[0]), args[1]));
  return span_of(interp, of(args[0]), number);
}

Result<Value> regs(Interp& interp, Value* args) {
  std::vector<Value> all;
  for (size_t i = 0; i < of(args[0]).spans.size(); ++i) all.push_back(span_of(interp, of(args[0]), i));
  return interp.tuple(all);
}

/// The group that closed last; 0: none.
int64_t last_closed(const Match& m) {
  int64_t last = 0;
  for (const Value& number : pattern_of(m).closing.as<Tuple>()->span()) {
    if (m.spans[static_cast<size_t>(number.as_int())].matched()) last = number.as_int();
  }
  return last;
}
Result<Value> lastindex(Interp&, Value* args) {
  int64_t last = last_closed(of(args[0]));
  return last ? Value::integer(last) : Value::none();
}
Result<Value> lastgroup(Interp&, Value* args) {
  int64_t last = last_closed(of(args[0]));
  size_t at = 0;
  while (Dict::Entry* e = dict_next(pattern_of(of(args[0])).names.as<Dict>(), at)) {
    if (last && e->value.as_int() == last) return e->key;
  }
  return Value::none();
}

Result<Value> re(Interp&, Value* args) { return of(args[0]).pattern; }
Result<Value> string(Interp&, Value* args) { return of(args[0]).string; }
Result<Value> pos(Interp&, Value* args) { return Value::integer(of(args[0]).pos); }
Result<Value> endpos(Interp&, Value* args) { return Value::integer(of(args[0]).endpos); }
Result<Value> itself(Interp&, Value* args) { return args[0]; }

Result<Value> expand(Interp& interp, Value* args) {
  // The words of a template are read in re.tfl.
  Value function = dict_get_str(interp.find_module("_re").as<Module>()->dict.as<Dict>(), interp.intern("_expand"));
  return interp.call(function, {args[0], args[1]});
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  Match& m = of(self);
  std::string places = TFL_TRY(repr_text(interp, span_of(interp, m, 0)));
  Value text = TFL_TRY(repr(interp, subject_of(m).group(interp, m.spans[0], Value::none())));
  std::string shown(str_range(text.as<Str>(), 0, std::min<int64_t>(50, str_length(text.as<Str>()))));
  return interp.str("<re.Match object; span=" + places + ", match=" + shown + ">");
}

Result<Value> refuse(Interp&, Type*, CallArgs&) { return fail(ErrorKind::TypeError, "cannot create 're.Match' instances"); }

constexpr NativeDef kMethods[] = {
    raw_method("group", group),
    method("groups", "self, /, default=None", groups),
    method("groupdict", "self, /, default=None", groupdict),
    method("start", "self, group=0, /", start),
    method("end", "self, group=0, /", end),
    method("span", "self, group=0, /", span),
    method("expand", "self, /, template", expand),
    method("__copy__", "self, /", itself),
    method("__deepcopy__", "self, memo, /", itself),
    getter("regs", regs),
    getter("lastindex", lastindex),
    getter("lastgroup", lastgroup),
    getter("re", re),
    getter("string", string),
    getter("pos", pos),
    getter("endpos", endpos),
};

constexpr Slots slots() {
  Slots s{};
  s.kind = Kind::Native;
  s.destroy = destroy_object<Match>;
  s.construct = refuse;
  s.repr = repr_slot;
  s.get_item = group_of;
  return s;
}

}  // namespace

}  // namespace matching

const Slots kMatch = matching::slots();
std::span<const NativeDef> match_methods() { return matching::kMethods; }

}  // namespace tfl::patterns
