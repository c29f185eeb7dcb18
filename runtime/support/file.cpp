#include "runtime/support/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

int write_whole_file(const std::string& path, std::string_view bytes, unsigned mode) {
  std::string own = path + "." + std::to_string(getpid()) + ".", part;
  int fd = -1;
  for (int attempt = 0; fd < 0 && attempt < 100; ++attempt) {  // another thread may be at it
    part = own + std::to_string(attempt);
    fd = ::open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(mode));
    if (fd < 0 && errno != EEXIST) return errno;
  }
  if (fd < 0) return errno;
  int error = 0;
  while (!bytes.empty() && error == 0) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0)
      bytes.remove_prefix(static_cast<size_t>(n));
    else if (n == 0 || errno != EINTR)
      error = n == 0 ? ENOSPC : errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) ::unlink(part.c_str());
  return error;
}

bool is_folder(const std::string& path) {
  struct stat s {};
  return ::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
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
