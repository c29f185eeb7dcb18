// Maps: every element once.
#include <llvm/IR/IntrinsicsX86.h>

#include "codegen/llvm/cpu/kernel_emitter.h"

namespace tfl::codegen {

using namespace plan;

bool KernelEmitter::masks_tails() const {
  if (cpu_ == Cpu::x86_64_v4) return true;
  if (cpu_ == Cpu::aarch64) return false;
  // AVX2 has masked access to 32 and 64 bits only.
  auto narrow = [&](const Access& a) { return dtype_size(plan_.values[a.value].dtype) < 4; };
  for (ExprId e = 0; e < kernel_.exprs.size(); ++e) {
    if (kernel_.exprs[e].kind == ExprKind::load && !is_uniform(e) && narrow(kernel_.exprs[e].access)) return false;
  }
  for (const Stage& s : kernel_.stages) {
    if (s.kind == Stage::Kind::store && narrow(s.target)) return false;
  }
  return true;
}

void KernelEmitter::run_stages(uint32_t pass, Tile& tile) {
  for (uint32_t s = 0; s < kernel_.stages.size(); ++s) {
    const Stage& stage = kernel_.stages[s];
    if (stage.pass != pass) continue;
    if (stage.kind == Stage::Kind::store) {
      for (size_t v = 0; v < tile.start.size(); ++v) store(s, vector(stage.expr, tile, v), tile, v);
    } else if (stage.kind == Stage::Kind::keep) {
      DType dtype = kernel_.exprs[stage.expr].dtype;
      for (size_t v = 0; v < tile.start.size(); ++v) {
        llvm::Value* address = b_.CreateGEP(memory_type(b_, dtype), context_->scratch[s], tile.start[v]);
        emit_store(b_, dtype, tile.lanes, vector(stage.expr, tile, v), address);
      }
    }
  }
}

// Results that no cache holds need not push out everything else on their way, nor be read before they are written.
bool KernelEmitter::streams() const {
  constexpr int64_t kBytes = int64_t{32} << 20;
  if (!space_.by_elements || cpu_ == Cpu::aarch64 || !masks_tails()) return false;
  int64_t elements = space_.groups[0].known();
  bool any = false;
  for (const Stage& s : kernel_.stages) {
    DType dtype = plan_.values[s.target.value].dtype;
    if (space_.stride(s.target, 0) != 1 || !s.target.indexed.empty() || s.target.mask != kNone) return false;
    any = any || elements > kBytes / static_cast<int64_t>(dtype_size(dtype));
    for (const Expr& e : kernel_.exprs) {
      if (e.kind == ExprKind::load && e.access.value == s.target.value) return false;
    }
  }
  return any;
}

// Masked vectors up to an aligned address, whole ones past the caches, and masked ones again.
void KernelEmitter::emit_stream(const std::vector<bool>& needed) {
  compute_bases(needed, [](const Stage&) { return true; });
  auto tiles = [&](llvm::Value* first, llvm::Value* last, int64_t known, int unroll) {
    for_tiles(first, last, known, space_.lanes, unroll, true, [&](Tile& tile) {
      compute_tile(needed, tile);
      run_stages(0, tile);
    });
  };
  constexpr int64_t kAligned = 64;
  int64_t step = int64_t{space_.lanes} * space_.unroll;
  llvm::Value* bits = word(0);
  for (size_t s = 0; s < kernel_.stages.size(); ++s) {
    bits = b_.CreateOr(bits, b_.CreatePtrToInt(context_->bases[kernel_.exprs.size() + s], b_.getInt64Ty()));
  }
  llvm::Value* aligned = b_.CreateICmpEQ(b_.CreateAnd(bits, word(kAligned - 1)), word(0));
  llvm::Value* head = b_.CreateAnd(b_.CreateAdd(first_, word(kAligned - 1)), word(-kAligned));
  head = b_.CreateSelect(aligned, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, head, last_), last_);
  llvm::Value* steps = b_.CreateSDiv(b_.CreateSub(last_, head), word(step));
  llvm::Value* tail = b_.CreateAdd(head, b_.CreateMul(steps, word(step)));
  loop(word(0), word(2), 1, false, [&](llvm::Value* round) {
    llvm::Value* before = b_.CreateICmpEQ(round, word(0));
    tiles(b_.CreateSelect(before, first_, tail), b_.CreateSelect(before, head, last_), -1, 0);
    when(before, [&] {
      streaming_ = true;
      tiles(head, tail, step, space_.unroll);
      streaming_ = false;
    });
  });
  b_.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {}, {});  // before anybody is told that this is done
}

void KernelEmitter::emit_map() {
  auto stores = [](const Stage&) { return true; };
  std::vector<bool> needed = needed_by(stores);
  compute_uniform(needed, Level::function);
  llvm::Value* length = group_size(space_.vector);
  int64_t known = space_.groups[space_.vector].known();
  auto tiles = [&](llvm::Value* first, llvm::Value* last, int64_t count) {
    for_tiles(first, last, count, space_.lanes, space_.unroll, masks_tails(), [&](Tile& tile) {
      compute_tile(needed, tile);
      run_stages(0, tile);
    });
  };
  if (space_.by_digits) return emit_digits(needed);
  if (space_.turned != kNone) return emit_turned(needed);
  if (streams()) return emit_stream(needed);
  // Elements, or elements of outer indices, that one index of the first axis stands for.
  llvm::Value* first = first_;
  llvm::Value* last = last_;
  if (space_.by_first_axis) {
    llvm::Value* each = word(1);
    for (uint32_t g = 0; g < space_.groups.size(); ++g) {
      if (g == space_.vector && !space_.outer.empty()) continue;
      bool leads = space_.groups[g].first == 0 && !space_.groups[g].sizes.empty();
      for (size_t k = leads ? 1 : 0; k < space_.groups[g].sizes.size(); ++k)
        each = b_.CreateMul(each, size(space_.groups[g].sizes[k]));
    }
    first = b_.CreateMul(first, each);
    last = b_.CreateMul(last, each);
  }
  if (space_.outer.empty()) {
    compute_bases(needed, stores);
    tiles(first, last, -1);
    return;
  }
  bool chunks = map_has_chunks(space_);
  start_outer(first, chunks ? b_.CreateSDiv(b_.CreateAdd(length, word(kMapChunk - 1)), word(kMapChunk)) : nullptr);
  loop(first, last, 1, false, [&](llvm::Value*) {
    Context saved = *context_;
    llvm::Value* chunk = read_outer(*context_);
    next_outer();
    compute_uniform(needed, Level::unit);
    compute_bases(needed, stores);
    if (chunks) {
      llvm::Value* begin = b_.CreateMul(chunk, word(kMapChunk));
      llvm::Value* end = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b_.CreateAdd(begin, word(kMapChunk)));
      tiles(begin, end, -1);
    } else {
      tiles(word(0), length, known);
    }
    *context_ = std::move(saved);
  });
}

}  // namespace tfl::codegen
