// Modules: those made in C++, the standard library, files beside the script.

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/native_module.h"
#include "frontend/core/operations.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/compile/compile.h"
#include "frontend/interpreter/vm/script_modules.h"
#include "frontend/stdlib/embedded.h"
#include "frontend/syntax/diagnostics/diagnostic.h"
#include "frontend/syntax/diagnostics/suggest.h"
#include "runtime/files/file.h"

namespace tfl {

namespace {

struct NativeModule {
  std::string_view name;
  Result<void> (*init)(Interp&, Module&);
};

constexpr NativeModule kNativeModules[] = {
#define TFL_NATIVE_MODULE(name, init) {name, init},
#include "frontend/core/modules.def"
#undef TFL_NATIVE_MODULE
};

const NativeModule* find_native(std::string_view name) {
  for (const NativeModule& m : kNativeModules) {
    if (m.name == name) return &m;
  }
  return nullptr;
}

/// stdlib/a/b.tfl or stdlib/a/b/__init__.tfl of the module a.b.
const EmbeddedFile* find_library(std::string_view name) {
  std::string path(name);
  for (char& c : path) {
    if (c == '.') c = '/';
  }
  if (const EmbeddedFile* f = find_stdlib_file(path + ".tfl")) return f;
  return find_stdlib_file(path + "/__init__.tfl");
}

/// Is it for the library alone, if the library has it? The modules of natives and their neighbours are.
bool is_private(std::string_view name) { return name.starts_with('_') && !name.starts_with("__"); }

/// What a module's __getattr__ says of a name that it does not have.
bool unknown_name(Interp& interp, Error& error) {
  return interp.is_instance(interp.exception_of(error), interp.exception_type(ErrorKind::AttributeError));
}

Failure import_error(Interp& interp, ErrorKind kind, std::string message, std::string_view module, std::string hint = {}) {
  Value text = interp.str(std::move(message));
  Value e = make_exception(interp, interp.exception_type(kind), {&text, 1});
  e.as<Exception>()->name = interp.str(std::string(module));
  e.as<Exception>()->hint = std::move(hint);
  return interp.raise(std::move(e));
}

/// Packages that many scripts begin with.
std::string foreign_package(std::string_view name) {
  name = name.substr(0, name.find('.'));
  for (std::string_view known :
       {"torch", "jax", "scipy", "seaborn", "cv2", "requests", "tensorflow_datasets", "tensorflow_hub", "tensorflow_probability",
        "tensorflow_addons", "transformers", "gym", "networkx", "nltk", "joblib", "psutil", "IPython"}) {
    if (name == known) return "Python packages cannot be imported; a file beside the script can, .tfl or .py";
  }
  for (std::string_view known :
       {"multiprocessing", "socket", "ctypes", "http", "sqlite3", "ssl", "select", "dis", "bz2", "lzma", "tkinter"}) {
    if (name == known) return "this part of Python's library is not in TFL";
  }
  return {};
}

Failure not_found(Interp& interp, std::string_view name, std::string hint) {
  if (hint.empty()) {
    std::vector<std::string_view> known = {"tensorflow", "numpy"};
    for (const NativeModule& m : kNativeModules) {
      if (!m.name.starts_with('_')) known.push_back(m.name);
    }
    for (size_t i = 0; i < stdlib_file_count; ++i) {
      std::string_view file = stdlib_files[i].name;
      if (file.starts_with('_') || file.find('/') != std::string_view::npos) continue;
      known.push_back(file.substr(0, file.rfind('.')));
    }
    std::string_view near = suggest(name, known);
    hint = did_you_mean(near);
  }
  if (hint.empty()) hint = foreign_package(name);
  return import_error(interp, ErrorKind::ModuleNotFoundError, "No module named '" + std::string(name) + "'", name,
                      std::move(hint));
}

Failure absent(Interp& interp, std::string_view name, const Value& parent, const std::string& refused = {}) {
  if (parent.is_empty()) {
    std::string hint;
    if (!refused.empty()) hint = "sys.path names '" + refused + "', which this script may not read: --allow-read=" + refused;
    return not_found(interp, name, std::move(hint));
  }
  std::string up(name.substr(0, name.rfind('.')));
  const EmbeddedFile* file = find_library(up);
  bool package = file ? std::string_view(file->name).ends_with("__init__.tfl")
                      : parent.is(Kind::Module) && is_script_package(interp, *parent.as<Module>());
  std::string message = "No module named '" + std::string(name) + "'" + (package ? "" : "; '" + up + "' is not a package");
  return import_error(interp, ErrorKind::ModuleNotFoundError, std::move(message), name);
}

Result<Value> compile_or_fail(Interp& interp, const std::shared_ptr<const Source>& source, bool cached) {
  CompileOptions options;
  options.rewrite_asserts = interp.options.rewrite_asserts && !source->internal;
  options.lines = covered_lines(interp, *source);
  CompileResult result = cached ? compile_cached(interp, source, options) : compile_module(interp, source, options);
  if (!result.code.is_empty()) return std::move(result.code);
  std::string message = "invalid syntax";
  if (!result.diagnostics.empty()) {
    const Diagnostic& d = result.diagnostics.front();
    message = d.message + " (" + source->name + ", line " + std::to_string(d.span.line) + ")";
  }
  return fail(ErrorKind::SyntaxError, std::move(message));
}

/// The text of a library file in the folder that TFL_LIBRARY names: for whoever changes the library and tries it without a build. Null: there is none.
const std::string* text_of_folder(const EmbeddedFile& file) {
  const char* folder = std::getenv("TFL_LIBRARY");
  if (!folder || !*folder) return nullptr;
  for (const char* room : {"/", "/python/", "/packages/", "/tools/"}) {
    auto text = std::make_unique<std::string>();
    if (read_whole_file(std::string(folder) + room + file.name, kMaxSourceBytes, *text) == 0)
      return text.release();  // stays, as modules do
  }
  return nullptr;
}

Result<Value> library_code(Interp& interp, const EmbeddedFile& file, const std::string& name) {
  if (const std::string* text = text_of_folder(file)) {
    return compile_or_fail(interp, std::make_shared<const Source>("<stdlib>/" + std::string(file.name), Source::Library{*text}),
                           false);
  }
  auto source = std::make_shared<const Source>("<stdlib>/" + std::string(file.name), Source::Library{file.text()});
  if (file.code_data) {
    auto code = deserialise_code(interp, file.code(), source, CodeFile::library);
    if (code) return code;
    return fail(ErrorKind::SystemError, "the bytecode of module '{}' is damaged: {}", name, code.error().message);
  }
  return compile_or_fail(interp, source, false);
}

}  // namespace

Failure module_not_found(Interp& interp, std::string_view name) { return not_found(interp, name, {}); }

bool is_module(std::string_view name) { return !name.starts_with('_') && (find_native(name) || find_library(name)); }

Result<void> Interp::run_module(const Value& code, const Value& module) {
  Frame* f = TFL_TRY(plain_frame(*this, code, code.as<Code>(), module.as<Module>()));
  f->how = FrameHow::Native;
  f->back = frame;
  frame = f;
  ++depth;
  TFL_TRY(run_frame(*this, f));
  return {};
}

bool of_library(const Code* code) { return code && code->source && code->source->internal; }

Value Interp::find_module(std::string_view name) {
  Value table = is_private(name) ? hidden_modules : modules;
  return dict_get_str(table.as<Dict>(), intern(name));
}

Result<Value> Interp::import_module(std::string_view name, bool for_library) {
  // Scripts may have files of such a name.
  bool hidden = for_library && is_private(name) && (find_native(name) || find_library(name));
  bool offered = hidden || !is_private(name);
  Dict* table = (hidden ? hidden_modules : modules).as<Dict>();
  if (Value found = dict_get_str(table, intern(name)); !found.is_empty()) {
    if (found.is_none())
      return import_error(*this, ErrorKind::ModuleNotFoundError,
                          "import of " + std::string(name) + " halted; None in sys.modules", name);
    return found;
  }
  if (name.empty()) return fail(ErrorKind::ValueError, "Empty module name");
  constexpr size_t kLongest = 4096;  // no path is longer
  if (name.size() > kLongest) {
    return import_error(*this, ErrorKind::ModuleNotFoundError,
                        "No module named '" + std::string(name.substr(0, 40)) + "...': the name is too long", name.substr(0, 40));
  }
  if (static_cast<const char*>(__builtin_frame_address(0)) < stack_limit) {
    return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
  }

  Value parent;
  std::string_view leaf = name;
  if (size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    leaf = name.substr(dot + 1);
    parent = TFL_TRY(import_module(name.substr(0, dot), for_library));
    if (Value found = dict_get_str(table, intern(name)); !found.is_empty() && !found.is_none())
      return found;  // the parent has loaded it
    // What the parent offers under that name as a module is the submodule, unless it has a file of its own (which the parent may
    // be asking for just now).
    if (parent.is(Kind::Module) && !is_script_package(*this, *parent.as<Module>()) && !find_native(name) && !find_library(name)) {
      auto inside = module_find_attr(*this, parent.as<Module>(), intern(leaf));
      if (inside && inside->is(Kind::Module)) return std::move(*inside);
      if (!inside && !unknown_name(*this, inside.error())) return inside.failure();
    }
  }

  std::string full(name);
  Value made;
  Value code;
  const NativeModule* native = offered ? find_native(name) : nullptr;
  const EmbeddedFile* library = native || !offered ? nullptr : find_library(name);
  if (native || library) {
    if (library) code = TFL_TRY(library_code(*this, *library, full));
    made = module(name);
    made.as<Module>()->library = true;
    made.as<Module>()->hidden = hidden;
  } else {
    ScriptModule found = find_script_module(*this, name);
    bool package = found.package();
    bool inside = parent.is_empty() || (parent.is(Kind::Module) && is_script_package(*this, *parent.as<Module>()));
    if (found.is == ScriptModule::Is::Absent || !inside) return absent(*this, name, parent, found.refused);
    if (found.is == ScriptModule::Is::Outside) {
      return import_error(
          *this, ErrorKind::ImportError, "cannot read '" + found.path + "'", name,
          "it lies outside of the script's folder, or is a link that leads there; --allow-read with its folder allows it");
    }
    if (found.is == ScriptModule::Is::Unreadable)
      return import_error(*this, ErrorKind::ImportError, "cannot read '" + found.path + "'", name);
    made = module(name);
    Module* m = made.as<Module>();
    Dict* names = m->dict.as<Dict>();
    dict_set_str(names, intern("__package__"),
                 str(std::string(package ? name : name.substr(0, name.size() - std::min(name.size(), leaf.size() + 1)))));
    if (package) dict_set_str(names, intern("__path__"), list({str(found.folder)}));
    if (found.is == ScriptModule::Is::Namespace) {
      dict_set_str(names, sym.__file__, Value::none());
    } else {
      code = TFL_TRY(compile_or_fail(*this, std::make_shared<const Source>(found.path, std::move(found.text)), true));
      m->file = str(found.path);
      dict_set_str(names, sym.__file__, m->file);
    }
  }

  // In the table before it runs: modules that import each other find what is there so far.
  Str* key = intern(full);
  dict_set_str(table, key, made);
  made.as<Module>()->loading = true;
  Result<void> done;
  if (native)
    done = native->init(*this, *made.as<Module>());
  else if (!code.is_empty())
    done = run_module(code, made);
  made.as<Module>()->loading = false;
  if (!done) {
    dict_remove_str(table, key);
    return done.failure();
  }
  if (parent.is(Kind::Module)) dict_set_str(parent.as<Module>()->dict.as<Dict>(), intern(leaf), made);
  return made;
}

Result<Value> import_name(Interp& interp, Str* name, bool last, bool for_library) {
  if (name->text.starts_with('.')) {
    std::string full = TFL_TRY(absolute_name(interp, interp.frame->globals, name->text));
    return interp.import_module(full, for_library);
  }
  Value module = TFL_TRY(interp.import_module(name->text, for_library));
  size_t dot = name->text.find('.');
  if (last || dot == std::string::npos) return module;
  return interp.import_module(std::string_view(name->text).substr(0, dot), for_library);
}

namespace {

/// A module of a package of the script that has a file of its own; Empty when there is none.
Result<Value> submodule(Interp& interp, Module* package, const std::string& full) {
  if (!is_script_package(interp, *package)) return Value();
  if (Value there = dict_get_str(interp.modules.as<Dict>(), interp.intern(full)); !there.is_empty()) return there;
  if (find_script_module(interp, full).is == ScriptModule::Is::Absent) return Value();
  return interp.import_module(full, false);
}

}  // namespace

Result<Value> import_from(Interp& interp, const Value& module, Str* name, bool for_library) {
  if (module.is(Kind::Module)) {
    // What has a file of its own is that file; the module's __getattr__ is asked for the rest.
    Module* m = module.as<Module>();
    if (const Value* there = dict_entry(m->dict.as<Dict>(), name); there && (for_library || !is_hidden(*there))) return *there;
    std::string full = m->name->text + "." + name->text;
    if ((for_library || !is_private(full)) && (find_native(full) || find_library(full)))
      return interp.import_module(full, for_library);
    if (Value inside = TFL_TRY(submodule(interp, m, full)); !inside.is_empty()) return inside;
  }
  auto looked_for = find_attr(interp, module, name);
  if (!looked_for) {
    // What a module's __getattr__ does not know cannot be imported either.
    if (!module.is(Kind::Module) || !unknown_name(interp, looked_for.error())) return looked_for.failure();
  } else if (!looked_for->is_empty()) {
    return std::move(*looked_for);
  }
  if (!module.is(Kind::Module)) return no_attribute(interp, module, name);
  Module* m = module.as<Module>();
  std::string place = m->file.is_str() ? m->file.as<Str>()->text : "unknown location";
  std::string message = "cannot import name '" + name->text + "' from ";
  if (m->loading)
    message += "partially initialized module '" + m->name->text + "' (most likely due to a circular import) (" + place + ")";
  else
    message += "'" + m->name->text + "' (" + place + ")";
  Failure failure = import_error(interp, ErrorKind::ImportError, std::move(message), m->name->text);
  // What is near is looked for when the error is shown.
  interp.exception_of(*failure.error).as<Exception>()->obj = interp.tuple({module, interp.str(name)});
  return failure;
}

Result<void> import_star(Interp& interp, Frame* frame, const Value& module) {
  if (!module.is(Kind::Module)) return fail(ErrorKind::ImportError, "import * needs a module");
  Dict* from = module.as<Module>()->dict.as<Dict>();
  const Module* m = module.as<Module>();
  Value all;
  if (const Value* own = dict_entry(from, interp.sym.__all__)) {
    all = *own;
  } else if (find_native(m->name->text) || find_library(m->name->text)) {
    Value star_names = TFL_TRY(interp.import_module("_star_names"));
    all = TFL_TRY(interp.call_method(star_names, interp.intern("of"), {module}));
  }
  if (!all.is_empty()) {
    std::vector<Value> names = TFL_TRY(to_vector(interp, all));
    for (Value& n : names) {
      if (!n.is_str())
        return fail(ErrorKind::TypeError, "Item in {}.__all__ must be str, not {}", module.as<Module>()->name->text,
                    interp.type_name(n));
      Str* name = interp.intern(n.as<Str>()->text);
      Value v;
      if (!dict_entry(from, name))
        v = TFL_TRY(submodule(interp, module.as<Module>(), module.as<Module>()->name->text + "." + name->text));
      if (v.is_empty()) v = TFL_TRY(get_attr(interp, module, name));
      dict_set_str(frame->globals, name, std::move(v));
    }
    return {};
  }
  for (size_t i = 0; i < from->entries.size(); ++i) {
    Value key = from->entries[i].key;
    if (!key.is_str() || key.as<Str>()->text.starts_with('_')) continue;
    dict_set_str(frame->globals, interp.intern(key.as<Str>()->text), from->entries[i].value);
  }
  return {};
}

Result<void> show_result(Interp& interp, const Value& v) {
  // Whoever shows values in another way, a notebook or the script itself, says so in sys.displayhook.
  if (Value sys = interp.find_module("sys"); sys.is(Kind::Module)) {
    Value hook = dict_get_str(sys.as<Module>()->dict.as<Dict>(), interp.intern("displayhook"));
    if (!hook.is_empty()) {
      TFL_TRY(interp.call(hook, {v}));
      return {};
    }
  }
  if (v.is_none()) return {};
  std::string text = TFL_TRY(repr_text(interp, v));
  interp.streams.out(text + "\n");
  dict_set_str(interp.builtins.as<Module>()->dict.as<Dict>(), interp.intern("_"), v);
  return {};
}

}  // namespace tfl
