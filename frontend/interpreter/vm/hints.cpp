// What to write instead, found when an error is shown: most errors are caught, and the library's modules may have to be asked.
#include <fcntl.h>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/file_access.h"
#include "frontend/core/tensor_api.h"
#include "frontend/syntax/diagnostics/near_file.h"
#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

namespace {

constexpr int kMaxReworded = 100;

/// The error that the library says again in `e`, with more around its text; null: `e` stands for itself.
Exception* reworded(Interp& interp, const Exception* e, std::string_view text) {
  if (!e->suppress_context || !e->context.is(Kind::Exception)) return nullptr;
  auto* inner = e->context.as<Exception>();
  auto inner_text = exception_text(interp, inner);
  return inner_text && !inner_text->empty() && text.size() > inner_text->size() && text.find(*inner_text) != text.npos ? inner
                                                                                                                       : nullptr;
}

/// Asks the library's tables of names. It must not disturb what runs: a function may be traced while an error is shown in it.
std::string elsewhere(Interp& interp, std::string_view question, const Value& asked, Str* name) {
  if (interp.stopped) return {};
  Eagerly eagerly(interp);
  std::string known;
  if (auto module = interp.import_module("_elsewhere")) {
    Value there = interp.find_module("_elsewhere");
    auto function = get_attr(interp, there, interp.intern(question));
    auto told = function ? interp.call(*function, {asked, interp.str(name)}) : std::move(function);
    if (told && told->is_str()) known = told->as<Str>()->text;
  }
  return known;
}

bool of_library(const Module* m) { return is_module(m->name->text); }

std::string in_question(const std::string& near) { return near.empty() ? near : "did you mean '" + near + "'?"; }

std::string near_attribute(Interp& interp, const Value& v, Str* name) {
  auto names = attribute_names(interp, v);
  if (!names) return {};
  std::vector<std::string_view> candidates;
  for (const Value& n : *names) candidates.push_back(n.as<Str>()->text);
  return did_you_mean(suggest(name->text, candidates));
}

}  // namespace

std::string attribute_hint(Interp& interp, const Value& v, Str* name) {
  if (v.is(Kind::Module)) {
    if (of_library(v.as<Module>())) return elsewhere(interp, "in_module", v, name);
    return near_attribute(interp, v, name);
  }
  bool written_in_library =
      v.is_tensor() || v.is(Kind::Variable) || v.is(Kind::Symbolic) || v.is(Kind::NdArray) || v.is(Kind::Instance);
  if (written_in_library && !dict_get_str(interp.modules.as<Dict>(), interp.intern("tensorflow")).is_empty()) {
    if (std::string told = elsewhere(interp, "in_object", v, name); !told.empty()) return told;
  }
  return near_attribute(interp, v, name);
}

std::string late_hint(Interp& interp, Exception* e, int depth) {
  if (!e->hint.empty()) return e->hint;
  ErrorKind kind = e->type->error_kind;
  if (auto text = exception_text(interp, e); text && depth < kMaxReworded) {
    if (Exception* inner = reworded(interp, e, *text)) return late_hint(interp, inner, depth + 1);
  }
  if (kind == ErrorKind::ValueError || kind == ErrorKind::TypeError || kind == ErrorKind::InvalidArgumentError) {
    auto text = exception_text(interp, e);
    if (std::string choice = text ? choice_hint(*text) : std::string(); !choice.empty()) return choice;
  }
  if (std::string known = advice(interp, e); !known.empty()) return known;
  if (kind == ErrorKind::FileNotFoundError && e->obj.is_str()) {
    const std::string& path = e->obj.as<Str>()->text;
    size_t slash = path.rfind('/');
    std::string folder = slash == path.npos ? "." : path.substr(0, slash + 1);
    FilePlace place;
    if (sandbox(interp).find(folder, Access::Read, Links::Follow, place) != 0) return {};
    int fd = ::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? std::string() : in_question(nearest_file(path, fd));
  }
  if (!e->name.is_str() || e->obj.is_empty()) return {};
  if (e->type->is_subtype_of(interp.exception_type(ErrorKind::AttributeError)))
    return attribute_hint(interp, e->obj, e->name.as<Str>());
  if (e->type->is_subtype_of(interp.exception_type(ErrorKind::ImportError)) && e->obj.is(Kind::Tuple)) {
    // from module import name
    auto looked_for = e->obj.as<Tuple>()->span();
    if (looked_for.size() == 2) return attribute_hint(interp, looked_for[0], looked_for[1].as<Str>());
  }
  return {};
}

}  // namespace tfl
