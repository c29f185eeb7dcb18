// Products of matrices by the threads of a GPU: one chain of fused multiply-adds for each element and each 512 values of k, in the order
// of runtime/kernels/matmul.h. Large ones go through tiles in shared memory; in small ones each thread reads what its element needs.
#include <algorithm>

#include "codegen/llvm/gpu_kernel.h"
#include "codegen/llvm/kernel.h"
#include "runtime/kernels/matmul.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int64_t kSide = 16;         // threads along each side of a tile
constexpr int64_t kShort = 32;        // sides of a matrix below it are no tiles
constexpr int64_t kFew = 64 * 64;     // elements of a product that are left to one thread each
constexpr int64_t kPad = 4;           // elements between rows of a tile, so that they begin in different banks
constexpr int64_t kLarge = 1024;      // sides of matrices that are worth tiles of 128

class GpuProduct {
 public:
  GpuProduct(llvm::Module& module, const Plan& plan, uint32_t number, bool emulated)
      : plan_(plan),
        p_(plan.products[number]),
        dtype_(plan.values[p_.a].dtype),
        grid_(module, "product" + std::to_string(number), emulated),
        b_(grid_.b),
        type_(register_type(b_, dtype_, 1)) {}

  llvm::Function* emit(GpuUnits& units) {
    m_ = size(p_.m);
    n_ = size(p_.n);
    k_ = size(p_.k);
    batch_ = size(p_.batch);
    a_ = grid_.pointer(plan_.values[p_.a].word);
    bb_ = grid_.pointer(plan_.values[p_.b].word);
    to_ = grid_.pointer(plan_.values[p_.result].word);
    units.factors.push_back({p_.batch, 1});
    if (is_small()) {
      units.factors.push_back({p_.m, 1});
      units.factors.push_back({p_.n, 1});
      units.per = kGpuThreads;
      emit_direct();
    } else {
      bool large = known(p_.m) >= kLarge && known(p_.n) >= kLarge && dtype_size(dtype_) == 4;
      side_ = large ? 128 : 64;
      depth_ = large ? 8 : 16;
      units.factors.push_back({p_.m, side_});
      units.factors.push_back({p_.n, side_});
      emit_tiles();
    }
    grid_.finish();
    return grid_.function();
  }

 private:
  int64_t known(Size s) const { return known_size(plan_, s).value_or(-1); }
  llvm::Value* size(Size s) {
    std::optional<int64_t> known = known_size(plan_, s);
    return known ? grid_.word(*known) : grid_.number(symbol_of(s));
  }
  bool is_small() const {
    int64_t m = known(p_.m), n = known(p_.n);
    return (m >= 0 && m < kShort) || (n >= 0 && n < kShort) || (m >= 0 && n >= 0 && m * n <= kFew);
  }

  // x y + z
  llvm::Value* chained(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    if (type_->isFloatingPointTy()) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
    return b_.CreateAdd(b_.CreateMul(x, y), z);
  }
  llvm::Value* sum(llvm::Value* x, llvm::Value* y) { return type_->isFloatingPointTy() ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y); }
  llvm::Value* zero() { return llvm::Constant::getNullValue(type_); }

  llvm::Value* a_at(llvm::Value* batch, llvm::Value* i, llvm::Value* p) {
    return element(a_, batch, p_.a_batch, i, p_.transpose_a ? grid_.word(1) : k_, p, p_.transpose_a ? m_ : grid_.word(1));
  }
  llvm::Value* b_at(llvm::Value* batch, llvm::Value* p, llvm::Value* j) {
    return element(bb_, batch, p_.b_batch, p, p_.transpose_b ? grid_.word(1) : n_, j, p_.transpose_b ? k_ : grid_.word(1));
  }
  llvm::Value* to_at(llvm::Value* batch, llvm::Value* i, llvm::Value* j) {
    llvm::Value* row = b_.CreateAdd(b_.CreateMul(batch, m_), i);
    return b_.CreateGEP(type_, to_, b_.CreateAdd(b_.CreateMul(row, n_), j));
  }
  llvm::Value* element(llvm::Value* from, llvm::Value* batch, Size of_batch, llvm::Value* x, llvm::Value* of_x, llvm::Value* y, llvm::Value* of_y) {
    llvm::Value* offset = b_.CreateAdd(b_.CreateMul(x, of_x), b_.CreateMul(y, of_y));
    if (of_batch != 0) offset = b_.CreateAdd(offset, b_.CreateMul(batch, size(of_batch)));
    return b_.CreateGEP(type_, from, offset);
  }

  // An element is a thread's, which keeps nothing but the sum.
  void emit_direct() {
    llvm::Value* matrix = b_.CreateMul(m_, n_);
    llvm::Value* all = b_.CreateMul(batch_, matrix);
    grid_.units(grid_.up(all, kGpuThreads), [&](llvm::Value* unit) {
      grid_.section(
          [&](llvm::Value* thread) {
            llvm::Value* e = b_.CreateAdd(b_.CreateMul(unit, grid_.word(kGpuThreads)), thread);
            grid_.when(b_.CreateICmpSLT(e, all), [&] { direct(e, matrix); });
          },
          false);
    });
  }

  void direct(llvm::Value* e, llvm::Value* matrix) {
    llvm::Value* batch = b_.CreateUDiv(e, matrix);
    llvm::Value* place = b_.CreateSub(e, b_.CreateMul(batch, matrix));
    llvm::Value* i = b_.CreateUDiv(place, n_);
    llvm::Value* j = b_.CreateSub(place, b_.CreateMul(i, n_));
    Grid::Variable chain = grid_.variable(type_), total = grid_.variable(type_);
    grid_.set(total, zero());
    grid_.loop(grid_.word(0), k_, grid_.word(kProductBlock), [&](llvm::Value* first) {
      grid_.set(chain, zero());
      llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k_, b_.CreateAdd(first, grid_.word(kProductBlock)));
      grid_.loop(first, last, grid_.word(1), [&](llvm::Value* p) {
        llvm::Value* x = emit_load(b_, dtype_, 1, a_at(batch, i, p));
        llvm::Value* y = emit_load(b_, dtype_, 1, b_at(batch, p, j));
        grid_.set(chain, chained(x, y, grid_.get(chain)));
      });
      llvm::Value* begins = b_.CreateICmpEQ(first, grid_.word(0));
      llvm::Value* mine = grid_.get(chain);
      grid_.set(total, b_.CreateSelect(begins, mine, sum(grid_.get(total), mine)));
    });
    emit_store(b_, dtype_, 1, grid_.get(total), to_at(batch, i, j));
  }

  // A block of threads makes a square of the result, a thread some elements of it, in fours. For each few values of k the parts of a
  // and b are brought into shared memory. What earlier blocks of k gave lies in the result.
  void emit_tiles() {
    int64_t row = side_ + kPad;
    int64_t bytes = static_cast<int64_t>(dtype_size(dtype_));
    llvm::Value* tile_a = grid_.shared(2 * depth_ * row * bytes);
    llvm::Value* tile_b = b_.CreateGEP(type_, tile_a, grid_.word(depth_ * row));
    int64_t count = side_ / kSide;  // of elements along each side that a thread has
    Grid::Variable chains = grid_.variable(type_, count * count);
    llvm::Value *down = grid_.up(m_, side_), *along = grid_.up(n_, side_);
    auto place = [&](llvm::Value* number, int64_t i) {  // of element i of a thread along a side
      return b_.CreateAdd(b_.CreateMul(number, grid_.word(4)), grid_.word(i / 4 * 4 * kSide + i % 4));
    };
    auto across = [&](llvm::Value* thread) { return b_.CreateAnd(thread, grid_.word(kSide - 1)); };
    auto below = [&](llvm::Value* thread) { return b_.CreateLShr(thread, 4); };
    grid_.units(b_.CreateMul(batch_, b_.CreateMul(down, along)), [&](llvm::Value* unit) {
      llvm::Value* left = b_.CreateUDiv(unit, along);
      llvm::Value* j0 = b_.CreateMul(b_.CreateSub(unit, b_.CreateMul(left, along)), grid_.word(side_));
      llvm::Value* batch = b_.CreateUDiv(left, down);
      llvm::Value* i0 = b_.CreateMul(b_.CreateSub(left, b_.CreateMul(batch, down)), grid_.word(side_));
      auto leave = [&](llvm::Value* first) {
        grid_.section(
            [&](llvm::Value* thread) {
              thread = grid_.here(thread);  // addresses that are only needed here must not live through the loop over k
              for (int64_t r = 0; r < count; ++r) {
                for (int64_t s = 0; s < count; ++s) {
                  llvm::Value* i = b_.CreateAdd(i0, place(below(thread), r));
                  llvm::Value* j = b_.CreateAdd(j0, place(across(thread), s));
                  grid_.when(b_.CreateAnd(b_.CreateICmpSLT(i, m_), b_.CreateICmpSLT(j, n_)), [&] {
                    llvm::Value* at = to_at(batch, i, j);
                    llvm::Value* mine = grid_.get(chains, grid_.word(r * count + s));
                    llvm::Value* later = b_.CreateICmpSGT(first, grid_.word(0));
                    llvm::Value* before = emit_load(b_, dtype_, 1, at, later);
                    emit_store(b_, dtype_, 1, b_.CreateSelect(later, sum(before, mine), mine), at);
                  });
                }
              }
            },
            false);
      };
      auto clear = [&] {
        grid_.section(
            [&](llvm::Value*) {
              for (int64_t i = 0; i < count * count; ++i) grid_.set(chains, zero(), grid_.word(i));
            },
            false);
      };
      auto bring = [&](llvm::Value* p0, llvm::Value* end) {
        grid_.section([&](llvm::Value* thread) {
          fill(tile_a, row, thread, p0, end, i0, m_, !p_.transpose_a, [&](llvm::Value* i, llvm::Value* p) { return a_at(batch, i, p); });
          fill(tile_b, row, thread, p0, end, j0, n_, p_.transpose_b, [&](llvm::Value* j, llvm::Value* p) { return b_at(batch, p, j); });
        });
      };
      auto step = [&](llvm::Value* thread, llvm::Value* q) {
        llvm::SmallVector<llvm::Value*, 8> x, y;
        llvm::Value* line = b_.CreateMul(q, grid_.word(row));
        for (int64_t i = 0; i < count; ++i) {
          x.push_back(from_tile(tile_a, b_.CreateAdd(line, place(below(thread), i))));
          y.push_back(from_tile(tile_b, b_.CreateAdd(line, place(across(thread), i))));
        }
        for (int64_t r = 0; r < count; ++r) {
          for (int64_t s = 0; s < count; ++s) {
            llvm::Value* at = grid_.word(r * count + s);
            grid_.set(chains, chained(x[static_cast<size_t>(r)], y[static_cast<size_t>(s)], grid_.get(chains, at)), at);
          }
        }
      };
      clear();
      grid_.when(b_.CreateICmpEQ(k_, grid_.word(0)), [&] { leave(grid_.word(0)); });
      grid_.loop(grid_.word(0), k_, grid_.word(kProductBlock), [&](llvm::Value* first) {
        llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, k_, b_.CreateAdd(first, grid_.word(kProductBlock)));
        llvm::Value* whole = b_.CreateAdd(first, b_.CreateAnd(b_.CreateSub(last, first), grid_.word(-depth_)));
        grid_.loop(first, whole, grid_.word(depth_), [&](llvm::Value* p0) {
          bring(p0, last);
          grid_.section([&](llvm::Value* thread) {
            for (int64_t q = 0; q < depth_; ++q) step(thread, grid_.word(q));
          });
        });
        grid_.when(b_.CreateICmpSLT(whole, last), [&] {
          bring(whole, last);
          llvm::Value* rest = b_.CreateSub(last, whole);
          grid_.section([&](llvm::Value* thread) { grid_.loop(grid_.word(0), rest, grid_.word(1), [&](llvm::Value* q) { step(thread, q); }); });
        });
        leave(first);
        clear();
      });
    });
  }

  llvm::Value* from_tile(llvm::Value* tile, llvm::Value* place) {
    return b_.CreateAlignedLoad(type_, b_.CreateGEP(type_, tile, place), llvm::Align(dtype_size(dtype_)));
  }

  // A thread's part of a tile: `depth_` values of k from p0 on for `side_` rows of a or columns of b from `first` on. `by_k`: the values
  // of k lie in a row in memory, so that threads beside each other read those.
  void fill(llvm::Value* tile, int64_t row, llvm::Value* thread, llvm::Value* p0, llvm::Value* end, llvm::Value* first, llvm::Value* count, bool by_k,
            llvm::function_ref<llvm::Value*(llvm::Value*, llvm::Value*)> at) {
    for (int64_t done = 0; done < side_ * depth_; done += kGpuThreads) {
      llvm::Value* number = b_.CreateAdd(thread, grid_.word(done));
      int64_t width = by_k ? depth_ : side_;
      llvm::Value* inner = b_.CreateAnd(number, grid_.word(width - 1));
      llvm::Value* other = b_.CreateUDiv(number, grid_.word(width));
      llvm::Value *q = by_k ? inner : other, *r = by_k ? other : inner;
      llvm::Value *p = b_.CreateAdd(p0, q), *x = b_.CreateAdd(first, r);
      llvm::Value* exists = b_.CreateAnd(b_.CreateICmpSLT(p, end), b_.CreateICmpSLT(x, count));
      llvm::Value* v = emit_load(b_, dtype_, 1, at(x, p), exists);
      b_.CreateAlignedStore(v, b_.CreateGEP(type_, tile, b_.CreateAdd(b_.CreateMul(q, grid_.word(row)), r)), llvm::Align(dtype_size(dtype_)));
    }
  }

  const Plan& plan_;
  const plan::Product& p_;
  DType dtype_;
  Grid grid_;
  Builder& b_;
  llvm::Type* type_;
  llvm::Value *m_ = nullptr, *n_ = nullptr, *k_ = nullptr, *batch_ = nullptr, *a_ = nullptr, *bb_ = nullptr, *to_ = nullptr;
  int64_t side_ = 64, depth_ = 16;
};

}  // namespace

llvm::Function* emit_gpu_product(llvm::Module& module, const Plan& plan, uint32_t product, bool emulated, GpuUnits& units, std::string& error) {
  if (plan.products[product].window != plan::kNone) {
    error = "windows are not made for GPUs";
    return nullptr;
  }
  switch (plan.values[plan.products[product].a].dtype) {
    case DType::F32:
    case DType::F64:
    case DType::I32:
    case DType::U32:
    case DType::I64:
    case DType::U64: return GpuProduct(module, plan, product, emulated).emit(units);
    default: error = "products of this type are not made for GPUs"; return nullptr;
  }
}

}  // namespace tfl::codegen
