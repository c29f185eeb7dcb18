#include "runtime/files/own_file.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace tfl {

namespace {

constexpr const char* kProgram = "/proc/self/exe";

std::string find() {
  Dl_info info{};
  void* extra = nullptr;
  if (!dladdr1(reinterpret_cast<void*>(&find), &info, &extra, RTLD_DL_LINKMAP) || !extra) return kProgram;
  const char* name = static_cast<const link_map*>(extra)->l_name;  // the program's is empty
  if (!name || !*name) return kProgram;
  char whole[PATH_MAX];
  return realpath(name, whole) ? whole : name;
}

}  // namespace

const std::string& own_file() {
  static const std::string file = find();
  return file;
}

bool is_library() { return own_file() != kProgram; }

std::string own_folder() {
  std::string path = own_file();
  if (!is_library()) {
    path.assign(PATH_MAX, '\0');
    ssize_t n = readlink(kProgram, path.data(), path.size());
    path.resize(n > 0 ? static_cast<size_t>(n) : 0);
  }
  return path.substr(0, path.rfind('/') + 1);
}

}  // namespace tfl
