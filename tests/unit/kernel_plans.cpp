#include "tests/unit/kernel_plans.h"

#include "codegen/gpu/emulator.h"
#include "codegen/gpu/gpu_code.h"
#include "tests/unit/compiled.h"

namespace tfl::test {

using namespace codegen;

namespace {

Tensor copy_of(Context& c, const Tensor& t) {
  Tensor made = Tensor::empty(c, t.dtype(), t.dims()).take();
  if (t.bytes()) std::memcpy(made.raw(), t.raw(), t.bytes());
  return made;
}

// One kernel by eager operations.
struct Reference {
  KernelPlan& p;
  const Kernel& k;
  std::vector<Tensor>& memory;
  Context& c = p.context;
  Dims dims;
  std::vector<Tensor> values;   // by expression, of shape `dims`
  std::vector<Tensor> results;  // by stage, of the reduction, over `dims` with a 1 where it was
  std::vector<Tensor> variables;
  bool failed = false;

  Reference(KernelPlan& plan, const Kernel& kernel, std::vector<Tensor>& m) : p(plan), k(kernel), memory(m) {
    for (Size s : k.axes) dims.push_back(p.size(s));
    values.resize(k.exprs.size());
    results.resize(k.stages.size());
  }
  int64_t elements() const {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  std::vector<int64_t> indices(int64_t i) const {
    std::vector<int64_t> at(dims.size());
    for (size_t a = dims.size(); a-- > 0; i /= dims[a]) at[a] = i % dims[a];
    return at;
  }
  int64_t integer(const Tensor& t, int64_t i) const {
    Tensor wide = t.dtype() == DType::I64 ? t : cast_to(c, t, DType::I64);
    return wide.data<int64_t>()[i];
  }
  // Where element i of an access lies; -1: it is masked.
  std::vector<int64_t> places(const Access& a) {
    std::vector<int64_t> out(static_cast<size_t>(elements()));
    std::vector<Tensor> wide;
    for (const auto& x : a.indexed) wide.push_back(cast_to(c, eval(x.index), DType::I64));
    Tensor mask = a.mask == kNone ? Tensor() : eval(a.mask);
    std::vector<int64_t> at(dims.size(), 0);
    for (int64_t i = 0, n = elements(); i < n; ++i) {
      int64_t place = p.size(a.offset);
      for (size_t axis = 0; axis < a.strides.size(); ++axis) place += at[axis] * p.size(a.strides[axis]);
      for (size_t x = 0; x < wide.size(); ++x) place += p.size(a.indexed[x].factor) * wide[x].data<int64_t>()[i];
      out[static_cast<size_t>(i)] = mask && !mask.data<bool>()[i] ? -1 : place;
      for (size_t axis = dims.size(); axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
    }
    return out;
  }
  Tensor broadcast(const Tensor& t) {
    Tensor shape = Tensor::empty(c, DType::I64, Dims{static_cast<int64_t>(dims.size())}).take();
    for (size_t i = 0; i < dims.size(); ++i) shape.data<int64_t>()[i] = dims[i];
    return copy_of_view(apply1(c, Op::broadcast_to, {t, shape}).take());
  }
  Tensor copy_of_view(const Tensor& t) {
    // An identity that leaves row-major memory.
    Tensor out = Tensor::empty(c, t.dtype(), t.dims()).take();
    auto n = static_cast<int64_t>(dtype_size(t.dtype()));
    for (int64_t i = 0; i < t.size(); ++i) {
      int64_t rest = i, place = 0;
      for (int a = t.rank(); a-- > 0; rest /= t.dim(a)) place += rest % t.dim(a) * t.strides()[static_cast<size_t>(a)];
      std::memcpy(out.raw() + i * n, t.raw() + place * n, static_cast<size_t>(n));
    }
    return out;
  }
  Tensor filled(DType dtype, uint64_t bits) {
    Tensor t = Tensor::empty(c, dtype, dims).take();
    for (int64_t i = 0; i < t.size(); ++i)
      std::memcpy(t.raw() + i * static_cast<int64_t>(dtype_size(dtype)), &bits, dtype_size(dtype));
    return t;
  }
  Tensor run_op(Op op, const std::vector<Tensor>& operands, const Attrs& attrs = {}) {
    Tensors out;
    auto done = tfl::apply(c, op, operands, attrs, out);
    if (done) return out[0];
    failed = true;
    return filled(operands.back().dtype(), 0);
  }
  Tensor eval(ExprId id) {
    if (values[id]) return values[id];
    const Expr& e = k.exprs[id];
    std::vector<Tensor> operands;
    if (e.kind == ExprKind::apply || e.kind == ExprKind::cast || e.kind == ExprKind::bitcast) {
      for (ExprId o : e.operands) operands.push_back(eval(o));
    }
    Tensor t;
    switch (e.kind) {
      case ExprKind::constant: t = filled(e.dtype, e.bits); break;
      case ExprKind::size: t = cast_to(c, filled(DType::I64, static_cast<uint64_t>(p.size(e.size))), e.dtype); break;
      case ExprKind::index:
        t = Tensor::empty(c, DType::I64, dims).take();
        for (int64_t i = 0; i < t.size(); ++i) t.data<int64_t>()[i] = indices(i)[e.axis];
        t = cast_to(c, t, e.dtype);
        break;
      case ExprKind::value:
      case ExprKind::load: {
        t = filled(e.dtype, 0);
        std::vector<int64_t> at = places(e.access);
        size_t n = dtype_size(e.dtype);
        for (size_t i = 0; i < at.size(); ++i) {
          if (at[i] >= 0) std::memcpy(t.raw() + i * n, memory[e.access.value].raw() + static_cast<size_t>(at[i]) * n, n);
        }
        break;
      }
      case ExprKind::apply: t = run_op(e.op, operands); break;
      case ExprKind::cast: t = cast_to(c, operands[0], e.dtype); break;
      case ExprKind::bitcast: t = run_op(Op::bitcast, operands, Attrs().set_dtype(Attr::dtype, e.dtype)); break;
      case ExprKind::reduced: t = broadcast(results[e.stage]); break;
      case ExprKind::kept: t = eval(k.stages[e.stage].expr); break;
      case ExprKind::variable: return variables[e.axis];
      case ExprKind::looped: return looped(e.axis);
    }
    return values[id] = t;
  }
  Tensor looped(uint32_t number) {
    const KernelLoop& loop = k.loops[0];
    std::vector<Tensor> before = values;
    variables.clear();
    for (const auto& v : loop.variables) variables.push_back(eval(v.init));
    before = values;
    for (int64_t i = 0; (loop.limit < 0 || i < loop.limit) && eval(loop.condition).data<bool>()[0]; ++i) {
      std::vector<Tensor> next;
      for (const auto& v : loop.variables) next.push_back(eval(v.next));
      variables = next;
      values = before;
    }
    values = before;
    return variables[number];
  }
  static DType partial_of(ReduceKind kind, DType d) {
    if (kind == ReduceKind::wide_sum) return is_unsigned(d) ? DType::U64 : DType::I64;
    if (d == DType::F16 || d == DType::BF16) return DType::F32;
    return d == DType::Bool ? DType::U8 : d;
  }
  Tensor reduce(const Tensor& x, ReduceKind kind, int64_t axis) {
    static constexpr Op kOps[] = {Op::reduce_sum, Op::reduce_prod, Op::reduce_max, Op::reduce_min, Op::reduce_sum};
    Attrs attrs;
    attrs.set_ints(Attr::axes, Dims{axis}).set_bool(Attr::keepdims, true);
    return apply1(c, kOps[static_cast<int>(kind)], {x}, attrs).take();
  }
  Tensor finish(Tensor partial, const Stage& s) {
    if (s.divisor != 0) {
      int64_t n = p.size(s.divisor);
      Tensor divisor = Tensor::empty(c, DType::I64, Dims{}).take();
      divisor.data<int64_t>()[0] = n;
      if (n == 0 && !is_floating(partial.dtype())) divisor.data<int64_t>()[0] = 1;
      divisor = cast_to(c, divisor, partial.dtype());
      partial = run_op(is_floating(partial.dtype()) ? Op::divide : Op::truncatediv, {partial, divisor});
    }
    return cast_to(c, partial, s.dtype);
  }
  void write(const Stage& s, const Tensor& x, bool once, size_t reduced_axis) {
    std::vector<int64_t> at = places(s.target);
    size_t n = dtype_size(x.dtype());
    for (int64_t i = 0, count = elements(); i < count; ++i) {
      if (at[static_cast<size_t>(i)] < 0 || (once && indices(i)[reduced_axis] != 0)) continue;
      std::memcpy(memory[s.target.value].raw() + static_cast<size_t>(at[static_cast<size_t>(i)]) * n,
                  x.raw() + static_cast<size_t>(i) * n, n);
    }
  }
  // The lanes and trees of blocks are those of the eager reduction; their partial results in a tensor of their own.
  void blocks() {
    const Stage& s = k.stages[0];
    Tensor x = cast_to(c, eval(s.expr), partial_of(s.reduce, k.exprs[s.expr].dtype));
    int64_t length = dims[dims.size() - 1], count = (length + kReduceBlock - 1) / kReduceBlock;
    int64_t outer = length ? elements() / length : 0;
    size_t n = dtype_size(x.dtype());
    for (int64_t o = 0; o < outer; ++o) {
      std::vector<int64_t> at = indices(o * length);
      for (int64_t b = 0; b < count; ++b) {
        int64_t size = std::min(kReduceBlock, length - b * kReduceBlock);
        Tensor part = Tensor::empty(c, x.dtype(), Dims{size}).take();
        std::memcpy(part.raw(), x.raw() + static_cast<size_t>(o * length + b * kReduceBlock) * n, static_cast<size_t>(size) * n);
        int64_t place = p.size(s.target.offset) + b * p.size(s.target.strides[dims.size() - 1]);
        for (size_t a = 0; a + 1 < dims.size(); ++a) place += at[a] * p.size(s.target.strides[a]);
        std::memcpy(memory[s.target.value].raw() + static_cast<size_t>(place) * n, reduce(part, s.reduce, 0).raw(), n);
      }
    }
  }
  Tensor tree(const Tensor& x, ReduceKind kind) {
    static constexpr Op kOps[] = {Op::add, Op::multiply, Op::maximum, Op::minimum, Op::add};
    int64_t length = x.dim(x.rank() - 1), outer = x.size() / length;
    Dims shape(x.dims());
    shape[shape.size() - 1] = 1;
    Tensor out = Tensor::empty(c, x.dtype(), shape).take();
    size_t n = dtype_size(x.dtype());
    for (int64_t o = 0; o < outer; ++o) {
      std::vector<Tensor> level;
      for (int64_t i = 0; i < length; ++i) {
        level.push_back(Tensor::empty(c, x.dtype(), Dims{}).take());
        std::memcpy(level.back().raw(), x.raw() + static_cast<size_t>(o * length + i) * n, n);
      }
      while (level.size() > 1) {
        std::vector<Tensor> next;
        for (size_t i = 0; i < level.size(); i += 2) {
          next.push_back(i + 1 < level.size() ? run_op(kOps[static_cast<int>(kind)], {level[i], level[i + 1]}) : level[i]);
        }
        level = next;
      }
      std::memcpy(out.raw() + static_cast<size_t>(o) * n, level[0].raw(), n);
    }
    return out;
  }
  void run() {
    if (k.form == Form::blocks) return blocks();
    for (ExprId e = 0; e < k.exprs.size(); ++e) {
      if (k.exprs[e].kind == ExprKind::load && k.loops.empty()) {
        bool early = k.exprs[e].access.indexed.empty() && k.exprs[e].access.mask == kNone;
        if (early) eval(e);
      }
    }
    size_t axis = k.form == Form::columns ? dims.size() - 2 : dims.empty() ? 0 : dims.size() - 1;
    uint32_t passes = 1;
    for (const Stage& s : k.stages) passes = std::max(passes, s.pass + 1);
    for (uint32_t pass = 0; pass < passes; ++pass) {
      for (size_t i = 0; i < k.stages.size(); ++i) {
        const Stage& s = k.stages[i];
        if (s.pass != pass || s.kind != Stage::Kind::reduce) continue;
        Tensor x = cast_to(c, eval(s.expr), partial_of(s.reduce, k.exprs[s.expr].dtype));
        results[i] = finish(k.form == Form::tree ? tree(x, s.reduce) : reduce(x, s.reduce, static_cast<int64_t>(axis)), s);
      }
      std::vector<std::pair<const Stage*, Tensor>> writes;
      for (const Stage& s : k.stages) {
        if (s.pass == pass && (s.kind == Stage::Kind::store || s.kind == Stage::Kind::store_once))
          writes.emplace_back(&s, eval(s.expr));
      }
      for (auto& [s, x] : writes) {
        bool once = s->kind == Stage::Kind::store_once;
        if (once && dims[axis] == 0) {
          write_without_elements(*s, axis);
        } else {
          write(*s, x, once, axis);
        }
      }
    }
  }
  // What is stored once a row must be there for rows without elements, too: the same over one element a row.
  void write_without_elements(const Stage& s, size_t axis) {
    Dims saved = dims;
    dims[axis] = 1;
    std::vector<Tensor> none(k.exprs.size());
    values.swap(none);
    write(s, eval(s.expr), true, axis);
    values.swap(none);
    dims = saved;
  }
};

struct Cutting {
  Frame* frame;
  int64_t cut;
};

// Parts of many sizes, last to first.
void in_parts(Frame* frame, KernelFunction kernel, int64_t units, int64_t grain) {
  int64_t cut = static_cast<Cutting*>(frame->self)->cut;
  uint64_t random = 12345;
  for (int64_t last = units; last > 0;) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    int64_t part = cut == 0 ? grain : cut + static_cast<int64_t>(random >> 60);
    int64_t first = std::max<int64_t>(0, last - part);
    kernel(frame, first, last);
    last = first;
  }
}

}  // namespace

std::shared_ptr<const LoadedCode> KernelPlan::compile(Cpu cpu) const { return load_code(plan, cpu); }

int64_t KernelPlan::run(const LoadedCode& code) {
  static constexpr Services services{in_parts, nullptr};
  std::vector<int64_t> storage(sizeof(Frame) / 8 + plan.words);
  auto* frame = reinterpret_cast<Frame*>(storage.data());
  Cutting cutting{frame, cut};
  frame->services = &services;
  frame->self = &cutting;
  frame->interrupt = &interrupt;
  int64_t* words = storage.data() + offsetof(Frame, words) / 8;
  REQUIRE(symbols.size() <= kSymbolWords);
  for (size_t i = 0; i < symbols.size(); ++i) words[i] = symbols[i];
  for (size_t i = 0; i < memory.size(); ++i) {
    words[plan.values[i].word] = reinterpret_cast<int64_t>(memory[i].raw());
  }
  return code.entry()(frame);
}

std::vector<Cpu> test_cpus() {
  std::vector<Cpu> cpus;
  if (best_isa_level() >= IsaLevel::v3) cpus.push_back(Cpu::x86_64_v3);
  if (best_isa_level() >= IsaLevel::v4) cpus.push_back(Cpu::x86_64_v4);
  return cpus;
}

void KernelPlan::check(std::vector<Cpu> cpus) {
  if (cpus.empty()) cpus = test_cpus();
  std::vector<Tensor> before, expected;
  for (const Tensor& t : memory) before.push_back(copy_of(context, t));
  for (const Tensor& t : memory) expected.push_back(copy_of(context, t));
  bool failed = false;
  for (const Kernel& k : plan.kernels) {
    Reference r(*this, k, expected);
    r.run();
    failed = failed || r.failed;
  }
  for (Cpu cpu : cpus) {
    memory.clear();
    for (const Tensor& t : before) memory.push_back(copy_of(context, t));
    int64_t done = run(*compile(cpu));
    INFO("cpu " << static_cast<int>(cpu));
    CHECK(done == (failed ? kFailed : kDone));
    if (!failed) compare(expected);
  }
  for (int64_t blocks : {1, 3}) {
    memory.clear();
    for (const Tensor& t : before) memory.push_back(copy_of(context, t));
    INFO("as a GPU of " << blocks << " blocks");
    CHECK(run_emulated(blocks) == !failed);
    if (!failed) compare(expected);
  }
  memory = before;
}

void KernelPlan::compare(const std::vector<Tensor>& expected) const {
  for (size_t i = 0; i < memory.size(); ++i) {
    int64_t at = first_difference(memory[i], expected[i]);
    INFO("value " << i << " element " << at << " of " << memory[i].size());
    if (at >= 0) UNSCOPED_INFO("bits " << element_bits(memory[i], at) << ", should be " << element_bits(expected[i], at));
    CHECK(at == -1);
  }
}

// Each kernel by itself, in the order of the steps.
bool KernelPlan::run_emulated(int64_t blocks) {
  GpuSchedule schedule;
  schedule.plan = plan;
  for (uint32_t i = 0; i < plan.kernels.size(); ++i) schedule.module.kernels.push_back(i);
  GpuCode code;
  std::string error = compile_gpu(schedule, "", Cpu::x86_64_v3, code);
  INFO(error);
  REQUIRE(error.empty());
  std::unique_ptr<gpu::Device> device = make_emulator(context).take();
  std::unique_ptr<gpu::Module> module = device->load(code.image).take();
  std::vector<int64_t> storage(sizeof(Frame) / 8 + plan.words);
  auto* frame = reinterpret_cast<Frame*>(storage.data());
  frame->interrupt = &interrupt;
  int64_t* words = storage.data() + offsetof(Frame, words) / 8;
  for (size_t i = 0; i < symbols.size(); ++i) words[i] = symbols[i];
  for (size_t i = 0; i < memory.size(); ++i) words[plan.values[i].word] = reinterpret_cast<int64_t>(memory[i].raw());
  uint64_t argument = reinterpret_cast<uint64_t>(frame);
  for (size_t i = 0; i < plan.kernels.size(); ++i) {
    std::string name = kernel_name(schedule.module, i);
    gpu::Launch launch;
    launch.module = module.get();
    launch.kernel = name;
    launch.blocks = static_cast<uint32_t>(blocks);
    launch.threads = 256;
    launch.arguments = {&argument, 1};
    REQUIRE(device->launch(launch));
  }
  return frame->failed == 0;
}

}  // namespace tfl::test
