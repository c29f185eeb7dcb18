// The native half of os, os.path, tempfile and traceback: system calls on paths that the script may use, the environment, and
// tracebacks as text. stdlib/python/os and its neighbours have the rest.
#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "frontend/core/advice.h"
#include "frontend/core/file_access.h"
#include "frontend/core/native_module.h"
#include "frontend/interpreter/builtins/open.h"
#include "frontend/interpreter/object/file.h"
#include "runtime/support/c_library.h"

namespace tfl {

namespace {

double seconds(const timespec& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9; }

/// (kind, size, modified): kind is 'f', 'd', 'o' or None when there is nothing that the script may see.
Result<Value> os_stat(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place;
  if (sandbox(interp).find(path, Access::Read, Links::Follow, place) != 0 || !place.exists) {
    return interp.tuple({Value::none(), Value::integer(0), Value::real(0)});
  }
  const struct stat& s = place.status;
  const char* kind = S_ISREG(s.st_mode) ? "f" : S_ISDIR(s.st_mode) ? "d" : "o";
  return interp.tuple({interp.str(kind), Value::integer(s.st_size), Value::real(seconds(s.st_mtim))});
}

/// What a path that has to be there stands for.
Result<FilePlace> existing(Interp& interp, const std::string& path, Access access) {
  FilePlace place = TFL_TRY(find_file(interp, path, access));
  if (!place.exists) return os_error(interp, ENOENT, path);
  return place;
}

/// (mode, inode, device, links, user, group, size, accessed, modified, changed); times in seconds.
Result<Value> os_status(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place = TFL_TRY(existing(interp, path, Access::Read));
  const struct stat& s = place.status;
  auto number = [](auto n) { return Value::integer(static_cast<int64_t>(n)); };
  return interp.tuple({number(s.st_mode), number(s.st_ino), number(s.st_dev), number(s.st_nlink), number(s.st_uid),
                       number(s.st_gid), number(s.st_size), Value::real(seconds(s.st_atim)), Value::real(seconds(s.st_mtim)),
                       Value::real(seconds(s.st_ctim))});
}

/// utime(path, accessed, modified): the times of a file, in nanoseconds; None: now.
Result<Value> os_utime(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place = TFL_TRY(existing(interp, path, Access::Write));
  timespec times[2] = {{0, UTIME_NOW}, {0, UTIME_NOW}};
  for (int i = 0; i < 2; ++i) {
    if (args[1 + i].is_none()) continue;
    constexpr int64_t kSecond = 1000000000;
    int64_t all = TFL_TRY(to_index(interp, args[1 + i]));
    int64_t rest = (all % kSecond + kSecond) % kSecond;
    times[i] = {(all - rest) / kSecond, rest};
  }
  if (::utimensat(place.folder.get(), place.name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) return os_error(interp, errno, path);
  return Value::none();
}

/// chmod(path, mode)
Result<Value> os_chmod(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  int64_t mode = TFL_TRY(to_index(interp, args[1]));
  FilePlace place = TFL_TRY(existing(interp, path, Access::Write));
  // By descriptor, since a name could have become a link meanwhile.
  Descriptor fd(::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!fd || ::fchmod(fd.get(), static_cast<mode_t>(mode & 0777)) != 0) return os_error(interp, errno, path);
  return Value::none();
}

/// access(path, mode): may the script, and the user, read (4), write (2), execute (1) what is there (0)?
Result<Value> os_access(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  int64_t mode = TFL_TRY(to_index(interp, args[1])) & 7;
  FilePlace place;
  if (sandbox(interp).find(path, mode & W_OK ? Access::Write : Access::Read, Links::Follow, place) != 0 || !place.exists)
    return Value::boolean(false);
  return Value::boolean(::faccessat(place.folder.get(), place.name.c_str(), static_cast<int>(mode), AT_EACCESS) == 0);
}

/// urandom(n): bytes that nobody can foresee.
Result<Value> os_urandom(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(to_index(interp, args[0]));
  if (n < 0) return fail(ErrorKind::ValueError, "negative argument not allowed");
  TFL_TRY(guard_memory(interp, static_cast<size_t>(n)));
  std::string out(static_cast<size_t>(n), '\0');
  for (size_t at = 0; at < out.size();) {
    ssize_t got = ::getrandom(out.data() + at, std::min<size_t>(out.size() - at, size_t{1} << 20), 0);
    if (got < 0 && errno != EINTR) return os_error(interp, errno, "");
    if (got > 0) at += static_cast<size_t>(got);
    TFL_TRY(interp.check_interrupt());
  }
  return interp.bytes(std::move(out));
}

Result<Value> os_listdir(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Read));
  Descriptor fd(::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  DIR* d = fd ? ::fdopendir(fd.get()) : nullptr;
  if (!d) return os_error(interp, errno, path);
  (void)fd.release();
  std::vector<Value> names;
  while (dirent* e = ::readdir(d)) {
    std::string_view name = e->d_name;
    if (name != "." && name != "..") names.push_back(interp.str(std::string(name)));
  }
  ::closedir(d);
  return interp.list(std::move(names));
}

Result<Value> os_mkdir(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Write, Links::Keep));
  if (::mkdirat(place.folder.get(), place.name.c_str(), 0777) != 0) return os_error(interp, errno, path);
  return Value::none();
}

Result<Value> remove_name(Interp& interp, const Value& name, int flags) {
  std::string path = TFL_TRY(path_argument(interp, name));
  FilePlace place = TFL_TRY(find_movable(interp, path));
  if (flags == 0 && place.as_folder) return os_error(interp, place.exists ? EISDIR : ENOENT, path);
  if (::unlinkat(place.folder.get(), place.name.c_str(), flags) != 0) return os_error(interp, errno, path);
  sandbox(interp).forget(place);
  return Value::none();
}
Result<Value> os_remove(Interp& interp, Value* args) { return remove_name(interp, args[0], 0); }
Result<Value> os_rmdir(Interp& interp, Value* args) { return remove_name(interp, args[0], AT_REMOVEDIR); }

Result<Value> os_rename(Interp& interp, Value* args) {
  std::string from = TFL_TRY(path_argument(interp, args[0]));
  std::string to = TFL_TRY(path_argument(interp, args[1]));
  FilePlace source = TFL_TRY(find_movable(interp, from));
  FilePlace target = TFL_TRY(find_movable(interp, to));
  if (!source.exists) return os_error(interp, ENOENT, from, to);
  if (target.as_folder && !S_ISDIR(source.status.st_mode)) return os_error(interp, ENOTDIR, from, to);
  if (::renameat(source.folder.get(), source.name.c_str(), target.folder.get(), target.name.c_str()) != 0)
    return os_error(interp, errno, from, to);
  return Value::none();
}

Result<Value> os_getcwd(Interp& interp, Value*) {
  char buffer[PATH_MAX];
  if (!getcwd(buffer, sizeof buffer)) return os_error(interp, errno, ".");
  return interp.str(buffer);
}

/// The way to a file without links; None when the script may not know.
Result<Value> os_realpath(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place;
  if (sandbox(interp).find(path, Access::Read, Links::Follow, place) != 0) return Value::none();
  return interp.str(place.path);
}

Result<Value> os_environ(Interp& interp, Value*) {
  Value d = interp.dict();
  for (char** e = environment(); e && *e; ++e) {
    std::string_view line = *e;
    size_t eq = line.find('=');
    if (eq == std::string_view::npos) continue;
    TFL_TRY(dict_set(interp, d.as<Dict>(), interp.str(std::string(line.substr(0, eq))),
                     interp.str(std::string(line.substr(eq + 1)))));
  }
  return d;
}

Result<Value> os_cpu_count(Interp&, Value*) { return Value::integer(sysconf(_SC_NPROCESSORS_ONLN)); }
Result<Value> os_getpid(Interp&, Value*) { return Value::integer(getpid()); }

/// A fresh folder, or a fresh empty file, which the script may use: temporary(prefix, suffix, dir, file).
Result<Value> os_temporary(Interp& interp, Value* args) {
  std::string prefix = args[0].is_none() ? "tmp" : TFL_TRY(path_argument(interp, args[0]));
  std::string suffix = args[1].is_none() ? "" : TFL_TRY(path_argument(interp, args[1]));
  bool file = args[3].as_bool();
  const char* base = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): read only
  std::string folder =
      args[2].is_none() ? std::string(base && base[0] == '/' ? base : "/tmp") : TFL_TRY(path_argument(interp, args[2]));
  if (folder.empty()) folder = ".";
  // Only the folder for temporary files itself needs no permission.
  bool plain = args[2].is_none() && prefix.find('/') == std::string::npos && suffix.find('/') == std::string::npos;
  for (int attempt = 0; attempt < 100; ++attempt) {
    static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";  // as Python's tempfile
    unsigned char random[8];
    if (::getrandom(random, sizeof random, 0) != sizeof random) return os_error(interp, errno, folder);
    std::string name = prefix;
    for (unsigned char c : random) name += kLetters[c % kLetters.size()];
    std::string path = folder + (folder.back() == '/' ? "" : "/") + name + suffix;
    FilePlace place;
    if (plain) {
      if (int error = sandbox(interp).find_unchecked(path, place)) return os_error(interp, error, path);
    } else {
      place = TFL_TRY(find_file(interp, path, Access::Write, Links::Keep));
    }
    Descriptor made;
    if (file) {
      made =
          Descriptor(::openat(place.folder.get(), place.name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!made && errno != EEXIST) return os_error(interp, errno, path);
      if (!made) continue;
    } else if (::mkdirat(place.folder.get(), place.name.c_str(), 0700) != 0) {
      if (errno != EEXIST) return os_error(interp, errno, path);
      continue;
    }
    sandbox(interp).allow(place);
    return interp.str(path);
  }
  return os_error(interp, EEXIST, folder);
}

/// begin_folder(path): (number, the folder to fill), which end_folder(number, keep) gives the name `path` or takes away. None when
/// the files are to be written one by one, because the folder itself cannot be replaced.
Result<Value> begin_folder(Interp& interp, Value* args) {
  std::string path = TFL_TRY(path_argument(interp, args[0]));
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Write));
  if (place.exists && !S_ISDIR(place.status.st_mode)) return os_error(interp, EEXIST, path);
  if (place.name == "." || !sandbox(interp).may_replace(place) || !sandbox(interp).may_move(place)) return Value::none();
  auto folder = std::make_unique<WholeFolder>();
  if (int error = folder->open(std::move(place)))
    return error == EACCES || error == EROFS ? Value::none() : Result<Value>(os_error(interp, error, path));
  sandbox(interp).allow(folder->part());
  Value inside = interp.str(folder->part().path);
  interp.folders.push_back(std::move(folder));
  return interp.tuple({Value::integer(static_cast<int64_t>(interp.folders.size()) - 1), inside});
}

Result<Value> end_folder(Interp& interp, Value* args) {
  int64_t number = args[0].as_int();
  if (number < 0 || number >= static_cast<int64_t>(interp.folders.size()) || !interp.folders[static_cast<size_t>(number)]) {
    return fail(ErrorKind::ValueError, "there is no folder {}", number);
  }
  std::unique_ptr<WholeFolder> folder = std::move(interp.folders[static_cast<size_t>(number)]);
  while (!interp.folders.empty() && !interp.folders.back()) interp.folders.pop_back();
  if (!args[1].as_bool()) return Value::none();
  std::string path = folder->part().path;
  if (int error = folder->commit()) return os_error(interp, error, path);
  return Value::none();
}

Result<Value> os_traceback(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Exception)) return interp.str("NoneType: None\n");
  TracebackText how{.plain = args[1].as_bool(), .chain = TFL_TRY(truth(interp, args[3])), .limit = {}};
  if (!args[2].is_none()) how.limit = TFL_TRY(to_index(interp, args[2]));
  return interp.str(traceback_text(interp, args[0], how));
}

constexpr NativeDef kOs[] = {
    function("stat", "path, /", os_stat),
    function("status", "path, /", os_status),
    function("utime", "path, accessed, modified, /", os_utime),
    function("chmod", "path, mode, /", os_chmod),
    function("access", "path, mode, /", os_access),
    function("urandom", "n, /", os_urandom),
    function("listdir", "path, /", os_listdir),
    function("mkdir", "path, /", os_mkdir),
    function("remove", "path, /", os_remove),
    function("rmdir", "path, /", os_rmdir),
    function("rename", "src, dst, /", os_rename),
    function("getcwd", "", os_getcwd),
    function("realpath", "path, /", os_realpath),
    function("environ", "", os_environ),
    function("cpu_count", "", os_cpu_count),
    function("getpid", "", os_getpid),
    function("temporary", "prefix, suffix, dir, file: bool, /", os_temporary),
    function("traceback", "error, plain: bool=False, limit=None, chain: bool=True, /", os_traceback),
    function("open_whole", "path, mode: str, encoding: str='utf-8', /", open_whole),
    function("open_records", "path, mode: str, /", open_records),
    function("begin_folder", "path, /", begin_folder),
    function("end_folder", "number: int, keep: bool, /", end_folder),
};

}  // namespace

Result<void> init_os(Interp& interp, Module& module) {
  define_all(interp, module, kOs);
  define(interp, module, "UnsupportedOperation", Value::share(interp.exception_type(ErrorKind::UnsupportedOperation)));
  return {};
}

}  // namespace tfl
