// Linking with the tools that are there: the C compiler, or a linker alone. Everything happens in a folder of its own; the finished
// file is moved to its place at the end.
#include <fcntl.h>
#include <fmt/core.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "codegen/library/embedded.h"
#include "codegen/library/library.h"
#include "runtime/support/file.h"

extern char** environ;

namespace tfl::codegen {

namespace {

// A folder that is gone, with its files, at the end.
class Workspace {
 public:
  Workspace() {
    const char* base = std::getenv("TMPDIR");
    path_ = std::string(base && *base ? base : "/tmp") + "/tfl-XXXXXX";
    if (!mkdtemp(path_.data())) path_.clear();
  }
  ~Workspace() {
    for (const std::string& f : files_) unlink(f.c_str());
    if (!path_.empty()) rmdir(path_.c_str());
  }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  explicit operator bool() const { return !path_.empty(); }
  std::string file(const std::string& name) {
    files_.push_back(path_ + "/" + name);
    return files_.back();
  }
  Result<std::string> write(const std::string& name, std::string_view bytes) {
    std::string path = file(name);
    std::FILE* f = std::fopen(path.c_str(), "wb");
    bool ok = f && (bytes.empty() || std::fwrite(bytes.data(), bytes.size(), 1, f) == 1);
    if (f && std::fclose(f) != 0) ok = false;
    if (!ok) return fail(ErrorKind::OSError, "cannot write {}: {}", path, std::strerror(errno));
    return path;
  }

 private:
  std::string path_;
  std::vector<std::string> files_;
};

// The first of these programs that is in the PATH; empty: none.
std::string find_program(std::initializer_list<const char*> names) {
  const char* folders = std::getenv("PATH");
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

Result<void> run(Workspace& space, const std::vector<std::string>& command) {
  std::string log = space.file("log");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  int error = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), environ);
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

Result<void> move_to(const std::string& from, const std::string& to) {
  // Maybe to another file system: copied beside its place, then renamed.
  std::string bytes, part = to + ".part";
  if (int error = read_whole_file(from, SIZE_MAX / 2, bytes)) return fail(ErrorKind::OSError, "cannot read {}: {}", from, std::strerror(error));
  int fd = open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755);
  bool ok = fd >= 0;
  for (size_t at = 0; ok && at < bytes.size();) {
    ssize_t n = ::write(fd, bytes.data() + at, bytes.size() - at);
    if (n > 0) at += static_cast<size_t>(n);
    else ok = n < 0 && errno == EINTR;
  }
  if (fd >= 0 && close(fd) != 0) ok = false;
  if (ok) ok = std::rename(part.c_str(), to.c_str()) == 0;
  if (ok) return {};
  int error = errno;
  unlink(part.c_str());
  return fail(ErrorKind::OSError, "cannot write {}: {}", to, std::strerror(error));
}

}  // namespace

Result<std::string> link_library(const LinkRequest& request) {
  Workspace space;
  if (!space) return fail(ErrorKind::OSError, "cannot make a temporary folder: {}", std::strerror(errno));
  std::vector<std::string> inputs;
  for (size_t i = 0; i < request.objects.size(); ++i) inputs.push_back(TFL_TRY(space.write(fmt::format("{}.o", i), request.objects[i])));
  inputs.push_back(TFL_TRY(space.write("libtfl_standalone.a", standalone_archive())));
  std::string compiler = find_program({std::getenv("CC"), "cc", "gcc", "clang"});
  std::string linker = find_program({"ld.lld", "ld", "ld.bfd", "lld-19", "ld.lld-19"});

  if (request.shared) {
    std::string soname = "lib" + request.name + ".so", out = space.file(soname);
    std::string script = TFL_TRY(space.write("exports", fmt::format("{{ global: {}_*; local: *; }};\n", request.name)));
    if (compiler.empty() && linker.empty())
      return fail(ErrorKind::OSError, "a shared library needs a C compiler or a linker, and neither cc, gcc, clang, ld nor ld.lld is in the PATH; --emit object needs none");
    bool driver = !compiler.empty();
    std::string prefix = driver ? "-Wl," : "";
    std::vector<std::string> command = {driver ? compiler : linker, "-shared", "-o", out};
    auto option = [&](std::initializer_list<std::string> words) {
      std::string all;
      for (const std::string& w : words) {
        if (driver) all += "," + w;
        else command.push_back(w);
      }
      if (driver) command.push_back("-Wl" + all);
    };
    option({"-soname=" + soname});
    option({"--version-script=" + script});
    option({"--gc-sections"});
    option({"--build-id=none"});
    option({"--as-needed"});
    option({"-z", "noexecstack"});
    option({"-z", "relro"});
    option({"--no-undefined"});
    option({"--strip-all"});
    option({"--hash-style=gnu"});
    for (const std::string& i : inputs) command.push_back(i);
    command.insert(command.end(), {"-lm", "-lc"});
    if (!driver) command.insert(command.end(), {"-L/lib/x86_64-linux-gnu", "-L/usr/lib/x86_64-linux-gnu", "-L/lib64", "-L/usr/lib64"});
    TFL_TRY(run(space, command));
    std::string place = request.folder + "/" + soname;
    TFL_TRY(move_to(out, place));
    return place;
  }

  // One object whose symbols are its own, but for those of the interface: two such archives go into one program.
  std::string objcopy = find_program({"objcopy", "llvm-objcopy", "llvm-objcopy-19"}), ar = find_program({"ar", "llvm-ar", "llvm-ar-19"});
  if (linker.empty() || objcopy.empty() || ar.empty())
    return fail(ErrorKind::OSError, "a static library needs ld, objcopy and ar (Debian's package binutils), and not all of them are in the PATH");
  std::string whole = space.file("whole.o"), own = space.file(request.name + ".o"), archive = space.file("lib" + request.name + ".a");
  std::vector<std::string> command = {linker, "-r", "-o", whole};
  command.insert(command.end(), inputs.begin(), inputs.end());
  TFL_TRY(run(space, command));
  TFL_TRY(run(space, {objcopy, "--wildcard", "--keep-global-symbol=" + request.name + "_*", whole, own}));
  TFL_TRY(run(space, {ar, "rcsD", archive, own}));
  std::string place = request.folder + "/lib" + request.name + ".a";
  TFL_TRY(move_to(archive, place));
  return place;
}

}  // namespace tfl::codegen
