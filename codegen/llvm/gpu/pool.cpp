// Pooling and its gradients as runtime/kernels/window/window_pool.h defines them: an element of the result is a thread's, which looks at
// the part of a window, or at the windows, that it follows from, in row-major order.
#include <limits>

#include "codegen/llvm/emit/kernel_space.h"
#include "codegen/llvm/gpu/matrices.h"

namespace tfl::codegen {

using namespace plan;

namespace {

class Pool {
 public:
  Pool(Grid& grid, const Plan& plan, const Product& p)
      : grid_(grid), b_(grid.b), w_(plan.windows[p.window]), dtype_(plan.values[p.a].dtype), type_(register_type(b_, dtype_, 1)) {
    x_ = matrix_of(grid, plan, p.a);
    gradient_ = matrix_of(grid, plan, p.b);
    to_ = matrix_of(grid, plan, p.result);
    std::optional<int64_t> batch = known_size(plan, w_.batch);
    images_ = batch ? grid_.word(*batch) : grid_.number(symbol_of(w_.batch));
  }

  void emit(GpuUnits& units) {
    bool back = w_.kind == WindowKind::max_pool_grad || w_.kind == WindowKind::avg_pool_grad;
    int64_t each = (back ? w_.shape.windows.inputs() : w_.shape.windows.outputs()) * w_.shape.channels_in;
    units.factors = {{w_.batch, 1}, {each, 1}};
    units.per = kGpuThreads;
    llvm::Value* all = b_.CreateMul(images_, grid_.word(each));
    grid_.units(grid_.up(all, kGpuThreads), [&](llvm::Value* unit) {
      grid_.section(
          [&](llvm::Value* thread) {
            llvm::Value* element = b_.CreateAdd(b_.CreateMul(unit, grid_.word(kGpuThreads)), thread);
            grid_.when(b_.CreateICmpSLT(element, all), [&] {
              llvm::Value *image = nullptr, *at[3];
              find(element, back, image, at);
              llvm::Value* v = w_.kind == WindowKind::max_pool   ? largest(image, at)
                               : w_.kind == WindowKind::avg_pool ? average(image, at)
                                                                 : reached(image, at);
              emit_store(b_, dtype_, 1, v, b_.CreateGEP(type_, to_, element));
            });
          },
          false);
    });
  }

 private:
  struct Range {
    llvm::Value *first, *last;
  };
  using Body = llvm::function_ref<void(llvm::Value* z, llvm::Value* y, llvm::Value* x)>;

  const WindowAxis& axis(size_t i) const { return w_.shape.windows.axes[i]; }
  llvm::Value* least(llvm::Value* x, int64_t y) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, grid_.word(y)); }
  llvm::Value* most(llvm::Value* x, int64_t y) { return b_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, grid_.word(y)); }

  // The image, the place along each axis and the channel of an element of images of `in` or `out` pixels.
  void find(llvm::Value* element, bool in, llvm::Value*& image, llvm::Value** at) {
    llvm::Value* pixel = b_.CreateUDiv(element, grid_.word(w_.shape.channels_in));
    channel_ = b_.CreateURem(element, grid_.word(w_.shape.channels_in));
    for (size_t i = 3; i-- > 0;) {
      llvm::Value* n = grid_.word(in ? axis(i).in : axis(i).out);
      at[i] = b_.CreateURem(pixel, n);
      pixel = b_.CreateUDiv(pixel, n);
    }
    image = pixel;
  }
  /// The places of window `o` that are in the image.
  Range window(size_t i, llvm::Value* o) {
    llvm::Value* first = b_.CreateSub(b_.CreateMul(o, grid_.word(axis(i).stride)), grid_.word(axis(i).before));
    return {most(first, 0), least(b_.CreateAdd(first, grid_.word(axis(i).kernel)), axis(i).in)};
  }
  /// The windows that cover a place.
  Range covering(size_t i, llvm::Value* at) {
    llvm::Value* reach = b_.CreateAdd(at, grid_.word(axis(i).before));
    llvm::Value* stride = grid_.word(axis(i).stride);
    llvm::Value* before = b_.CreateAdd(b_.CreateSDiv(b_.CreateSub(reach, grid_.word(axis(i).kernel)), stride), grid_.word(1));
    llvm::Value* first = b_.CreateSelect(b_.CreateICmpSLT(reach, grid_.word(axis(i).kernel)), grid_.word(0), before);
    return {first, least(b_.CreateAdd(b_.CreateSDiv(reach, stride), grid_.word(1)), axis(i).out)};
  }
  void each(const Range* ranges, Body body) {
    llvm::Value* one = grid_.word(1);
    grid_.loop(ranges[0].first, ranges[0].last, one, [&](llvm::Value* z) {
      grid_.loop(ranges[1].first, ranges[1].last, one, [&](llvm::Value* y) {
        grid_.loop(ranges[2].first, ranges[2].last, one, [&](llvm::Value* x) { body(z, y, x); });
      });
    });
  }
  llvm::Value* load(llvm::Value* from, bool in, llvm::Value* image, llvm::Value* z, llvm::Value* y, llvm::Value* x) {
    llvm::Value* at[] = {z, y, x};
    llvm::Value* pixel = image;
    for (size_t i = 0; i < 3; ++i) pixel = b_.CreateAdd(b_.CreateMul(pixel, grid_.word(in ? axis(i).in : axis(i).out)), at[i]);
    return emit_load(b_, dtype_, 1,
                     b_.CreateGEP(type_, from, b_.CreateAdd(b_.CreateMul(pixel, grid_.word(w_.shape.channels_in)), channel_)));
  }
  bool floats() const { return type_->isFloatingPointTy(); }
  llvm::Value* zero() { return llvm::Constant::getNullValue(type_); }
  llvm::Value* sum(llvm::Value* x, llvm::Value* y) { return floats() ? b_.CreateFAdd(x, y) : b_.CreateAdd(x, y); }
  llvm::Value* greater(llvm::Value* x, llvm::Value* y) { return floats() ? b_.CreateFCmpOGT(x, y) : b_.CreateICmpSGT(x, y); }
  llvm::Value* lowest() {
    return floats() ? static_cast<llvm::Value*>(llvm::ConstantFP::getInfinity(type_, true))
                    : llvm::ConstantInt::get(type_, llvm::APInt::getSignedMinValue(type_->getIntegerBitWidth()));
  }
  /// How many places a window has in the image.
  llvm::Value* count(const Range* ranges) {
    llvm::Value* n = grid_.word(1);
    for (size_t i = 0; i < 3; ++i) n = b_.CreateMul(n, most(b_.CreateSub(ranges[i].last, ranges[i].first), 0));
    return n;
  }

  llvm::Value* largest(llvm::Value* image, llvm::Value** at) {
    Range ranges[] = {window(0, at[0]), window(1, at[1]), window(2, at[2])};
    Grid::Variable best = grid_.variable(type_);
    grid_.set(best, lowest());
    each(ranges, [&](llvm::Value* z, llvm::Value* y, llvm::Value* x) {
      llvm::Value *v = load(x_, true, image, z, y, x), *old = grid_.get(best);
      grid_.set(best, b_.CreateSelect(greater(v, old), v, old));
    });
    return grid_.get(best);
  }

  llvm::Value* average(llvm::Value* image, llvm::Value** at) {
    Range ranges[] = {window(0, at[0]), window(1, at[1]), window(2, at[2])};
    Grid::Variable total = grid_.variable(type_);
    grid_.set(total, zero());
    each(ranges, [&](llvm::Value* z, llvm::Value* y, llvm::Value* x) {
      grid_.set(total, sum(grid_.get(total), load(x_, true, image, z, y, x)));
    });
    return floats() ? b_.CreateFDiv(grid_.get(total), b_.CreateSIToFP(count(ranges), type_)) : grid_.get(total);
  }

  // The gradient of a place: of the windows that cover it those whose largest it is, or its share of each.
  llvm::Value* reached(llvm::Value* image, llvm::Value** at) {
    Range covers[] = {covering(0, at[0]), covering(1, at[1]), covering(2, at[2])};
    Grid::Variable total = grid_.variable(type_), best = grid_.variable(type_), where = grid_.variable(b_.getInt64Ty());
    auto number = [&](llvm::Value* z, llvm::Value* y, llvm::Value* x) {
      return b_.CreateAdd(b_.CreateMul(b_.CreateAdd(b_.CreateMul(z, grid_.word(axis(1).in)), y), grid_.word(axis(2).in)), x);
    };
    grid_.set(total, zero());
    each(covers, [&](llvm::Value* oz, llvm::Value* oy, llvm::Value* ox) {
      Range ranges[] = {window(0, oz), window(1, oy), window(2, ox)};
      llvm::Value* old = grid_.get(total);
      if (w_.kind == WindowKind::avg_pool_grad) {
        llvm::Value* n = count(ranges);
        llvm::Value* factor = floats() ? b_.CreateFDiv(llvm::ConstantFP::get(type_, 1), b_.CreateSIToFP(n, type_))
                                       : b_.CreateSDiv(llvm::ConstantInt::get(type_, 1), b_.CreateTrunc(most(n, 1), type_));
        llvm::Value* g = load(gradient_, false, image, oz, oy, ox);
        grid_.set(total, sum(old, floats() ? b_.CreateFMul(g, factor) : b_.CreateMul(g, factor)));
        return;
      }
      grid_.set(best, lowest());
      grid_.set(where, number(ranges[0].first, ranges[1].first, ranges[2].first));
      each(ranges, [&](llvm::Value* z, llvm::Value* y, llvm::Value* x) {
        llvm::Value *v = load(x_, true, image, z, y, x), *before = grid_.get(best);
        llvm::Value* better = greater(v, before);
        grid_.set(best, b_.CreateSelect(better, v, before));
        grid_.set(where, b_.CreateSelect(better, number(z, y, x), grid_.get(where)));
      });
      llvm::Value* mine = b_.CreateICmpEQ(grid_.get(where), number(at[0], at[1], at[2]));
      grid_.when(mine, [&] { grid_.set(total, sum(old, load(gradient_, false, image, oz, oy, ox))); });
    });
    return grid_.get(total);
  }

  Grid& grid_;
  Builder& b_;
  const Window& w_;
  DType dtype_;
  llvm::Type* type_;
  llvm::Value *x_, *gradient_, *to_, *images_, *channel_ = nullptr;
};

}  // namespace

void emit_gpu_pool(Grid& grid, const Plan& plan, const Product& product, GpuUnits& units) {
  Pool(grid, plan, product).emit(units);
}

}  // namespace tfl::codegen
