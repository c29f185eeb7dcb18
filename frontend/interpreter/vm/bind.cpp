// Arguments of calls of script functions, in CPython's order of checks and with its messages.
#include "frontend/core/advice.h"
#include "frontend/core/frame.h"
#include "frontend/core/protocol.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

namespace {

std::string quoted_list(const std::vector<Str*>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) out += i + 1 < names.size() ? ", " : names.size() == 2 ? " and " : ", and ";
    out += "'" + names[i]->text + "'";
  }
  return out;
}

std::string name_of(Function* f) { return f->qualname.as<Str>()->text; }

Failure too_many(Function* f, const Code& code, const CallArgs& args, const Value* out, size_t defaults) {
  size_t keyword_given = 0;
  for (size_t i = 0; i < code.params.size(); ++i) {
    if (code.params[i].kind == ast::ParamKind::KeywordOnly && !out[i].is_empty()) ++keyword_given;
  }
  std::string takes;
  bool plural;
  if (defaults > 0) {
    takes = "from " + std::to_string(code.positional - defaults) + " to " + std::to_string(code.positional);
    plural = true;
  } else {
    takes = std::to_string(code.positional);
    plural = code.positional != 1;
  }
  std::string given = std::to_string(args.count);
  if (keyword_given > 0) {
    given += std::string(" positional argument") + (args.count == 1 ? "" : "s") + " (and " + std::to_string(keyword_given) +
             " keyword-only argument" + (keyword_given == 1 ? "" : "s") + ")";
  }
  // A method without `self` is called with one argument more than it was given.
  bool method = f->qualname.is_str() && f->qualname.as<Str>()->text.find('.') != std::string::npos &&
                f->qualname.as<Str>()->text.find('<') == std::string::npos;
  bool no_self = method && args.count == code.positional + 1u && (code.positional == 0 || code.params[0].name->text != "self");
  return fail(ErrorKind::TypeError, "{}() takes {} positional argument{} but {} {} given", name_of(f), takes, plural ? "s" : "",
              given, args.count == 1 && keyword_given == 0 ? "was" : "were")
      .with_hint(no_self ? "a method's first parameter is the object: def " + f->name.as<Str>()->text + "(self, ...)"
                         : std::string());
}

Failure unexpected_keyword(Function* f, const Code& code, const CallArgs& args, Str* name) {
  // Positional-only parameters given by name are told together.
  std::string names;
  for (size_t i = 0; i < code.positional_only; ++i) {
    for (Str* given : args.keywords) {
      if (given != code.params[i].name) continue;
      if (!names.empty()) names += ", ";
      names += given->text;
    }
  }
  if (!names.empty()) {
    return fail(ErrorKind::TypeError, "{}() got some positional-only arguments passed as keyword arguments: '{}'", name_of(f),
                names);
  }
  std::vector<std::string_view> known;
  for (size_t i = code.positional_only; i < static_cast<size_t>(code.positional) + code.keyword_only; ++i)
    known.push_back(code.params[i].name->text);
  return fail(ErrorKind::TypeError, "{}() got an unexpected keyword argument '{}'", name_of(f), name->text)
      .with_hint(did_you_mean(suggest_keyword(name->text, known)));
}

}  // namespace

Result<void> bind_parameters(Interp& interp, Function* f, CallArgs& args, Value* out) {
  const Code& code = *f->code.as<Code>();
  const size_t params = code.params.size();
  size_t var_positional = params, var_keyword = params;
  if (code.var_keyword) var_keyword = params - 1;
  if (code.var_positional) var_positional = params - 1 - (code.var_keyword ? 1 : 0);

  uint32_t direct = args.count < code.positional ? args.count : code.positional;
  for (uint32_t i = 0; i < direct; ++i) out[i] = std::move(args.values[i]);
  if (code.var_positional) {
    out[var_positional] = args.count > code.positional
                              ? interp.tuple(std::span<const Value>(args.values + code.positional, args.count - code.positional))
                              : interp.empty_tuple;
  }
  if (code.var_keyword) out[var_keyword] = interp.dict();

  for (size_t k = 0; k < args.keywords.size(); ++k) {
    Str* name = args.keywords[k];
    Value& value = args.values[args.count + k];
    size_t at = code.positional_only;
    const size_t named = size_t{code.positional} + code.keyword_only;
    while (at < named && code.params[at].name != name) ++at;
    if (at == named) {
      if (!code.var_keyword) return unexpected_keyword(f, code, args, name);
      dict_set_str(out[var_keyword].as<Dict>(), name, std::move(value));
      continue;
    }
    if (!out[at].is_empty())
      return fail(ErrorKind::TypeError, "{}() got multiple values for argument '{}'", name_of(f), name->text);
    out[at] = std::move(value);
  }

  const size_t defaults = f->defaults.is(Kind::Tuple) ? static_cast<size_t>(f->defaults.as<Tuple>()->size) : 0;
  if (args.count > code.positional && !code.var_positional) return too_many(f, code, args, out, defaults);

  const size_t first_default = code.positional - (defaults < code.positional ? defaults : code.positional);
  std::vector<Str*> missing;
  for (size_t i = direct; i < code.positional; ++i) {
    if (!out[i].is_empty()) continue;
    if (i >= first_default) {
      out[i] = f->defaults.as<Tuple>()->items[i - first_default];
    } else {
      missing.push_back(code.params[i].name);
    }
  }
  if (!missing.empty()) {
    return fail(ErrorKind::TypeError, "{}() missing {} required positional argument{}: {}", name_of(f), missing.size(),
                missing.size() == 1 ? "" : "s", quoted_list(missing));
  }
  for (size_t i = code.positional; i < size_t{code.positional} + code.keyword_only; ++i) {
    if (!out[i].is_empty()) continue;
    if (f->kw_defaults.is(Kind::Dict)) out[i] = dict_get_str(f->kw_defaults.as<Dict>(), code.params[i].name);
    if (out[i].is_empty()) missing.push_back(code.params[i].name);
  }
  if (!missing.empty()) {
    return fail(ErrorKind::TypeError, "{}() missing {} required keyword-only argument{}: {}", name_of(f), missing.size(),
                missing.size() == 1 ? "" : "s", quoted_list(missing));
  }
  return {};
}

}  // namespace tfl
