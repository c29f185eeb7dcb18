#include "frontend/interpreter/vm/script_modules.h"

#include <fcntl.h>
#include <unistd.h>

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

/// A file of TFL comes before one of Python: a project may keep its own version of a module.
constexpr std::string_view kExtensions[] = {".tfl", ".py"};
constexpr std::string_view kInit = "/__init__";

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

/// Where modules of one name are looked for: folders, and the name's path below them.
struct Places {
  std::vector<std::string> folders;
  std::string path;
};

/// The strings of a list that scripts may change.
void add_folders(const Value& list, std::vector<std::string>& out) {
  std::span<const Value> items;
  if (list.is(Kind::List)) items = list.as<List>()->items;
  if (list.is(Kind::Tuple)) items = list.as<Tuple>()->span();
  for (const Value& v : items) {
    if (v.is_str()) out.push_back(text_of(v).empty() ? "." : text_of(v));
  }
}

/// A module of a package lies in the package's __path__, any other in sys.path.
Places places_of(Interp& interp, std::string_view name) {
  Places p;
  p.path = as_path(name);
  if (size_t dot = name.rfind('.'); dot != std::string_view::npos) {
    Value package = dict_get_str(interp.modules.as<Dict>(), interp.intern(name.substr(0, dot)));
    if (package.is(Kind::Module)) {
      add_folders(dict_get_str(package.as<Module>()->dict.as<Dict>(), interp.intern("__path__")), p.folders);
      if (!p.path.empty()) p.path = as_path(name.substr(dot + 1));
      return p;
    }
  }
  Value sys = interp.find_module("sys");
  if (sys.is(Kind::Module)) {
    add_folders(dict_get_str(sys.as<Module>()->dict.as<Dict>(), interp.intern("path")), p.folders);
  } else {
    p.folders.push_back(script_folder(interp));
  }
  return p;
}

/// Reads the file of a module: 0 or an errno. EACCES with `outside` set where modules may not come from there.
int read_module(Interp& interp, const std::string& path, std::string& text, bool& outside) {
  FilePlace place;
  int error = sandbox(interp).find(path, Access::Module, Links::Follow, place);
  if (error && place.refused) error = sandbox(interp).find(path, Access::Read, Links::Follow, place);
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
  for (Access access : {Access::Module, Access::Read}) {
    if (sandbox(interp).find(path, access, Links::Follow, place) == 0) return place.exists && S_ISDIR(place.status.st_mode);
  }
  return false;
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
  for (std::string_view extension : kExtensions) {
    if (!take(path + std::string(kInit) + std::string(extension), ScriptModule::Is::Package)) continue;
    m.folder = path;
    return m;
  }
  for (std::string_view extension : kExtensions) {
    if (take(path + std::string(extension), ScriptModule::Is::File)) return m;
  }
  if (take(path + "/", ScriptModule::Is::Namespace)) m.folder = path;
  return m;
}

/// What `place`, a path without an extension, has of a module.
ScriptModule find_at(Interp& interp, const std::string& place) {
  ScriptModule m;
  bool folder = is_module_folder(interp, place);
  auto take = [&](const std::string& file, ScriptModule::Is is) {
    bool outside = false;
    int error = read_module(interp, file, m.text, outside);
    if (error == ENOENT || error == ENOTDIR) return false;
    m.is = outside ? ScriptModule::Is::Outside : error ? ScriptModule::Is::Unreadable : is;
    m.path = file;
    return true;
  };
  if (folder) {
    m.folder = place;
    for (std::string_view extension : kExtensions) {
      if (take(place + std::string(kInit) + std::string(extension), ScriptModule::Is::Package)) return m;
    }
  }
  for (std::string_view extension : kExtensions) {
    if (take(place + std::string(extension), ScriptModule::Is::File)) return m;
  }
  if (folder) m.is = ScriptModule::Is::Namespace;
  return m;
}

}  // namespace

ScriptModule find_script_module(Interp& interp, std::string_view name) {
  ScriptModule best;
  Places places = places_of(interp, name);
  if (places.path.empty()) return best;
  if (is_bundle()) {
    best = find_bundled(as_path(name));
    if (best.is != ScriptModule::Is::Absent) return best;
  }
  for (const std::string& folder : places.folders) {
    if (!is_module_folder(interp, folder)) {
      if (best.refused.empty() && access(folder.c_str(), F_OK) == 0) best.refused = folder;
      continue;
    }
    ScriptModule m = find_at(interp, folder + "/" + places.path);
    if (m.is == ScriptModule::Is::Absent) continue;
    // A folder without __init__ is a package only where no later folder has the module.
    bool weak = m.is == ScriptModule::Is::Namespace || m.is == ScriptModule::Is::Outside;
    if (!weak) return m;
    if (best.is == ScriptModule::Is::Absent) best = std::move(m);  // what was refused is no matter now
  }
  return best;
}

std::string bundled_name(const Module& module) {
  std::string path = as_path(module.name->text);
  std::string file = module.file.is_str() ? text_of(module.file) : std::string();
  if (file.empty()) return path + "/";
  std::string extension = file.ends_with(".py") ? ".py" : ".tfl";
  return path + (file.ends_with(std::string(kInit) + extension) ? std::string(kInit) : std::string()) + extension;
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
