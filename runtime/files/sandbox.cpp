#include "runtime/files/sandbox.h"

#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "runtime/files/cache_files.h"

namespace tfl {

namespace {

constexpr uint8_t kRead = 1, kWrite = 2, kModule = 4, kNever = 8;
constexpr const char* kNeverFolders[] = {"/proc", "/dev", "/etc"};
constexpr int kMostLinks = 40;  // as Linux

uint8_t needed(Access access) { return access == Access::Read ? kRead : access == Access::Write ? kWrite : kModule; }

/// The names of `path` on top of `todo`, the first one last.
void push_names(std::string_view path, std::vector<std::string>& todo) {
  size_t end = path.size();
  while (end > 0) {
    size_t slash = path.rfind('/', end - 1);
    size_t begin = slash == std::string_view::npos ? 0 : slash + 1;
    if (end > begin) todo.emplace_back(path.substr(begin, end - begin));
    end = begin > 0 ? begin - 1 : 0;
  }
}

bool is_below(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

struct Sandbox::Folder {
  Descriptor fd;
  Identity identity;
  uint8_t rights;  // its own and those of the folders above it
  std::string path;
};

struct Sandbox::Walk {
  std::vector<Folder> chain;
  uint8_t leaf = 0;  // rights of what was found that the folder above it does not give
};

Sandbox::Identity Sandbox::identity_of(int fd, const char* name, struct stat& status, int& error) {
  struct statx s{};
  error = ::statx(fd, name, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH, STATX_BASIC_STATS | STATX_BTIME, &s) == 0 ? 0 : errno;
  status.st_dev = makedev(s.stx_dev_major, s.stx_dev_minor);
  status.st_ino = s.stx_ino;
  status.st_mode = s.stx_mode;
  status.st_nlink = s.stx_nlink;
  status.st_uid = s.stx_uid;
  status.st_gid = s.stx_gid;
  status.st_size = static_cast<off_t>(s.stx_size);
  status.st_mtim = {s.stx_mtime.tv_sec, s.stx_mtime.tv_nsec};
  status.st_ctim = {s.stx_ctime.tv_sec, s.stx_ctime.tv_nsec};
  status.st_atim = {s.stx_atime.tv_sec, s.stx_atime.tv_nsec};
  bool born = s.stx_mask & STATX_BTIME;
  return {status.st_dev, status.st_ino, born ? s.stx_btime.tv_sec : 0, born ? s.stx_btime.tv_nsec : 0};
}

int Sandbox::walk(const std::string& path, Links links, bool start_at_root, Walk& w, FilePlace& place) const {
  if (path.empty()) return ENOENT;
  if (path.size() >= PATH_MAX) return ENAMETOOLONG;
  if (path.find('\0') != std::string::npos) return EINVAL;
  place.as_folder = path.back() == '/' || path.ends_with("/.") || path == ".";
  if (path.back() == '/') links = Links::Follow;
  std::vector<std::string> todo;
  push_names(path, todo);

  auto enter = [&](Descriptor fd, const Identity& identity, uint8_t inherited, std::string where) {
    auto own = folders_.find(identity);
    uint8_t rights = static_cast<uint8_t>(inherited | (own == folders_.end() ? 0 : own->second));
    w.chain.push_back({std::move(fd), identity, rights, std::move(where)});
  };
  auto start = [&](const char* at, uint8_t inherited, std::string where) {
    w.chain.clear();
    Descriptor fd(::open(at, O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd) return errno;
    int error = 0;
    Identity identity = identity_of(fd.get(), "", place.status, error);
    if (!error) enter(std::move(fd), identity, inherited, std::move(where));
    return error;
  };
  bool relative = path[0] != '/' && !start_at_root;
  char here[PATH_MAX];
  if (path[0] != '/' && !::getcwd(here, sizeof here)) return errno;
  if (path[0] != '/' && start_at_root) push_names(here, todo);
  if (int error = relative ? start(".", static_cast<uint8_t>(base_ | here_), here) : start("/", base_, "")) return error;

  int followed = 0;
  while (!todo.empty()) {
    if (w.chain.back().rights & kNever) return EACCES;
    std::string name = std::move(todo.back());
    todo.pop_back();
    if (name == ".") continue;
    if (name == "..") {
      if (w.chain.size() > 1) {
        w.chain.pop_back();
      } else if (relative) {
        // Above the folder that the walk began in: begin again at the root.
        todo.emplace_back("..");
        push_names(here, todo);
        relative = false;
        if (int error = start("/", base_, "")) return error;
      }
      continue;
    }
    Folder& top = w.chain.back();
    bool last = todo.empty();
    Descriptor fd(::openat(top.fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!fd) {
      int error = errno;
      place.name = name;
      place.no_such_root = error == ENOENT && path[0] == '/' && followed == 0 && w.chain.size() == 1;
      if (error == ENOENT && last) return 0;
      return error;
    }
    int error = 0;
    Identity identity = identity_of(fd.get(), "", place.status, error);
    if (error) return error;
    if (S_ISLNK(place.status.st_mode) && (!last || links == Links::Follow)) {
      if (++followed > kMostLinks) return ELOOP;
      std::string target(PATH_MAX, '\0');
      ssize_t n = ::readlinkat(fd.get(), "", target.data(), target.size());
      if (n < 0) return errno;
      if (n == 0 || static_cast<size_t>(n) >= target.size()) return n == 0 ? ENOENT : ENAMETOOLONG;
      target.resize(static_cast<size_t>(n));
      if (target.back() == '/') place.as_folder = place.as_folder || last;
      push_names(target, todo);
      if (target[0] == '/') {
        relative = false;
        error = start("/", base_, "");
        if (error) return error;
      }
      continue;
    }
    bool is_directory = S_ISDIR(place.status.st_mode);
    if (last) {
      if (!is_directory && place.as_folder) return ENOTDIR;
      place.exists = true;
      place.name = std::move(name);
      auto own = folders_.find(identity);
      if (is_directory && own != folders_.end()) w.leaf = own->second;
      return 0;
    }
    if (!is_directory) return ENOTDIR;
    std::string where = top.path + "/" + name;
    enter(std::move(fd), identity, top.rights, std::move(where));
  }
  // "/", "." or "..": the folder itself.
  int error = 0;
  identity_of(w.chain.back().fd.get(), "", place.status, error);
  place.exists = !error;
  place.name = ".";
  return error;
}

int Sandbox::finish(Walk& w, Access access, int error, FilePlace& place) const {
  if (w.chain.empty()) return error;
  Folder& top = w.chain.back();
  uint8_t rights = static_cast<uint8_t>(top.rights | w.leaf);
  place.path = place.name == "." ? (top.path.empty() ? "/" : top.path) : top.path + "/" + place.name;
  if (!place.name.empty()) {
    if (auto named = names_.find({top.identity, place.name}); named != names_.end()) rights |= named->second;
  }
  for (const std::string& folder : cache_) {
    if (is_below(place.path, folder)) {
      rights |= kNever;
      place.never = "TFL's cache";
    }
  }
  if (rights & kNever && !place.never) {
    for (const char* folder : kNeverFolders) {
      if (is_below(place.path, folder)) place.never = folder;
    }
    if (!place.never) place.never = "such a folder";
  }
  if (place.no_such_root && !(rights & needed(access)) && (error == ENOENT || access == Access::Read)) return ENOENT;
  if (rights & kNever || !(rights & needed(access))) {
    place.refused = true;
    return EACCES;
  }
  if (!error) place.folder = std::move(top.fd);
  return error;
}

int Sandbox::find(const std::string& path, Access access, Links links, FilePlace& place) const {
  Walk w;
  int error = walk(path, links, false, w, place);
  return finish(w, access, error, place);
}

int Sandbox::find_unchecked(const std::string& path, FilePlace& place) const {
  Walk w;
  if (int error = walk(path, Links::Follow, true, w, place)) return error;
  if (w.chain.back().rights & kNever || w.leaf & kNever) return EACCES;
  Folder& top = w.chain.back();
  place.path = place.name == "." ? top.path : top.path + "/" + place.name;
  place.folder = std::move(top.fd);
  return 0;
}

bool Sandbox::may_move(const FilePlace& place) const {
  for (const std::string& folder : cache_) {
    if (is_below(folder, place.path)) return false;
  }
  return true;
}

bool Sandbox::may_replace(const FilePlace& place) const {
  for (const std::string& folder : fixed_) {
    if (is_below(folder, place.path)) return false;
  }
  return true;
}

void Sandbox::add_folder(const std::string& path, uint8_t rights) {
  struct stat status{};
  int error = 0;
  Descriptor fd(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return;
  Identity identity = identity_of(fd.get(), "", status, error);
  if (error) return;
  folders_[identity] |= rights;
  char real[PATH_MAX];
  if (rights & kWrite && ::realpath(path.c_str(), real)) fixed_.emplace_back(real);
}

void Sandbox::set(const Rules& rules) {
  ready_ = true;
  for (const char* folder : kNeverFolders) add_folder(folder, kNever);
  base_ = rules.everything ? kRead | kWrite | kModule : 0;
  std::string script = rules.script_folder.empty() ? "." : rules.script_folder;
  add_folder(".", kRead | kWrite);
  add_folder(script, kRead | kWrite | kModule);
  for (const std::string& folder : rules.write) add_folder(folder, kRead | kWrite | kModule);
  for (const std::string& folder : rules.read) add_folder(folder, kRead | kModule);

  // Data sets lie where the user says or where packages put them.
  // NOLINTBEGIN(concurrency-mt-unsafe): read only
  const char* home = std::getenv("HOME");
  for (const char* name : {"TFL_DATASETS", "TFL_MODELS"}) {
    if (const char* chosen = std::getenv(name); chosen && *chosen) add_folder(chosen, kRead);
  }
  add_folder("/usr/share/datasets", kRead);
  add_folder("/usr/local/share/datasets", kRead);
  // Keras's own folders; its archives of data sets are taken apart where they lie.
  const char* keras = std::getenv("KERAS_HOME");
  if (home && home[0] == '/') {
    add_folder(std::string(home) + "/.keras/datasets", kRead | kWrite);
    add_folder(std::string(home) + "/.keras/models", kRead);
  }
  if (keras && *keras) add_folder(std::string(keras) + "/datasets", kRead | kWrite);
  // NOLINTEND(concurrency-mt-unsafe)

  // What the machine's code is loaded from is never a script's, wherever it lies: as it is written, and without links.
  if (std::string cache = cache_folder(""); !cache.empty()) {
    while (cache.back() == '/') cache.pop_back();
    cache_.push_back(cache);
    add_folder(cache, kNever);
    std::string missing;
    for (std::string head = cache; !head.empty();) {
      char real[PATH_MAX];
      if (::realpath(head.c_str(), real)) {
        cache_.push_back(std::string(real) + missing);
        break;
      }
      size_t slash = head.rfind('/');
      missing = head.substr(slash) + missing;
      head.resize(slash);
    }
  }

  Walk above;
  FilePlace here;
  if (walk(".", Links::Follow, true, above, here) == 0) here_ = static_cast<uint8_t>(above.chain.back().rights & ~base_);
  for (const std::string& file : rules.files) {
    Walk w;
    FilePlace place;
    if (file.empty() || walk(file, Links::Follow, false, w, place) != 0 || place.name.empty() || place.name == ".") continue;
    if (w.chain.back().rights & kNever) continue;
    names_[{w.chain.back().identity, place.name}] |= kRead | kWrite;
  }
}

void Sandbox::allow(const FilePlace& place) {
  struct stat status{};
  int error = 0;
  Identity identity = identity_of(place.folder.get(), place.name.c_str(), status, error);
  if (!error && S_ISDIR(status.st_mode)) {
    folders_[identity] |= kRead | kWrite;
  } else {
    identity = identity_of(place.folder.get(), "", status, error);
    if (!error) names_[{identity, place.name}] |= kRead | kWrite;
  }
}

void Sandbox::forget(const FilePlace& place) {
  struct stat status{};
  int error = 0;
  if (names_.empty()) return;
  Identity identity = identity_of(place.folder.get(), "", status, error);
  if (!error) names_.erase({identity, place.name});
}

bool Sandbox::first_in_folder(const FilePlace& place) {
  struct stat status{};
  int error = 0;
  return seen_.insert(identity_of(place.folder.get(), "", status, error)).second;
}

void Sandbox::allow_modules(const std::string& folder) { add_folder(folder.empty() ? "." : folder, kRead | kWrite | kModule); }

}  // namespace tfl
