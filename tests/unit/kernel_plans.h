// Plans of kernels made by hand, compiled and run, and what they must give: the same expressions by eager operations over whole
// tensors, element by element where memory is read and written.
#pragma once

#include <memory>

#include "codegen/abi.h"
#include "codegen/llvm/compile.h"
#include "codegen/load/loader.h"
#include "tests/unit/tensors.h"

namespace tfl::test {

using namespace plan;  // NOLINT: a header of tests

/// Makes expressions of one kernel.
struct KernelMaker {
  Plan& plan;
  Kernel kernel;

  KernelMaker(Plan& p, Form form, Sizes axes) : plan(p) {
    kernel.form = form;
    kernel.axes = std::move(axes);
  }
  ExprId add(Expr e) {
    kernel.exprs.push_back(std::move(e));
    return static_cast<ExprId>(kernel.exprs.size() - 1);
  }
  ExprId load(ValueId from, Sizes strides, Size offset = 0, SmallVec<Access::Indexed, 2> indexed = {}, ExprId mask = kNone) {
    Expr e;
    e.kind = ExprKind::load;
    e.dtype = plan.values[from].dtype;
    e.access = {from, offset, std::move(strides), std::move(indexed), mask};
    return add(std::move(e));
  }
  ExprId constant(DType dtype, uint64_t bits) {
    Expr e;
    e.dtype = dtype;
    e.bits = bits;
    return add(std::move(e));
  }
  ExprId number(float v) {
    uint32_t bits = 0;
    std::memcpy(&bits, &v, 4);
    return constant(DType::F32, bits);
  }
  ExprId apply(Op op, DType dtype, std::initializer_list<ExprId> operands) {
    Expr e;
    e.kind = ExprKind::apply;
    e.op = op;
    e.dtype = dtype;
    for (ExprId o : operands) e.operands.push_back(o);
    return add(std::move(e));
  }
  ExprId of(ExprKind kind, DType dtype, uint32_t axis = 0, uint32_t stage = 0, Size size = 0) {
    Expr e;
    e.kind = kind;
    e.dtype = dtype;
    e.axis = axis;
    e.stage = stage;
    e.size = size;
    return add(std::move(e));
  }
  ExprId cast(DType dtype, ExprId x) {
    ExprId e = of(ExprKind::cast, dtype);
    kernel.exprs[e].operands.push_back(x);
    return e;
  }
  uint32_t stage(Stage::Kind kind, uint32_t pass, ExprId e) {
    Stage s;
    s.kind = kind;
    s.pass = pass;
    s.expr = e;
    kernel.stages.push_back(std::move(s));
    return static_cast<uint32_t>(kernel.stages.size() - 1);
  }
  void store(uint32_t pass, ExprId e, ValueId to, Sizes strides, Size offset = 0, ExprId mask = kNone, bool once = false) {
    uint32_t s = stage(once ? Stage::Kind::store_once : Stage::Kind::store, pass, e);
    kernel.stages[s].target = {to, offset, std::move(strides), {}, mask};
  }
  ExprId reduce(uint32_t pass, ExprId e, ReduceKind kind, DType dtype, Size divisor = 0) {
    uint32_t s = stage(Stage::Kind::reduce, pass, e);
    kernel.stages[s].reduce = kind;
    kernel.stages[s].dtype = dtype;
    kernel.stages[s].divisor = divisor;
    return of(ExprKind::reduced, dtype, 0, s);
  }
  ExprId keep(uint32_t pass, ExprId e) {
    uint32_t s = stage(Stage::Kind::keep, pass, e);
    return of(ExprKind::kept, kernel.exprs[e].dtype, 0, s);
  }
  void done(int64_t cost = 1) {
    kernel.cost = cost;
    Step step;
    step.kind = Step::Kind::kernel;
    step.index = static_cast<uint32_t>(plan.kernels.size());
    plan.kernels.push_back(std::move(kernel));
    plan.body.steps.push_back(std::move(step));
  }
};

/// A plan, its memory, and the sizes that its symbols stand for.
struct KernelPlan {
  Context& context;
  Plan plan;
  std::vector<int64_t> symbols;
  std::vector<Tensor> memory;  // by value; rank 1 and contiguous
  int64_t cut = 0;             // parts of a parallel call: 0: at most the grain, else of these and other sizes
  uint32_t interrupt = 0;      // what Frame::interrupt points to
  static constexpr uint32_t kSymbolWords = 8;

  explicit KernelPlan(Context& c) : context(c) { plan.words = kSymbolWords; }
  Size symbol(int64_t value) {
    symbols.push_back(value);
    plan.symbols.push_back({});
    return ~static_cast<Size>(symbols.size() - 1);
  }
  ValueId value(Tensor t) {
    Value v;
    v.dtype = t.dtype();
    v.dims = Sizes{t.size()};
    v.home = Home::input;
    v.word = plan.words++;
    plan.values.push_back(std::move(v));
    memory.push_back(std::move(t));
    return static_cast<ValueId>(plan.values.size() - 1);
  }
  ValueId random(DType dtype, int64_t n, uint32_t seed, bool tame = false) {
    return value(random_tensor(context, dtype, Dims{n}, seed, tame));
  }
  ValueId zeros(DType dtype, int64_t n) {
    Tensor t = Tensor::empty(context, dtype, Dims{n}).take();
    std::memset(t.raw(), 0, t.bytes());
    return value(std::move(t));
  }
  int64_t size(Size s) const { return is_known(s) ? s : symbols[symbol_of(s)]; }

  std::shared_ptr<const codegen::LoadedCode> compile(codegen::Cpu cpu) const;
  /// Runs machine code over `memory`; gives tfl_run's answer.
  int64_t run(const codegen::LoadedCode& code);
  /// Runs the code that a GPU would have over `memory`, by `blocks` blocks; gives whether nothing failed.
  bool run_emulated(int64_t blocks);
  /// Compiles, runs, and compares with eager operations, as CPUs do and as GPUs do. Every value is compared.
  void check(std::vector<codegen::Cpu> cpus = {});

 private:
  void compare(const std::vector<Tensor>& expected) const;
};

/// The processors this machine can play.
std::vector<codegen::Cpu> test_cpus();

}  // namespace tfl::test
