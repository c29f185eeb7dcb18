// What each operation does with sizes: the sizes of its results, the integers it computes from sizes, and what has to hold for it
// to run. This header must not know kernels.
#pragma once

#include <unordered_map>
#include <unordered_set>

#include "codegen/plan/native_ops.h"
#include "codegen/plan/sizes.h"

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
  bool structural(const ir::Node& n, PolyDims& out);
  bool reduce(const ir::Node& n, PolyDims& out);
  bool reshape(const ir::Node& n, PolyDims& out);
  bool concat(const ir::Node& n, PolyDims& out);
  bool product(const ir::Node& n, PolyDims& out);
  bool windows(const ir::Node& n, PolyDims& out);
  bool routine(const ir::Node& n, PolyDims& out);
  bool square(const PolyDims& x);
  bool factors(const ir::Node& n, std::vector<PolyDims>& out);
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

  Context& context_;
  const ir::Function& f_;
  std::unordered_set<const ir::Node*> needed_;
  std::unordered_map<const ir::Node*, Value> values_;
  std::unordered_map<const ir::Node*, PolySlice> slices_;
};

}  // namespace tfl::plan
