// Operations that machine code does not have, in terms of those that it has: the same elements, bit for bit.
#include <algorithm>

#include "codegen/library/library.h"
#include "codegen/plan/native_ops.h"
#include "ir/infer.h"
#include "ir/ref_map.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"

namespace tfl::codegen {

namespace {

using ir::Node;
using ir::Ref;

class Expander {
 public:
  explicit Expander(Context& context) : context_(context) {}

  Result<void> block(ir::Block& b) {
    std::vector<std::unique_ptr<Node>> nodes = std::move(b.nodes);
    b.nodes.clear();
    for (auto& n : nodes) {
      for (Ref& r : n->operands) now(r);
      for (auto& region : n->regions) TFL_TRY(block(*region));
      block_ = &b;
      location_ = n->location;
      Ref made = TFL_TRY(expanded(*n));
      if (made) {
        replaced_[{n.get(), 0}] = made;
        gone_.push_back(std::move(n));
      } else {
        b.nodes.push_back(std::move(n));
      }
    }
    for (Ref& r : b.results) now(r);
    return {};
  }

 private:
  void now(Ref& r) const {
    auto found = replaced_.find(r);
    if (found != replaced_.end()) r = found->second;
  }

  // What stands for the node's result; nothing where the node stays.
  Result<Ref> expanded(const Node& n) {
    for (Ref r : n.operands) {
      if (!r.type().is_tensor() || !r.type().tensor.ranked) return Ref{};
    }
    const Rule rule = kRules[n.op];
    return rule ? (this->*rule)(n) : Result<Ref>(Ref{});
  }

  using Rule = Result<Ref> (Expander::*)(const Node&);
  static const OpTable<Rule> kRules;

  // Of the main diagonal nothing is padded.
  Result<Ref> diagonal_part(const Node& n) {
    return n.operands.size() > 1 && plan::is_main_diagonal(n) ? add(n.op, {n.operands[0]}, n.attrs) : Result<Ref>(Ref{});
  }

  Result<Ref> add(Op op, std::vector<Ref> operands, Attrs attrs = {}) {
    Node* n = TFL_TRY(ir::append(context_, *block_, op, std::move(operands), std::move(attrs)));
    n->location = location_;
    return Ref{n, 0};
  }
  Result<Ref> number(DType dtype, double v) {
    Tensor t = TFL_TRY(Tensor::empty(context_, dtype, {}));
    if (is_floating(dtype))
      store_double(dtype, v, t.raw());
    else
      store_int(dtype, static_cast<int64_t>(v), t.raw());
    return ir::append_constant(*block_, std::move(t));
  }
  Result<Ref> integers(const Dims& values) {
    Tensor t = TFL_TRY(Tensor::empty(context_, DType::I32, Dims{static_cast<int64_t>(values.size())}));
    for (size_t i = 0; i < values.size(); ++i) t.data<int32_t>()[i] = static_cast<int32_t>(values[i]);
    return ir::append_constant(*block_, std::move(t));
  }
  Result<Ref> integer(int64_t v) { return number(DType::I32, static_cast<double>(v)); }
  Result<Ref> to(DType dtype, Ref x) {
    if (x.type().tensor.dtype == dtype) return x;
    return add(Op::cast, {x}, Attrs().set_dtype(Attr::dtype, dtype));
  }
  static Attrs along(int64_t axis) { return Attrs().set_int(Attr::axis, axis); }
  // Element `at` of a vector of integers.
  Result<Ref> element(Ref vector, int64_t at) {
    if (Ref scalar = plan::scalar_behind(vector, static_cast<size_t>(at))) return to(DType::I32, scalar);
    Dims known;
    if (plan::known_integers(context_, vector, known)) return integer(known[static_cast<size_t>(at)]);
    return to(DType::I32, TFL_TRY(add(Op::gather, {vector, TFL_TRY(integer(at))}, along(0))));
  }
  Result<Ref> size_of(Ref x, int64_t axis) {
    int64_t known = x.type().tensor.dims[static_cast<size_t>(axis)];
    if (known >= 0) return integer(known);
    return element(TFL_TRY(add(Op::shape, {x}, Attrs().set_dtype(Attr::dtype, DType::I32))), axis);
  }
  Result<Ref> count_to(Ref n) { return add(Op::range, {TFL_TRY(integer(0)), n, TFL_TRY(integer(1))}); }
  Result<Ref> clipped(Ref at, Ref size) {
    Ref last = TFL_TRY(add(Op::subtract, {size, TFL_TRY(integer(1))}));
    return add(Op::maximum, {TFL_TRY(add(Op::minimum, {TFL_TRY(to(DType::I32, at)), last})), TFL_TRY(integer(0))});
  }

  // As runtime/kernels/image/resize.cpp computes them: the scale of an axis, and where its elements come from.
  Result<Ref> scale(const Node& n, Ref in, Ref out) {
    Ref x = TFL_TRY(to(DType::F32, in)), y = TFL_TRY(to(DType::F32, out)), one = TFL_TRY(number(DType::F32, 1));
    Ref whole = TFL_TRY(add(Op::divide, {x, y}));
    if (!n.attrs.get_bool(Attr::align_corners)) return whole;
    Ref corners = TFL_TRY(add(Op::divide, {TFL_TRY(add(Op::subtract, {x, one})), TFL_TRY(add(Op::subtract, {y, one}))}));
    return add(Op::where, {TFL_TRY(add(Op::greater, {out, TFL_TRY(integer(1))})), corners, whole});
  }
  struct Between {
    Ref low, high, part;
  };
  Result<Between> between(const Node& n, int64_t axis) {
    Ref in = TFL_TRY(size_of(n.operands[0], axis)), out = TFL_TRY(element(n.operands[1], axis - 1));
    Ref factor = TFL_TRY(scale(n, in, out)), at = TFL_TRY(to(DType::F32, TFL_TRY(count_to(out))));
    if (n.attrs.get_bool(Attr::half_pixel_centers)) {
      Ref half = TFL_TRY(number(DType::F32, 0.5));
      at = TFL_TRY(add(Op::subtract, {TFL_TRY(add(Op::multiply, {TFL_TRY(add(Op::add, {at, half})), factor})), half}));
    } else {
      at = TFL_TRY(add(Op::multiply, {at, factor}));
    }
    Ref floor = TFL_TRY(add(Op::floor, {at})), ceil = TFL_TRY(add(Op::ceil, {at}));
    return Between{TFL_TRY(clipped(floor, in)), TFL_TRY(clipped(ceil, in)), TFL_TRY(add(Op::subtract, {at, floor}))};
  }
  // a + (b - a) * part
  Result<Ref> mean(Ref a, Ref b, Ref part) {
    return add(Op::add, {a, TFL_TRY(add(Op::multiply, {TFL_TRY(add(Op::subtract, {b, a})), part}))});
  }

  Result<Ref> bilinear(const Node& n) {
    Ref image = TFL_TRY(to(DType::F32, n.operands[0]));
    Between y = TFL_TRY(between(n, 1)), x = TFL_TRY(between(n, 2));
    Ref x_part = TFL_TRY(add(Op::expand_dims, {x.part}, along(-1)));
    Ref y_part = TFL_TRY(add(Op::expand_dims, {TFL_TRY(add(Op::expand_dims, {y.part}, along(-1)))}, along(-1)));
    auto row = [&](Ref rows) -> Result<Ref> {
      Ref line = TFL_TRY(add(Op::gather, {image, rows}, along(1)));
      return mean(TFL_TRY(add(Op::gather, {line, x.low}, along(2))), TFL_TRY(add(Op::gather, {line, x.high}, along(2))), x_part);
    };
    return mean(TFL_TRY(row(y.low)), TFL_TRY(row(y.high)), y_part);
  }

  Result<Ref> nearest(const Node& n) {
    if (n.attrs.get_bool(Attr::align_corners)) return Ref{};
    Ref image = n.operands[0];
    for (int64_t axis : {1, 2}) {
      Ref in = TFL_TRY(size_of(n.operands[0], axis)), out = TFL_TRY(element(n.operands[1], axis - 1));
      Ref at = TFL_TRY(to(DType::F32, TFL_TRY(count_to(out))));
      if (n.attrs.get_bool(Attr::half_pixel_centers)) at = TFL_TRY(add(Op::add, {at, TFL_TRY(number(DType::F32, 0.5))}));
      at = TFL_TRY(add(Op::floor, {TFL_TRY(add(Op::multiply, {at, TFL_TRY(scale(n, in, out))}))}));
      image = TFL_TRY(add(Op::gather, {image, TFL_TRY(clipped(at, in))}, along(axis)));
    }
    return image;
  }

  // The main diagonal; what else there is stays.
  Result<Ref> diagonal(const Node& n) {
    for (Attr a : {Attr::num_rows, Attr::num_cols}) {
      if (n.attrs.get_int(a, -1) >= 0) return Ref{};
    }
    if (!plan::is_main_diagonal(n)) return Ref{};
    Ref x = n.operands[0];
    int64_t rank = static_cast<int64_t>(x.type().tensor.dims.size());
    if (rank < 1 || x.type().tensor.dtype == DType::String) return Ref{};
    Ref i = TFL_TRY(count_to(TFL_TRY(size_of(x, rank - 1))));
    Ref here = TFL_TRY(add(Op::equal, {TFL_TRY(add(Op::expand_dims, {i}, along(1))), i}));
    Ref other = n.operands.size() > 1 ? n.operands[1] : TFL_TRY(number(x.type().tensor.dtype, 0));
    return add(Op::where, {here, TFL_TRY(add(Op::expand_dims, {x}, along(-1))), other});
  }

  // paddings[axis][side]
  Result<Ref> padding(Ref paddings, int64_t axis, int64_t side) {
    Dims known;
    if (plan::known_integers(context_, paddings, known)) return integer(known[static_cast<size_t>(2 * axis + side)]);
    const Node& n = *paddings.node;
    bool rows = n.op == Op::stack && n.attrs.get_int(Attr::axis) == 0 && static_cast<size_t>(axis) < n.operands.size();
    if (rows && n.operands[static_cast<size_t>(axis)].type().tensor.dims.size() == 1)
      return element(n.operands[static_cast<size_t>(axis)], side);
    Ref flat = TFL_TRY(add(Op::reshape, {paddings, TFL_TRY(integers(Dims{2 * paddings.type().tensor.dims[0]}))}));
    return element(flat, 2 * axis + side);
  }

  Result<Ref> pad(const Node& n) {
    Dims known;
    std::string_view mode = n.attrs.get_text(Attr::mode);
    bool constant = mode.empty() || mode == "CONSTANT";
    if (constant && plan::known_integers(context_, n.operands[1], known)) return Ref{};
    Ref x = n.operands[0], paddings = n.operands[1];
    const TensorType& type = paddings.type().tensor;
    if (type.dims.size() != 2 || type.dims[0] < 0 || type.dims[1] != 2 || x.type().tensor.dtype == DType::String) return Ref{};
    for (int64_t axis = 0; axis < type.dims[0]; ++axis) {
      Ref before = TFL_TRY(padding(paddings, axis, 0)), after = TFL_TRY(padding(paddings, axis, 1));
      auto is_zero = [&](Ref r) {
        Dims v;
        return plan::known_integers(context_, r, v) && v[0] == 0;
      };
      if (is_zero(before) && is_zero(after)) continue;
      x = constant ? TFL_TRY(surrounded(n, x, axis, before, after))
                   : TFL_TRY(reflected(x, axis, before, after, mode == "REFLECT"));
    }
    return x;
  }

  Result<Ref> surrounded(const Node& n, Ref x, int64_t axis, Ref before, Ref after) {
    Ref value = n.operands.size() > 2 ? n.operands[2] : TFL_TRY(number(x.type().tensor.dtype, 0));
    auto filled = [&](Ref length) -> Result<Ref> {
      std::vector<Ref> sizes;
      for (int64_t i = 0; i < static_cast<int64_t>(x.type().tensor.dims.size()); ++i)
        sizes.push_back(i == axis ? length : TFL_TRY(size_of(x, i)));
      return add(Op::fill, {TFL_TRY(add(Op::stack, std::move(sizes), along(0))), value});
    };
    return add(Op::concat, {TFL_TRY(filled(before)), x, TFL_TRY(filled(after))}, along(axis));
  }

  // Without the edge itself (reflected), or with it.
  Result<Ref> reflected(Ref x, int64_t axis, Ref before, Ref after, bool without_edge) {
    Ref n = TFL_TRY(size_of(x, axis)), edge = TFL_TRY(integer(without_edge ? 0 : 1));
    Ref all = TFL_TRY(add(Op::add, {TFL_TRY(add(Op::add, {n, before})), after}));
    Ref at = TFL_TRY(add(Op::subtract, {TFL_TRY(count_to(all)), before})), zero = TFL_TRY(integer(0));
    Ref mirrored = TFL_TRY(add(Op::subtract, {TFL_TRY(add(Op::negative, {at})), edge}));
    at = TFL_TRY(add(Op::where, {TFL_TRY(add(Op::less, {at, zero})), mirrored, at}));
    // 2 n - 2 - at, or 2 n - 1 - at
    Ref twice = TFL_TRY(add(Op::subtract, {TFL_TRY(add(Op::add, {n, n})), TFL_TRY(integer(without_edge ? 2 : 1))}));
    Ref back = TFL_TRY(add(Op::subtract, {twice, at}));
    at = TFL_TRY(add(Op::where, {TFL_TRY(add(Op::less, {at, n})), at, back}));
    return add(Op::gather, {x, at}, along(axis));
  }

  // Halves what is left of each row until nothing is: a loop over (low, high), with the rows and what is looked for.
  Result<Ref> search(const Node& n) {
    Ref rows = n.operands[0], wanted = n.operands[1];
    int64_t rank = static_cast<int64_t>(rows.type().tensor.dims.size());
    if (rank < 1 || static_cast<int64_t>(wanted.type().tensor.dims.size()) != rank || !is_number(rows) || !is_number(wanted))
      return Ref{};
    Ref length = TFL_TRY(size_of(rows, rank - 1)), zero = TFL_TRY(integer(0));
    Ref low = TFL_TRY(add(Op::fill, {TFL_TRY(add(Op::shape, {wanted}, Attrs().set_dtype(Attr::dtype, DType::I32))), zero}));
    Ref high = TFL_TRY(add(Op::add, {low, length}));
    std::vector<Ref> given = {low, high, rows, wanted, length};
    ir::Block* outer = block_;
    std::vector<std::unique_ptr<ir::Block>> regions;
    for (bool body : {false, true}) {
      auto region = std::make_unique<ir::Block>();
      region->function = outer->function;
      for (size_t i = 0; i < given.size(); ++i) {
        ir::Type type = given[i].type();
        for (int64_t& d : type.tensor.dims) d = i < 2 && d < 0 ? -1 : d;  // names of sizes end at loops
        region->add_param(std::move(type), {});
      }
      block_ = region.get();
      Result<void> made = body ? halve(n, *region, rank) : open(*region);
      block_ = outer;
      if (!made) return made.failure();
      regions.push_back(std::move(region));
    }
    Node* loop = TFL_TRY(ir::append(context_, *block_, Op::while_loop, given, Attrs().set_int(Attr::num, 2), std::move(regions)));
    loop->location = location_;
    return to(n.attrs.get_dtype(Attr::dtype, DType::I32), Ref{loop, 0});
  }
  static bool is_number(Ref r) { return r.type().tensor.dtype != DType::String; }

  Result<void> open(ir::Block& b) {
    b.results = {TFL_TRY(add(Op::reduce_any, {TFL_TRY(add(Op::less, {b.param(0), b.param(1)}))}))};
    return {};
  }
  Result<void> halve(const Node& n, ir::Block& b, int64_t rank) {
    Ref low = b.param(0), high = b.param(1), wanted = b.param(3);
    Ref middle = TFL_TRY(add(Op::floordiv, {TFL_TRY(add(Op::add, {low, high})), TFL_TRY(integer(2))}));
    Attrs batched = along(rank - 1);
    batched.set_int(Attr::batch_dims, rank - 1);
    Ref at = TFL_TRY(add(Op::gather, {b.param(2), TFL_TRY(clipped(middle, b.param(4)))}, std::move(batched)));
    bool after_equals = n.attrs.get_bool(Attr::right);
    Ref behind = after_equals ? TFL_TRY(add(Op::logical_not, {TFL_TRY(add(Op::less, {wanted, at}))}))
                              : TFL_TRY(add(Op::less, {at, wanted}));
    Ref left = TFL_TRY(add(Op::less, {low, high}));
    Ref up = TFL_TRY(add(Op::logical_and, {left, behind}));
    Ref next = TFL_TRY(add(Op::where, {up, TFL_TRY(add(Op::add, {middle, TFL_TRY(integer(1))})), low}));
    Ref down = TFL_TRY(add(Op::logical_and, {left, TFL_TRY(add(Op::logical_not, {behind}))}));
    b.results = {next, TFL_TRY(add(Op::where, {down, middle, high}))};
    return {};
  }

  Context& context_;
  ir::Block* block_ = nullptr;
  uint32_t location_ = 0;
  ir::RefMap<Ref> replaced_;
  std::vector<std::unique_ptr<Node>> gone_;
};

constexpr OpTable<Expander::Rule> Expander::kRules{{{Op::resize_bilinear, &Expander::bilinear},
                                                    {Op::resize_nearest, &Expander::nearest},
                                                    {Op::matrix_diag, &Expander::diagonal},
                                                    {Op::matrix_diag_part, &Expander::diagonal_part},
                                                    {Op::pad, &Expander::pad},
                                                    {Op::searchsorted, &Expander::search}}};

}  // namespace

Result<void> expand_operations(Context& context, ir::Function& f) { return Expander(context).block(f.body); }

}  // namespace tfl::codegen
