// What the fuzz targets of file formats share: one interpreter, a function `read` of the library's language, and the rule that whatever
// bytes it is given it returns or raises an ordinary exception with a text. It knows nothing of the formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "frontend/core/exception.h"
#include "frontend/core/interp.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/compile.h"

namespace tfl::fuzz {

class Reader {
 public:
  /// `definition` defines read(data) for bytes.
  explicit Reader(std::string_view definition)
      : context_(limits()), interp_(context_, options()), module_(interp_.module("__main__")) {
    std::string text(definition);
    text += R"(
def check(data):
    try:
        read(data)
    except MemoryError:
        raise SystemError("out of memory")
    except Exception as e:
        if isinstance(e, (SystemError, AssertionError, NameError, AttributeError, UnboundLocalError)) or not str(e):
            raise SystemError(f"not an error of the file: {type(e).__name__}: {e}")
)";
    auto source = std::make_shared<const Source>("fuzz.tfl", std::move(text));
    CompileResult compiled = compile_module(interp_, std::move(source));
    stop_at_error(interp_.run_module(compiled.code, module_));
    check_ = dict_get_str(module_.as<Module>()->dict.as<Dict>(), interp_.intern("check"));
  }

  int read(const uint8_t* data, size_t size) {
    stop_at_error(interp_.call(check_, {interp_.bytes(std::string(reinterpret_cast<const char*>(data), size))}));
    return 0;
  }

 private:
  static ContextOptions limits() {
    ContextOptions o;
    o.memory_limit = size_t{1} << 28;
    o.threads = 1;
    return o;
  }
  static InterpOptions options() {
    InterpOptions o;
    o.use_cache = false;
    return o;
  }
  template <class T>
  void stop_at_error(Result<T> done) {
    if (done) return;
    std::fprintf(stderr, "%s\n", exception_headline(interp_, interp_.exception_of(done.error())).c_str());
    __builtin_trap();
  }

  Context context_;
  Interp interp_;
  Value module_;
  Value check_;
};

}  // namespace tfl::fuzz
