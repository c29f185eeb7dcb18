#include "frontend/bytecode/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "frontend/bytecode/format.h"
#include "frontend/compile/compile.h"
#include "runtime/support/file.h"

namespace tfl {
namespace {

constexpr size_t kMinSource = 64;                   // compiling less is faster than a look at the disk
constexpr off_t kMaxFile = off_t{256} << 20;
constexpr size_t kMaxFiles = 512;                   // when there are more, the older half goes

/// Another build of the program does not read this one's files.
uint64_t program_identity() {
  struct stat s {};
  if (::stat("/proc/self/exe", &s) != 0) return 0;
  return static_cast<uint64_t>(s.st_size) * 1'000'003u ^ static_cast<uint64_t>(s.st_mtim.tv_sec) * 1'000'000'007u ^
         static_cast<uint64_t>(s.st_mtim.tv_nsec);
}

bool write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    ssize_t n = ::write(fd, data.data(), data.size());
    if (n <= 0) return false;
    data.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

void remove_old_files(const std::string& folder) {
  struct File {
    int64_t modified;
    std::string path;
  };
  std::vector<File> files;
  DIR* dir = ::opendir(folder.c_str());
  if (!dir) return;
  while (const dirent* entry = ::readdir(dir)) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    std::string path = folder + "/" + entry->d_name;
    struct stat s {};
    if (entry->d_name[0] != '.' && ::lstat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode)) files.push_back({s.st_mtim.tv_sec, path});
  }
  ::closedir(dir);
  if (files.size() <= kMaxFiles) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) { return a.modified < b.modified; });
  for (size_t i = 0; i < files.size() - kMaxFiles / 2; ++i) ::unlink(files[i].path.c_str());
}

}  // namespace

std::string bytecode_cache_folder() {
  // NOLINTBEGIN(concurrency-mt-unsafe): read only
  const char* base = std::getenv("XDG_CACHE_HOME");
  if (base && base[0] == '/') return std::string(base) + "/tfl/bytecode";
  const char* home = std::getenv("HOME");
  // NOLINTEND(concurrency-mt-unsafe)
  if (home && home[0] == '/') return std::string(home) + "/.cache/tfl/bytecode";
  return {};
}

BytecodeCache::BytecodeCache(const Source& source, std::string_view variant) {
  if (source.text.size() < kMinSource) return;
  folder_ = bytecode_cache_folder();
  if (folder_.empty()) return;
  uint64_t seed = format::checksum(variant, format::format_version()) ^ program_identity();
  uint64_t first = format::checksum(source.text, seed);
  uint64_t second = format::checksum(source.text, ~seed * 0xD6E8FEB86659FD93u + 1);
  file_ = fmt::format("{}/{:016x}{:016x}", folder_, first, second);
}

Value BytecodeCache::load(Interp& interp, std::shared_ptr<const Source> source) const {
  if (folder_.empty()) return {};
  int fd = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return {};
  std::string data;
  struct stat s {};
  // A file that somebody else may have written is not ours.
  if (::fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && s.st_size <= kMaxFile && s.st_uid == ::geteuid()) {
    data.resize(static_cast<size_t>(s.st_size));
    size_t got = 0;
    while (got < data.size()) {
      ssize_t n = ::read(fd, data.data() + got, data.size() - got);
      if (n <= 0) break;
      got += static_cast<size_t>(n);
    }
    data.resize(got);
  }
  ::close(fd);
  auto code = deserialise_code(interp, data, std::move(source));
  return code ? code.take() : Value();
}

void BytecodeCache::store(Interp& interp, const Value& code) const {
  if (folder_.empty() || !make_folders(folder_)) return;
  std::string temporary = file_ + ".XXXXXX";
  int fd = ::mkstemp(temporary.data());
  if (fd < 0) return;
  bool good = write_all(fd, serialise_code(interp, code));
  good = ::close(fd) == 0 && good;
  if (!good || ::rename(temporary.c_str(), file_.c_str()) != 0) ::unlink(temporary.c_str());
  remove_old_files(folder_);
}

}  // namespace tfl
