// What each operation does with sizes: the sizes of its results, the integers it computes from sizes, and what has to hold for it
// to run. This header must not know kernels.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/plan/native_ops.h"
#include "codegen/plan/sizes.h"
#include "runtime/ops/facts.h"

namespace tfl::plan {

class SizeRules {
 public:
  using Poly = SizeTable::Poly;
  using PolyDims = std::vector<Poly>;
  struct Value {
    std::vector<PolyDims> dims;                 // of each result
    std::vector<std::optional<Poly>> elements;  // of the first result, when it is a short integer of rank 0 or 1
    bool has_elements = false;
    std::vector<Sizes> sizes;  // dims as the plan writes them; filled when first asked for
    Sizes element_sizes;
  };
  struct PolySlice {
    struct Axis {
      Poly begin;
      int64_t stride = 1;
      Poly length;
      ir::Ref index;
    };
    SmallVec<Axis, 4> axes;
    SmallVec<int, 6> results;
  };

  SizeRules(Context& context, const ir::Function& f) : context_(context), f_(f), needed_(needed_nodes(f.body)) {}

  /// Goes through the function once; false where a size does not follow (`culprit`, a node at any depth) or cannot be.
  bool walk();
  Value& value(ir::Ref r) { return values_[r.node]; }
  const PolySlice& slice(const ir::Node& n) { return slices_[&n]; }

  static constexpr bool has_rule(Op op) { return kRules[op] || kSeveralRules[op]; }

  SizeTable table;
  const ir::Node* culprit = nullptr;

 private:
  bool parameters();
  bool block(const ir::Block& b);
  bool node(const ir::Node& n);
  bool meet(const ir::Type& type, PolyDims& dims);
  bool branches(const ir::Node& n);
  bool loop(const ir::Node& n);

  bool elementwise(const ir::Node& n, PolyDims& out);
  bool reduce(const ir::Node& n, PolyDims& out);
  bool reshape(const ir::Node& n, PolyDims& out);
  bool concat(const ir::Node& n, PolyDims& out);
  bool product(const ir::Node& n, PolyDims& out);
  bool windows(const ir::Node& n, PolyDims& out);
  bool same(const ir::Node& n, PolyDims& out);
  bool same_axes(const ir::Node& n, PolyDims& out);
  bool diagonal(const ir::Node& n, PolyDims& out);
  bool ensured(const ir::Node& n, PolyDims& out);
  bool shape(const ir::Node& n, PolyDims& out);
  bool scalar(const ir::Node& n, PolyDims& out);
  bool expand_dims(const ir::Node& n, PolyDims& out);
  bool squeeze(const ir::Node& n, PolyDims& out);
  bool transpose(const ir::Node& n, PolyDims& out);
  bool broadcast_to(const ir::Node& n, PolyDims& out);
  bool tile(const ir::Node& n, PolyDims& out);
  bool fill(const ir::Node& n, PolyDims& out);
  bool eye(const ir::Node& n, PolyDims& out);
  bool one_hot(const ir::Node& n, PolyDims& out);
  bool strided_slice(const ir::Node& n, PolyDims& out);
  bool strided_slice_grad(const ir::Node& n, PolyDims& out);
  bool gather(const ir::Node& n, PolyDims& out);
  bool gather_nd(const ir::Node& n, PolyDims& out);

  bool arg(const ir::Node& n, PolyDims& out);
  bool top_k(const ir::Node& n, std::vector<PolyDims>& out);
  bool updates_fit(const PolyDims& indices, const PolyDims& updates, const PolyDims& target);
  bool scatter_new(const ir::Node& n, PolyDims& out);
  bool scatter(const ir::Node& n, PolyDims& out);
  bool segments(const ir::Node& n, PolyDims& out);
  bool fourier(const ir::Node& n, PolyDims& out);
  bool random(const ir::Node& n, PolyDims& out);
  bool samples(const ir::Node& n, PolyDims& out);
  bool square(const PolyDims& x);
  bool square_matrix(const ir::Node& n, PolyDims& out);
  bool determinant(const ir::Node& n, PolyDims& out);
  bool system(const ir::Node& n, PolyDims& out);
  static PolyDims batch_of(const PolyDims& x);
  static PolyDims with(PolyDims dims, std::initializer_list<Poly> behind);
  bool lu(const ir::Node& n, std::vector<PolyDims>& out);
  bool log_determinant(const ir::Node& n, std::vector<PolyDims>& out);
  bool eigh(const ir::Node& n, std::vector<PolyDims>& out);
  bool qr(const ir::Node& n, std::vector<PolyDims>& out);
  bool svd(const ir::Node& n, std::vector<PolyDims>& out);
  bool range(const ir::Node& n, PolyDims& out);
  bool pad(const ir::Node& n, PolyDims& out);
  bool sum_to_shape(const ir::Node& n, PolyDims& out);
  bool plain_slice(const ir::Node& n, PolyDims& out);
  bool parts(const ir::Node& n, std::vector<PolyDims>& out);
  bool strided(const ir::Node& n, const PolyDims& x, PolyDims& out);
  bool slice_axis(const SliceAxis& a, const ir::Node& n, std::span<const int64_t> strides, const Poly& size,
                  PolySlice::Axis& out);

  void elements(const ir::Node& n, Value& v);
  bool joined_elements(const ir::Node& n, Value& v);
  bool product_of_elements(const ir::Node& n, Value& v);
  bool arithmetic(const ir::Node& n, Value& v);
  bool fits(DType dtype, const Poly& p);

  const PolyDims& dims(ir::Ref r) { return values_[r.node].dims[r.index]; }
  bool has_dims(ir::Ref r) { return values_[r.node].dims.size() > r.index; }
  /// p + by where p is negative, as indices count from the end; else p.
  Poly lifted(const Poly& p, const Poly& by);
  /// Element `i` of an integer value; none when it does not follow from sizes.
  std::optional<Poly> element(ir::Ref r, size_t i);
  /// All of them as sizes that are not negative.
  bool wanted_sizes(ir::Ref r, PolyDims& out);

  using OneRule = bool (SizeRules::*)(const ir::Node&, PolyDims&);
  using SeveralRule = bool (SizeRules::*)(const ir::Node&, std::vector<PolyDims>&);
  static const OpTable<OneRule> kRules;
  static const OpTable<SeveralRule> kSeveralRules;

  Context& context_;
  const ir::Function& f_;
  std::unordered_set<const ir::Node*> needed_;
  std::unordered_map<const ir::Node*, Value> values_;
  std::unordered_map<const ir::Node*, PolySlice> slices_;
};

}  // namespace tfl::plan
