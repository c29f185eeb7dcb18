#include "runtime/support/tools.h"

#include <dirent.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "runtime/files/file.h"
#include "runtime/support/c_library.h"

namespace tfl {

namespace {

constexpr int kDeepest = 16;  // folders in folders: more are not made there

void remove_all(const std::string& folder, int depth) {
  if (DIR* d = opendir(folder.c_str())) {
    while (const dirent* e = readdir(d)) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
      std::string name = e->d_name;
      if (name == "." || name == "..") continue;
      name = folder + "/" + name;
      if (unlink(name.c_str()) != 0 && depth < kDeepest) remove_all(name, depth + 1);
    }
    closedir(d);
  }
  rmdir(folder.c_str());
}

}  // namespace

ScratchFolder::ScratchFolder() {
  const char* base = std::getenv("TMPDIR");  // NOLINT(concurrency-mt-unsafe): read only
  path_ = std::string(base && *base ? base : "/tmp") + "/tfl-XXXXXX";
  if (!mkdtemp(path_.data())) path_.clear();
}

ScratchFolder::~ScratchFolder() {
  if (!path_.empty()) remove_all(path_, 0);
}

Result<std::string> ScratchFolder::write(std::string_view name, std::string_view bytes, unsigned mode) const {
  std::string path = file(name);
  if (int error = write_whole_file(path, bytes, mode))
    return fail(ErrorKind::OSError, "cannot write {}: {}", path, std::strerror(error));
  return path;
}

std::string find_program(std::initializer_list<const char*> names) {
  const char* folders = std::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): read only
  if (!folders) folders = "/usr/bin:/bin";
  for (const char* name : names) {
    if (!name || !*name) continue;
    if (std::strchr(name, '/') && access(name, X_OK) == 0) return name;
    for (const char* at = folders; *at;) {
      const char* end = std::strchr(at, ':');
      std::string path(at, end ? static_cast<size_t>(end - at) : std::strlen(at));
      path += std::string("/") + name;
      if (access(path.c_str(), X_OK) == 0) return path;
      at = end ? end + 1 : "";
    }
  }
  return {};
}

Result<void> run_program(const ScratchFolder& folder, const std::vector<std::string>& command) {
  std::string log = folder.file("log");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environment());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail(ErrorKind::OSError, "cannot start {}: {}", command[0], std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  std::string said;
  read_whole_file(log, 1 << 16, said);
  return fail(ErrorKind::OSError, "{} failed:\n{}", command[0], said);
}

}  // namespace tfl
