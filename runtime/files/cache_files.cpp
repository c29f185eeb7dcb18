#include "runtime/files/cache_files.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "runtime/files/bundle.h"
#include "runtime/files/file.h"
#include "runtime/files/own_file.h"
#include "runtime/files/whole_file.h"

namespace tfl {

std::string cache_folder(std::string_view kind) {
  // NOLINTBEGIN(concurrency-mt-unsafe): read only
  const char* base = std::getenv("XDG_CACHE_HOME");
  if (base && base[0] == '/') return std::string(base) + "/tfl/" + std::string(kind);
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (home && home[0] == '/') return std::string(home) + "/.cache/tfl/" + std::string(kind);
  return {};
}

uint64_t program_identity(std::string_view file) {
  // What a bundle holds was made by another program.
  if (is_bundle()) {
    auto maker = bundled_file("identity/" + std::string(file));
    return maker ? std::strtoull(std::string(*maker).c_str(), nullptr, 10) : 0;
  }
  std::string path = file.empty() ? own_file() : own_folder() + std::string(file);
  struct stat s{};
  if (::stat(path.c_str(), &s) != 0) return 0;
  return static_cast<uint64_t>(s.st_size) * 1'000'003u ^ static_cast<uint64_t>(s.st_mtim.tv_sec) * 1'000'000'007u ^
         static_cast<uint64_t>(s.st_mtim.tv_nsec);
}

bool read_cache_file(const std::string& path, size_t limit, std::string& data) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (fd < 0) return false;
  struct stat s{};
  bool ours = ::fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_uid == ::geteuid() && (s.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
              static_cast<uint64_t>(s.st_size) <= limit;
  size_t begin = data.size(), wanted = ours ? static_cast<size_t>(s.st_size) : 0, got = 0;
  data.resize(begin + wanted);
  while (got < wanted) {
    ssize_t n = ::read(fd, data.data() + begin + got, wanted - got);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
  }
  ::close(fd);
  data.resize(begin + got);
  return ours && got == wanted;
}

bool write_cache_file(const std::string& folder, const std::string& name, std::string_view data) {
  return make_folders(folder) && write_whole_file(folder + "/" + name, data, 0600, false) == 0;
}

void trim_cache(const std::string& folder, size_t most_files, size_t most_bytes) {
  struct File {
    int64_t modified;
    size_t bytes;
    std::string path;
  };
  std::vector<File> files;
  size_t bytes = 0;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return;
  remove_left_parts(::dirfd(dir));
  while (const dirent* entry = ::readdir(dir)) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    std::string path = folder + "/" + entry->d_name;
    struct stat s{};
    if (entry->d_name[0] == '.' || ::lstat(path.c_str(), &s) != 0 || !S_ISREG(s.st_mode)) continue;
    files.push_back({s.st_mtim.tv_sec, static_cast<size_t>(s.st_size), path});
    bytes += files.back().bytes;
  }
  ::closedir(dir);
  size_t count = files.size();
  if (count <= most_files && bytes <= most_bytes) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.modified < b.modified; });
  for (const File& f : files) {
    if (count <= most_files / 2 && bytes <= most_bytes / 2) break;
    ::unlink(f.path.c_str());
    --count;
    bytes -= f.bytes;
  }
}

}  // namespace tfl
