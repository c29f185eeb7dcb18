// What a script's chain of elementwise operations needs: its live tensors and little more.
#include <memory>
#include <string>
#include "tests/catch.h"

#include "frontend/core/exception.h"
#include "frontend/core/interp.h"
#include "frontend/core/protocol.h"
#include "frontend/interpreter/compile/compile.h"

using namespace tfl;

namespace {

constexpr size_t kBytes = 40'000'000;

/// The most bytes that `line` needs beyond what `setup` has left.
size_t needed_by(const std::string& setup, const std::string& line) {
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
  run(setup);
  context.memory.reset_peak();
  size_t before = context.memory.peak_bytes();
  run(line);
  return context.memory.peak_bytes() - before;
}

/// The peak while `line` runs, in sizes of its operand x, which lives before and after.
double peak_of(const std::string& line) {
  const char* setup =
      "import tensorflow as tf\nx = tf.fill([10000000], 0.25)\ntf.exp(tf.maximum(tf.abs(tf.sin(tf.sqrt(tf.constant([0.5])))), "
      "0.0))\n";
  return 1.0 + static_cast<double>(needed_by(setup, line)) / kBytes;
}

}  // namespace

TEST_CASE("a chain of elementwise operations stays below 2.2 times its operand", "[memory]") {
  CHECK(peak_of("y = x * 2.0 + 1.0") < 2.2);
  CHECK(peak_of("y = tf.sqrt(tf.abs(tf.sin(x * 2.0 + 1.0) - 0.5)) / 3.0") < 2.2);
  CHECK(peak_of("y = 1.0 - tf.exp(tf.maximum(x - 1.0, 0.5)) * 2.0") < 2.2);
  CHECK(peak_of("y = tf.add(tf.multiply(x, x), 1.0)") < 2.2);
}

// Staged gradients of loops: what `body` does to h in each of n iterations; traced and run once for few.
size_t needed_by_loop(const std::string& body, int n) {
  std::string setup = R"(
import tensorflow as tf
w = tf.fill([32, 32], 0.01)
start = tf.fill([8, 32], 0.5)
xs = tf.fill([2000, 8, 32], 0.25)
@tf.function
def slope(start, w, n):
    with tf.GradientTape() as tape:
        tape.watch([start, w])
        h = start
        for i in tf.range(n):
            )" + body +
                      R"(
        loss = tf.reduce_sum(h) + 0.0 * tf.reduce_sum(w)
    return tape.gradient(loss, [start, w])
slope(start, w, tf.constant(3))
)";
  return needed_by(setup, "slope(start, w, tf.constant(" + std::to_string(n) + "))");
}

TEST_CASE("the gradient of a loop keeps what it reads of an iteration and cannot compute again", "[memory]") {
  constexpr size_t kState = 8 * 32 * 4;
  // Nothing: only numbers that the iteration's own number gives.
  CHECK(needed_by_loop("h += tf.cast(i * i, tf.float32)", 1000000) < 50000);
  // Nothing: what does not change is read where it lies.
  CHECK(needed_by_loop("h = h + start * 0.5", 1000000) < 50000);
  // One state an iteration: it is what tanh's gradient reads, and what the product of the next iteration does.
  size_t recurrent = needed_by_loop("h = tf.tanh(h @ w)", 2000);
  CHECK(recurrent > 1900 * kState);
  CHECK(recurrent < 2200 * kState);
  // With inputs the same.
  CHECK(needed_by_loop("h = tf.tanh(h @ w + xs[i])", 2000) < 2200 * kState);
  // A gate between two states: both of its sides (z and 1 - z, factors of products), the state and the candidate.
  size_t gated = needed_by_loop("z = tf.sigmoid(h @ w + xs[i]); h = z * h + (1.0 - z) * tf.tanh(h @ w)", 2000);
  CHECK(gated > 4 * 1900 * kState);
  CHECK(gated < 4 * 2200 * kState);
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
