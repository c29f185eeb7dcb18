// Convolutions, pooling and their gradients: which they are, what sizes they have, and their steps.
#include "codegen/plan/builder.h"
#include "codegen/plan/native_ops.h"
#include "codegen/plan/size_rules.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"
#include "runtime/shapes/window.h"

namespace tfl::plan {

namespace {

// The operand, or the result, that has the sizes of the images; and of the filter.
constexpr int kResult = -1, kNothing = -2;
struct Roles {
  int images, filter, gradient;  // `gradient` has the sizes of what comes out of the windows
  int a, b;                      // operands of the job
};
Roles roles_of(WindowKind kind) {
  switch (kind) {
    case WindowKind::convolution:
    case WindowKind::depthwise: return {0, 1, kResult, 0, 1};
    case WindowKind::convolution_input:
    case WindowKind::depthwise_input: return {kResult, 1, 2, 1, 2};
    case WindowKind::convolution_filter:
    case WindowKind::depthwise_filter: return {0, kResult, 2, 0, 2};
    case WindowKind::max_pool:
    case WindowKind::avg_pool: return {0, kNothing, kResult, 0, 0};
    case WindowKind::max_pool_grad: return {0, kNothing, 2, 0, 2};
    case WindowKind::avg_pool_grad: return {kResult, kNothing, 1, 1, 1};
  }
  __builtin_unreachable();
}

bool is_depthwise(WindowKind kind) {
  return kind == WindowKind::depthwise || kind == WindowKind::depthwise_input || kind == WindowKind::depthwise_filter;
}

/// Whether every window is a pixel and every pixel a window: a product of matrices.
bool is_product(const Window& w) {
  bool plain = w.kind == WindowKind::convolution && w.shape.groups == 1;
  for (const WindowAxis& a : w.shape.windows.axes)
    plain = plain && a.kernel == 1 && a.stride == 1 && a.before == 0 && a.out == a.in;
  return plain;
}

const ir::Type& type_of(const ir::Node& n, int role) {
  return role == kResult ? n.types[0] : n.operands[static_cast<size_t>(role)].type();
}

}  // namespace

bool window_kind(Op op, WindowKind& kind) {
  kind = op_facts(op).window;
  return op_facts(op).form == PlanForm::window;
}

bool window_shape(const ir::Node& n, WindowKind kind, Convolution& out) {
  const Roles roles = roles_of(kind);
  const ir::Type& images = type_of(n, roles.images);
  if (!images.tensor.ranked || images.tensor.dims.size() < 4) return false;
  std::span<const int64_t> x = images.tensor.dims;
  auto known = [](std::span<const int64_t> dims) { return shape_rules::all_known(dims); };
  if (!known(x.subspan(1))) return false;
  if (roles.filter == kNothing) {
    const Dims* ksize = n.attrs.get_ints(Attr::ksize);
    if (!ksize || ksize->size() + 2 != x.size()) return false;
    Result<Windows> w = make_windows(n.op, x.subspan(1, ksize->size()), *ksize, n.attrs);
    if (!w) return false;
    out = {*w, x[0], x.back(), x.back(), 1};
  } else {
    const ir::Type& filter = type_of(n, roles.filter);
    if (!filter.tensor.ranked || filter.tensor.dims.size() != x.size() || !known(filter.tensor.dims)) return false;
    Result<Convolution> c = make_convolution(n.op, x, filter.tensor.dims, is_depthwise(kind), n.attrs);
    if (!c || c->channels_in == 0 || c->channels_out <= 0) return false;
    out = *c;
  }
  const ir::Type& given = type_of(n, roles.gradient);
  return given.tensor.ranked && given.tensor.dims.size() == x.size();
}

bool SizeRules::windows(const ir::Node& n, PolyDims& out) {
  WindowKind kind;
  Convolution shape;
  if (!window_kind(n.op, kind) || !window_shape(n, kind, shape)) return false;
  const Roles roles = roles_of(kind);
  for (int64_t d : n.types[0].tensor.dims) out.push_back(SizeTable::constant(d));
  auto batch = [&](int role) { return dims(n.operands[static_cast<size_t>(role)])[0]; };
  // What comes out of the windows has the sizes that follow.
  if (roles.gradient >= 0) {
    const PolyDims& gradient = dims(n.operands[static_cast<size_t>(roles.gradient)]);
    const Dims wanted = convolution_sizes(shape, gradient.size() - 2);
    for (size_t i = 1; i < gradient.size(); ++i) {
      if (!table.assume_equal(gradient[i], SizeTable::constant(wanted[i]))) return false;
    }
  }
  if (roles.images >= 0 && roles.gradient >= 0 && !table.assume_equal(batch(roles.images), batch(roles.gradient))) return false;
  if (roles.filter != kResult) out[0] = batch(roles.images >= 0 ? roles.images : roles.gradient);
  if (roles.images != kResult) return true;
  // The sizes are asked for, too.
  PolyDims wanted;
  if (n.types[0].tensor.dims[0] >= 0) return table.assume_equal(out[0], SizeTable::constant(n.types[0].tensor.dims[0]));
  if (!wanted_sizes(n.operands[0], wanted) || wanted.size() != out.size()) return false;
  for (size_t i = 0; i < out.size(); ++i) {
    if (!table.assume_equal(out[i], wanted[i])) return false;
  }
  return true;
}

void BlockBuilder::make_window(const ir::Node& n, ValueId target) {
  Window w;
  if (!window_kind(n.op, w.kind) || !window_shape(n, w.kind, w.shape)) return b.fail();
  const Roles roles = roles_of(w.kind);
  ir::Ref first = n.operands[static_cast<size_t>(roles.a)], second = n.operands[static_cast<size_t>(roles.b)];
  ir::Ref images = roles.images >= 0 ? n.operands[static_cast<size_t>(roles.images)] : ir::Ref{const_cast<ir::Node*>(&n), 0};
  w.batch = b.dims(images)[0];
  w.shape.batch = 0;
  Product p;
  p.a = routine_operand(first);
  p.b = roles.b == roles.a ? p.a : routine_operand(second);
  p.result = target;
  p.m = b.multiply(w.batch, w.shape.windows.outputs());
  p.n = w.shape.channels_out;
  p.k = is_product(w) ? w.shape.channels_in : 1;
  if (!is_product(w)) {
    p.window = static_cast<uint32_t>(b.plan.windows.size());
    b.plan.windows.push_back(w);
  }
  add_product(p, n.location);
}

}  // namespace tfl::plan
