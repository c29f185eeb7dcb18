// What the system said of a file, as an exception of the script.
#include <cerrno>
#include <cstring>

#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/file.h"

namespace tfl {

Result<void> check_output(Interp& interp) {
  if (int error = interp.streams.take_error()) [[unlikely]]
    return os_error(interp, error, {});
  return {};
}

Failure os_error_with_hint(Interp& interp, int error, std::string_view path, std::string hint) {
  Failure failure = os_error(interp, error, path);
  interp.exception_of(*failure.error).as<Exception>()->hint = std::move(hint);
  return failure;
}

Failure os_error(Interp& interp, int error, std::string_view path, std::string_view second) {
  ErrorKind kind = ErrorKind::OSError;
  switch (error) {
    case ENOENT: kind = ErrorKind::FileNotFoundError; break;
    case EEXIST: kind = ErrorKind::FileExistsError; break;
    case EISDIR: kind = ErrorKind::IsADirectoryError; break;
    case ENOTDIR: kind = ErrorKind::NotADirectoryError; break;
    case EACCES:
    case EPERM: kind = ErrorKind::PermissionError; break;
    case ETIMEDOUT: kind = ErrorKind::TimeoutError; break;
    default: break;
  }
  char buffer[256];
  const char* text = ::strerror_r(error, buffer, sizeof buffer);
  Value type = Value::share(interp.exception_type(kind));
  if (error == EPIPE) {
    Value broken = dict_get_str(interp.builtins.as<Module>()->dict.as<Dict>(), interp.intern("BrokenPipeError"));
    if (broken.is(Kind::Type)) type = std::move(broken);
  }
  Value number = Value::integer(error), words = interp.str(std::string(text)), first = interp.str(std::string(path));
  auto made = path.empty()     ? interp.call(type, {number, words})
              : second.empty() ? interp.call(type, {number, words, first})
                               : interp.call(type, {number, words, first, Value::none(), interp.str(std::string(second))});
  if (!made) return made.failure();
  return interp.raise(made.take());
}

}  // namespace tfl
