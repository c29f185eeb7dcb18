// The files of a saved model, one behind the other with a line %%%% between them: loading gives an object or an error that
// the library words, and never a crash. The record comes first, then the graphs; the values are taken from the rest as they
// stand.
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frontend/core/exception.h"
#include "frontend/core/interp.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/compile.h"

namespace {

using namespace tfl;

constexpr std::string_view kScript = R"(
import tensorflow as tf
try:
    m = tf.saved_model.load(folder)
    for s in m.signatures.values():
        s.structured_outputs, s.structured_input_signature, repr(s)
except (ValueError, OSError) as e:
    if not str(e):
        raise SystemError("an error without a text")
except tf.errors.ResourceExhaustedError:
    pass
)";

void write(const std::string& path, std::string_view text) {
  std::FILE* f = std::fopen(path.c_str(), "wb");
  if (!f) std::abort();
  std::fwrite(text.data(), 1, text.size(), f);
  std::fclose(f);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::string folder = "/tmp/tfl_fuzz_" + std::to_string(getpid());
  mkdir(folder.c_str(), 0700);
  for (const char* name : {"/saved_model.json", "/functions.ir", "/variables.safetensors"}) {
    size_t end = rest.find("%%%%\n");
    write(folder + name, rest.substr(0, end));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 5);
  }
  ContextOptions limits;
  limits.memory_limit = size_t{1} << 28;
  limits.threads = 1;
  Context context(limits);
  InterpOptions options;
  options.allow_read.push_back(folder);
  options.use_cache = false;
  Interp interp(context, std::move(options));
  Value module = interp.module("__main__");
  dict_set_str(module.as<Module>()->dict.as<Dict>(), interp.intern("folder"), interp.str(folder));
  CompileResult compiled = compile_module(interp, std::make_shared<const Source>("fuzz.tfl", std::string(kScript)));
  auto done = interp.run_module(compiled.code, module);
  if (!done) {
    std::fprintf(stderr, "%s\n", exception_headline(interp, interp.exception_of(done.error())).c_str());
    __builtin_trap();
  }
  return 0;
}
