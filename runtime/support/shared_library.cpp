#include "runtime/support/shared_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include "runtime/files/own_file.h"

namespace tfl {

void* entry_beside_program(const char* name, const char* entry, std::string& error) {
  std::string folder = own_folder();
  // As it is built, as it is installed (beside bin and in lib), and for a program in a folder of the build's.
  for (const char* place : {"", "../lib/tfl/", "tfl/", "../"}) {
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
