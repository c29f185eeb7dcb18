// What a script's chain of elementwise operations needs: its live tensors and little more.
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "frontend/compile/compile.h"
#include "frontend/object/exception.h"
#include "frontend/object/protocol.h"
#include "frontend/vm/interp.h"

using namespace tfl;

namespace {

constexpr size_t kBytes = 40'000'000;

/// The peak while `line` runs, in sizes of its operand x, which lives before and after.
double peak_of(const std::string& line) {
  Context context{ContextOptions()};
  InterpOptions options;
  options.use_cache = false;
  Interp interp(context, std::move(options));
  Value module = interp.module("__main__");
  auto run = [&](const std::string& text) {
    CompileResult compiled = compile_module(interp, std::make_shared<const Source>("peak.tfl", text));
    auto done = interp.run_module(compiled.code, module);
    INFO((done ? std::string() : exception_headline(interp, interp.exception_of(done.error()))));
    REQUIRE(done);
  };
  run("import tensorflow as tf\nx = tf.fill([10000000], 0.25)\ntf.exp(tf.maximum(tf.abs(tf.sin(tf.sqrt(tf.constant([0.5])))), 0.0))\n");
  context.memory.reset_peak();
  run(line);
  return static_cast<double>(context.memory.peak_bytes()) / kBytes;
}

}  // namespace

TEST_CASE("a chain of elementwise operations stays below 2.2 times its operand", "[memory]") {
  CHECK(peak_of("y = x * 2.0 + 1.0") < 2.2);
  CHECK(peak_of("y = tf.sqrt(tf.abs(tf.sin(x * 2.0 + 1.0) - 0.5)) / 3.0") < 2.2);
  CHECK(peak_of("y = 1.0 - tf.exp(tf.maximum(x - 1.0, 0.5)) * 2.0") < 2.2);
  CHECK(peak_of("y = tf.add(tf.multiply(x, x), 1.0)") < 2.2);
}

TEST_CASE("what is still used is not overwritten", "[memory]") {
  Context context{ContextOptions()};
  InterpOptions options;
  options.use_cache = false;
  Interp interp(context, std::move(options));
  Value module = interp.module("__main__");
  CompileResult compiled = compile_module(interp, std::make_shared<const Source>("kept.tfl", std::string(R"(
import tensorflow as tf
def f(x):
    y = x * 2.0
    z = y
    y = y + 1.0
    w = tf.sqrt(y)
    pair = [y - 1.0, y]
    n = (x * 3.0).numpy()
    u = tf.abs(pair[0] - 4.0)
    v = y - y
    try:
        y = y + tf.zeros([7])
    except tf.errors.InvalidArgumentError:
        pass
    view = tf.reshape(x * 4.0, [2, -1])[0]
    return [t.numpy()[0] for t in (x, z, y, w, pair[0], pair[1], u, v, view + 1.0, view)] + [n[0]]
got = [float(v) for v in f(tf.fill([100000], 4.0))]
assert got == [4.0, 8.0, 9.0, 3.0, 8.0, 9.0, 4.0, 0.0, 17.0, 16.0, 12.0], got
with tf.GradientTape() as tape:
    a = tf.fill([100000], 2.0)
    tape.watch(a)
    b = tf.sqrt(tf.exp(a * 2.0) + 1.0) * 3.0
slope = float(tape.gradient(b, a)[0])
assert abs(slope - 3.0 * 54.598150 / (54.598150 + 1.0) ** 0.5) < 1e-4, slope
)")));
  auto done = interp.run_module(compiled.code, module);
  INFO((done ? std::string() : exception_headline(interp, interp.exception_of(done.error()))));
  CHECK(done);
}
