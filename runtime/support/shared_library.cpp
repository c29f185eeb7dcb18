#include "runtime/support/shared_library.h"

#include <dlfcn.h>
#include <unistd.h>

namespace tfl {

namespace {

// The folder that the program's file lies in, with a slash at its end.
std::string program_folder() {
  std::string path(4096, '\0');
  ssize_t n = readlink("/proc/self/exe", path.data(), path.size());
  path.resize(n > 0 ? static_cast<size_t>(n) : 0);
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace

void* entry_beside_program(const char* name, const char* entry, std::string& error) {
  std::string folder = program_folder();
  // As it is built, as it is installed, and for a program in a folder of the build's.
  for (const char* place : {"", "../lib/tfl/", "../"}) {
    std::string path = folder + place + name;
    if (access(path.c_str(), R_OK) != 0) continue;
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      const char* reason = dlerror();
      error = "cannot load " + path + ": " + (reason ? reason : "unknown reason");
      return nullptr;
    }
    void* found = dlsym(library, entry);
    if (!found) error = path + " has no function " + entry;
    return found;
  }
  error = std::string(name) + " was not found beside the program in " + folder + " or in " + folder + "../lib/tfl";
  return nullptr;
}

}  // namespace tfl
