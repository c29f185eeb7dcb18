// The values of the variables on a failing line, kept while frames unwind and told below the error.
#include "frontend/core/advice.h"

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/syntax/diagnostics/source.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

constexpr size_t kMostNames = 4;
constexpr size_t kLongestText = 24;
constexpr uint32_t kMostLines = 8;  // of an expression that is searched for names

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}
bool in_name(char c) { return begins_name(c) || (c >= '0' && c <= '9'); }

/// Errors of the language and of TensorFlow whose cause is a value.
bool worth_noting(const Exception* e) {
  switch (e->type->error_kind) {
    case ErrorKind::TypeError:
    case ErrorKind::ValueError:
    case ErrorKind::IndexError:
    case ErrorKind::KeyError:
    case ErrorKind::ZeroDivisionError:
    case ErrorKind::InvalidArgumentError:
    case ErrorKind::OutOfRangeError:
    case ErrorKind::UnimplementedError:
    case ErrorKind::NotFoundError: return !e->type->script;
    default: return false;
  }
}

Value variable_of(Interp& interp, const Frame* f, std::string_view name) {
  for (size_t i = 0; i < f->code->register_names.size(); ++i) {
    const Str* known = f->code->register_names[i];
    if (!known || known->text != name) continue;
    const Value& v = f->registers[i];
    return v.is(Kind::Cell) ? v.as<Cell>()->value : v;
  }
  const Value* global = dict_entry(f->globals, interp.intern(name));
  return global ? *global : Value();
}

/// What has a value that a reader can be told.
bool tellable(const Value& v) {
  switch (v.kind()) {
    case Kind::Free: return !v.is_empty();
    case Kind::Tensor:
    case Kind::Variable:
    case Kind::NdArray:
    case Kind::Symbolic:
    case Kind::Str:
    case Kind::Bytes:
    case Kind::List:
    case Kind::Tuple:
    case Kind::Dict:
    case Kind::Set:
    case Kind::Range: return true;
    default: return false;
  }
}

/// Columns are characters.
size_t byte_at(std::string_view line, size_t column) {
  size_t at = 0;
  while (column > 0 && at < line.size()) {
    decode_utf8(line, at);
    --column;
  }
  return at;
}

/// The source between the ends of a span, line ends as spaces.
std::string text_of(const Source& source, const Span& span) {
  std::string text;
  for (uint32_t line = span.line; line <= span.end_line && line < span.line + kMostLines; ++line) {
    std::string_view whole = source.line(line);
    size_t from = line == span.line ? byte_at(whole, span.column) : 0;
    size_t to = line == span.end_line ? byte_at(whole, span.end_column) : whole.size();
    if (from < to) text += whole.substr(from, to - from);
    text += ' ';
  }
  return text;
}

/// Calls f with each name or dotted name in an expression that is no callee: "x", "self.w". What is quoted is no name.
template <class F>
void each_name(std::string_view text, F&& f) {
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    if (c == '"' || c == '\'') {
      size_t end = text.find(c, i + 1);
      i = end == text.npos ? text.size() : end + 1;
      continue;
    }
    if (c == '#') return;
    if (!begins_name(c)) {
      // A number's letters (1e5, 0x1f) and an attribute of something computed are no variables.
      bool skip = (c >= '0' && c <= '9') || c == '.';
      ++i;
      while (skip && i < text.size() && in_name(text[i])) ++i;
      continue;
    }
    size_t begin = i;
    while (i < text.size() && (in_name(text[i]) || (text[i] == '.' && i + 1 < text.size() && begins_name(text[i + 1])))) ++i;
    std::string_view name = text.substr(begin, i - begin);
    size_t after = i;
    while (after < text.size() && text[after] == ' ') ++after;
    bool keyword = after < text.size() && text[after] == '=' && !(after + 1 < text.size() && text[after + 1] == '=');
    bool called = after < text.size() && text[after] == '(';
    if (called) {
      // x.reshape(...) is about x.
      size_t dot = name.rfind('.');
      if (dot == name.npos) continue;
      name = name.substr(0, dot);
    }
    if (!keyword) f(name);
  }
}

/// Follows a dotted name through instances, without running code of the script. Gives the part that has a tellable value.
Value resolve(Interp& interp, const Frame* f, std::string_view& name) {
  size_t dot = name.find('.');
  Value v = variable_of(interp, f, name.substr(0, dot));
  size_t told = dot == name.npos ? name.size() : dot;
  while (dot != name.npos && v.is_object() && !tellable(v) && !v.is(Kind::Module)) {
    size_t next = name.find('.', dot + 1);
    Dict* own = instance_dict(interp, v, false);
    const Value* found =
        own ? dict_entry(own, interp.intern(name.substr(dot + 1, next == name.npos ? next : next - dot - 1))) : nullptr;
    if (!found) break;
    v = Value(*found);
    told = next == name.npos ? name.size() : next;
    dot = next;
  }
  name = name.substr(0, told);
  return tellable(v) ? v : Value();
}

/// float32[2, 3]
std::string typed_shape(Interp& interp, const Value& v) {
  auto dtype = find_attr(interp, v, interp.intern("dtype"));
  auto shape = find_attr(interp, v, interp.intern("shape"));
  if (!dtype || !shape || dtype->is_empty() || shape->is_empty()) return {};
  auto name = find_attr(interp, *dtype, interp.intern("name"));
  auto sizes = str_text(interp, *shape);
  if (!name || !name->is_str() || !sizes) return {};
  std::string text = *sizes;
  if (text.starts_with('(') && text.ends_with(')')) text = "[" + text.substr(1, text.size() - 2) + "]";
  if (text.ends_with(",]")) text.replace(text.size() - 2, 2, "]");
  return name->as<Str>()->text + (text.starts_with('[') ? "" : " ") + text;
}

std::string description(Interp& interp, const Value& v) {
  auto counted = [&](const char* what, size_t n) { return std::string(what) + " of " + std::to_string(n); };
  switch (v.kind()) {
    case Kind::Tensor:
    case Kind::Variable:
    case Kind::NdArray:
    case Kind::Symbolic: return typed_shape(interp, v);
    case Kind::List: return v.as<List>()->items.empty() ? "an empty list" : counted("a list", v.as<List>()->items.size());
    case Kind::Tuple: return counted("a tuple", static_cast<size_t>(v.as<Tuple>()->size));
    case Kind::Dict: return counted("a dict", static_cast<size_t>(v.as<Dict>()->live));
    case Kind::Set: return counted("a set", static_cast<size_t>(v.as<Set>()->used));
    case Kind::Str:
      if (v.as<Str>()->text.size() > kLongestText) return counted("a str", utf8::count(v.as<Str>()->text));
      break;
    case Kind::Bytes:
      if (v.as<Bytes>()->data.size() > kLongestText) return counted("bytes", v.as<Bytes>()->data.size());
      break;
    default: break;
  }
  auto text = repr_text(interp, v);
  return text ? *text : std::string();
}

}  // namespace

void note_values(Interp& interp, Frame* frame, Exception* e, const Span& span) {
  if (!e->obj.is_empty() || !worth_noting(e)) return;
  const Source* source = frame->code->source.get();
  if (!source || source->internal) return;
  std::vector<Value> noted;
  if (span.line != 0)
    each_name(text_of(*source, span), [&](std::string_view name) {
      if (noted.size() >= 2 * kMostNames) return;
      Value v = resolve(interp, frame, name);
      if (v.is_empty()) return;
      for (size_t i = 0; i < noted.size(); i += 2) {
        if (noted[i].as<Str>()->text == name) return;
      }
      noted.push_back(interp.str(std::string(name)));
      noted.push_back(std::move(v));
    });
  // Also when there is nothing: the frames around this one have nothing to add.
  e->obj = interp.tuple(std::span<const Value>(noted));
}

void no_values(Interp& interp, Exception* e) {
  if (e->obj.is_empty() && worth_noting(e)) e->obj = interp.tuple({});
}

void hand_on_values(const Exception& from, Exception* to) {
  if (!worth_noting(to) || !to->obj.is_empty()) return;
  if (worth_noting(&from)) to->obj = from.obj;
}

std::string show_values(Interp& interp, Exception* e) {
  if (!worth_noting(e) || !e->obj.is(Kind::Tuple)) return {};
  auto noted = e->obj.as<Tuple>()->span();
  std::string out;
  for (size_t i = 0; i + 1 < noted.size(); i += 2) {
    std::string text = description(interp, noted[i + 1]);
    if (text.empty()) continue;
    if (!out.empty()) out += ", ";
    out += noted[i].as<Str>()->text + " is " + text;
  }
  return out;
}

}  // namespace tfl
