// Where the modules of a script lie: files and folders (packages) below the script's folder, or the bundle of an executable.
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
    Package,    // a folder with __init__.tfl
    Namespace,  // a folder without
  };
  Is is = Is::Absent;
  std::string path;    // of the file
  std::string folder;  // of a package
  std::string text;
  bool package() const { return is == Is::Package || is == Is::Namespace; }
};

ScriptModule find_script_module(Interp& interp, std::string_view name);
/// What a bundle calls the file of a module.
std::string bundled_name(const Module& module);
/// What to do about a module that is not there, where a file of Python stands in its place; else "".
std::string python_file_hint(Interp& interp, std::string_view name);
/// Is the module one of the script's packages: does it have a __path__?
bool is_script_package(Interp& interp, const Module& module);
/// The full name that `relative` (it begins with one dot or several) means to a module with these globals.
Result<std::string> absolute_name(Interp& interp, Dict* globals, std::string_view relative);

}  // namespace tfl
