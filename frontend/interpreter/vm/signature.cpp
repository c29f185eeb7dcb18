// Signatures of natives: parsing, binding, calling.
#include "frontend/core/signature.h"

#include <charconv>

#include "frontend/core/advice.h"
#include "frontend/core/protocol.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

namespace {

std::string_view trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

/// The next parameter's text, without the comma; commas in quotes do not separate.
std::string_view take_param(std::string_view& text) {
  size_t at = 0;
  char quote = 0;
  for (; at < text.size(); ++at) {
    char c = text[at];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == ',') {
      break;
    }
  }
  std::string_view param = trim(text.substr(0, at));
  text = at < text.size() ? text.substr(at + 1) : std::string_view();
  return param;
}

Value parse_default(Interp& interp, std::string_view text) {
  if (text == "None") return Value::none();
  if (text == "True") return Value::boolean(true);
  if (text == "False") return Value::boolean(false);
  if (text == "()") return interp.empty_tuple;
  if (text.empty() || text == "...") return Value();
  if (text.front() == '\'' || text.front() == '"') {
    std::string out;
    for (size_t i = 1; i + 1 < text.size(); ++i) {
      if (text[i] == '\\' && i + 2 < text.size()) {
        ++i;
        out += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
      } else {
        out += text[i];
      }
    }
    return interp.str(std::move(out));
  }
  if (text.find_first_of(".e") != std::string_view::npos) {
    double v = 0;
    std::from_chars(text.data(), text.data() + text.size(), v);
    return Value::real(v);
  }
  int64_t v = 0;
  std::from_chars(text.data(), text.data() + text.size(), v);
  return Value::integer(v);
}

std::string quoted_list(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 < names.size() ? ", " : names.size() == 2 ? " and " : ", and ";
    out += "'" + names[i] + "'";
  }
  return out;
}

/// What messages call a native: "append" or, where CPython's have the type's name, "list.append".
struct NativeName {
  std::string_view plain;
  const Type* owner = nullptr;
  std::string full() const { return owner ? owner->name->text + "." + std::string(plain) : std::string(plain); }
};

Failure too_many(const NativeName& function, const Signature& s, uint32_t given, bool method) {
  size_t skip = method ? 1 : 0;
  size_t most = s.positional - skip;
  size_t least = s.required - skip;
  size_t count = given - skip;
  std::string_view plain = function.plain;
  if (!s.slash && most > 0) {
    if (most == least) {
      return fail(ErrorKind::TypeError, "{}() takes {} positional argument{} but {} {} given", plain, most, most == 1 ? "" : "s",
                  count, count == 1 ? "was" : "were");
    }
    return fail(ErrorKind::TypeError, "{}() takes from {} to {} positional arguments but {} were given", plain, least, most,
                count);
  }
  if (most == 0) {
    if (s.params.size() > skip) return fail(ErrorKind::TypeError, "{}() takes no positional arguments", plain);
    return fail(ErrorKind::TypeError, "{}() takes no arguments ({} given)", function.full(), count);
  }
  if (s.positional_only < s.positional || s.params.size() > s.positional) {
    return fail(ErrorKind::TypeError, "{}() takes {} {} argument{} ({} given)", plain, most == least ? "exactly" : "at most",
                most, most == 1 ? "" : "s", count);
  }
  if (most == 1 && least == 1)
    return fail(ErrorKind::TypeError, "{}() takes exactly one argument ({} given)", function.full(), count);
  return fail(ErrorKind::TypeError, "{} expected {}{} argument{}, got {}", plain, most == least ? "" : "at most ", most,
              most == 1 ? "" : "s", count);
}

Failure missing(const NativeName& function, const Signature& s, uint32_t given, bool method, const Value* out) {
  size_t skip = method ? 1 : 0;
  size_t most = s.positional - skip;
  size_t least = s.required - skip;
  size_t count = given > skip ? given - skip : 0;
  std::string_view plain = function.plain;
  if (s.slash && s.positional_only == s.positional) {
    if (most == 1 && least == 1 && s.params.size() == s.positional) {
      return fail(ErrorKind::TypeError, "{}() takes exactly one argument ({} given)", function.full(), count);
    }
    return fail(ErrorKind::TypeError, "{} expected {}{} argument{}, got {}", plain, most == least ? "" : "at least ", least,
                least == 1 ? "" : "s", count);
  }
  std::vector<std::string> names;
  size_t first = 0;
  for (size_t i = 0; i < s.params.size(); ++i) {
    const Signature::Param& p = s.params[i];
    if (!p.required || !out[i].is_empty()) continue;
    if (p.kind == ast::ParamKind::KeywordOnly || p.kind == ast::ParamKind::VarPositional || p.kind == ast::ParamKind::VarKeyword)
      continue;
    if (names.empty()) first = i + 1 - skip;
    names.push_back(p.name->text);
  }
  if (names.empty()) {
    for (size_t i = 0; i < s.params.size(); ++i) {
      if (s.params[i].kind == ast::ParamKind::KeywordOnly && s.params[i].required && out[i].is_empty())
        names.push_back(s.params[i].name->text);
    }
    return fail(ErrorKind::TypeError, "{}() missing {} required keyword-only argument{}: {}", plain, names.size(),
                names.size() == 1 ? "" : "s", quoted_list(names));
  }
  if (s.slash) return fail(ErrorKind::TypeError, "{}() missing required argument '{}' (pos {})", plain, names[0], first);
  return fail(ErrorKind::TypeError, "{}() missing {} required positional argument{}: {}", plain, names.size(),
              names.size() == 1 ? "" : "s", quoted_list(names));
}

Result<void> bind_native(Interp& interp, const NativeName& function, const Signature& s, CallArgs& args, Value* out,
                         bool method) {
  uint32_t direct = args.count < s.positional ? args.count : s.positional;
  for (uint32_t i = 0; i < direct; ++i) out[i] = std::move(args.values[i]);
  if (args.count > s.positional) {
    if (s.var_positional < 0) return too_many(function, s, args.count, method);
    out[s.var_positional] = interp.tuple(std::span<const Value>(args.values + s.positional, args.count - s.positional));
  } else if (s.var_positional >= 0) {
    out[s.var_positional] = interp.empty_tuple;
  }
  if (s.var_keyword >= 0) out[s.var_keyword] = interp.dict();
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    Str* name = args.keywords[k];
    Value& value = args.values[args.count + k];
    size_t at = s.params.size();
    for (size_t i = s.positional_only; i < s.params.size(); ++i) {
      if (s.params[i].name == name && static_cast<int>(i) != s.var_positional && static_cast<int>(i) != s.var_keyword) {
        at = i;
        break;
      }
    }
    std::string_view plain = function.plain;
    if (at == s.params.size()) {
      if (s.var_keyword >= 0) {
        TFL_TRY(dict_set(interp, out[s.var_keyword].as<Dict>(), interp.str(name), std::move(value)));
        continue;
      }
      bool any_keyword = s.params.size() > s.positional_only + (s.var_positional >= 0 ? 1u : 0u);
      if (!any_keyword)
        return fail(ErrorKind::TypeError, "{}() takes no keyword arguments",
                    s.slash || s.params.size() <= 1 ? function.full() : std::string(plain));
      if (s.slash || plain == "print")
        return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for {}()", name->text, plain);
      std::vector<std::string_view> known;
      for (size_t i = s.positional_only; i < s.params.size(); ++i) known.push_back(s.params[i].name->text);
      return fail(ErrorKind::TypeError, "{}() got an unexpected keyword argument '{}'", plain, name->text)
          .with_hint(did_you_mean(suggest_keyword(name->text, known)));
    }
    if (!out[at].is_empty()) {
      if (s.slash) {
        return fail(ErrorKind::TypeError, "argument for {}() given by name ('{}') and position ({})", plain, name->text,
                    at + (method ? 0 : 1));
      }
      return fail(ErrorKind::TypeError, "{}() got multiple values for argument '{}'", plain, name->text);
    }
    out[at] = std::move(value);
  }
  for (size_t i = 0; i < s.params.size(); ++i) {
    if (!out[i].is_empty()) continue;
    const Signature::Param& p = s.params[i];
    if (p.required) return missing(function, s, args.count, method, out);
    out[i] = p.default_value;
  }
  return {};
}

uint64_t bit_of(Kind kind) { return uint64_t{1} << (5 + static_cast<int>(kind)); }
uint64_t bit_of(Tag tag) { return uint64_t{1} << static_cast<int>(tag); }
uint64_t bit_of(const Value& v) { return v.is_object() ? bit_of(v.kind()) : bit_of(v.tag()); }

constexpr uint64_t kObjects = ((uint64_t{1} << 58) - 1) & ~uint64_t{31};  // whatever lies on the heap

/// The bits of `str|None` and the like. A name that is not known lets nothing through, which the test of all natives finds.
uint64_t kinds_of(std::string_view text) {
  static constexpr struct {
    std::string_view name;
    Kind kind;
  } kKinds[] = {
      {"str", Kind::Str},           {"bytes", Kind::Bytes},
      {"list", Kind::List},         {"tuple", Kind::Tuple},
      {"dict", Kind::Dict},         {"set", Kind::Set},
      {"type", Kind::Type},         {"function", Kind::Function},
      {"module", Kind::Module},     {"exception", Kind::Exception},
      {"file", Kind::File},         {"dtype", Kind::DType},
      {"shape", Kind::Shape},       {"variable", Kind::Variable},
      {"array", Kind::NdArray},     {"tensor", Kind::Tensor},
      {"symbolic", Kind::Symbolic}, {"instance", Kind::Instance},
      {"code", Kind::Code},         {"slice", Kind::Slice},
      {"cell", Kind::Cell},         {"complex", Kind::Complex},
      {"native", Kind::Native},
  };
  uint64_t bits = 0;
  while (!text.empty()) {
    size_t bar = text.find('|');
    std::string_view name = trim(text.substr(0, bar));
    text = bar == std::string_view::npos ? std::string_view() : text.substr(bar + 1);
    if (name == "None") bits |= bit_of(Tag::None);
    if (name == "bool" || name == "int") bits |= bit_of(Tag::Bool) | bit_of(Tag::Int);
    if (name == "float") bits |= bit_of(Tag::Float);
    if (name == "...") bits |= bit_of(Tag::Empty);
    if (name == "object") bits |= kObjects;
    for (const auto& k : kKinds) bits |= k.name == name ? bit_of(k.kind) : 0;
  }
  return bits;
}

/// Every argument is what its parameter says.
Result<void> check_kinds(Interp& interp, const NativeName& function, const Signature& s, Value* values) {
  for (size_t i = 0; i < s.params.size(); ++i) {
    const Signature::Param& p = s.params[i];
    if (p.kinds == 0 || p.kinds & bit_of(values[i])) continue;
    if (values[i].is(Kind::Boxed)) {
      Value inner = unboxed(values[i]);
      if (p.kinds & bit_of(inner)) {
        values[i] = std::move(inner);
        continue;
      }
    }
    if (values[i].is_empty() && !p.required) continue;
    if (unboxed(values[i]).is(Kind::BigInt) && p.kinds & bit_of(Tag::Int))
      return fail(ErrorKind::OverflowError, "Python int too large to convert to C long");
    return fail(ErrorKind::TypeError, "{}() argument '{}' must be {}, not {}", function.plain, p.name->text, p.type,
                interp.type_name(values[i]));
  }
  return {};
}

NativeName native_name(const NativeFunction* f) { return {f->def->name, f->owner}; }

Failure wrong_self(Interp& interp, NativeFunction* f, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "unbound method {}() needs an argument", native_name(f).full());
  return fail(ErrorKind::TypeError, "descriptor '{}' for '{}' objects doesn't apply to a '{}' object", f->def->name,
              f->owner->name->text, interp.type_name(args.values[0]));
}

/// Arguments of a native, made one by one: only as many as there are.
template <uint32_t kMost>
class Filled {
 public:
  Filled() = default;
  Filled(const Filled&) = delete;
  ~Filled() {
    for (uint32_t i = 0; i < count_; ++i) values()[i].~Value();
  }
  void add(Value v) { new (space_ + sizeof(Value) * count_++) Value(std::move(v)); }
  Value* values() { return reinterpret_cast<Value*>(space_); }

 private:
  alignas(Value) std::byte space_[sizeof(Value) * kMost];
  uint32_t count_ = 0;
};

}  // namespace

std::unique_ptr<Signature> parse_signature(Interp& interp, std::string_view text) {
  auto s = std::make_unique<Signature>();
  bool after_star = false;
  text = trim(text);
  while (!text.empty()) {
    std::string_view param = take_param(text);
    if (param.empty()) continue;
    if (param == "/") {
      s->slash = true;
      s->positional_only = static_cast<uint16_t>(s->params.size());
      for (auto& p : s->params) p.kind = ast::ParamKind::PositionalOnly;
      continue;
    }
    if (param == "*") {
      after_star = true;
      continue;
    }
    Signature::Param p{};
    p.kind = after_star ? ast::ParamKind::KeywordOnly : ast::ParamKind::PositionalOrKeyword;
    if (param.starts_with("**")) {
      p.kind = ast::ParamKind::VarKeyword;
      param.remove_prefix(2);
      s->var_keyword = static_cast<int16_t>(s->params.size());
    } else if (param.starts_with("*")) {
      p.kind = ast::ParamKind::VarPositional;
      param.remove_prefix(1);
      s->var_positional = static_cast<int16_t>(s->params.size());
      after_star = true;
    }
    size_t equal = param.find('=');
    p.required =
        equal == std::string_view::npos && p.kind != ast::ParamKind::VarKeyword && p.kind != ast::ParamKind::VarPositional;
    std::string_view name = trim(param.substr(0, equal));
    if (size_t colon = name.find(':'); colon != std::string_view::npos) {
      p.type = trim(name.substr(colon + 1));
      p.kinds = kinds_of(p.type) | uint64_t{1} << 63;
      s->typed = true;
      name = trim(name.substr(0, colon));
    }
    p.name = interp.intern(name);
    if (equal != std::string_view::npos) p.default_value = parse_default(interp, trim(param.substr(equal + 1)));
    if (p.kind == ast::ParamKind::PositionalOrKeyword) {
      ++s->positional;
      if (p.required) ++s->required;
    }
    s->params.push_back(std::move(p));
  }
  s->simple = s->params.size() == s->positional;
  return s;
}

Result<void> bind_arguments(Interp& interp, std::string_view function, const Signature& signature, CallArgs& args, Value* out) {
  return bind_native(interp, NativeName{function}, signature, args, out, false);
}

Result<Value> call_native(Interp& interp, NativeFunction* f, CallArgs& args) {
  if (f->owner) {
    if (args.count == 0 ||
        (interp.type_of(args.values[0]) != f->owner && !interp.type_of(args.values[0])->is_subtype_of(f->owner))) [[unlikely]] {
      return wrong_self(interp, f, args);
    }
  } else if (!f->self.is_empty()) {
    constexpr uint32_t kFew = 6;
    Value few[kFew];
    std::vector<Value> many;
    Value* values = few;
    if (args.total() >= kFew) {
      many.resize(args.total() + 1);
      values = many.data();
    }
    values[0] = f->self;
    for (uint32_t i = 0; i < args.total(); ++i) values[i + 1] = std::move(args.values[i]);
    CallArgs with_self{values, args.count + 1, args.keywords};
    if (f->def->raw) return f->def->raw(interp, with_self);
    if (!f->signature) f->signature = parse_signature(interp, f->def->signature ? f->def->signature : "").release();
    std::vector<Value> out(f->signature->params.size());
    TFL_TRY(bind_native(interp, native_name(f), *f->signature, with_self, out.data(), true));
    if (f->signature->typed) TFL_TRY(check_kinds(interp, native_name(f), *f->signature, out.data()));
    return f->def->fn(interp, out.data());
  }
  if (f->def->raw) return f->def->raw(interp, args);
  if (!f->signature) [[unlikely]]
    f->signature = parse_signature(interp, f->def->signature ? f->def->signature : "").release();
  const Signature& s = *f->signature;
  if (s.simple && args.keywords.empty()) [[likely]] {
    if (args.count == s.positional) {
      if (s.typed) [[unlikely]]
        TFL_TRY(check_kinds(interp, native_name(f), s, args.values));
      return f->def->fn(interp, args.values);
    }
    if (args.count < s.positional && args.count >= s.required && s.positional <= 8) {
      Filled<8> out;
      for (uint32_t i = 0; i < args.count; ++i) out.add(std::move(args.values[i]));
      for (uint32_t i = args.count; i < s.positional; ++i) out.add(s.params[i].default_value);
      if (s.typed) TFL_TRY(check_kinds(interp, native_name(f), s, out.values()));
      return f->def->fn(interp, out.values());
    }
  }
  if (s.asks) [[unlikely]] {
    Value other = TFL_TRY(call_instead(interp, f, args));
    if (!other.is_empty()) return other;
  }
  constexpr size_t kInline = 12;
  bool method = f->owner != nullptr;
  if (s.params.size() <= kInline) {
    Value out[kInline];
    TFL_TRY(bind_native(interp, native_name(f), s, args, out, method));
    if (s.typed) TFL_TRY(check_kinds(interp, native_name(f), s, out));
    return f->def->fn(interp, out);
  }
  std::vector<Value> out(s.params.size());
  TFL_TRY(bind_native(interp, native_name(f), s, args, out.data(), method));
  if (s.typed) TFL_TRY(check_kinds(interp, native_name(f), s, out.data()));
  return f->def->fn(interp, out.data());
}

Result<void> bind_native_call(Interp& interp, NativeFunction* f, CallArgs& args, bool with_self) {
  if (f->def->raw || (!f->self.is_empty() && !with_self)) return {};
  if (!f->signature) f->signature = parse_signature(interp, f->def->signature ? f->def->signature : "").release();
  std::vector<Value> out(f->signature->params.size());
  return bind_native(interp, native_name(f), *f->signature, args, out.data(), f->owner != nullptr);
}

}  // namespace tfl
