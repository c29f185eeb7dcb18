// tfl.hpp: TFL in a C++ program, over tfl.h. C++20, header only.
//
//   tfl::Interp interp({.memory_limit = 1 << 30});
//   tfl::Value model = interp.load("model.tfl");
//   std::vector<float> x(784);
//   tfl::Value y = model.get("predict")(interp.tensor(std::span(x), {1, 784}));
//   std::span<const float> scores = y.elements<float>();
//
// An Interp is used by one thread at a time (others wait); any number of them run at once. Values are references: copying one gives a second
// reference. What fails throws tfl::Error, which knows the script's lines.
#pragma once

#include <tfl.h>

#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tfl {

/// An exception of a script, a text that does not compile, a file that is not there.
class Error : public std::exception {
 public:
  struct Place {
    std::string file;
    int line;
    std::string function;
  };

  /// Takes over `error`.
  explicit Error(tfl_error* error) : error_(error, tfl_error_free) {}
  /// What the program tfl would print: the way to the error, line by line.
  const char* what() const noexcept override { return tfl_error_traceback(error_.get()); }
  /// The class of the exception, "ValueError".
  std::string_view kind() const { return tfl_error_kind(error_.get()); }
  std::string_view message() const { return tfl_error_message(error_.get()); }
  std::string_view hint() const { return tfl_error_hint(error_.get()); }
  /// Of SystemExit, the code.
  int exit_code() const { return tfl_error_exit_code(error_.get()); }
  /// The calls that led to it, outermost first.
  std::vector<Place> places() const {
    std::vector<Place> out;
    for (size_t i = 0; i < tfl_error_depth(error_.get()); ++i) {
      const char *file, *function;
      int32_t line;
      tfl_error_place(error_.get(), i, &file, &line, &function);
      out.push_back({file, line, function});
    }
    return out;
  }

 private:
  std::shared_ptr<tfl_error> error_;
};

inline void check(tfl_error* error) {
  if (error) throw Error(error);
}

/// The element type of a C++ type as DLPack has it.
template <class T>
struct Element;
#define TFL_ELEMENT(type, c, b)                  \
  template <>                                    \
  struct Element<type> {                         \
    static constexpr uint8_t code = c, bits = b; \
  }
TFL_ELEMENT(int8_t, 0, 8);
TFL_ELEMENT(int16_t, 0, 16);
TFL_ELEMENT(int32_t, 0, 32);
TFL_ELEMENT(int64_t, 0, 64);
TFL_ELEMENT(uint8_t, 1, 8);
TFL_ELEMENT(uint16_t, 1, 16);
TFL_ELEMENT(uint32_t, 1, 32);
TFL_ELEMENT(uint64_t, 1, 64);
TFL_ELEMENT(float, 2, 32);
TFL_ELEMENT(double, 2, 64);
TFL_ELEMENT(bool, 6, 8);
#undef TFL_ELEMENT

struct Options {
  size_t memory_limit = 0;  // bytes of tensors; 0: 80 % of the machine
  double time_limit = 0;    // seconds for each call from outside; 0: any
  int threads = 0;          // 0: all processors
  int depth = 0;            // calls within calls; 0: 1000
  int jit = TFL_JIT_AUTO;
  bool cache = true;       // bytecode and machine code are kept on disk
  bool allow_all = false;  // scripts may use every file
  bool keep_output = false;
  std::vector<std::string> allow_read = {}, allow_write = {};  // folders
  std::string folder = {};
};

class Interp;

/// A reference to something in an interpreter.
class Value {
 public:
  Value() = default;
  Value(const Value& o) : interp_(o.interp_), value_(o.value_ ? tfl_value_copy(o.value_) : nullptr) {}
  Value(Value&& o) noexcept : interp_(o.interp_), value_(std::exchange(o.value_, nullptr)) {}
  Value& operator=(Value o) noexcept {
    std::swap(interp_, o.interp_);
    std::swap(value_, o.value_);
    return *this;
  }
  ~Value() { tfl_value_free(value_); }
  /// Takes over `value`.
  Value(tfl_interp* interp, tfl_value* value) : interp_(interp), value_(value) {}

  explicit operator bool() const { return value_ != nullptr; }
  tfl_value* handle() const { return value_; }
  tfl_kind kind() const { return tfl_value_kind(value_); }
  bool is_none() const { return kind() == TFL_KIND_NONE; }
  int64_t to_int() const { return tfl_value_int(value_); }
  /// Of float and int.
  double to_double() const {
    return kind() == TFL_KIND_FLOAT ? tfl_value_float(value_) : static_cast<double>(tfl_value_int(value_));
  }
  /// Of str and bytes; lives as long as this value.
  std::string_view text() const {
    size_t size;
    const char* text = tfl_value_text(value_, &size);
    return text ? std::string_view(text, size) : std::string_view();
  }
  size_t size() const { return tfl_value_size(value_); }
  /// An item of a list or tuple; of a dict, the value put in as number `i`.
  Value operator[](size_t i) const {
    return made([&](tfl_value** out) { return tfl_value_item(interp_, value_, i, nullptr, out); });
  }
  Value key(size_t i) const {
    tfl_value *key, *item;
    check(tfl_value_item(interp_, value_, i, &key, &item));
    tfl_value_free(item);
    return {interp_, key};
  }
  Value get(const char* name) const {
    return made([&](tfl_value** out) { return tfl_get(interp_, value_, name, out); });
  }
  void set(const char* name, const Value& to) const { check(tfl_set(interp_, value_, name, to.value_)); }
  /// str(value), repr(value).
  std::string str() const {
    return std::string(made([&](tfl_value** out) { return tfl_to_str(interp_, value_, out); }).text());
  }
  std::string repr() const {
    return std::string(made([&](tfl_value** out) { return tfl_to_repr(interp_, value_, out); }).text());
  }

  /// Calls it: with values, numbers, texts.
  template <class... Args>
  Value operator()(const Args&... args) const;
  /// The same with arguments by name.
  Value call(std::span<const Value> args, std::span<const std::pair<std::string, Value>> named = {}) const {
    std::vector<const tfl_value*> values, named_values;
    std::vector<const char*> names;
    for (const Value& v : args) values.push_back(v.value_);
    for (const auto& [name, v] : named) {
      names.push_back(name.c_str());
      named_values.push_back(v.value_);
    }
    return made([&](tfl_value** out) {
      return tfl_call(interp_, value_, values.size(), values.data(), names.size(), names.data(), named_values.data(), out);
    });
  }

  /// Of a tensor, variable or array: where the elements lie; holds as long as this value.
  tfl_view view() const {
    tfl_view out;
    check(tfl_to_view(interp_, value_, &out));
    return out;
  }
  std::vector<int64_t> shape() const {
    tfl_view v = view();
    return {v.shape, v.shape + v.ndim};
  }
  /// The elements in order. std::invalid_argument where they are of another type or do not lie in order.
  template <class T>
  std::span<const T> elements() const {
    tfl_view v = view();
    size_t count = 1;
    bool row_major = true;
    for (int32_t i = v.ndim; i-- > 0;) {
      if (v.shape[i] != 1 && v.strides[i] != static_cast<int64_t>(count)) row_major = false;
      count *= static_cast<size_t>(v.shape[i]);
    }
    if (v.code != Element<T>::code || v.bits != Element<T>::bits) throw std::invalid_argument("tfl: elements of another type");
    if (!row_major && count > 0) throw std::invalid_argument("tfl: the elements do not lie in row-major order");
    return {static_cast<const T*>(v.data), count};
  }
  /// For other libraries (DLPack); who takes it calls its deleter.
  DLManagedTensor* to_dlpack() const {
    DLManagedTensor* out;
    check(tfl_to_dlpack(interp_, value_, &out));
    return out;
  }

 private:
  template <class F>
  Value made(F&& f) const {
    tfl_value* out;
    check(f(&out));
    return {interp_, out};
  }
  tfl_interp* interp_ = nullptr;
  tfl_value* value_ = nullptr;
};

/// One interpreter.
class Interp {
 public:
  explicit Interp(const Options& options = {}) {
    if (tfl_abi_version() != TFL_ABI_VERSION) throw std::runtime_error("libtfl has another interface than tfl.h");
    auto list = [](const std::vector<std::string>& folders) {
      std::vector<const char*> out;
      for (const std::string& f : folders) out.push_back(f.c_str());
      out.push_back(nullptr);
      return out;
    };
    std::vector<const char*> read = list(options.allow_read), write = list(options.allow_write);
    tfl_interp_options o{};
    o.struct_size = sizeof o;
    o.memory_limit = options.memory_limit;
    o.time_limit = options.time_limit;
    o.threads = options.threads;
    o.depth = options.depth;
    o.jit = options.jit;
    o.no_cache = !options.cache;
    o.allow_all = options.allow_all;
    o.keep_output = options.keep_output;
    o.allow_read = read.data();
    o.allow_write = write.data();
    o.folder = options.folder.empty() ? nullptr : options.folder.c_str();
    tfl_interp* made;
    check(tfl_interp_new(&o, &made));
    interp_.reset(made);
  }

  tfl_interp* handle() const { return interp_.get(); }
  /// Stops what it is doing; from any thread.
  void cancel() { tfl_interp_cancel(interp_.get()); }

  /// Runs a script as the program does; gives its module.
  Value run(const std::string& path, const std::vector<std::string>& arguments = {}) {
    std::vector<const char*> argv;
    for (const std::string& a : arguments) argv.push_back(a.c_str());
    return made([&](tfl_value** out) { return tfl_run(interp_.get(), path.c_str(), argv.size(), argv.data(), out); });
  }
  /// Runs a text in a module of its own, which it gives.
  Value run_text(std::string_view text, const std::string& name = "<string>") {
    tfl_value* module = nullptr;
    check(tfl_run_text(interp_.get(), text.data(), text.size(), name.c_str(), 1, &module));
    return {interp_.get(), module};
  }
  /// A script, a saved model, an ONNX or Keras model.
  Value load(const std::string& path) {
    return made([&](tfl_value** out) { return tfl_load(interp_.get(), path.c_str(), out); });
  }
  Value import(const std::string& name) {
    return made([&](tfl_value** out) { return tfl_import(interp_.get(), name.c_str(), out); });
  }
  /// What was printed since the last question (Options::keep_output): stream 1 or 2.
  std::string output(int stream = 1) {
    return std::string(Value(interp_.get(), tfl_interp_output(interp_.get(), stream)).text());
  }

  /// Values of numbers, texts, lists.
  Value value(const Value& v) { return v; }
  Value value(std::nullptr_t) { return {interp_.get(), tfl_none(interp_.get())}; }
  template <class T>
    requires std::is_arithmetic_v<T>
  Value value(T v) {
    if constexpr (std::is_same_v<T, bool>)
      return {interp_.get(), tfl_bool(interp_.get(), v)};
    else if constexpr (std::is_integral_v<T>)
      return {interp_.get(), tfl_int(interp_.get(), static_cast<int64_t>(v))};
    else
      return {interp_.get(), tfl_float(interp_.get(), static_cast<double>(v))};
  }
  Value value(std::string_view text) {
    return made([&](tfl_value** out) { return tfl_str(interp_.get(), text.data(), text.size(), out); });
  }
  Value list(std::span<const Value> items) {
    std::vector<const tfl_value*> all;
    for (const Value& v : items) all.push_back(v.handle());
    return {interp_.get(), tfl_sequence(interp_.get(), TFL_KIND_LIST, all.size(), all.data())};
  }

  /// A tensor of `elements`, which are not copied: they must stay as they are while the tensor lives. `owner` is kept as long.
  template <class T>
  Value tensor(std::span<T> elements, const std::vector<int64_t>& shape, std::shared_ptr<const void> owner = nullptr) {
    return from(TFL_KIND_TENSOR, elements, shape, std::move(owner));
  }
  /// A NumPy array of them; a script that writes to it writes to a copy.
  template <class T>
  Value array(std::span<T> elements, const std::vector<int64_t>& shape, std::shared_ptr<const void> owner = nullptr) {
    return from(TFL_KIND_ARRAY, elements, shape, std::move(owner));
  }
  /// Takes `tensor` over.
  Value from_dlpack(DLManagedTensor* tensor) {
    return made([&](tfl_value** out) { return tfl_from_dlpack(interp_.get(), TFL_KIND_TENSOR, tensor, out); });
  }

 private:
  struct Free {
    void operator()(tfl_interp* interp) const { tfl_interp_free(interp); }
  };
  template <class F>
  Value made(F&& f) {
    tfl_value* out;
    check(f(&out));
    return {interp_.get(), out};
  }
  template <class T>
  Value from(tfl_kind kind, std::span<T> elements, const std::vector<int64_t>& shape, std::shared_ptr<const void> owner) {
    using E = Element<std::remove_const_t<T>>;
    size_t count = 1;
    for (int64_t d : shape) count *= static_cast<size_t>(d);
    if (count != elements.size()) throw std::invalid_argument("tfl: the sizes of a tensor do not fit its elements");
    tfl_view view{const_cast<std::remove_const_t<T>*>(elements.data()),
                  shape.data(),
                  nullptr,
                  static_cast<int32_t>(shape.size()),
                  E::code,
                  E::bits,
                  0,
                  0};
    auto* keeper = owner ? new std::shared_ptr<const void>(std::move(owner)) : nullptr;
    return made([&](tfl_value** out) {
      return tfl_from_view(interp_.get(), kind, &view,
                           keeper ? +[](void* user) { delete static_cast<std::shared_ptr<const void>*>(user); } : nullptr, keeper,
                           out);
    });
  }
  std::unique_ptr<tfl_interp, Free> interp_;
};

template <class... Args>
Value Value::operator()(const Args&... args) const {
  auto one = [this](const auto& v) -> Value {
    using T = std::decay_t<decltype(v)>;
    if constexpr (std::is_same_v<T, Value>)
      return v;
    else if constexpr (std::is_same_v<T, bool>)
      return {interp_, tfl_bool(interp_, v)};
    else if constexpr (std::is_integral_v<T>)
      return {interp_, tfl_int(interp_, static_cast<int64_t>(v))};
    else if constexpr (std::is_floating_point_v<T>)
      return {interp_, tfl_float(interp_, static_cast<double>(v))};
    else {
      std::string_view text = v;
      return made([&](tfl_value** out) { return tfl_str(interp_, text.data(), text.size(), out); });
    }
  };
  std::vector<Value> values;
  values.reserve(sizeof...(args));
  (values.push_back(one(args)), ...);
  return call(values);
}

}  // namespace tfl
