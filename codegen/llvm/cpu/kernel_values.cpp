// Expressions of a kernel, each where it belongs: once, for a unit, or for the vectors of a tile.
#include <llvm/Support/ErrorHandling.h>

#include "codegen/abi.h"
#include "codegen/llvm/cpu/kernel_emitter.h"
#include "codegen/llvm/emit/frame.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int64_t kPollIterations = 4096;
constexpr int64_t kFewIterations = 1 << 16;  // are over before anybody could want to interrupt them

}  // namespace

void KernelEmitter::locate(uint32_t location) {
  if (locate_) b_.SetCurrentDebugLocation(locate_(*function_, location));
}

std::vector<bool> KernelEmitter::needed_by(llvm::function_ref<bool(const Stage&)> which) {
  std::vector<ExprId> roots;
  for (const Stage& s : kernel_.stages) {
    if (which(s)) add_roots(s, roots);
  }
  return needed_expressions(kernel_, std::move(roots));
}

llvm::Value* KernelEmitter::value_of(const Expr& e, llvm::ArrayRef<llvm::Value*> operands, int lanes, llvm::Value* mask) {
  auto dtype_of = [&](size_t i) { return kernel_.exprs[e.operands[i]].dtype; };
  std::span<llvm::Value* const> all(operands.data(), operands.size());
  if (e.kind == ExprKind::cast) return emit_cast(b_, dtype_of(0), e.dtype, lanes, operands[0]);
  if (e.kind == ExprKind::bitcast) return emit_bitcast(b_, dtype_of(0), e.dtype, lanes, operands[0]);
  DType dtype = dtype_of(e.operands.size() - 1);
  if (llvm::Value* violated = emit_violation(b_, e.op, dtype, lanes, all)) note_violation(violated, mask, e.location);
  return emit_row(b_, e.op, dtype, lanes, all);
}

llvm::Value* KernelEmitter::uniform(ExprId id) {
  if (llvm::Value* known = context_->uniform[id]) return known;
  const Expr& e = kernel_.exprs[id];
  locate(e.location);
  llvm::Value* v = nullptr;
  switch (e.kind) {
    case ExprKind::constant: v = element_constant(b_, e.dtype, e.bits); break;
    case ExprKind::value:
    case ExprKind::load: v = uniform_load(id); break;
    case ExprKind::size: v = b_.CreateTrunc(size(e.size), register_type(b_, e.dtype, 1)); break;
    case ExprKind::index: {
      for (uint32_t g = 0; g < space_.groups.size() && !v; ++g) {
        if (space_.groups[g].axis == e.axis) v = b_.CreateTrunc(context_->index[g], register_type(b_, e.dtype, 1));
      }
      break;
    }
    case ExprKind::reduced: v = context_->reduced[e.stage]; break;
    case ExprKind::apply:
    case ExprKind::cast:
    case ExprKind::bitcast: {
      Values operands;
      for (ExprId o : e.operands) operands.push_back(uniform(o));
      v = value_of(e, operands, 1, nullptr);
      break;
    }
    case ExprKind::kept:
    case ExprKind::variable:
    case ExprKind::looped: break;  // an element's, or the loop's to set
  }
  if (!v) llvm::report_fatal_error("a kernel uses a value before there is one");
  return context_->uniform[id] = v;
}

void KernelEmitter::compute_uniform(const std::vector<bool>& needed, Level level) {
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (needed[e] && space_.levels[e] <= level && !space_.in_loop[e] && !space_.after_loop[e]) uniform(e);
  }
}

void KernelEmitter::compute_bases(const std::vector<bool>& needed, llvm::function_ref<bool(const Stage&)> which) {
  size_t n = kernel_.exprs.size();
  for (ExprId e = 0; e < n; ++e) {
    if (needed[e] && kernel_.exprs[e].kind == ExprKind::load && !is_uniform(e) && has_base(kernel_.exprs[e].access)) {
      context_->bases[e] = base_of(kernel_.exprs[e].access);
    }
  }
  for (size_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    if (stage.kind == Stage::Kind::store && which(stage) && has_base(stage.target))
      context_->bases[n + s] = base_of(stage.target);
  }
}

llvm::Value* KernelEmitter::vector(ExprId e, Tile& tile, size_t v) {
  if (!tile.values[e].empty()) return tile.values[e][v];
  if (!is_uniform(e)) {
    compute_varying(e, tile);
    return tile.values[e][v];
  }
  if (tile.lanes == 1) return uniform(e);
  llvm::Value*& splat = tile.splats[e];
  if (!splat) splat = b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), uniform(e));
  return splat;
}

void KernelEmitter::compute_varying(ExprId id, Tile& tile) {
  const Expr& e = kernel_.exprs[id];
  locate(e.location);
  Values out;
  if (e.kind == ExprKind::load && !tile.row.empty() && is_turned(e.access)) {
    tile.values[id] = turned_load(e.access, id, tile);
    return;
  }
  for (size_t v = 0; v < tile.start.size(); ++v) {
    switch (e.kind) {
      case ExprKind::load: out.push_back(load(id, tile, v)); break;
      case ExprKind::index: {
        if (space_.by_digits) {
          out.push_back(digit_index(e, tile, v));
          break;
        }
        llvm::Type* type = register_type(b_, e.dtype, 1);
        if (space_.turned != kNone && space_.groups[space_.turned].axis == e.axis) {
          llvm::Value* row = context_->index[space_.turned];
          if (!tile.row.empty()) row = b_.CreateAdd(row, tile.row[v]);
          row = b_.CreateTrunc(row, type);
          out.push_back(tile.lanes > 1 ? b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), row) : row);
          break;
        }
        llvm::Value* first = b_.CreateTrunc(tile.start[v], type);
        if (tile.lanes > 1) {
          llvm::SmallVector<llvm::Constant*, 64> numbers;
          for (int i = 0; i < tile.lanes; ++i) numbers.push_back(llvm::ConstantInt::get(type, static_cast<uint64_t>(i)));
          first =
              b_.CreateAdd(b_.CreateVectorSplat(static_cast<unsigned>(tile.lanes), first), llvm::ConstantVector::get(numbers));
        }
        out.push_back(first);
        break;
      }
      case ExprKind::kept: {
        llvm::Value* address = b_.CreateGEP(memory_type(b_, e.dtype), context_->scratch[e.stage], tile.start[v]);
        out.push_back(emit_load(b_, e.dtype, tile.lanes, address));
        break;
      }
      case ExprKind::reduced: {
        for (const Partial* p : strip_) {
          if (p->stage != e.stage) continue;
          llvm::Type* type = register_type(b_, partial_of(*p), tile.lanes);
          llvm::Value* partial = b_.CreateLoad(type, at(*p, p->result, tile.strip[v]));
          out.push_back(finished(*p, partial, tile.lanes, group_size(space_.middle)));
        }
        break;
      }
      case ExprKind::apply:
      case ExprKind::cast:
      case ExprKind::bitcast: {
        Values operands;
        for (ExprId o : e.operands) operands.push_back(vector(o, tile, v));
        out.push_back(value_of(e, operands, tile.lanes, tile.mask));
        break;
      }
      default: llvm::report_fatal_error("a kernel uses a value of its loop outside");
    }
  }
  tile.values[id] = std::move(out);
}

KernelEmitter::Tile KernelEmitter::make_tile(int lanes, llvm::ArrayRef<llvm::Value*> start, llvm::Value* mask) {
  Tile tile;
  tile.lanes = lanes;
  tile.start.assign(start.begin(), start.end());
  tile.mask = mask;
  tile.values.resize(kernel_.exprs.size());
  tile.splats.assign(kernel_.exprs.size(), nullptr);
  return tile;
}

void KernelEmitter::compute_tile(const std::vector<bool>& needed, Tile& tile) {
  bool loops = false;
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (!needed[e] || space_.in_loop[e] || space_.after_loop[e]) {
      loops = loops || (needed[e] && space_.after_loop[e]);
    } else if (!is_uniform(e) && tile.values[e].empty()) {
      compute_varying(e, tile);
    }
  }
  if (!loops) return;
  compute_loop(needed, tile);
  for (ExprId e = 0; e < needed.size(); ++e) {
    if (!needed[e] || !space_.after_loop[e] || kernel_.exprs[e].kind == ExprKind::looped) continue;
    if (is_uniform(e)) {
      uniform(e);
    } else {
      compute_varying(e, tile);
    }
  }
}

// All iterations of the kernel's loop for the elements of a tile. Variables are memory here, and registers after LLVM's passes.
void KernelEmitter::compute_loop(const std::vector<bool>& needed, Tile& tile) {
  const KernelLoop& loop = kernel_.loops[0];
  if (!is_uniform(loop.condition)) llvm::report_fatal_error("a kernel's loop has a condition for each element");
  size_t vectors = tile.start.size();
  std::vector<Values> memory(loop.variables.size());
  std::vector<bool> varies(loop.variables.size(), false);
  for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
    const Expr& expr = kernel_.exprs[e];
    if ((expr.kind == ExprKind::variable || expr.kind == ExprKind::looped) && !is_uniform(e)) varies[expr.axis] = true;
  }
  auto each_variable = [&](auto&& f) {
    for (size_t i = 0; i < loop.variables.size(); ++i) {
      for (size_t v = 0; v < (varies[i] ? vectors : 1); ++v) f(loop.variables[i], i, v);
    }
  };
  auto type_of = [&](size_t i) { return register_type(b_, loop.variables[i].dtype, varies[i] ? tile.lanes : 1); };
  auto assign = [&](auto&& source) {
    std::vector<Values> next(loop.variables.size());
    each_variable([&](const KernelLoop::Variable& x, size_t i, size_t v) {
      next[i].push_back(varies[i] ? vector(source(x), tile, v) : uniform(source(x)));
    });
    each_variable([&](const KernelLoop::Variable&, size_t i, size_t v) { b_.CreateStore(next[i][v], memory[i][v]); });
  };
  auto read = [&](ExprKind kind) {
    std::vector<Values> now(loop.variables.size());
    each_variable(
        [&](const KernelLoop::Variable&, size_t i, size_t v) { now[i].push_back(b_.CreateLoad(type_of(i), memory[i][v])); });
    for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
      const Expr& expr = kernel_.exprs[e];
      if (expr.kind != kind) continue;
      if (varies[expr.axis]) {
        tile.values[e] = now[expr.axis];
      } else {
        context_->uniform[e] = now[expr.axis][0];
      }
    }
  };
  auto compute = [&](const std::vector<bool>& set) {
    for (ExprId e = 0; e < set.size(); ++e) {
      if (!set[e] || !space_.in_loop[e] || kernel_.exprs[e].kind == ExprKind::variable) continue;
      if (is_uniform(e)) {
        uniform(e);
      } else if (tile.values[e].empty()) {
        compute_varying(e, tile);
      }
    }
  };

  // Uniform values that the body takes as vectors are made into vectors here.
  if (tile.lanes > 1) {
    for (ExprId e = 0; e < needed.size(); ++e) {
      if (!needed[e] || !space_.in_loop[e] || is_uniform(e)) continue;
      for_each_operand(kernel_, kernel_.exprs[e], [&](ExprId o) {
        if (is_uniform(o) && !space_.in_loop[o]) vector(o, tile, 0);
      });
    }
  }
  each_variable([&](const KernelLoop::Variable& x, size_t i, size_t v) {
    if (varies[i] && !space_.in_loop[x.next]) vector(x.next, tile, v);
  });
  each_variable([&](const KernelLoop::Variable&, size_t i, size_t) { memory[i].push_back(allocate(type_of(i))); });
  assign([](const KernelLoop::Variable& x) { return x.init; });
  bool polls = loop.limit < 0 || loop.limit > kFewIterations;
  llvm::Value* count = loop.limit >= 0 || polls ? allocate(b_.getInt64Ty()) : nullptr;
  if (count) b_.CreateStore(word(0), count);

  llvm::LLVMContext& context = module_.getContext();
  llvm::BasicBlock* head = llvm::BasicBlock::Create(context, "head", function_);
  llvm::BasicBlock* body = llvm::BasicBlock::Create(context, "body", function_);
  llvm::BasicBlock* after = llvm::BasicBlock::Create(context, "after", function_);
  b_.CreateBr(head);
  b_.SetInsertPoint(head);
  read(ExprKind::variable);
  compute(needed_expressions(kernel_, {loop.condition}));
  llvm::Value* go_on = uniform(loop.condition);
  if (loop.limit >= 0) go_on = b_.CreateAnd(go_on, b_.CreateICmpSLT(b_.CreateLoad(b_.getInt64Ty(), count), word(loop.limit)));
  b_.CreateCondBr(go_on, body, after);

  b_.SetInsertPoint(body);
  if (count) {
    llvm::Value* done = b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), count), word(1));
    b_.CreateStore(done, count);
    if (polls) {
      when(b_.CreateICmpEQ(b_.CreateAnd(done, word(kPollIterations - 1)), word(0)), [&] {
        llvm::LoadInst* wanted = b_.CreateLoad(b_.getInt32Ty(), load_interrupt(b_, frame_));
        wanted->setVolatile(true);
        llvm::BasicBlock* leave = llvm::BasicBlock::Create(context, "leave", function_);
        llvm::BasicBlock* stay = llvm::BasicBlock::Create(context, "stay", function_);
        b_.CreateCondBr(b_.CreateICmpNE(wanted, b_.getInt32(0)), leave, stay);
        b_.SetInsertPoint(leave);
        b_.CreateStore(word(1), failed_address(b_, frame_));
        b_.CreateRetVoid();
        b_.SetInsertPoint(stay);
      });
    }
  }
  std::vector<ExprId> roots;
  for (const KernelLoop::Variable& x : loop.variables) roots.push_back(x.next);
  compute(needed_expressions(kernel_, std::move(roots)));
  assign([](const KernelLoop::Variable& x) { return x.next; });
  b_.CreateBr(head);

  b_.SetInsertPoint(after);
  for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
    if (!space_.in_loop[e]) continue;
    tile.values[e].clear();
    context_->uniform[e] = nullptr;
    tile.splats[e] = nullptr;
  }
  read(ExprKind::looped);
}

void KernelEmitter::for_tiles(llvm::Value* first, llvm::Value* last, int64_t known, int lanes, int unroll, bool masked,
                              TileBody body) {
  auto* begin = llvm::dyn_cast<llvm::ConstantInt>(first);
  auto* end = llvm::dyn_cast<llvm::ConstantInt>(last);
  if (known < 0 && begin && end) known = std::max<int64_t>(0, end->getSExtValue() - begin->getSExtValue());
  auto run = [&](Tile tile) {
    body(tile);
    // What the loop gave belongs to the tile.
    for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
      if (space_.after_loop[e]) context_->uniform[e] = nullptr;
    }
  };
  auto side_by_side = [&](int vectors) {
    first = loop(first, last, int64_t{lanes} * vectors, true, [&](llvm::Value* i) {
      Values start;
      for (int v = 0; v < vectors; ++v) start.push_back(b_.CreateAdd(i, word(int64_t{v} * lanes)));
      run(make_tile(lanes, start));
    });
  };
  if (unroll > 0) {
    while (unroll > 1 && known >= 0 && known < int64_t{lanes} * unroll) unroll /= 2;
    if (known < 0 || known >= int64_t{lanes} * unroll) side_by_side(unroll);
    int64_t rest = known < 0 ? -1 : known % (int64_t{lanes} * unroll);
    if (rest == 0) return;
    if (unroll > 1 && !masked && lanes > 1 && (rest < 0 || rest >= lanes)) side_by_side(1);
    if (lanes == 1 || (rest > 0 && rest % lanes == 0 && !masked)) return;
  }
  loop(first, last, masked ? lanes : 1, false, [&](llvm::Value* i) {
    run(make_tile(masked ? lanes : 1, {i}, masked ? lane_mask(lanes, b_.CreateSub(last, i)) : nullptr));
  });
}

}  // namespace tfl::codegen
