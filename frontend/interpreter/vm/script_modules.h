// Where the modules of a script lie: files (.tfl or .py) and folders (packages) below the folders of sys.path, first the script's own,
// or the bundle of an executable.
#pragma once

#include <string>
#include <string_view>

#include "frontend/core/interp.h"

namespace tfl {

struct Dict;

struct ScriptModule {
  enum class Is : uint8_t {
    Absent,
    Unreadable,  // `path` says which file
    Outside,     // ... which is a link to where modules may not come from
    File,
    Package,    // a folder with __init__
    Namespace,  // a folder without
  };
  Is is = Is::Absent;
  std::string path;    // of the file
  std::string folder;  // of a package
  std::string text;
  std::string refused;  // when absent: a folder of sys.path that the script may not read
  bool package() const { return is == Is::Package || is == Is::Namespace; }
};

ScriptModule find_script_module(Interp& interp, std::string_view name);
/// What a bundle calls the file of a module.
std::string bundled_name(const Module& module);
/// Is the module one of the script's packages: does it have a __path__?
bool is_script_package(Interp& interp, const Module& module);
/// The full name that `relative` (it begins with one dot or several) means to a module with these globals.
Result<std::string> absolute_name(Interp& interp, Dict* globals, std::string_view relative);

}  // namespace tfl
