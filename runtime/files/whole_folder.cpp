#include "runtime/files/whole_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <vector>

#include "runtime/files/whole_file.h"

namespace tfl {

namespace {

constexpr int kDeepest = 64;

int names_in(int folder, std::vector<std::string>& names) {
  int fd = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* d = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!d) {
    int error = errno;
    if (fd >= 0) ::close(fd);
    return error;
  }
  while (dirent* entry = ::readdir(d)) {
    std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(d);
  return 0;
}

int remove_deep(int folder, const std::string& name, int depth) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return errno;
  if (depth > kDeepest) return ELOOP;
  Descriptor inner(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!inner) return errno;
  std::vector<std::string> names;
  if (int error = names_in(inner.get(), names)) return error;
  for (const std::string& n : names) {
    if (int error = remove_deep(inner.get(), n, depth + 1)) return error;
  }
  return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 ? 0 : errno;
}

/// What `to` does not have of `from` appears there, too: files as links to the same.
int link_others(int from, int to, int depth) {
  if (depth > kDeepest) return ELOOP;
  std::vector<std::string> names;
  if (int error = names_in(from, names)) return error;
  for (const std::string& name : names) {
    struct stat s{}, there{};
    if (::fstatat(from, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bool have = ::fstatat(to, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (!S_ISDIR(s.st_mode)) {
      if (!have && ::linkat(from, name.c_str(), to, name.c_str(), 0) != 0) return errno;
      continue;
    }
    if (have && !S_ISDIR(there.st_mode)) continue;
    if (!have && ::mkdirat(to, name.c_str(), s.st_mode & 07777) != 0) return errno;
    Descriptor a(::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    Descriptor b(::openat(to, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!a || !b) return errno;
    if (int error = link_others(a.get(), b.get(), depth + 1)) return error;
  }
  return 0;
}

/// Files of `from` take their names in `to`.
int move_into(int from, int to, int depth) {
  if (depth > kDeepest) return ELOOP;
  std::vector<std::string> names;
  if (int error = names_in(from, names)) return error;
  for (const std::string& name : names) {
    struct stat s{};
    if (::fstatat(from, name.c_str(), &s, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if (!S_ISDIR(s.st_mode)) {
      if (::renameat(from, name.c_str(), to, name.c_str()) != 0) return errno;
      continue;
    }
    if (::mkdirat(to, name.c_str(), s.st_mode & 07777) != 0 && errno != EEXIST) return errno;
    Descriptor a(::openat(from, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    Descriptor b(::openat(to, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!a || !b) return errno;
    if (int error = move_into(a.get(), b.get(), depth + 1)) return error;
  }
  return sync_folder(to);
}

/// Everything below a folder is on the disk.
int sync_tree(int folder, int depth) {
  if (depth > kDeepest) return ELOOP;
  std::vector<std::string> names;
  if (int error = names_in(folder, names)) return error;
  for (const std::string& name : names) {
    Descriptor fd(::openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
    struct stat s{};
    if (!fd || ::fstat(fd.get(), &s) != 0 || !S_ISDIR(s.st_mode)) continue;
    if (int error = sync_tree(fd.get(), depth + 1)) return error;
  }
  return sync_folder(folder);
}

std::string aside_name(const std::string& name) { return part_name(name, 0) + "-old"; }

}  // namespace

int remove_tree(int folder, const std::string& name) { return remove_deep(folder, name, 0); }

int WholeFolder::open(FilePlace place) {
  if (place.exists && !S_ISDIR(place.status.st_mode)) return ENOTDIR;
  if (place.name == ".") return EBUSY;
  if (!place.exists &&
      ::renameat(place.folder.get(), aside_name(place.name).c_str(), place.folder.get(), place.name.c_str()) == 0) {
    place.exists = ::fstatat(place.folder.get(), place.name.c_str(), &place.status, AT_SYMLINK_NOFOLLOW) == 0;
  }
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = part_name(place.name, attempt);
    int folder = place.folder.get();
    if (::mkdirat(folder, name.c_str(), 0777) != 0) {
      if (errno != EEXIST) return errno;
      if (attempt == 0) remove_left_parts(folder);
      if (::mkdirat(folder, name.c_str(), 0777) != 0) continue;
    }
    Descriptor lock(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!lock || !take_part(folder, name, lock.get())) continue;
    if (place.exists) (void)::fchmod(lock.get(), place.status.st_mode & 07777);
    part_.folder = Descriptor(::fcntl(folder, F_DUPFD_CLOEXEC, 0));
    part_.path = place.path.substr(0, place.path.rfind('/') + 1) + name;
    part_.name = std::move(name);
    part_.exists = true;
    place_ = std::move(place);
    lock_ = std::move(lock);
    return 0;
  }
  return EEXIST;
}

int WholeFolder::commit() {
  int folder = place_.folder.get();
  int error = 0;
  Descriptor old(::openat(folder, place_.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!old && errno != ENOENT) error = errno;
  if (!error) error = sync_tree(lock_.get(), 0);
  bool linked = !old || error || link_others(old.get(), lock_.get(), 0) == 0;
  if (!error && !linked) {
    // What else lies in the old folder cannot be linked: the new files move there one by one.
    error = move_into(lock_.get(), old.get(), 0);
    discard();
    return error;
  }
  if (!error) {
    const char* from = part_.name.c_str();
    const char* to = place_.name.c_str();
    if (!old) {
      if (::renameat2(folder, from, folder, to, RENAME_NOREPLACE) != 0) error = errno;
      if (error == EINVAL || error == ENOSYS) error = ::renameat(folder, from, folder, to) == 0 ? 0 : errno;
    } else if (::renameat2(folder, from, folder, to, RENAME_EXCHANGE) != 0) {
      error = errno;
      // A file system that cannot let two names change places: the old folder waits under a third name, from which open() brings it back.
      if (error == EINVAL || error == ENOSYS || error == EXDEV) {
        std::string aside = aside_name(place_.name);
        error = ::renameat(folder, to, folder, aside.c_str()) == 0 ? 0 : errno;
        if (!error && ::renameat(folder, from, folder, to) != 0) {
          error = errno;
          (void)::renameat(folder, aside.c_str(), folder, to);
        }
        if (!error) (void)remove_tree(folder, aside);
      }
    }
  }
  if (error) {
    discard();
    return error;
  }
  lock_ = Descriptor();
  error = sync_folder(folder);
  if (old) (void)remove_tree(folder, part_.name);
  return error;
}

void WholeFolder::discard() {
  if (!lock_) return;
  (void)remove_tree(part_.folder.get(), part_.name);
  lock_ = Descriptor();
}

}  // namespace tfl
