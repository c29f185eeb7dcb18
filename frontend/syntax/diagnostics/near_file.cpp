#include "frontend/syntax/diagnostics/near_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "frontend/syntax/diagnostics/suggest.h"

namespace tfl {

std::string nearest_file(const std::string& path) {
  size_t slash = path.rfind('/');
  int fd = open(slash == path.npos ? "." : path.substr(0, slash + 1).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return fd < 0 ? std::string() : nearest_file(path, fd);
}

std::string nearest_file(const std::string& path, int fd) {
  constexpr size_t kMost = 10000;
  size_t slash = path.rfind('/');
  std::string folder = slash == path.npos ? std::string() : path.substr(0, slash + 1);
  std::string name = slash == path.npos ? path : path.substr(slash + 1);
  std::unique_ptr<DIR, int (*)(DIR*)> open(fdopendir(fd), closedir);
  if (!open) close(fd);
  if (!open || name.empty()) return {};
  std::vector<std::string> found;
  while (const dirent* entry = readdir(open.get())) {
    std::string here = entry->d_name;
    if (here != "." && here != "..") found.push_back(std::move(here));
    if (found.size() >= kMost) break;
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string_view> names(found.begin(), found.end());
  std::string_view near = suggest(name, names);
  return near.empty() ? std::string() : folder + std::string(near);
}

}  // namespace tfl
