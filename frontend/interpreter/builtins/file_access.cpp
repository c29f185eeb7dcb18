#include "frontend/core/file_access.h"

#include <fcntl.h>

#include <cerrno>

#include "frontend/core/native.h"
#include "frontend/interpreter/object/file.h"

namespace tfl {

namespace {

Failure refusal(Interp& interp, const FilePlace& place, const std::string& path, Access access) {
  if (place.never)
    return os_error_with_hint(interp, EACCES, path, fmt::format("a script may never use files in {}", place.never));
  // The folder as it was written: where its links lead is not for the script to know.
  size_t slash = path.find_last_not_of('/') == std::string::npos ? 0 : path.rfind('/', path.find_last_not_of('/'));
  std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
  return os_error_with_hint(
      interp, EACCES, path,
      fmt::format("a script may use files below its own folder and the working directory; --allow-{}={} allows this one",
                  access == Access::Write ? "write" : "read", folder));
}

}  // namespace

Result<std::string> path_argument(Interp& interp, const Value& v) {
  std::string path;
  if (v.is_str()) {
    path = text_of(v);
  } else if (v.is(Kind::Bytes)) {
    path = v.as<Bytes>()->data;
  } else {
    Value method = TFL_TRY(special(interp, v, interp.intern("__fspath__")));
    if (method.is_empty())
      return fail(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not {}", interp.type_name(v));
    Value text = TFL_TRY(interp.call(method, {}));
    if (!text.is_str())
      return fail(ErrorKind::TypeError, "expected str, bytes or os.PathLike object, not {}", interp.type_name(text));
    path = text_of(text);
  }
  if (path.find('\0') != std::string::npos) return fail(ErrorKind::ValueError, "embedded null byte");
  return path;
}

Sandbox& sandbox(Interp& interp) {
  if (!interp.sandbox.ready()) {
    const InterpOptions& o = interp.options;
    Sandbox::Rules rules{o.script_folder, o.allow_read, o.allow_write, {}, o.allow_all};
    if (!o.argv.empty()) rules.files.assign(o.argv.begin() + 1, o.argv.end());
    interp.sandbox.set(rules);
  }
  return interp.sandbox;
}

Result<FilePlace> find_file(Interp& interp, const std::string& path, Access access, Links links) {
  FilePlace place;
  int error = sandbox(interp).find(path, access, links, place);
  if (place.refused) return refusal(interp, place, path, access);
  if (error) return os_error(interp, error, path);
  return place;
}

Result<FilePlace> find_movable(Interp& interp, const std::string& path) {
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Write, Links::Keep));
  if (!interp.sandbox.may_move(place)) {
    place.never = "TFL's cache";
    return refusal(interp, place, path, Access::Write);
  }
  return place;
}

Result<Descriptor> open_for_reading(Interp& interp, const std::string& path) {
  FilePlace place = TFL_TRY(find_file(interp, path, Access::Read));
  if (!place.exists) return os_error(interp, ENOENT, path);
  Descriptor fd(::openat(place.folder.get(), place.name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd) return os_error(interp, errno, path);
  return fd;
}

}  // namespace tfl
