// tfl.hpp as its users use it. Prints what is wrong; exit status 0: nothing.
#include <cstdio>
#include <numeric>
#include <tfl.hpp>
#include <thread>

namespace {

int failures = 0;
#define CHECK(condition) ((condition) ? (void)0 : (void)(++failures, std::printf("%d: %s\n", __LINE__, #condition)))

constexpr const char* kScript = R"(
import tensorflow as tf

scale = tf.Variable(2.0)

@tf.function
def predict(x):
    return {"y": x * scale, "n": tf.size(x)}

def greet(name, times=1):
    return ["hello " + name] * times

def fails(x):
    return tf.matmul(x, x)
)";

void calls() {
  tfl::Interp interp({.threads = 1, .keep_output = true});
  tfl::Value module = interp.run_text(kScript, "script.tfl");
  tfl::Value greetings = module.get("greet")("you", 2);
  CHECK(greetings.size() == 2 && greetings[1].text() == "hello you");
  const std::pair<std::string, tfl::Value> named[] = {{"times", interp.value(3)}};
  const tfl::Value args[] = {interp.value("me")};
  CHECK(module.get("greet").call(args, named).size() == 3);
  std::vector<float> data(4096);
  std::iota(data.begin(), data.end(), 0.0f);
  tfl::Value x = interp.tensor(std::span(data), {64, 64});
  CHECK(x.view().data == data.data());
  tfl::Value result = module.get("predict")(x);
  CHECK(result.key(0).text() == "y" || result.key(1).text() == "y");
  tfl::Value y = result.key(0).text() == "y" ? result[0] : result[1];
  CHECK((y.shape() == std::vector<int64_t>{64, 64}));
  CHECK(y.elements<float>()[4095] == 8190.0f);
  tfl::Value kept = y;  // a second reference
  y = tfl::Value();
  CHECK(kept.elements<float>()[1] == 2.0f);
  try {
    (void)kept.elements<double>();
    CHECK(false);
  } catch (const std::invalid_argument&) {
  }
}

void errors() {
  tfl::Interp interp({.keep_output = true});
  tfl::Value module = interp.run_text(kScript, "script.tfl");
  try {
    std::vector<float> data(600);
    module.get("fails")(interp.tensor(std::span(data), {20, 30}));
    CHECK(false);
  } catch (const tfl::Error& e) {
    CHECK(e.kind() == "InvalidArgumentError");
    CHECK(e.places().size() == 1 && e.places()[0].line == 14 && e.places()[0].function == "fails");
    CHECK(std::string(e.what()).find("tf.matmul(x, x)") != std::string::npos);
  }
}

void owners() {
  auto data = std::make_shared<std::vector<double>>(1000, 1.5);
  std::weak_ptr<std::vector<double>> watch = data;
  tfl::Interp interp;
  {
    tfl::Value x = interp.array(std::span(*data), {1000}, data);
    data.reset();
    CHECK(!watch.expired());
  }
  CHECK(watch.expired());
}

void side_by_side() {
  double sums[4] = {};
  std::vector<std::thread> all;
  for (double& sum : sums) {
    all.emplace_back([&sum] {
      tfl::Interp interp({.threads = 1});
      tfl::Value f = interp.run_text(kScript).get("greet");
      for (int i = 0; i < 100; ++i) sum += static_cast<double>(f("x", i).size());
    });
  }
  for (std::thread& t : all) t.join();
  for (double sum : sums) CHECK(sum == 4950);
}

}  // namespace

int main() {
  calls();
  errors();
  owners();
  side_by_side();
  return failures != 0;
}
