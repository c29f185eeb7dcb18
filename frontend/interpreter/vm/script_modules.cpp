#include "frontend/interpreter/vm/script_modules.h"

#include <fcntl.h>

#include <cerrno>

#include "frontend/core/exception.h"
#include "frontend/core/file_access.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/syntax/diagnostics/source.h"
#include "runtime/files/bundle.h"
#include "runtime/files/file.h"

namespace tfl {

namespace {

constexpr std::string_view kInit = "/__init__.tfl";

std::string script_folder(const Interp& interp) {
  return interp.options.script_folder.empty() ? "." : interp.options.script_folder;
}

/// a/b of a.b; "" where a part of the name is no name (empty, or a piece of a path).
std::string as_path(std::string_view name) {
  std::string path(name);
  char before = '.';
  for (char& c : path) {
    if (c == '/' || c == '\0' || (c == '.' && before == '.')) return {};
    before = c;
    if (c == '.') c = '/';
  }
  return before == '.' ? std::string() : path;
}

/// Reads a file below the script's folder: 0 or an errno. EACCES with `outside` set when a link leads to where modules may not come from.
int read_module(Interp& interp, const std::string& path, std::string& text, bool& outside) {
  FilePlace place;
  int error = sandbox(interp).find(path, Access::Module, Links::Follow, place);
  outside = place.refused;
  if (error) return error;
  if (!place.exists) return ENOENT;
  Descriptor fd(::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return errno;
  return S_ISREG(place.status.st_mode)   ? read_whole_file(fd.get(), kMaxSourceBytes, text)
         : S_ISDIR(place.status.st_mode) ? EISDIR
                                         : EACCES;
}

bool is_module_folder(Interp& interp, const std::string& path) {
  FilePlace place;
  return sandbox(interp).find(path, Access::Module, Links::Follow, place) == 0 && place.exists && S_ISDIR(place.status.st_mode);
}

ScriptModule find_bundled(const std::string& path) {
  ScriptModule m;
  auto take = [&](const std::string& name, ScriptModule::Is is) {
    auto text = bundled_file("source/" + name);
    if (!text) return false;
    m.is = is;
    m.path = name;
    m.text = *text;
    return true;
  };
  if (take(path + std::string(kInit), ScriptModule::Is::Package) || take(path + "/", ScriptModule::Is::Namespace))
    m.folder = path;
  else
    take(path + ".tfl", ScriptModule::Is::File);
  return m;
}

}  // namespace

ScriptModule find_script_module(Interp& interp, std::string_view name) {
  ScriptModule m;
  std::string path = as_path(name);
  if (path.empty()) return m;
  if (is_bundle()) {
    m = find_bundled(path);
    if (m.is != ScriptModule::Is::Absent) return m;
  }
  std::string place = script_folder(interp) + "/" + path;
  bool folder = is_module_folder(interp, place);
  auto take = [&](const std::string& file, ScriptModule::Is is) {
    bool outside = false;
    int error = read_module(interp, file, m.text, outside);
    if (error == ENOENT || error == ENOTDIR) return false;
    m.is = outside ? ScriptModule::Is::Outside : error ? ScriptModule::Is::Unreadable : is;
    m.path = file;
    return true;
  };
  if (folder) m.folder = place;
  if (folder && take(place + std::string(kInit), ScriptModule::Is::Package)) return m;
  if (take(place + ".tfl", ScriptModule::Is::File)) return m;
  if (folder && python_file_hint(interp, name).empty()) m.is = ScriptModule::Is::Namespace;
  return m;
}

std::string bundled_name(const Module& module) {
  std::string path = as_path(module.name->text);
  std::string file = module.file.is_str() ? text_of(module.file) : std::string();
  return file.empty() ? path + "/" : path + std::string(file.ends_with(kInit) ? kInit : ".tfl");
}

std::string python_file_hint(Interp& interp, std::string_view name) {
  std::string path = as_path(name);
  if (path.empty()) return {};
  for (const std::string& file : {path + ".py", path + "/__init__.py"}) {
    std::string text;
    bool outside = false;
    if (read_module(interp, script_folder(interp) + "/" + file, text, outside) != 0) continue;
    return "there is '" + file + "', a file of Python: TFL imports .tfl files; rename it to '" + file.substr(0, file.size() - 2) +
           "tfl'";
  }
  return {};
}

bool is_script_package(Interp& interp, const Module& module) {
  return !dict_get_str(module.dict.as<Dict>(), interp.intern("__path__")).is_empty();
}

Result<std::string> absolute_name(Interp& interp, Dict* globals, std::string_view relative) {
  size_t level = relative.find_first_not_of('.');
  if (level == std::string_view::npos) level = relative.size();
  std::string_view rest = relative.substr(level);
  Value package = dict_get_str(globals, interp.intern("__package__"));
  if (package.is_empty() || package.is_none()) {
    Value name = dict_get_str(globals, interp.sym.__name__);
    if (name.is_empty()) return fail(ErrorKind::KeyError, "'__name__' not in globals");
    if (!name.is_str()) return fail(ErrorKind::TypeError, "__name__ must be a string");
    package = name;
    if (dict_get_str(globals, interp.intern("__path__")).is_empty()) {
      size_t dot = text_of(name).rfind('.');
      package = interp.str(dot == std::string::npos ? std::string() : text_of(name).substr(0, dot));
    }
  }
  if (!package.is_str()) return fail(ErrorKind::TypeError, "__package__ must be a string");
  std::string base = text_of(package);
  if (base.empty()) {
    return fail(ErrorKind::ImportError, "attempted relative import with no known parent package")
        .with_hint("a script is in no package: import the file beside it by its name");
  }
  for (size_t i = 1; i < level; ++i) {
    size_t dot = base.rfind('.');
    if (dot == std::string::npos) return fail(ErrorKind::ImportError, "attempted relative import beyond top-level package");
    base.resize(dot);
  }
  return rest.empty() ? base : base + "." + std::string(rest);
}

}  // namespace tfl
