// Errors are values: Result<T> holds a T or an owned Error. No function of TFL reports a failure in another way.
// This header must not know about host values; the front end hangs its exception object on Error::payload.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

namespace tfl {

/// The class of an error, one for each exception class of the language (error_kinds.def).
enum class ErrorKind : uint8_t {
#define TFL_ERROR_KIND(name, base, module) name,
#include "runtime/support/error_kinds.def"
#undef TFL_ERROR_KIND
};

/// What the front end attaches to an error that is already a host exception object.
struct ErrorPayload {
  virtual ~ErrorPayload() = default;
};

struct Error {
  ErrorKind kind;
  std::string message;
  std::string hint;                       // what to do about it; printed below the message, empty when there is none
  std::unique_ptr<ErrorPayload> payload;  // set once the error has become a host exception
};

/// An owned error on its way up; converts to any failed Result.
struct [[nodiscard]] Failure {
  std::unique_ptr<Error> error;

  /// Adds a hint: `return fail(...).with_hint(...)`.
  Failure&& with_hint(std::string hint) && {
    error->hint = std::move(hint);
    return std::move(*this);
  }
};

inline Failure fail(ErrorKind kind, std::string message) {
  return Failure{std::unique_ptr<Error>(new Error{kind, std::move(message), {}, nullptr})};
}
template <class... Args>
  requires(sizeof...(Args) > 0)
Failure fail(ErrorKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return fail(kind, fmt::vformat(format, fmt::make_format_args(args...)));
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : ok_(true) { new (&value_) T(std::move(value)); }  // NOLINT: implicit by design
  Result(Failure f) : ok_(false) { new (&error_) std::unique_ptr<Error>(std::move(f.error)); }
  Result(Result&& o) noexcept : ok_(o.ok_) {
    if (ok_)
      new (&value_) T(std::move(o.value_));
    else
      new (&error_) std::unique_ptr<Error>(std::move(o.error_));
  }
  Result& operator=(Result&& o) noexcept {
    if (this != &o) {
      this->~Result();
      new (this) Result(std::move(o));
    }
    return *this;
  }
  ~Result() {
    if (ok_)
      value_.~T();
    else
      error_.~unique_ptr();
  }

  explicit operator bool() const { return ok_; }
  bool ok() const { return ok_; }
  T& value() { return value_; }
  const T& value() const { return value_; }
  T& operator*() { return value_; }
  T* operator->() { return &value_; }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }
  /// Takes the error out, to be returned as another Result's failure.
  Failure failure() { return Failure{std::move(error_)}; }
  T take() { return std::move(value_); }

 private:
  union {
    T value_;
    std::unique_ptr<Error> error_;
  };
  bool ok_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;
  Result() = default;
  Result(Failure f) : error_(std::move(f.error)) {}
  explicit operator bool() const { return !error_; }
  bool ok() const { return !error_; }
  Error& error() { return *error_; }
  Failure failure() { return Failure{std::move(error_)}; }
  void take() {}

 private:
  std::unique_ptr<Error> error_;
};

/// `auto x = TFL_TRY(f());` — the value, or return the error from the enclosing function. Use it as a whole initialiser
/// or statement rather than inside a larger expression.
#define TFL_TRY(...)                  \
  __extension__({                     \
    auto tfl_result_ = (__VA_ARGS__); \
    if (!tfl_result_) [[unlikely]]    \
      return tfl_result_.failure();   \
    tfl_result_.take();               \
  })

std::string_view error_kind_name(ErrorKind kind);
std::string_view error_kind_module(ErrorKind kind);
ErrorKind error_kind_base(ErrorKind kind);

}  // namespace tfl
