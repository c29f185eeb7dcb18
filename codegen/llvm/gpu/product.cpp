// Products of matrices by the threads of a GPU: one chain of fused multiply-adds for each element and each 512 values of k, in
// the order of runtime/kernels/product/matmul.h. Large ones go through tiles in shared memory; in small ones each thread reads what its
// element needs. What the matrices are, gpu_matrices.h says: those of convolutions lie nowhere.
#include <algorithm>

#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/kernel_space.h"
#include "codegen/llvm/gpu/kernel.h"
#include "codegen/llvm/gpu/matrices.h"
#include "runtime/kernels/product/matmul.h"

namespace tfl::codegen {

using namespace plan;

namespace {

constexpr int64_t kSide = 16;      // threads along each side of a tile
constexpr int64_t kShort = 32;     // sides of a matrix below it are no tiles
constexpr int64_t kFew = 64 * 64;  // elements of a product that are left to one thread each
constexpr int64_t kPad = 4;        // elements between rows of a tile, so that they begin in different banks
constexpr int64_t kLarge = 1024;   // sides of matrices that are worth tiles of 128

class GpuProduct {
 public:
  /// `fused`: finish(i, j, v) gets each element with its value; `kept`: which lies in memory, too.
  using Finish = llvm::function_ref<void(llvm::Value* i, llvm::Value* j, llvm::Value* v)>;
  GpuProduct(Grid& grid, GpuMatrices& matrices, DType dtype, Finish finish, bool fused, bool kept)
      : x_(matrices),
        dtype_(dtype),
        grid_(grid),
        b_(grid.b),
        type_(register_type(b_, dtype, 1)),
        finish_(finish),
        fused_(fused),
        kept_(kept) {}

  void emit(GpuUnits& units) {
    for (Size s : x_.product_sizes) units.factors.push_back({s, 1});
    if (is_small()) {
      for (Size s : x_.row_sizes) units.factors.push_back({s, 1});
      units.factors.push_back({x_.column_size, 1});
      units.per = kGpuThreads;
      emit_direct();
      return;
    }
    bool large = x_.known_rows >= kLarge && x_.known_columns >= kLarge && dtype_size(dtype_) == 4;
    side_ = large ? 128 : 64;
    depth_ = large ? 8 : 16;
    for (size_t i = 0; i < x_.row_sizes.size(); ++i) units.factors.push_back({x_.row_sizes[i], i == 0 ? side_ : 1});
    units.factors.push_back({x_.column_size, side_});
    emit_tiles();
  }

 private:
  bool is_small() const {
    int64_t m = x_.known_rows, n = x_.known_columns;
    return x_.products_inside || (m >= 0 && m < kShort) || (n >= 0 && n < kShort) || (m >= 0 && n >= 0 && m * n <= kFew);
  }

  // x y + z
  llvm::Value* chained(llvm::Value* x, llvm::Value* y, llvm::Value* z) {
    if (type_->isFloatingPointTy()) return b_.CreateIntrinsic(llvm::Intrinsic::fma, {type_}, {x, y, z});
    return b_.CreateAdd(b_.CreateMul(x, y), z);
  }
  llvm::Value* sum(llvm::Value* x, llvm::Value* y) {
    return type_->isFloatingPointTy() ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y);
  }
  llvm::Value* zero() { return llvm::Constant::getNullValue(type_); }
  llvm::Value* read(const GpuMatrices::Element& e) { return emit_load(b_, dtype_, 1, e.address, e.exists); }

  // An element is a thread's, which keeps nothing but the sum.
  void emit_direct() {
    llvm::Value* matrix = b_.CreateMul(x_.most_rows, x_.columns);
    llvm::Value* all = b_.CreateMul(x_.products, matrix);
    grid_.units(grid_.up(all, kGpuThreads), [&](llvm::Value* unit) {
      grid_.section(
          [&](llvm::Value* thread) {
            llvm::Value* e = b_.CreateAdd(b_.CreateMul(unit, grid_.word(kGpuThreads)), thread);
            grid_.when(b_.CreateICmpSLT(e, all), [&] { direct(e, matrix); });
          },
          false);
    });
  }

  void finished(llvm::Value* i, llvm::Value* j, llvm::Value* v) {
    x_.place(i, j);
    finish_(i, j, v);
  }

  void direct(llvm::Value* e, llvm::Value* matrix) {
    llvm::Value* apart = x_.products_inside ? x_.products : matrix;
    llvm::Value* more = b_.CreateUDiv(e, apart);
    llvm::Value* less = b_.CreateSub(e, b_.CreateMul(more, apart));
    llvm::Value *product = x_.products_inside ? less : more, *place = x_.products_inside ? more : less;
    llvm::Value* i = b_.CreateUDiv(place, x_.columns);
    llvm::Value* j = b_.CreateSub(place, b_.CreateMul(i, x_.columns));
    x_.enter(product);
    Grid::Variable chain = grid_.variable(type_), total = grid_.variable(type_);
    grid_.when(b_.CreateICmpSLT(i, x_.rows), [&] {
      grid_.set(total, zero());
      grid_.loop(grid_.word(0), x_.k, grid_.word(kProductBlock), [&](llvm::Value* first) {
        grid_.set(chain, zero());
        llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x_.k, b_.CreateAdd(first, grid_.word(kProductBlock)));
        grid_.loop(first, last, grid_.word(1), [&](llvm::Value* p) {
          llvm::Value *x = read(x_.a(i, p)), *y = read(x_.b(p, j));
          grid_.set(chain, chained(x, y, grid_.get(chain)));
        });
        llvm::Value* begins = b_.CreateICmpEQ(first, grid_.word(0));
        llvm::Value* mine = grid_.get(chain);
        grid_.set(total, b_.CreateSelect(begins, mine, sum(grid_.get(total), mine)));
      });
      llvm::Value* v = grid_.get(total);
      if (kept_) emit_store(b_, dtype_, 1, v, x_.result(i, j));
      if (fused_) finished(i, j, v);
    });
  }

  // A block of threads makes a square of the result, a thread some elements of it, in fours. For each few values of k the parts
  // of a and b are brought into shared memory. What earlier blocks of k gave lies in the result.
  void emit_tiles() {
    int64_t row = side_ + kPad;
    int64_t bytes = static_cast<int64_t>(dtype_size(dtype_));
    llvm::Value* tile_a = grid_.shared(2 * depth_ * row * bytes);
    llvm::Value* tile_b = b_.CreateGEP(type_, tile_a, grid_.word(depth_ * row));
    int64_t count = side_ / kSide;  // of elements along each side that a thread has
    Grid::Variable chains = grid_.variable(type_, count * count);
    llvm::Value *down = grid_.up(x_.most_rows, side_), *along = grid_.up(x_.columns, side_);
    auto place = [&](llvm::Value* number, int64_t i) {  // of element i of a thread along a side
      return b_.CreateAdd(b_.CreateMul(number, grid_.word(4)), grid_.word(i / 4 * 4 * kSide + i % 4));
    };
    auto across = [&](llvm::Value* thread) { return b_.CreateAnd(thread, grid_.word(kSide - 1)); };
    auto below = [&](llvm::Value* thread) { return b_.CreateLShr(thread, 4); };
    grid_.units(b_.CreateMul(x_.products, b_.CreateMul(down, along)), [&](llvm::Value* unit) {
      llvm::Value* left = b_.CreateUDiv(unit, along);
      llvm::Value* j0 = b_.CreateMul(b_.CreateSub(unit, b_.CreateMul(left, along)), grid_.word(side_));
      llvm::Value* product = b_.CreateUDiv(left, down);
      llvm::Value* i0 = b_.CreateMul(b_.CreateSub(left, b_.CreateMul(product, down)), grid_.word(side_));
      x_.enter(product);
      auto leave = [&](llvm::Value* first) {
        grid_.section(
            [&](llvm::Value* thread) {
              thread = grid_.here(thread);  // addresses that are only needed here must not live through the loop over k
              for (int64_t r = 0; r < count; ++r) {
                for (int64_t s = 0; s < count; ++s) {
                  llvm::Value* i = b_.CreateAdd(i0, place(below(thread), r));
                  llvm::Value* j = b_.CreateAdd(j0, place(across(thread), s));
                  grid_.when(b_.CreateAnd(b_.CreateICmpSLT(i, x_.rows), b_.CreateICmpSLT(j, x_.columns)), [&] {
                    llvm::Value* at = x_.result(i, j);
                    llvm::Value* mine = grid_.get(chains, grid_.word(r * count + s));
                    llvm::Value* later = b_.CreateICmpSGT(first, grid_.word(0));
                    llvm::Value* before = emit_load(b_, dtype_, 1, at, later);
                    llvm::Value* v = b_.CreateSelect(later, sum(before, mine), mine);
                    if (!fused_) return emit_store(b_, dtype_, 1, v, at);
                    llvm::Value* last = b_.CreateICmpSLE(x_.k, b_.CreateAdd(first, grid_.word(kProductBlock)));
                    if (kept_)
                      emit_store(b_, dtype_, 1, v, at);
                    else
                      grid_.when(b_.CreateNot(last), [&] { emit_store(b_, dtype_, 1, v, at); });
                    grid_.when(last, [&] { finished(i, j, v); });
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
          fill(tile_a, row, thread, p0, end, i0, x_.rows, x_.a_by_k, [&](llvm::Value* i, llvm::Value* p) { return x_.a(i, p); });
          fill(tile_b, row, thread, p0, end, j0, x_.columns, x_.b_by_k,
               [&](llvm::Value* j, llvm::Value* p) { return x_.b(p, j); });
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
      grid_.when(b_.CreateICmpEQ(x_.k, grid_.word(0)), [&] { leave(grid_.word(0)); });
      grid_.loop(grid_.word(0), x_.k, grid_.word(kProductBlock), [&](llvm::Value* first) {
        llvm::Value* last = b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x_.k, b_.CreateAdd(first, grid_.word(kProductBlock)));
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
          grid_.section([&](llvm::Value* thread) {
            grid_.loop(grid_.word(0), rest, grid_.word(1), [&](llvm::Value* q) { step(thread, q); });
          });
        });
        leave(first);
        clear();
      });
    });
  }

  llvm::Value* from_tile(llvm::Value* tile, llvm::Value* place) {
    return b_.CreateAlignedLoad(type_, b_.CreateGEP(type_, tile, place), llvm::Align(dtype_size(dtype_)));
  }

  // A thread's part of a tile: `depth_` values of k from p0 on for `side_` rows of a or columns of b from `first` on. `by_k`: the
  // values of k lie in a row in memory, so that threads beside each other read those.
  void fill(llvm::Value* tile, int64_t row, llvm::Value* thread, llvm::Value* p0, llvm::Value* end, llvm::Value* first,
            llvm::Value* count, bool by_k, llvm::function_ref<GpuMatrices::Element(llvm::Value*, llvm::Value*)> at) {
    for (int64_t done = 0; done < side_ * depth_; done += kGpuThreads) {
      llvm::Value* number = b_.CreateAdd(thread, grid_.word(done));
      int64_t width = by_k ? depth_ : side_;
      llvm::Value* inner = b_.CreateAnd(number, grid_.word(width - 1));
      llvm::Value* other = b_.CreateUDiv(number, grid_.word(width));
      llvm::Value *q = by_k ? inner : other, *r = by_k ? other : inner;
      llvm::Value *p = b_.CreateAdd(p0, q), *x = b_.CreateAdd(first, r);
      llvm::Value* exists = b_.CreateAnd(b_.CreateICmpSLT(p, end), b_.CreateICmpSLT(x, count));
      GpuMatrices::Element e = at(x, p);
      llvm::Value* v = emit_load(b_, dtype_, 1, e.address, e.exists ? b_.CreateAnd(exists, e.exists) : exists);
      b_.CreateAlignedStore(v, b_.CreateGEP(type_, tile, b_.CreateAdd(b_.CreateMul(q, grid_.word(row)), r)),
                            llvm::Align(dtype_size(dtype_)));
    }
  }

  GpuMatrices& x_;
  DType dtype_;
  Grid& grid_;
  Builder& b_;
  llvm::Type* type_;
  Finish finish_;
  bool fused_, kept_;
  int64_t side_ = 64, depth_ = 16;
};

// Whether anybody but the epilogue looks at the result of a product.
bool is_read(const Block& block, ValueId value) {
  return std::any_of(block.steps.begin(), block.steps.end(), [&](const Step& s) {
    if (s.from == value || (s.kind == Step::Kind::scalar && s.expr.kind == ExprKind::load && s.expr.access.value == value))
      return true;
    return std::any_of(s.blocks.begin(), s.blocks.end(), [&](const Block& inner) { return is_read(inner, value); });
  });
}
bool is_read(const Plan& plan, const plan::Product& product) {
  if (plan.values[product.result].home != Home::temporary || is_read(plan.body, product.result)) return true;
  for (uint32_t k = 0; k < plan.kernels.size(); ++k) {
    for (const Expr& e : plan.kernels[k].exprs) {
      if (k != product.epilogue && e.kind == ExprKind::load && e.access.value == product.result) return true;
    }
  }
  for (const plan::Product& p : plan.products) {
    if (p.a == product.result || p.b == product.result) return true;
  }
  return std::any_of(plan.routines.begin(), plan.routines.end(),
                     [&](const RoutineStep& r) { return std::find(r.at.begin(), r.at.end(), product.result) != r.at.end(); });
}

}  // namespace

llvm::Function* emit_gpu_product(llvm::Module& module, const Plan& plan, uint32_t number, bool fused, bool emulated,
                                 GpuUnits& units, std::string& error) {
  const plan::Product& product = plan.products[number];
  Grid grid(module, "product" + std::to_string(number), emulated);
  std::optional<GpuKernel> epilogue;
  if (fused) epilogue.emplace(grid, plan, product.epilogue);
  std::unique_ptr<GpuMatrices> matrices;
  if (product.window != kNone && is_pool(plan.windows[product.window].kind)) {
    emit_gpu_pool(grid, plan, product, units);
  } else {
    matrices = gpu_matrices(grid, plan, product, error);
    if (!matrices) return nullptr;
    llvm::Value* columns = nullptr;
    auto finish = [&](llvm::Value* i, llvm::Value* j, llvm::Value* v) { epilogue->element(i, j, columns, product.result, v); };
    if (fused) {
      std::optional<int64_t> known = known_size(plan, product.n);
      columns = known ? grid.word(*known) : grid.number(symbol_of(product.n));
    }
    GpuProduct(grid, *matrices, plan.values[product.a].dtype, finish, fused, !fused || is_read(plan, product)).emit(units);
  }
  grid.finish();
  return grid.function();
}

}  // namespace tfl::codegen
