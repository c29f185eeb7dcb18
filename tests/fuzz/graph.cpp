// Text of graphs as it may stand in a saved model: what parses is verified, must print to a text that parses to itself, and
// runs on zeros for a while, together with its gradient-free pieces. Nothing of it may crash, hang or take memory without
// bound.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "ir/declared_types.h"
#include "ir/evaluate.h"
#include "ir/text.h"
#include "optimizer/pass.h"

namespace {

using namespace tfl;

constexpr int64_t kMostElements = 20000;
constexpr int kMostSteps = 20000;

struct BriefHost final : ir::Host {
  Result<void> print(std::string_view, std::string_view) override { return {}; }
  Result<Tensor> next_seed(const ir::Node&, int64_t) override { return fail(ErrorKind::RuntimeError, "no seeds"); }
  Result<void> check_interrupt() override {
    if (++steps > kMostSteps) return fail(ErrorKind::RuntimeError, "long enough");
    return {};
  }
  int steps = 0;
};

struct Variable final : ir::VariableResource {
  Variable(ir::Type t, Tensor v) : of(std::move(t)), value(std::move(v)) {}
  ir::Type type() const override { return of; }
  Result<Tensor> read() override { return value; }
  Result<void> assign(Tensor v) override {
    value = std::move(v);
    return {};
  }
  bool initialized() const override { return true; }
  ir::Type of;
  Tensor value;
};

/// Zeros of a type, 2 where a size is not known; nothing where that would be much.
Tensor zeros(Context& context, const TensorType& type) {
  Dims dims = type.dims;
  int64_t count = 1;
  for (int64_t& d : dims) {
    d = d < 0 ? 2 : d;
    if (__builtin_mul_overflow(count, d, &count) || count > kMostElements) return {};
  }
  auto made = Tensor::empty(context, type.dtype, dims);
  if (!made) return {};
  Tensor t = made.take();
  if (dtype_group(type.dtype) != DTypeGroup::String)
    std::memset(t.raw(), 0, static_cast<size_t>(t.size()) * dtype_size(type.dtype));
  return t;
}

bool small(const ir::Function& f) {
  bool fits = true;
  ir::walk(f.body, [&](const ir::Node& n) {
    for (const ir::Type& t : n.types) {
      int64_t count = 1;
      for (int64_t d : t.tensor.dims) fits &= !__builtin_mul_overflow(count, d < 1 ? 1 : d, &count) && count <= kMostElements;
    }
    if (n.callee) fits &= small(*n.callee);
  });
  return fits;
}

void run(Context& context, const std::shared_ptr<ir::Function>& f) {
  std::vector<ir::Datum> inputs, outputs;
  for (const auto& p : f->body.params) {
    const ir::Type& type = p->types[0];
    Tensor value = zeros(context, type.tensor);
    if (type.opaque || type.kind == ir::TypeKind::Array || !value) return;
    inputs.emplace_back();
    if (type.kind == ir::TypeKind::Resource)
      inputs.back().resource = std::make_shared<Variable>(type, std::move(value));
    else
      inputs.back().tensor = std::move(value);
  }
  BriefHost host;
  (void)ir::evaluate(context, host, f, inputs, outputs);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ContextOptions options;
  options.memory_limit = size_t{1} << 28;
  options.threads = 1;
  Context context(options);
  auto parsed = ir::parse_text(context, {reinterpret_cast<const char*>(data), size}, "fuzz.ir");
  if (!parsed) return 0;
  for (const std::shared_ptr<ir::Function>& f : *parsed) {
    if (!ir::owns_what_it_calls(*f) || !ir::unproven_type(context, *f).empty()) continue;
    ir::TextOptions all;
    all.names = all.locations = true;
    std::string text = ir::to_text(*f, all);
    auto again = ir::parse_text(context, text, "again.ir");
    if (!again || ir::to_text(*again->front(), all) != text) __builtin_trap();
    if (!small(*f)) continue;
    run(context, f);
    std::shared_ptr<ir::Function> copy = ir::clone(*f);
    ir::prune(*copy, false);
    if (optimizer::optimize(context, *copy, 1)) run(context, copy);
  }
  return 0;
}
