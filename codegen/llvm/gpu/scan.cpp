// Prefix sums and products in the order of runtime/kernels/reduce/scan_loops.h: blocks of 4,096 from left to right, each of which is a
// thread's. Sequences are gone through twice: for the totals of their blocks, and for the results. A short sequence is one thread's as a
// whole; a long one many blocks of threads', or one's, where a block does the routine.
#include "codegen/llvm/gpu/launches.h"
#include "codegen/llvm/gpu/routine.h"
#include "runtime/kernels/reduce/scan_loops.h"

namespace tfl::codegen {

namespace {

constexpr int64_t kRuns = 52;       // that the blocks so far are cut into, at most
constexpr int64_t kTotalBytes = 8;  // bytes that a total takes of shared memory

}  // namespace

struct GpuRoutine::Scan {
  GpuRoutine& r;
  Grid& grid;
  Builder& b;
  bool product, exclusive, reverse;
  llvm::Type* type;
  llvm::Value *length, *inner, *sequences;
  Grid::Variable chain, runs, carry;

  explicit Scan(GpuRoutine& routine)
      : r(routine),
        grid(r.grid_),
        b(r.b_),
        product(r.r_.flags & kScanProduct),
        exclusive(r.r_.flags & kScanExclusive),
        reverse(r.r_.flags & kScanReverse),
        type(register_type(b, r.dtype_, 1)),
        length(r.size(1)),
        inner(r.size(2)),
        sequences(b.CreateMul(r.size(0), inner)),
        chain(grid.variable(type)) {}

  llvm::Value* combine(llvm::Value* x, llvm::Value* y) {
    if (type->isFloatingPointTy()) return product ? b.CreateFMul(x, y) : b.CreateFAdd(x, y);
    return product ? b.CreateMul(x, y) : b.CreateAdd(x, y);
  }
  llvm::Value* neutral() { return r.number(product ? 1 : 0, type); }
  llvm::Value* place(llvm::Value* sequence, llvm::Value* i) {
    llvm::Value* outer = b.CreateUDiv(sequence, inner);
    llvm::Value* column = b.CreateSub(sequence, b.CreateMul(outer, inner));
    if (reverse) i = b.CreateSub(b.CreateSub(length, grid.word(1)), i);
    return b.CreateAdd(b.CreateMul(b.CreateAdd(b.CreateMul(outer, length), i), inner), column);
  }

  // The chain over the elements [first, last) of a block; `before`: the total of the blocks before it, where `carried`; results
  // are stored only with it.
  void block(llvm::Value* sequence, llvm::Value* first, llvm::Value* last, llvm::Value* before, llvm::Value* carried) {
    grid.loop(first, last, grid.word(1), [&](llvm::Value* i) {
      llvm::Value* at = place(sequence, i);
      llvm::Value* begins = b.CreateICmpEQ(i, first);
      llvm::Value* x = r.load(0, r.dtype_, at);
      llvm::Value* old = grid.get(chain);
      llvm::Value* here = b.CreateSelect(begins, x, combine(old, x));
      grid.set(chain, here);
      if (!before) return;
      llvm::Value* mine = exclusive ? old : here;
      llvm::Value* out = b.CreateSelect(carried, combine(before, mine), mine);
      if (exclusive) out = b.CreateSelect(begins, b.CreateSelect(carried, before, neutral()), out);
      r.store(1, r.dtype_, out, at);
    });
  }

  void by_thread() {
    r.each(sequences, [&](llvm::Value* sequence) {
      grid.set(chain, neutral());
      block(sequence, grid.word(0), length, neutral(), b.getFalse());
    });
  }

  // One block more: the totals of the runs that the blocks are cut into, and of all of them. As in counting, runs of equal length
  // become one.
  void add(llvm::Value* blocks, llvm::Value* total) {
    llvm::Value* depth = b.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, blocks);
    llvm::Value* carries = b.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, b.CreateNot(blocks), b.getFalse());
    grid.set(runs, total, depth);
    grid.loop(grid.word(0), carries, grid.word(1), [&](llvm::Value* done) {
      llvm::Value* to = b.CreateSub(b.CreateSub(depth, done), grid.word(1));
      grid.set(runs, combine(grid.get(runs, to), grid.get(runs, b.CreateAdd(to, grid.word(1)))), to);
    });
    grid.set(carry, grid.get(runs, grid.word(0)));
    llvm::Value* end = b.CreateAdd(b.CreateSub(depth, carries), grid.word(1));
    grid.loop(grid.word(1), end, grid.word(1),
              [&](llvm::Value* d) { grid.set(carry, combine(grid.get(carry), grid.get(runs, d))); });
  }

  // A thread a block of 4,096 elements; between the two rounds of it one a sequence, for what comes before each of its blocks. Words of the
  // memory: the total of each block, then what comes before it.
  void spread() {
    llvm::Value* blocks = grid.up(length, scans::kBlock);
    llvm::Value* all = b.CreateMul(sequences, blocks);
    auto total = [&](llvm::Value* i) { return r.own_word(i); };
    auto before = [&](llvm::Value* i) { return r.own_word(b.CreateAdd(i, all)); };
    if (r.phase_ == 1) {
      runs = grid.variable(type, kRuns);
      carry = grid.variable(type);
      return r.each(sequences, [&](llvm::Value* sequence) {
        grid.set(carry, neutral());
        grid.loop(grid.word(0), blocks, grid.word(1), [&](llvm::Value* number) {
          llvm::Value* i = b.CreateAdd(b.CreateMul(sequence, blocks), number);
          b.CreateStore(grid.get(carry), before(i));
          add(number, b.CreateLoad(type, total(i)));
        });
      });
    }
    r.each(all, [&](llvm::Value* i) {
      llvm::Value* sequence = b.CreateUDiv(i, blocks);
      llvm::Value* number = b.CreateSub(i, b.CreateMul(sequence, blocks));
      llvm::Value* first = b.CreateMul(number, grid.word(scans::kBlock));
      llvm::Value* last = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b.CreateAdd(first, grid.word(scans::kBlock)));
      grid.set(chain, neutral());
      if (r.phase_ == 2)
        return block(sequence, first, last, b.CreateLoad(type, before(i)), b.CreateICmpSGT(number, grid.word(0)));
      block(sequence, first, last, nullptr, nullptr);
      b.CreateStore(grid.get(chain), total(i));
    });
  }

  void by_block() {
    runs = grid.variable(type, kRuns);
    carry = grid.variable(type);
    llvm::Value* memory = grid.shared(2 * kGpuThreads * kTotalBytes);
    auto total = [&](llvm::Value* i) { return b.CreateGEP(b.getInt64Ty(), memory, i); };
    auto before = [&](llvm::Value* i) { return total(b.CreateAdd(i, grid.word(kGpuThreads))); };
    llvm::Value* blocks = grid.up(length, scans::kBlock);
    grid.units(sequences, [&](llvm::Value* sequence) {
      grid.section([&](llvm::Value*) { grid.set(carry, neutral()); }, false);
      grid.loop(grid.word(0), blocks, grid.word(kGpuThreads), [&](llvm::Value* round) {
        auto of_thread = [&](llvm::Value* thread, llvm::function_ref<void(llvm::Value*, llvm::Value*, llvm::Value*)> body) {
          llvm::Value* number = b.CreateAdd(round, thread);
          llvm::Value* first = b.CreateMul(number, grid.word(scans::kBlock));
          llvm::Value* last =
              b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, length, b.CreateAdd(first, grid.word(scans::kBlock)));
          grid.when(b.CreateICmpSLT(number, blocks), [&] { body(number, first, last); });
        };
        grid.section([&](llvm::Value* thread) {
          of_thread(thread, [&](llvm::Value*, llvm::Value* first, llvm::Value* last) {
            grid.set(chain, neutral());
            block(sequence, first, last, nullptr, nullptr);
            b.CreateStore(grid.get(chain), total(thread));
          });
        });
        grid.section([&](llvm::Value* thread) {
          grid.when(b.CreateICmpEQ(thread, grid.word(0)), [&] {
            llvm::Value* count =
                b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(blocks, round), grid.word(kGpuThreads));
            grid.loop(grid.word(0), count, grid.word(1), [&](llvm::Value* i) {
              b.CreateStore(grid.get(carry), before(i));
              add(b.CreateAdd(round, i), b.CreateLoad(type, total(i)));
            });
          });
        });
        grid.section([&](llvm::Value* thread) {
          of_thread(thread, [&](llvm::Value* number, llvm::Value* first, llvm::Value* last) {
            grid.set(chain, neutral());
            block(sequence, first, last, b.CreateLoad(type, before(thread)), b.CreateICmpSGT(number, grid.word(0)));
          });
        });
      });
    });
  }
};

void GpuRoutine::scan() {
  Scan s(*this);
  if (is_spread(r_)) {
    count_units({0, 2}, kGpuThreads);
    if (phase_ != 1) units_.factors.push_back({r_.sizes[1], scans::kBlock});
    return s.spread();
  }
  int64_t length = known(1);
  bool always_short = length >= 0 && length <= scans::kBlock;
  count_units({0, 2}, always_short ? kGpuThreads : 1);
  llvm::Value* is_short = b_.CreateICmpSLE(s.length, grid_.word(scans::kBlock));
  grid_.when(is_short, [&] { s.by_thread(); });
  grid_.when(b_.CreateNot(is_short), [&] { s.by_block(); });
}

}  // namespace tfl::codegen
