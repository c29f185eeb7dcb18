// How arrays become tensors: arrays.cpp has what all arrays are subject to, growing_arrays.cpp those that grow. For these two alone.
#pragma once

#include <vector>

#include "codegen/plan/arrays.h"
#include "ir/ref_map.h"
#include "ir/regions.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using ir::Ref;

inline bool is_array(const ir::Type& t) { return t.kind == ir::TypeKind::Array; }
inline bool all_known(const TensorType& t) { return t.ranked && shape_rules::all_known(t.dims); }

class ArrayLowering {
 public:
  ArrayLowering(Context& context, ir::Function& f, bool growing) : context_(context), f_(f), growing_(growing) {}

  bool run();

 private:
  // Of arrays that are one: what is known of their elements. `grows`: elements are appended to what is empty at first. Others have as many from
  // the beginning on.
  struct Kind {
    bool known = false, declared = true, broken = false, grows = false, fixed = false, moves = false;
    DType dtype = DType::F32;
    Dims dims;
  };

  Ref root(Ref r);
  void learn_dims(Kind& k, DType dtype, const Dims& dims);
  void same(Ref a, Ref b);
  void element(Ref array, const TensorType& t);

  bool learn_rows(const ir::Block& b, ir::Node& n);
  // `loops`: how many there are around the block.
  bool learn(ir::Block& b, int loops);
  // Whether the elements of a loop's variable stay what they are: at most some are taken off its end.
  static bool is_unchanged(const Node& loop, size_t i);
  static TensorType row(const TensorType& t);

  // A type before it is changed is asked for its kind; afterwards arrays are tensors everywhere.
  void rewrite(ir::Block& b);

  // Arrays that grow are a tensor with room for more elements than they have, and how many they have.

  // What stands for these values in the rewritten block.
  void now(auto& refs) {
    for (Ref& r : refs) {
      for (auto it = now_.find(r); it != now_.end(); it = now_.find(r)) r = it->second;
    }
  }
  bool grows(Ref r) { return is_array_ref(r) && kinds_[root(r)].grows; }
  bool is_array_ref(Ref r) const { return parents_.contains(r); }
  static ir::Type count_type() { return ir::Type::of({DType::I32, true, {}}); }

  // Counts go into regions beside their arrays: behind the variables of a loop, or behind all that is handed in.
  void carry_counts(Node& n);
  // When the regions have been rewritten, what they give is known.
  void give_counts(Node& n);

  Ref number(int64_t v) { return constant(DType::I32, {}, {{v}}); }
  Ref integer(Op op, Ref a, Ref b) { return add(op, {a, b}, {}, {DType::I32, true, {}}); }
  Ref truth(Op op, Ref a, Ref b) { return add(op, {a, b}, {}, {DType::Bool, true, {}}); }
  Ref rows(Ref tensor);
  // `room`: what fails is that the tensor is too small.
  void require(Ref condition, bool room);
  Ref as_i32(Ref r);
  Ref element_of(Ref tensor, Ref index, const Kind& k) {
    return add(Op::gather, {tensor, index}, along(0), {k.dtype, true, k.dims});
  }

  // False: it is no operation on an array that grows.
  bool lower_growing(Node& n);

  void become(Ref r);

  Ref add(Op op, std::vector<Ref> operands, Attrs attrs, TensorType type);
  Ref constant(DType dtype, const Dims& dims, std::span<const int64_t> values);
  Ref constant(const Dims& values) { return constant(DType::I32, Dims{static_cast<int64_t>(values.size())}, values); }
  Ref reshape(Ref x, const Dims& dims) { return add(Op::reshape, {x, constant(dims)}, {}, {x.type().tensor.dtype, true, dims}); }
  static Attrs along(int64_t axis) { return Attrs().set_int(Attr::axis, axis); }

  // Other operands and another operation, in the same place; `checks` are rows that must have been written.
  void lower(Node& n, std::vector<Ref>& checks);
  static int64_t array_rank(Ref r) { return static_cast<int64_t>(r.type().tensor.dims.size()); }  // it has become a tensor

  Ref missing(const Kind& k);

  // The first element of each row of `r`, which was read from an array, is not what was there at first.
  void require_written(Ref r);

  Context& context_;
  ir::Function& f_;
  const bool growing_;
  ir::RefMap<Ref> parents_;
  ir::RefMap<Kind> kinds_;
  std::vector<Ref> inner_;  // that loops inside of loops change
  Ref room_;                // a parameter whose first size is how many elements there may be
  ir::RefMap<Ref> counts_;  // how many elements arrays have that grow
  ir::RefMap<Ref> now_;     // what stands for results of nodes that are gone
  ir::Block* block_ = nullptr;
  uint32_t location_ = 0;
  bool failed_ = false;
};

}  // namespace tfl::plan
