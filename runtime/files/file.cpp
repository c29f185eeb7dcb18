#include "runtime/files/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

#include "runtime/files/whole_file.h"

namespace tfl {

int read_whole_file(int fd, size_t limit, std::string& data) {
  char buffer[65536];
  for (;;) {
    ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n == 0) return 0;
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    data.append(buffer, static_cast<size_t>(n));
    if (data.size() > limit) return EFBIG;
  }
}

int read_whole_file(const std::string& path, size_t limit, std::string& data) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd ? read_whole_file(fd.get(), limit, data) : errno;
}

int write_whole_file(const std::string& path, std::string_view bytes, unsigned mode, bool durable) {
  // Where links lead is where the file is; a device or a pipe is written to.
  char buffer[PATH_MAX];
  std::string real = ::realpath(path.c_str(), buffer) ? buffer : path;
  struct stat s{};
  bool exists = ::stat(real.c_str(), &s) == 0;
  if (exists && !S_ISREG(s.st_mode)) {
    Descriptor fd(::open(real.c_str(), O_WRONLY | O_CLOEXEC));
    return fd ? write_all(fd.get(), bytes) : errno;
  }
  size_t slash = real.rfind('/');
  FilePlace place;
  place.folder = Descriptor(::open(slash == std::string::npos ? "."
                                   : slash == 0               ? "/"
                                                              : real.substr(0, slash).c_str(),
                                   O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!place.folder) return errno;
  place.name = slash == std::string::npos ? real : real.substr(slash + 1);
  if (place.name.empty()) return ENOENT;
  place.path = real;
  place.exists = exists;
  place.status = s;
  WholeFile file;
  if (int error = file.open(std::move(place), mode)) return error;
  if (int error = write_all(file.fd(), bytes)) return error;
  return file.commit(durable);
}

bool is_folder(const std::string& path) {
  struct stat s{};
  return ::stat(path.c_str(), &s) == 0 && S_ISDIR(s.st_mode);
}

bool make_folders(const std::string& path) {
  for (size_t at = 1; at != std::string::npos;) {
    at = path.find('/', at + 1);
    std::string part = path.substr(0, at);
    struct stat s{};
    if (::stat(part.c_str(), &s) == 0) continue;
    if (::mkdir(part.c_str(), 0700) != 0 && ::stat(part.c_str(), &s) != 0) return false;
  }
  return true;
}

}  // namespace tfl
