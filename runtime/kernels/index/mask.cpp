// Selection by condition: the indices of true elements, masked elements, one-hot vectors.
#include "runtime/ops/structural.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/dtype_dispatch.h"
#include "runtime/threads/thread_pool.h"

namespace tfl {

namespace {

template <class T>
bool is_true(const T& v) {
  if constexpr (is_half<T>) {
    return (v.bits & 0x7fff) != 0;
  } else if constexpr (std::is_same_v<T, std::string>) {
    return !v.empty();
  } else {
    return v != T(0);
  }
}

// visit(i) for every true element of a contiguous tensor, in order.
template <class F>
void for_each_true(const Tensor& t, F&& visit) {
  with_element_type(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = t.data<T>();
    for (int64_t i = 0; i < t.size(); ++i) {
      if (is_true(p[i])) visit(i);
    }
  });
}

int64_t count_true(const Tensor& t) {
  int64_t n = 0;
  with_element_type(t.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* p = t.data<T>();
    for (int64_t i = 0; i < t.size(); ++i) n += is_true(p[i]);
  });
  return n;
}

}  // namespace

Result<void> run_nonzero(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  int64_t rank = x.rank();
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{count_true(x), rank}));
  int64_t* to = out.data<int64_t>();
  if (rank == 1) {
    for_each_true(x, [&](int64_t i) { *to++ = i; });
  } else {
    for_each_true(x, [&](int64_t i) {
      for (int64_t d = rank; d-- > 0;) {
        to[d] = i % x.dim(static_cast<int>(d));
        i /= x.dim(static_cast<int>(d));
      }
      to += rank;
    });
  }
  return call.give(std::move(out));
}

Result<void> run_boolean_mask(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor mask = TFL_TRY(contiguous(call.context, call.operands[1]));
  int axis = static_cast<int>(shape_rules::front_axis(call.attrs.get_int(Attr::axis), x.rank()));
  int64_t outer = 1, inner = 1, size = mask.size(), kept = count_true(mask);
  for (int i = 0; i < axis; ++i) outer *= x.dim(i);
  for (int i = axis + mask.rank(); i < x.rank(); ++i) inner *= x.dim(i);
  Dims dims = call.types[0].dims;
  dims[axis] = kept;
  Tensor out = TFL_TRY(Tensor::empty(call.context, x.dtype(), dims));
  if (out.size() == 0) return call.give(std::move(out));
  with_storage_type(x.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = x.data<T>();
    T* to = out.template data<T>();
    for (int64_t o = 0; o < outer; ++o) {
      if (inner == 1) {
        for_each_true(mask, [&](int64_t i) { *to++ = from[o * size + i]; });
        continue;
      }
      for_each_true(mask, [&](int64_t i) {
        copy_run(x.dtype(), reinterpret_cast<std::byte*>(to), reinterpret_cast<const std::byte*>(from + (o * size + i) * inner),
                 inner);
        to += inner;
      });
    }
  });
  return call.give(std::move(out));
}

Result<void> run_one_hot(RunCall& call) {
  Tensor indices = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  if (out.size() == 0) return call.give(std::move(out));
  fill_elements(call.context, out.dtype(), out.raw(), out.size(), call.operands[3].raw());
  int64_t axis = call.attrs.get_int(Attr::axis, -1);
  if (axis == -1) axis = out.rank() - 1;
  int64_t depth = out.dim(static_cast<int>(axis)), inner = 1;
  for (int i = static_cast<int>(axis) + 1; i < out.rank(); ++i) inner *= out.dim(i);
  with_storage_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    T* to = out.template data<T>();
    const T on = *call.operands[2].template data<T>();
    for (int64_t i = 0; i < indices.size(); ++i) {
      int64_t index = index_at(indices.dtype(), indices.raw(), i);
      if (index >= 0 && index < depth) to[(i / inner * depth + index) * inner + i % inner] = on;
    }
  });
  return call.give(std::move(out));
}

}  // namespace tfl
