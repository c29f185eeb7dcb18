// Every elementwise row and type the whole way: a graph of it, outlined, planned, compiled and run, has the bits of the kernels. Operands
// are of sizes known and not, empty, scalar, broadcast, strided, and large enough for several threads.
#include "codegen/jit/jit.h"
#include "tests/unit/formulas.h"
#include "tests/unit/graphs.h"
#include "tests/unit/kernel_plans.h"

using namespace tfl;
using namespace tfl::test;
using codegen::Cpu;

namespace {

constexpr int64_t kUnknown = -1;

enum class Layout : uint8_t { plain, scalar_first, scalar_last, broadcast, transposed, count };

// One result a type and layout; the parameters' sizes are those of `sizes`, or unknown.
struct RowGraph {
  RowGraph(Context& c, Op o, bool known) : context(c), op(o), f(std::make_shared<ir::Function>()), sizes_known(known) {
    f->name = "row";
  }

  ir::Ref param(DType dtype, Dims dims) {
    TensorType type{dtype, true, dims};
    if (!sizes_known) {
      for (int64_t& d : type.dims) d = d == 1 ? 1 : kUnknown;
    }
    dtypes.push_back(dtype);
    shapes.push_back(std::move(dims));
    return f->body.add_param(ir::Type::of(type), "p" + std::to_string(shapes.size()));
  }
  void add(DType dtype, Layout layout, int64_t rows, int64_t columns) {
    const OpInfo& info = op_info(op);
    size_t n = static_cast<size_t>(info.max_operands);
    std::vector<ir::Ref> operands;
    for (size_t k = 0; k < n; ++k) {
      DType own = info.types == TypeClass::choice && k == 0 ? DType::Bool : dtype;
      bool scalar = (layout == Layout::scalar_first && k == 0) || (layout == Layout::scalar_last && k + 1 == n);
      Dims dims = scalar ? Dims{} : layout == Layout::broadcast ? (k % 2 ? Dims{columns} : Dims{rows, 1}) : Dims{rows, columns};
      place.push_back(k);
      operands.push_back(param(own, dims));
      if (layout != Layout::transposed) continue;
      ir::Ref order = ir::append_constant(f->body, tensor<int32_t>(context, DType::I32, Dims{2}, {1, 0}));
      operands.back() = {ir::append(context, f->body, Op::transpose, {operands.back(), order}).take(), 0};
    }
    ir::Node* node = ir::append(context, f->body, op, std::move(operands)).take();
    f->body.results.push_back({node, 0});
  }
  std::vector<Tensor> run(codegen::Jit& jit, const std::vector<Tensor>& inputs) {
    std::shared_ptr<ir::Function> copy = ir::clone(*f);
    REQUIRE(jit.prepare(context, *copy).ok());
    std::vector<ir::Datum> data;
    for (const Tensor& t : inputs) data.push_back(datum(t));
    Ran ran = run_graph(context, copy, std::move(data));
    if (ran.outputs.empty()) FAIL(op_info(op).name << ": " << ran.text);
    std::vector<Tensor> out;
    for (ir::Datum& d : ran.outputs) out.push_back(std::move(d.tensor));
    return out;
  }
  std::vector<Tensor> inputs() {
    std::vector<Tensor> out;
    for (size_t i = 0; i < shapes.size(); ++i) {
      int64_t n = 1;
      for (int64_t d : shapes[i]) n *= d;
      Tensor flat = row_operand(context, op, place[i], dtypes[i], n, static_cast<uint32_t>(i * 7 + 1));
      out.push_back(
          contiguous(context, Tensor::view(context, flat, shapes[i], Tensor::row_major_strides(shapes[i].span()), 0)).take());
    }
    return out;
  }

  Context& context;
  Op op;
  std::shared_ptr<ir::Function> f;
  bool sizes_known;
  std::vector<DType> dtypes;
  std::vector<Dims> shapes;
  std::vector<size_t> place;  // which operand of the row a parameter is
};

void compare(RowGraph& g, Cpu cpu) {
  codegen::JitOptions options, off;
  options.wait = true;
  options.cpu = cpu;
  off.enabled = false;
  codegen::Jit jit(options), none(off);
  std::vector<Tensor> inputs = g.inputs();
  std::vector<Tensor> want = g.run(none, inputs), got = g.run(jit, inputs);
  REQUIRE(want.size() == got.size());
  for (size_t i = 0; i < want.size(); ++i) {
    INFO("result " << i << " of " << op_info(g.op).name << ", " << dtype_name(want[i].dtype()));
    CHECK(first_difference(want[i], got[i]) == -1);
  }
  codegen::JitCounts counts = jit.counts();
  INFO(op_info(g.op).name);
  CHECK(counts.compiled > 0);
  CHECK(counts.failed + counts.unplanned == 0);
}

// Every layout of every type that a row takes, or one layout of every second type.
void check_rows(bool all) {
  Context c(options(3));
  std::vector<Cpu> cpus = test_cpus();
  if (cpus.empty()) return;
  for (int i = 0; i < kElementwiseCount; ++i) {
    Op op = static_cast<Op>(i);
    for (bool known : {true, false}) {
      if (!all && known != (i % 2 == 0)) continue;
      RowGraph g(c, op, known);
      for (int d = 0; d < kRealTypes && op_info(op).result != ResultType::pair; ++d) {
        auto dtype = static_cast<DType>(d);
        if (dtype == DType::String || !type_class_has(op_info(op).types, dtype)) continue;
        if (!all && (i / 2 + d) % 3 != 0) continue;
        for (int l = 0; l < static_cast<int>(Layout::count); ++l) {
          if (!all && l != (i / 6 + d) % static_cast<int>(Layout::count)) continue;
          g.add(dtype, static_cast<Layout>(l), is_slow_row(op) ? 3 : 7, 19);
        }
        if (all) g.add(dtype, Layout::plain, 0, 5);
        // Several threads.
        if (all ? !is_slow_row(op) : i % 16 == 0) g.add(dtype, Layout::plain, 300, 500);
      }
      if (!g.f->body.results.empty()) compare(g, cpus[static_cast<size_t>(i) % cpus.size()]);
    }
  }
}

}  // namespace

TEST_CASE("every row through the compiler, a sample of types and layouts", "[rows native]") { check_rows(false); }
TEST_CASE("every row, type and layout through the compiler", "[.][all rows native]") { check_rows(true); }
