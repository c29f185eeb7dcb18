#include "codegen/plan/builder.h"

namespace tfl::plan {

// Matrices of the last two axes; the axes before them are independent products.
void BlockBuilder::make_product(const ir::Node& n, ValueId target) {
  ir::Ref a = n.operands[0], c = n.operands[1];
  const Sizes x = b.dims(a), y = b.dims(c), out = b.dims({const_cast<ir::Node*>(&n), 0});
  Product p;
  p.transpose_a = n.attrs.get_bool(Attr::transpose_a);
  p.transpose_b = n.attrs.get_bool(Attr::transpose_b);
  size_t rank = out.size();
  p.m = out[rank - 2];
  p.n = out[rank - 1];
  p.k = x[x.size() - (p.transpose_a ? 2 : 1)];
  p.result = target;
  std::vector<ValueId> tokens;
  Sizes batch(out.begin(), out.end() - 2);
  // Of one operand: its memory, and how far its matrices are apart.
  auto operand = [&](ir::Ref r, const Sizes& dims, Size& step) {
    Sizes own(dims.begin(), dims.end() - 2);
    Size matrix = b.multiply(dims[dims.size() - 2], dims[dims.size() - 1]);
    ValueId v = b.memory_of(r);
    if (v == kNone) {
      b.fail();
      return v;
    }
    step = 0;
    if (without_ones(own).empty()) return v;
    step = matrix;
    if (b.same(without_ones(own), without_ones(batch))) return v;
    // It is repeated along some of the axes: a copy with all of them.
    Sizes full = batch;
    full.push_back(dims[dims.size() - 2]);
    full.push_back(dims[dims.size() - 1]);
    ValueId copy = b.add_value(b.dtype(r), full, Home::temporary);
    Loop loop;
    loop.kernel.axes = without_ones(full);
    loop.outer = loop.kernel.axes.size();
    Expressions e(*this, &loop.kernel);
    Stage s;
    s.expr = e.load(v, dims, b.broadcast(dims, full, whole(loop, full)), kNone);
    s.target.value = copy;
    Sizes strides = b.row_major(full);
    for (size_t i = 0; i < full.size(); ++i) {
      if (!is_one(full[i])) s.target.strides.push_back(strides[i]);
    }
    loop.kernel.stages.push_back(std::move(s));
    add_kernel(std::move(loop), std::move(e.tokens));
    return copy;
  };
  p.a = operand(a, x, p.a_batch);
  p.b = operand(c, y, p.b_batch);
  if (b.failed) return;
  p.batch = b.count(batch);
  if (p.b_batch == 0 && p.batch != 1 && p.a_batch != 0 && !p.transpose_a) {
    // Matrices over one another are one matrix with more rows.
    p.m = b.multiply(p.batch, p.m);
    p.batch = 1;
  }
  if (p.batch == 1) p.a_batch = p.b_batch = 0;
  add_product(p, n.location);
}

}  // namespace tfl::plan
