// Running, loading and calling (tfl.h).
#include <cerrno>
#include <cstring>

#include "cli/embed/interp.h"
#include "cli/embed/model_script.h"
#include "cli/embed/version.h"
#include "frontend/core/attributes.h"
#include "frontend/core/file_access.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/interpreter/vm/exit.h"
#include "frontend/syntax/diagnostics/render.h"
#include "runtime/files/file.h"
#include "runtime/formats/foreign.h"

namespace tfl::embed {

namespace {

std::string folder_of(const std::string& path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

/// "model" of "a/model.tfl".
std::string stem_of(const std::string& path) {
  std::string name = path.substr(path.rfind('/') + 1);
  size_t dot = name.rfind('.');
  return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

/// The scripts of `folder` may be imported and its files used from now on: sys.path begins with it.
void open_folder(Core& core, const std::string& folder) {
  Interp& interp = core.interp;
  sandbox(interp).allow_modules(folder);
  (void)interp.import_module("sys");
  Value sys = interp.find_module("sys");
  if (!sys.is(Kind::Module)) return;
  Value path = dict_get_str(sys.as<Module>()->dict.as<Dict>(), interp.intern("path"));
  if (!path.is(Kind::List)) return;
  std::vector<Value>& items = path.as<List>()->items;
  for (const Value& v : items) {
    if (v.is_str() && text_of(v) == folder) return;
  }
  items.insert(items.begin(), interp.str(folder));
}

Value new_module(Interp& interp, const std::string& name, const std::string& file) {
  Value module = interp.module(name);
  if (!file.empty()) {
    module.as<Module>()->file = interp.str(file);
    dict_set_str(module.as<Module>()->dict.as<Dict>(), interp.sym.__file__, interp.str(file));
  }
  dict_set_str(interp.modules.as<Dict>(), interp.intern(name), module);
  return module;
}

/// What the compiler said of a text that it refuses.
tfl_error* refused(const Source& source, const std::vector<Diagnostic>& diagnostics) {
  const Diagnostic* first = nullptr;
  for (const Diagnostic& d : diagnostics) {
    if (!first && d.severity == Severity::Error) first = &d;
  }
  tfl_error* e =
      new_error("SyntaxError", first ? first->message : "invalid syntax", render_diagnostics(source, diagnostics, false));
  if (first) add_place(e, source.name, static_cast<int32_t>(first->span.line), "<module>");
  return e;
}

/// Runs `text` in `module`. Two ways to fail: with an error of the script's, or refused by the compiler.
tfl_error* run_source(Core& core, const std::shared_ptr<Source>& source, const Value& module, bool cached) {
  Interp& interp = core.interp;
  CompileResult compiled = cached ? compile_cached(interp, source) : compile_module(interp, source);
  if (compiled.code.is_empty()) return refused(*source, compiled.diagnostics);
  if (!compiled.diagnostics.empty()) interp.streams.err(render_diagnostics(*source, compiled.diagnostics, false));
  core.begin_call();
  auto done = interp.run_module(compiled.code, module);
  tfl_error* e = done ? nullptr : new_error(core, done.error());
  core.end_call();
  return e;
}

/// The text that a file is or stands for, and the name of the one thing it is about, if it is a model.
tfl_error* read(Core& core, const std::string& path, std::string& text, const char*& only) {
  only = nullptr;
  if (is_folder(path)) {
    text = saved_model_script(path);
    only = "model";
    open_folder(core, path);
    return nullptr;
  }
  if (int error = read_whole_file(path, is_onnx(path) || is_model_file(path) ? SIZE_MAX / 2 : kMaxSourceBytes, text)) {
    if (error == EFBIG) return new_error("ValueError", "'" + path + "' is too large for a script");
    return new_error(error == ENOENT ? "FileNotFoundError" : "OSError",
                     fmt::format("[Errno {}] {}: '{}'", error, std::strerror(error), path));
  }
  if (is_onnx(path)) {
    text = onnx_script(path, {});
    only = "run";
  } else if (is_model_file(path)) {
    text = keras_script(path);
    only = "predict";
  } else if (std::string_view what = foreign_format(text); !what.empty()) {
    return new_error("ValueError", fmt::format("'{}' is {}, not a script", path, what));
  }
  open_folder(core, folder_of(path));
  return nullptr;
}

tfl_error* not_a(const char* what) { return new_error("ValueError", std::string(what) + " is NULL"); }

}  // namespace

}  // namespace tfl::embed

using namespace tfl;
using namespace tfl::embed;

extern "C" {

const char* tfl_version(void) { return cli::kVersion; }
const char* tfl_build(void) { return cli::kBuild; }

tfl_error* tfl_run(tfl_interp* interp, const char* path, size_t argc, const char* const* argv, tfl_value** module) {
  if (module) *module = nullptr;
  if (!path) return not_a("the path");
  Core& core = core_of(interp);
  return guarded(core, [&]() -> tfl_error* {
    std::string text;
    const char* only = nullptr;
    if (tfl_error* e = read(core, path, text, only)) return e;
    std::vector<std::string> arguments{path};
    for (size_t i = 0; i < argc; ++i) arguments.emplace_back(argv[i]);
    core.interp.options.argv = arguments;
    if (Value sys = core.interp.find_module("sys"); !sys.is_empty()) {
      std::vector<Value> items;
      for (const std::string& a : arguments) items.push_back(core.interp.str(a));
      dict_set_str(sys.as<Module>()->dict.as<Dict>(), core.interp.intern("argv"), core.interp.list(std::move(items)));
    }
    auto source = std::make_shared<Source>(path, std::move(text));
    Value main = new_module(core.interp, "__main__", path);
    tfl_error* e = run_source(core, source, main, !only);
    core.begin_call();
    (void)run_exit_functions(core.interp);
    core.end_call();
    if (!e && module) *module = new_value(core, std::move(main));
    return e;
  });
}

tfl_error* tfl_run_text(tfl_interp* interp, const char* text, size_t size, const char* name, int32_t first_line,
                        tfl_value** module) {
  if (!text || !name) return not_a(text ? "the name" : "the text");
  Core& core = core_of(interp);
  return guarded(core, [&]() -> tfl_error* {
    if (size > kMaxSourceBytes) return new_error("ValueError", "the text is too large for a script");
    auto source = std::make_shared<Source>(name, std::string(text, size));
    source->first_line = static_cast<uint32_t>(std::max(first_line, 1));
    const bool given = module && *module;
    if (given && !(*module)->value.is(Kind::Module)) return new_error("TypeError", "a text is run in a module");
    Value in = given ? (*module)->value : new_module(core.interp, "__main__", {});
    tfl_error* e = run_source(core, source, in, false);
    if (!e && module && !given) *module = new_value(core, std::move(in));
    return e;
  });
}

tfl_error* tfl_load(tfl_interp* interp, const char* path, tfl_value** out) {
  *out = nullptr;
  if (!path) return not_a("the path");
  Core& core = core_of(interp);
  return guarded(core, [&]() -> tfl_error* {
    std::string file = path, text;
    while (file.size() > 1 && file.back() == '/') file.pop_back();
    const char* only = nullptr;
    if (tfl_error* e = read(core, file, text, only)) return e;
    auto source = std::make_shared<Source>(file, std::move(text));
    Value module = new_module(core.interp, only ? "__model__" : stem_of(file), file);
    if (tfl_error* e = run_source(core, source, module, !only)) return e;
    if (only) module = dict_get_str(module.as<Module>()->dict.as<Dict>(), core.interp.intern(only));
    *out = new_value(core, std::move(module));
    return nullptr;
  });
}

tfl_error* tfl_import(tfl_interp* interp, const char* name, tfl_value** out) {
  *out = nullptr;
  if (!name) return not_a("the name");
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    core.begin_call();
    auto done = core.interp.import_module(name, false);
    core.end_call();
    if (!done) return done.failure();
    Value found = core.interp.find_module(name);
    if (found.is_empty()) found = dict_get_str(core.interp.modules.as<Dict>(), core.interp.intern(name));
    *out = new_value(core, found.is_empty() ? done.take() : std::move(found));
    return {};
  });
}

tfl_error* tfl_call(tfl_interp* interp, const tfl_value* f, size_t count, const tfl_value* const* args, size_t named,
                    const char* const* names, const tfl_value* const* named_args, tfl_value** out) {
  *out = nullptr;
  if (!f) return not_a("the function");
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    SmallVec<Value, 8> values;
    SmallVec<Str*, 8> keywords;
    for (size_t i = 0; i < count; ++i) values.push_back(args[i]->value);
    for (size_t i = 0; i < named; ++i) {
      values.push_back(named_args[i]->value);
      keywords.push_back(core.interp.intern(names[i]));
    }
    CallArgs call{values.data(), static_cast<uint32_t>(count), {keywords.data(), keywords.size()}};
    core.begin_call();
    auto result = core.interp.call(f->value, call);
    core.end_call();
    if (!result) return result.failure();
    *out = new_value(core, result.take());
    return {};
  });
}

}  // extern "C"
