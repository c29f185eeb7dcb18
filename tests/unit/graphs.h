// Parsing and running graphs in tests.
#pragma once

#include "ir/evaluate.h"
#include "ir/infer.h"
#include "ir/text.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

/// Writes down what a graph prints; seeds count up.
struct RecordingHost : ir::Host {
  explicit RecordingHost(Context& c) : context(c) {}
  Result<void> print(std::string_view text, std::string_view) override {
    printed += text;
    return {};
  }
  Result<Tensor> next_seed(const ir::Node& n, int64_t groups) override {
    Tensor t = TFL_TRY(Tensor::empty(context, DType::I64, Dims{3}));
    t.data<int64_t>()[0] = n.attrs.get_int(Attr::seed, -1);
    t.data<int64_t>()[1] = seeds++;
    t.data<int64_t>()[2] = groups;
    return t;
  }
  Result<void> check_interrupt() override {
    if (patience-- > 0) return {};
    return fail(ErrorKind::DeadlineExceededError, "too many iterations");
  }
  Context& context;
  std::string printed;
  int64_t seeds = 0;
  int64_t patience = 1000000;
};

struct TestVariable : ir::VariableResource {
  explicit TestVariable(Tensor v) : value(std::move(v)) {}
  ir::Type type() const override { return ir::Type::variable({value.dtype(), true, Dims(value.dims())}); }
  Result<Tensor> read() override { return value; }
  Result<void> assign(Tensor v) override {
    value = std::move(v);
    return {};
  }
  bool initialized() const override { return true; }
  Tensor value;
};

/// The functions of a text, which must parse.
inline std::vector<std::shared_ptr<ir::Function>> parse_graphs(Context& c, std::string_view text) {
  auto parsed = ir::parse_text(c, text, "test");
  if (!parsed) FAIL(parsed.error().message);
  return parsed.take();
}
inline std::shared_ptr<ir::Function> parse_graph(Context& c, std::string_view text) { return parse_graphs(c, text)[0]; }

/// "f32[2] [1, 2]": results as constants of the text form, or the error.
inline std::string result_text(const ir::Datum& d) {
  if (!d.tensor) return d.array ? "array" : "resource";
  ir::Function f;
  f.body.results.push_back(ir::append_constant(f.body, d.tensor));
  std::string text = ir::to_text(f);
  size_t from = text.find("constant ") + 9;
  return text.substr(from, text.find('\n', from) - from);
}

struct Ran {
  std::vector<ir::Datum> outputs;
  std::string text;  // results, or the error's class and message
  std::string printed;
  uint32_t failed_line = 0;
};

inline Ran run_graph(Context& c, std::shared_ptr<const ir::Function> f, std::vector<ir::Datum> inputs,
                     int64_t patience = 1000000) {
  RecordingHost host(c);
  host.patience = patience;
  Ran ran;
  std::vector<ir::Program::Place> places;
  auto program = ir::Program::build(std::move(f)).take();  // the places lie in it
  Result<void> done = program->run(c, host, inputs, ran.outputs, &places);
  ran.printed = host.printed;
  if (!done) {
    ran.text = std::string(error_kind_name(done.error().kind)) + ": " + done.error().message;
    ran.failed_line = (*places.back().locations)[places.back().location].line;
    ran.outputs.clear();
    return ran;
  }
  for (const ir::Datum& d : ran.outputs) ran.text += (ran.text.empty() ? "" : "; ") + result_text(d);
  return ran;
}

inline ir::Datum datum(Tensor t) { return {std::move(t), {}, {}}; }

}  // namespace tfl::test
