#include "frontend/builtins/file_access.h"

#include <climits>
#include <cstdlib>

#include "frontend/object/native.h"

namespace tfl {

namespace {

std::string canonical(const std::string& path) {
  char buffer[PATH_MAX];
  return ::realpath(path.c_str(), buffer) ? std::string(buffer) : std::string();
}

/// The path with links resolved as far as it exists; what is to be made keeps its name.
std::string resolve(const std::string& path) {
  std::string whole = canonical(path);
  if (!whole.empty()) return whole;
  std::string head = path, tail;
  while (!head.empty() && head.back() == '/' && head.size() > 1) head.pop_back();
  for (;;) {
    size_t slash = head.rfind('/');
    std::string name = slash == std::string::npos ? head : head.substr(slash + 1);
    // A name that does not exist cannot be climbed out of.
    if (name == "..") return {};
    if (name != "." && !name.empty()) tail = tail.empty() ? name : name + "/" + tail;
    head = slash == std::string::npos ? "." : slash == 0 ? "/" : head.substr(0, slash);
    std::string base = canonical(head);
    if (!base.empty()) return base == "/" ? "/" + tail : base + "/" + tail;
    if (head == "." || head == "/") return {};
  }
}

bool is_below(std::string_view path, std::string_view folder) {
  if (folder.empty()) return false;
  if (folder == "/") return true;
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool allowed(Interp& interp, const std::string& real, Access access) {
  for (const char* never : {"/proc", "/dev", "/etc"}) {
    if (is_below(real, never)) return false;
  }
  const InterpOptions& o = interp.options;
  if (o.allow_all) return true;
  auto below_any = [&](const std::vector<std::string>& folders) {
    for (const std::string& folder : folders) {
      if (is_below(real, canonical(folder))) return true;
    }
    return false;
  };
  if (is_below(real, canonical("."))) return true;
  if (!o.script_folder.empty() && is_below(real, canonical(o.script_folder))) return true;
  if (below_any(o.allow_write)) return true;
  if (access == Access::Read && below_any(o.allow_read)) return true;
  for (size_t i = 1; i < o.argv.size(); ++i) {
    if (!o.argv[i].empty() && resolve(o.argv[i]) == real) return true;
  }
  return false;
}

}  // namespace

bool may_access(Interp& interp, const std::string& path, Access access) {
  if (path.find('\0') != std::string::npos) return false;
  std::string real = resolve(path);
  return !real.empty() && allowed(interp, real, access);
}

Result<std::string> check_file_access(Interp& interp, const std::string& path, Access access) {
  if (path.find('\0') != std::string::npos) return fail(ErrorKind::ValueError, "embedded null byte");
  if (path.empty()) return fail(ErrorKind::FileNotFoundError, "[Errno 2] No such file or directory: ''");
  std::string real = resolve(path);
  if (real.empty()) return fail(ErrorKind::FileNotFoundError, "[Errno 2] No such file or directory: '{}'", path);
  if (allowed(interp, real, access)) return real;
  Failure denied = fail(ErrorKind::PermissionError, "[Errno 13] Permission denied: '{}'", path);
  for (const char* never : {"/proc", "/dev", "/etc"}) {
    if (is_below(real, never)) return std::move(denied).with_hint(fmt::format("a script may never use files in {}", never));
  }
  size_t slash = real.rfind('/');
  std::string folder = slash == 0 ? "/" : real.substr(0, slash);
  return std::move(denied).with_hint(
      fmt::format("a script may use files below its own folder and the working directory; --allow-{}={} allows this one",
                  access == Access::Read ? "read" : "write", folder));
}

}  // namespace tfl
