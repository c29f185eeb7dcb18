#include "runtime/files/whole_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <functional>

#include "runtime/files/whole_folder.h"

namespace tfl {

namespace {

constexpr std::string_view kMark = ".tfl-part";
constexpr int kMostAttempts = 100;
constexpr size_t kLongest = 200;  // of a name; names have at most 255 bytes

/// A part that nobody writes any more goes.
bool remove_left(int folder, const std::string& name) {
  struct stat s{};
  if (::fstatat(folder, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (s.st_uid != ::geteuid() || (!S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))) return false;
  Descriptor fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd || !take_part(folder, name, fd.get())) return false;
  if (S_ISDIR(s.st_mode)) return remove_tree(folder, name) == 0;
  return ::unlinkat(folder, name.c_str(), 0) == 0;
}

}  // namespace

int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n > 0)
      bytes.remove_prefix(static_cast<size_t>(n));
    else if (n == 0)
      return ENOSPC;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

std::string part_name(std::string_view name, int attempt) {
  std::string out = "." + std::string(name.substr(0, kLongest));
  if (name.size() > kLongest) out += "-" + std::to_string(std::hash<std::string_view>()(name));
  out += kMark;
  if (attempt > 0) out += std::to_string(attempt);
  return out;
}

bool take_part(int folder, const std::string& name, int fd) {
  struct stat mine{}, there{};
  return ::flock(fd, LOCK_EX | LOCK_NB) == 0 && ::fstat(fd, &mine) == 0 &&
         ::fstatat(folder, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && mine.st_dev == there.st_dev &&
         mine.st_ino == there.st_ino;
}

int sync_folder(int folder) {
  Descriptor fd(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return errno == EACCES ? 0 : errno;
  // Some file systems know nothing of that.
  return ::fsync(fd.get()) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

void remove_left_parts(int folder) {
  int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* d = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!d) {
    if (fd >= 0) ::close(fd);
    return;
  }
  while (dirent* entry = ::readdir(d)) {
    std::string_view name = entry->d_name;
    size_t mark = name.rfind(kMark);
    if (!name.starts_with('.') || mark == std::string_view::npos) continue;
    if (name.find_first_not_of("0123456789", mark + kMark.size()) == std::string_view::npos)
      remove_left(folder, std::string(name));
  }
  ::closedir(d);
}

WholeFile& WholeFile::operator=(WholeFile&& other) noexcept {
  std::swap(place_, other.place_);
  std::swap(part_, other.part_);
  std::swap(fd_, other.fd_);
  return *this;
}

int WholeFile::open(FilePlace place, unsigned mode) {
  if (place.exists && !S_ISREG(place.status.st_mode)) return S_ISDIR(place.status.st_mode) ? EISDIR : EINVAL;
  if (place.as_folder || place.name == ".") return EISDIR;
  int folder = place.folder.get();
  // What may not be written is not replaced, either.
  if (place.exists && ::faccessat(folder, place.name.c_str(), W_OK, AT_EACCESS) != 0) return errno;
  for (int attempt = 0; attempt < kMostAttempts; ++attempt) {
    std::string name = part_name(place.name, attempt);
    Descriptor fd(::openat(folder, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, static_cast<mode_t>(mode)));
    if (!fd) {
      if (errno != EEXIST) return errno;
      if (remove_left(folder, name)) --attempt;
      continue;
    }
    if (!take_part(folder, name, fd.get())) continue;  // whoever removes what is left was there first
    if (place.exists) (void)::fchmod(fd.get(), place.status.st_mode & 07777);
    place_ = std::move(place);
    part_ = std::move(name);
    fd_ = std::move(fd);
    return 0;
  }
  return EEXIST;
}

int WholeFile::commit(bool durable) {
  int folder = place_.folder.get();
  int error = durable && ::fsync(fd_.get()) != 0 && errno != EINVAL ? errno : 0;
  struct stat there{};
  if (!error && ::fstatat(folder, place_.name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(there.st_mode)) {
    error = S_ISDIR(there.st_mode) ? EISDIR : EEXIST;  // something else has come there: it is not replaced
  }
  if (!error && ::renameat(folder, part_.c_str(), folder, place_.name.c_str()) != 0) error = errno;
  if (error) {
    discard();
    return error;
  }
  part_.clear();
  fd_ = Descriptor();
  return durable ? sync_folder(folder) : 0;
}

void WholeFile::discard() {
  if (!fd_) return;
  if (!part_.empty()) ::unlinkat(place_.folder.get(), part_.c_str(), 0);
  part_.clear();
  fd_ = Descriptor();
}

}  // namespace tfl
