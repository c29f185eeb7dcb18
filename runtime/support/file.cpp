#include "runtime/support/file.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <memory>

namespace tfl {

int read_whole_file(const std::string& path, size_t limit, std::string& data) {
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return errno;
  char buffer[65536];
  while (size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    data.append(buffer, n);
    if (data.size() > limit) return EFBIG;
  }
  return std::ferror(file.get()) ? (errno ? errno : EIO) : 0;
}

bool make_folders(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    std::string part = path.substr(0, at);
    struct stat s {};
    if (::stat(part.c_str(), &s) == 0) continue;
    if (::mkdir(part.c_str(), 0700) != 0 && ::stat(part.c_str(), &s) != 0) return false;
  }
  return true;
}

}  // namespace tfl
