// Operations that move elements: concat, stack, tile, pad, roll. Each is a few strided copies.
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"

namespace tfl {

namespace {

std::byte* element(Tensor& t, int64_t offset) { return t.raw() + offset * static_cast<int64_t>(dtype_size(t.dtype())); }
const std::byte* element(const Tensor& t, int64_t offset) {
  return t.raw() + offset * static_cast<int64_t>(dtype_size(t.dtype()));
}

}  // namespace

Result<void> run_concat(RunCall& call) {
  if (call.operands.size() == 1) return call.give(call.operands[0]);
  Tensor out = TFL_TRY(call.allocate());
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis), out.rank());
  int64_t at = 0;
  for (const Tensor& x : call.operands) {
    copy_strided(call.context, x.dtype(), x.dims(), element(out, at * out.strides()[axis]), out.strides(), x.raw(), x.strides());
    at += x.dim(static_cast<int>(axis));
  }
  return call.give(std::move(out));
}

Result<void> run_stack(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  int64_t axis = shape_rules::front_axis(call.attrs.get_int(Attr::axis), out.rank());
  int64_t step = out.strides()[axis];
  Dims strides(out.strides());
  strides.erase(static_cast<size_t>(axis));
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor& x = call.operands[i];
    copy_strided(call.context, x.dtype(), x.dims(), element(out, static_cast<int64_t>(i) * step), strides, x.raw(), x.strides());
  }
  return call.give(std::move(out));
}

Result<void> run_tile(RunCall& call) {
  const Tensor& x = call.operands[0];
  Dims multiples = shape_rules::integers(call.operands[1]);
  bool same = true;
  for (int64_t m : multiples) same &= m == 1;
  if (same) return call.give(x);
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  // Every axis becomes two: the copies, along which the source stands still, and the axis itself.
  Dims dims, dst, src;
  for (int i = 0; i < x.rank(); ++i) {
    dims.push_back(multiples[i]);
    dst.push_back(out.strides()[i] * x.dim(i));
    src.push_back(0);
    dims.push_back(x.dim(i));
    dst.push_back(out.strides()[i]);
    src.push_back(x.strides()[i]);
  }
  copy_strided(call.context, x.dtype(), dims, out.raw(), dst, x.raw(), src, Cut::by_interrupt);
  return call.give(std::move(out));
}

namespace {

struct Padding {
  Dims before, after;
};

Padding read_padding(const Tensor& p) {
  Padding out;
  for (int64_t i = 0; i < p.dim(0); ++i) {
    for (int64_t column = 0; column < 2; ++column) {
      int64_t offset = i * p.strides()[0] + column * p.strides()[1];
      (column ? out.after : out.before)
          .push_back(p.dtype() == DType::I64 ? p.data<int64_t>()[offset] : p.data<int32_t>()[offset]);
    }
  }
  return out;
}

}  // namespace

Result<void> run_pad(RunCall& call) {
  const Tensor& x = call.operands[0];
  Padding padding = read_padding(call.operands[1]);
  bool none = true;
  for (int i = 0; i < x.rank(); ++i) none &= padding.before[i] == 0 && padding.after[i] == 0;
  if (none) return call.give(x);
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  int64_t offset = 0;
  for (int i = 0; i < x.rank(); ++i) offset += padding.before[i] * out.strides()[i];
  std::string_view mode = call.attrs.get_text(Attr::mode);
  if (mode.empty() || mode == "CONSTANT") {
    if (x.dtype() == DType::String) {
      if (call.operands.size() > 2) fill_elements(call.context, x.dtype(), out.raw(), out.size(), call.operands[2].raw());
    } else {
      constexpr uint64_t kZero[2] = {};
      const std::byte* value = call.operands.size() > 2 ? call.operands[2].raw() : reinterpret_cast<const std::byte*>(kZero);
      fill_elements(call.context, x.dtype(), out.raw(), out.size(), value);
    }
    copy_strided(call.context, x.dtype(), x.dims(), element(out, offset), out.strides(), x.raw(), x.strides());
    return call.give(std::move(out));
  }
  // Mirrors: the middle first, then axis by axis the two borders from what is there already. When axis i is done, the axes up to
  // i are complete and those after it still have the sizes of x.
  copy_strided(call.context, x.dtype(), x.dims(), element(out, offset), out.strides(), x.raw(), x.strides());
  int64_t skip = mode == "REFLECT" ? 1 : 0;
  Dims dims(x.dims());
  for (int i = 0; i < x.rank(); ++i) {
    int64_t size = dims[i], step = out.strides()[i];
    int64_t middle = offset;  // the first element of the part that is complete
    Dims mirrored(out.strides());
    mirrored[i] = -step;
    dims[i] = padding.before[i];
    copy_strided(call.context, x.dtype(), dims, element(out, middle - padding.before[i] * step), out.strides(),
                 element(out, middle + (skip + padding.before[i] - 1) * step), mirrored);
    dims[i] = padding.after[i];
    copy_strided(call.context, x.dtype(), dims, element(out, middle + size * step), out.strides(),
                 element(out, middle + (size - 1 - skip) * step), mirrored);
    dims[i] = out.dim(i);
    offset -= padding.before[i] * step;
  }
  return call.give(std::move(out));
}

namespace {

struct Roll {
  RunCall& call;
  const Tensor& x;
  Tensor& out;
  Dims shift;  // 0 <= shift[i] < size

  // Every axis that moves falls into two pieces that change places.
  void pieces(int axis, Dims& dims, int64_t from, int64_t to) const {
    while (axis < x.rank() && shift[axis] == 0) ++axis;
    if (axis >= x.rank()) {
      copy_strided(call.context, x.dtype(), dims, element(out, to), out.strides(), element(x, from), x.strides());
      return;
    }
    int64_t size = x.dim(axis), s = shift[axis];
    dims[axis] = size - s;
    pieces(axis + 1, dims, from, to + s * out.strides()[axis]);
    dims[axis] = s;
    pieces(axis + 1, dims, from + (size - s) * x.strides()[axis], to);
    dims[axis] = size;
  }
};

}  // namespace

Result<void> run_roll(RunCall& call) {
  const Tensor& x = call.operands[0];
  if (x.size() == 0) return call.give(x);
  Dims shifts = shape_rules::integers(call.operands[1]);
  const Dims* axes = call.attrs.get_ints(Attr::axes);
  Dims shift(static_cast<size_t>(x.rank()), 0);
  bool moves = false;
  for (size_t i = 0; axes && i < axes->size(); ++i) {
    int64_t axis = shape_rules::front_axis((*axes)[i], x.rank());
    int64_t size = x.dim(static_cast<int>(axis));
    shift[axis] = ((shift[axis] + shifts[i] % size) % size + size) % size;
  }
  for (int64_t s : shift) moves |= s != 0;
  if (!moves) return call.give(x);
  Tensor out = TFL_TRY(call.allocate());
  Dims dims(x.dims());
  Roll{call, x, out, shift}.pieces(0, dims, 0, 0);
  return call.give(std::move(out));
}

}  // namespace tfl
