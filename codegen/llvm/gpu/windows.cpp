// Convolutions and their gradients as products of matrices that lie nowhere (runtime/kernels/window/window_loops.h): padding is a zero,
// taps and channels follow each other as on the CPU. A group of channels is a product; in the gradient of the input so is each
// phase, the pixels that the same taps reach; in depthwise convolutions each channel.
#include "codegen/llvm/emit/kernel_space.h"
#include "codegen/llvm/gpu/matrices.h"
#include "runtime/kernels/window/window_loops.h"

namespace tfl::codegen {

using namespace plan;

namespace {

using Places = std::array<llvm::Value*, 3>;

class WindowMatrices final : public GpuMatrices {
 public:
  WindowMatrices(Grid& grid, const Plan& plan, const plan::Product& product)
      : grid_(grid),
        b_(grid.b),
        w_(plan.windows[product.window]),
        c_(w_.shape),
        type_(memory_type(b_, plan.values[product.a].dtype)) {
    first_ = matrix_of(grid, plan, product.a);
    second_ = matrix_of(grid, plan, product.b);
    to_ = matrix_of(grid, plan, product.result);
    std::optional<int64_t> batch = known_size(plan, w_.batch);
    images_ = batch ? grid_.word(*batch) : grid_.number(symbol_of(w_.batch));
    products_inside = by_channel();
    in_ = by_channel() ? 1 : c_.channels_in / c_.groups;
    out_ = by_channel() ? 1 : c_.channels_out / c_.groups;
    int64_t separate = by_channel() ? of_input() ? c_.channels_in : c_.channels_out : c_.groups;
    if (of_input()) find_phases();
    product_sizes = {separate * phases()};
    const Windows& w = c_.windows;
    int64_t each = of_filter() ? w.taps() * in_ : 1;
    for (size_t i = 0; i < 3 && !of_filter(); ++i)
      each *= of_input() ? (w.axes[i].in + w.axes[i].stride - 1) / w.axes[i].stride : w.axes[i].out;
    row_sizes = {each};
    if (!of_filter()) row_sizes.push_back(w_.batch);
    column_size = of_input() ? in_ : out_;
    known_columns = column_size;
    known_rows = of_filter() ? each : batch ? each * *batch : -1;
    products = grid_.word(product_sizes[0]);
    most_rows = of_filter() ? grid_.word(each) : b_.CreateMul(images_, grid_.word(each));
    columns = grid_.word(column_size);
    a_by_k = !of_filter();
    b_by_k = of_input();
  }

  void enter(llvm::Value* product) override {
    const Windows& w = c_.windows;
    llvm::Value* positions = b_.CreateMul(images_, grid_.word(w.outputs()));
    if (of_input()) {
      int64_t inner = product_sizes[0] / phases();
      llvm::Value* number = b_.CreateUDiv(product, grid_.word(inner));
      group_ = rest(product, inner);
      rows = images_;
      k = grid_.word(by_channel() ? times() : out_);
      for (size_t i = 3; i-- > 0;) {
        enter_phase(i, number);
        rows = b_.CreateMul(rows, axis_[i].positions);
        k = b_.CreateMul(k, axis_[i].taps);
      }
      return;
    }
    group_ = product;
    rows = of_filter() ? most_rows : positions;
    k = of_filter() ? positions : grid_.word(w.taps() * in_);
  }

  Element a(llvm::Value* i, llvm::Value* p) override {
    if (of_input()) return gradient(i, p);
    return of_filter() ? seen(p, i) : seen(i, p);
  }
  Element b(llvm::Value* p, llvm::Value* j) override {
    if (of_filter()) return {pixel(second_, p, c_.channels_out, channel(out_, j))};
    if (!of_input()) return {pixel(second_, p, c_.channels_out, channel(out_, j))};
    llvm::Value* inside = nullptr;
    Places tap = taps(p, by_channel() ? times() : out_, inside);
    llvm::Value* number = grid_.word(0);
    for (size_t i = 0; i < 3; ++i) {
      llvm::Value* t = b_.CreateAdd(axis_[i].first, b_.CreateMul(tap[i], grid_.word(axis_[i].period)));
      number = b_.CreateAdd(b_.CreateMul(number, grid_.word(c_.windows.axes[i].kernel)), t);
    }
    if (by_channel())
      return {pixel(first_, number, c_.channels_out, b_.CreateAdd(b_.CreateMul(group_, grid_.word(times())), inside))};
    llvm::Value* row = b_.CreateAdd(b_.CreateMul(number, grid_.word(in_)), j);
    return {pixel(first_, row, c_.channels_out, channel(out_, inside))};
  }
  llvm::Value* result(llvm::Value* i, llvm::Value* j) override {
    if (!of_input()) return pixel(to_, i, c_.channels_out, channel(out_, j));
    llvm::Value* image = nullptr;
    Places at = split(i, {axis_[0].positions, axis_[1].positions, axis_[2].positions}, image);
    for (size_t d = 0; d < 3; ++d)
      at[d] = b_.CreateAdd(axis_[d].phase, b_.CreateMul(at[d], grid_.word(c_.windows.axes[d].stride)));
    return pixel(to_, number_of(image, at, false), c_.channels_in, channel(in_, j));
  }
  bool place(llvm::Value*& i, llvm::Value*& j) const override {
    if (of_input() || of_filter()) return false;
    static_cast<void>(i);
    j = channel(out_, j);
    return true;
  }

 private:
  // One axis of the pixels that a phase has; `positions`, `taps`, `first` and `base` are those of a WindowPhase.
  struct Axis {
    int64_t phases = 1, period = 1, base_step = 0;
    llvm::Value *phase = nullptr, *first = nullptr, *base = nullptr, *taps = nullptr, *positions = nullptr;
  };

  bool by_channel() const {
    return w_.kind == WindowKind::depthwise || w_.kind == WindowKind::depthwise_input || w_.kind == WindowKind::depthwise_filter;
  }
  bool of_input() const { return w_.kind == WindowKind::convolution_input || w_.kind == WindowKind::depthwise_input; }
  bool of_filter() const { return w_.kind == WindowKind::convolution_filter || w_.kind == WindowKind::depthwise_filter; }
  int64_t times() const { return c_.channels_out / c_.channels_in; }  // results of a channel in depthwise convolutions
  int64_t phases() const { return axis_[0].phases * axis_[1].phases * axis_[2].phases; }

  llvm::Value* rest(llvm::Value* x, int64_t n) { return n == 1 ? grid_.word(0) : b_.CreateURem(x, grid_.word(n)); }
  /// The channel with number `j` of the group.
  llvm::Value* channel(int64_t of_group, llvm::Value* j) const {
    return by_channel() ? group_ : b_.CreateAdd(b_.CreateMul(group_, grid_.word(of_group)), j);
  }
  llvm::Value* pixel(llvm::Value* from, llvm::Value* number, int64_t channels, llvm::Value* channel) {
    return b_.CreateGEP(type_, from, b_.CreateAdd(b_.CreateMul(number, grid_.word(channels)), channel));
  }
  /// The digits of x; what is left goes to `above`.
  Places split(llvm::Value* x, const Places& sizes, llvm::Value*& above) {
    Places digits;
    for (size_t i = 3; i-- > 0;) {
      auto* known = llvm::dyn_cast<llvm::ConstantInt>(sizes[i]);
      if (known && known->isOne()) {
        digits[i] = grid_.word(0);
        continue;
      }
      llvm::Value* less = b_.CreateUDiv(x, sizes[i]);
      digits[i] = b_.CreateSub(x, b_.CreateMul(less, sizes[i]));
      x = less;
    }
    above = x;
    return digits;
  }
  /// A row of a filter as a tap, and which of the `each` elements of the tap it is.
  Places taps(llvm::Value* p, int64_t each, llvm::Value*& inside) {
    llvm::Value* number = each == 1 ? p : b_.CreateUDiv(p, grid_.word(each));
    inside = rest(p, each);
    llvm::Value* above = nullptr;
    Places sizes;
    for (size_t i = 0; i < 3; ++i) sizes[i] = of_input() ? axis_[i].taps : grid_.word(c_.windows.axes[i].kernel);
    return split(number, sizes, above);
  }
  llvm::Value* number_of(llvm::Value* image, const Places& at, bool outputs) {
    for (size_t i = 0; i < 3; ++i) {
      const WindowAxis& axis = c_.windows.axes[i];
      image = b_.CreateAdd(b_.CreateMul(image, grid_.word(outputs ? axis.out : axis.in)), at[i]);
    }
    return image;
  }

  /// What the window at `position` of all images has at element `element` of its taps.
  Element seen(llvm::Value* position, llvm::Value* element) {
    llvm::Value *image = nullptr, *inside = nullptr;
    Places sizes;
    for (size_t i = 0; i < 3; ++i) sizes[i] = grid_.word(c_.windows.axes[i].out);
    Places at = split(position, sizes, image), tap = taps(element, in_, inside);
    llvm::Value* exists = b_.getTrue();
    for (size_t i = 0; i < 3; ++i) {
      const WindowAxis& axis = c_.windows.axes[i];
      llvm::Value* offset = b_.CreateSub(b_.CreateMul(tap[i], grid_.word(axis.dilation)), grid_.word(axis.before));
      at[i] = b_.CreateAdd(b_.CreateMul(at[i], grid_.word(axis.stride)), offset);
      exists = b_.CreateAnd(exists, b_.CreateICmpULT(at[i], grid_.word(axis.in)));
    }
    llvm::Value* which = by_channel() ? b_.CreateUDiv(group_, grid_.word(times())) : channel(in_, inside);
    return {pixel(first_, number_of(image, at, false), c_.channels_in, which), exists};
  }

  /// What reaches pixel `i` of the phase by element `p` of its taps.
  Element gradient(llvm::Value* i, llvm::Value* p) {
    llvm::Value *image = nullptr, *inside = nullptr;
    Places at = split(i, {axis_[0].positions, axis_[1].positions, axis_[2].positions}, image);
    Places tap = taps(p, by_channel() ? times() : out_, inside);
    llvm::Value* exists = b_.getTrue();
    for (size_t d = 0; d < 3; ++d) {
      at[d] = b_.CreateAdd(b_.CreateAdd(at[d], axis_[d].base), b_.CreateMul(tap[d], grid_.word(axis_[d].base_step)));
      exists = b_.CreateAnd(exists, b_.CreateICmpULT(at[d], grid_.word(c_.windows.axes[d].out)));
    }
    llvm::Value* which = by_channel() ? b_.CreateAdd(b_.CreateMul(group_, grid_.word(times())), inside) : channel(out_, inside);
    return {pixel(second_, number_of(image, at, true), c_.channels_out, which), exists};
  }

  void find_phases() {
    for (size_t i = 0; i < 3; ++i) {
      const WindowAxis& axis = c_.windows.axes[i];
      WindowPhase first(axis, 0);
      axis_[i].phases = std::max<int64_t>(1, std::min(axis.stride, axis.in));
      axis_[i].period = first.period;
      axis_[i].base_step = first.axis.base_step;
    }
  }
  void enter_phase(size_t i, llvm::Value*& number) {
    Axis& a = axis_[i];
    const WindowAxis& axis = c_.windows.axes[i];
    a.phase = rest(number, a.phases);
    if (a.phases > 1) number = b_.CreateUDiv(number, grid_.word(a.phases));
    auto chosen = [&](auto&& of) {
      llvm::Value* v = grid_.word(of(WindowPhase(axis, 0)));
      for (int64_t phase = 1; phase < a.phases; ++phase) {
        int64_t mine = of(WindowPhase(axis, phase));
        v = b_.CreateSelect(b_.CreateICmpEQ(a.phase, grid_.word(phase)), grid_.word(mine), v);
      }
      return v;
    };
    a.first = chosen([](const WindowPhase& p) { return p.first; });
    a.base = chosen([](const WindowPhase& p) { return p.axis.base; });
    a.taps = chosen([](const WindowPhase& p) { return p.axis.taps; });
    a.positions = chosen([](const WindowPhase& p) { return std::max<int64_t>(p.axis.positions, 0); });
  }

  Grid& grid_;
  Builder& b_;
  const Window& w_;
  const Convolution& c_;
  llvm::Type* type_;
  int64_t in_ = 1, out_ = 1;  // channels of a group
  Axis axis_[3];
  llvm::Value *first_, *second_, *to_, *images_ = nullptr, *group_ = nullptr;
};

}  // namespace

std::unique_ptr<GpuMatrices> gpu_window_matrices(Grid& grid, const Plan& plan, const plan::Product& product) {
  return std::make_unique<WindowMatrices>(grid, plan, product);
}

}  // namespace tfl::codegen
