// Expressions of a kernel at one element, and its memory.
#include "codegen/llvm/gpu/kernel.h"

#include <llvm/Support/ErrorHandling.h>

#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/frame.h"

namespace tfl::codegen {

using namespace plan;

GpuKernel::GpuKernel(llvm::Module& module, const Plan& plan, uint32_t kernel, bool emulated)
    : plan_(plan),
      kernel_(plan.kernels[kernel]),
      space_(kernel_space(plan, kernel, Cpu::x86_64_v3)),
      own_(std::make_unique<Grid>(module, "kernel" + std::to_string(kernel), emulated)),
      grid_(*own_),
      b_(grid_.b),
      kept_(kernel_.stages.size()),
      reduced_(kernel_.stages.size()) {}

GpuKernel::GpuKernel(Grid& grid, const Plan& plan, uint32_t kernel)
    : plan_(plan),
      kernel_(plan.kernels[kernel]),
      space_(kernel_space(plan, kernel, Cpu::x86_64_v3)),
      grid_(grid),
      b_(grid.b),
      kept_(kernel_.stages.size()),
      reduced_(kernel_.stages.size()) {}

void GpuKernel::element(llvm::Value* i, llvm::Value* j, llvm::Value* columns, ValueId value, llvm::Value* v) {
  auto every = [](const Stage&) { return true; };
  Point p = point();
  if (space_.groups.size() == 1) {
    p.index[0] = b_.CreateAdd(b_.CreateMul(i, columns), j);
  } else {
    for (uint32_t g = 0; g < space_.groups.size(); ++g) p.index[g] = space_.groups[g].axis == 0 ? i : j;
  }
  for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
    if (kernel_.exprs[e].kind == ExprKind::load && kernel_.exprs[e].access.value == value) p.values[e] = v;
  }
  compute(needed_by(every), Level::vector, p);
  store_all(every, p);
}

llvm::Function* GpuKernel::emit() {
  switch (kernel_.form) {
    case Form::map: emit_map(); break;
    case Form::rows: emit_rows(); break;
    case Form::columns: emit_columns(); break;
    case Form::blocks: emit_blocks(); break;
    case Form::tree: emit_tree(); break;
  }
  grid_.finish();
  return grid_.function();
}

GpuKernel::Point GpuKernel::point() const {
  Point p;
  p.index.assign(space_.groups.size(), nullptr);
  p.values.assign(kernel_.exprs.size(), nullptr);
  p.reduced.assign(kernel_.stages.size(), nullptr);
  return p;
}

std::vector<bool> GpuKernel::needed_by(Which which) const {
  std::vector<ExprId> roots;
  for (const Stage& s : kernel_.stages) {
    if (which(s)) add_roots(s, roots);
  }
  return needed_expressions(kernel_, std::move(roots));
}

// Operands stand before their users, so nothing here goes deep.
void GpuKernel::compute(const std::vector<bool>& needed, Level level, Point& p) {
  bool loops = false;
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (!needed[e] || space_.levels[e] > level) continue;
    loops = loops || space_.after_loop[e];
    if (!space_.in_loop[e] && !space_.after_loop[e]) value(e, p);
  }
  if (!loops || level != Level::vector) return;
  compute_loop(p);
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (needed[e] && space_.after_loop[e]) value(e, p);
  }
}

// All iterations of the kernel's loop for one element.
void GpuKernel::compute_loop(Point& p) {
  const KernelLoop& loop = kernel_.loops[0];
  std::vector<Grid::Variable> variables;
  for (const KernelLoop::Variable& v : loop.variables) variables.push_back(grid_.variable(register_type(b_, v.dtype, 1)));
  Grid::Variable count = grid_.variable(b_.getInt64Ty());
  auto read = [&](ExprKind kind) {
    for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
      if (kernel_.exprs[e].kind == kind) p.values[e] = grid_.get(variables[kernel_.exprs[e].axis]);
    }
  };
  auto assign = [&](auto&& source) {
    llvm::SmallVector<llvm::Value*, 8> next;
    for (const KernelLoop::Variable& v : loop.variables) next.push_back(value(source(v), p));
    for (size_t i = 0; i < next.size(); ++i) grid_.set(variables[i], next[i]);
  };
  auto compute_inside = [&](std::vector<ExprId> roots) {
    std::vector<bool> needed = needed_expressions(kernel_, std::move(roots));
    for (ExprId e = 0; e < needed.size(); ++e) {
      if (needed[e] && space_.in_loop[e] && kernel_.exprs[e].kind != ExprKind::variable) value(e, p);
    }
  };
  std::vector<ExprId> next;
  for (const KernelLoop::Variable& v : loop.variables) {
    next.push_back(v.next);
    if (!space_.in_loop[v.next]) value(v.next, p);
  }
  // What the body takes from outside is computed before it.
  std::vector<ExprId> all = next;
  all.push_back(loop.condition);
  std::vector<bool> needed = needed_expressions(kernel_, all);
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (needed[e] && !space_.in_loop[e] && !space_.after_loop[e]) value(e, p);
  }
  assign([](const KernelLoop::Variable& v) { return v.init; });
  grid_.set(count, grid_.word(0));

  llvm::LLVMContext& context = b_.getContext();
  llvm::Function* f = grid_.function();
  auto* head = llvm::BasicBlock::Create(context, "head", f);
  auto* body = llvm::BasicBlock::Create(context, "body", f);
  auto* after = llvm::BasicBlock::Create(context, "after", f);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  read(ExprKind::variable);
  compute_inside({loop.condition});
  llvm::Value* go_on = value(loop.condition, p);
  llvm::Value* done = grid_.get(count);
  if (loop.limit >= 0) go_on = b_.CreateAnd(go_on, b_.CreateICmpSLT(done, grid_.word(loop.limit)));
  b_.CreateCondBr(go_on, body, after);
  b_.SetInsertPoint(body);
  compute_inside(next);
  assign([](const KernelLoop::Variable& v) { return v.next; });
  grid_.set(count, b_.CreateAdd(done, grid_.word(1)));
  b_.CreateBr(head);
  b_.SetInsertPoint(after);
  for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
    if (space_.in_loop[e]) p.values[e] = nullptr;
  }
  read(ExprKind::looped);
}

llvm::Value* GpuKernel::value(ExprId id, Point& p) {
  llvm::Value*& known = p.values[id];
  if (known) return known;
  const Expr& e = kernel_.exprs[id];
  switch (e.kind) {
    case ExprKind::constant: return known = element_constant(b_, e.dtype, e.bits);
    case ExprKind::value:
    case ExprKind::load: return known = load(e, p);
    case ExprKind::size: return known = b_.CreateTrunc(size(e.size), register_type(b_, e.dtype, 1));
    case ExprKind::index:
      for (uint32_t g = 0; g < space_.groups.size(); ++g) {
        if (space_.groups[g].axis == e.axis && p.index[g])
          return known = b_.CreateTrunc(p.index[g], register_type(b_, e.dtype, 1));
      }
      break;
    case ExprKind::reduced: known = p.reduced[e.stage]; break;
    case ExprKind::kept:
      if (p.kept) known = grid_.get(kept_[e.stage], p.kept);
      break;
    case ExprKind::apply:
    case ExprKind::cast:
    case ExprKind::bitcast: {
      llvm::SmallVector<llvm::Value*, 4> operands;
      for (ExprId o : e.operands) operands.push_back(value(o, p));
      DType dtype = kernel_.exprs[e.operands[e.operands.size() - 1]].dtype;
      if (e.kind == ExprKind::cast) return p.values[id] = emit_cast(b_, dtype, e.dtype, 1, operands[0]);
      if (e.kind == ExprKind::bitcast) return p.values[id] = emit_bitcast(b_, dtype, e.dtype, 1, operands[0]);
      if (llvm::Value* violated = emit_violation(b_, e.op, dtype, 1, {operands.data(), operands.size()}))
        violation(violated, e.location);
      return p.values[id] = emit_row(b_, e.op, dtype, 1, {operands.data(), operands.size()});
    }
    case ExprKind::variable:
    case ExprKind::looped: break;  // the loop sets them
  }
  if (!known) llvm::report_fatal_error("a kernel uses a value before there is one");
  return known;
}

void GpuKernel::violation(llvm::Value* violated, uint32_t location) {
  grid_.when(violated, [&] {
    b_.CreateAlignedStore(grid_.word(int64_t{location} + 1), failed_address(b_, grid_.frame()), llvm::Align(8));
  });
}

llvm::Value* GpuKernel::size(Size s) {
  if (std::optional<int64_t> known = known_size(plan_, s)) return grid_.word(*known);
  return grid_.number(symbol_of(s));
}

llvm::Value* GpuKernel::group_size(uint32_t group) {
  llvm::Value* v = grid_.word(1);
  for (Size s : space_.groups[group].sizes) v = b_.CreateMul(v, size(s));
  return v;
}

llvm::Value* GpuKernel::memory(ValueId value) {
  const plan::Value& of = plan_.values[value];
  if (of.home == Home::scalar) return emit_word_address(b_, grid_.frame(), of.word);
  return grid_.pointer(of.word);
}

llvm::Value* GpuKernel::address(const Access& a, Point& p) {
  llvm::Value* offset = size(a.offset);
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    Size stride = space_.stride(a, g);
    if (stride == 0) continue;
    if (!p.index[g]) continue;  // an axis of one element, or one that this access does not go along yet
    offset = b_.CreateAdd(offset, b_.CreateMul(p.index[g], size(stride)));
  }
  for (const Access::Indexed& i : a.indexed) {
    bool is_signed = !is_unsigned(kernel_.exprs[i.index].dtype) && kernel_.exprs[i.index].dtype != DType::Bool;
    llvm::Value* index = b_.CreateIntCast(value(i.index, p), b_.getInt64Ty(), is_signed);
    offset = b_.CreateAdd(offset, b_.CreateMul(index, size(i.factor)));
  }
  return b_.CreateGEP(memory_type(b_, plan_.values[a.value].dtype), memory(a.value), offset);
}

llvm::Value* GpuKernel::load(const Expr& e, Point& p) {
  const Access& a = e.access;
  llvm::Value* mask = a.mask == kNone ? nullptr : value(a.mask, p);
  return emit_load(b_, plan_.values[a.value].dtype, 1, address(a, p), mask);
}

void GpuKernel::store(const Stage& s, Point& p) {
  llvm::Value* mask = s.target.mask == kNone ? nullptr : value(s.target.mask, p);
  emit_store(b_, plan_.values[s.target.value].dtype, 1, value(s.expr, p), address(s.target, p), mask);
}

void GpuKernel::store_all(Which which, Point& p) {
  for (const Stage& s : kernel_.stages) {
    if (which(s)) store(s, p);
  }
}

llvm::Value* GpuKernel::outer_count() {
  llvm::Value* count = grid_.word(1);
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    if (g != space_.vector && g != space_.middle) count = b_.CreateMul(count, group_size(g));
  }
  return count;
}

void GpuKernel::set_outer(llvm::Value* number, Point& p) {
  // The last one needs no division; of few elements 32 bits are enough.
  llvm::SmallVector<uint32_t, 4> groups;
  int64_t all = 1;
  bool few = true;
  for (uint32_t g = 0; g < space_.groups.size(); ++g) {
    if (g == space_.vector || g == space_.middle) continue;
    groups.push_back(g);
    int64_t known = space_.groups[g].known();
    few = few && known >= 0 && !__builtin_mul_overflow(all, std::max<int64_t>(known, 1), &all) && all <= INT32_MAX;
  }
  llvm::Type* narrow = few ? b_.getInt32Ty() : b_.getInt64Ty();
  llvm::Value* rest = b_.CreateTrunc(number, narrow);
  while (!groups.empty()) {
    uint32_t g = groups.pop_back_val();
    if (groups.empty()) {
      p.index[g] = b_.CreateZExt(rest, b_.getInt64Ty());
    } else {
      llvm::Value* count = b_.CreateTrunc(group_size(g), narrow);
      p.index[g] = b_.CreateZExt(b_.CreateURem(rest, count), b_.getInt64Ty());
      rest = b_.CreateUDiv(rest, count);
    }
  }
}

}  // namespace tfl::codegen
