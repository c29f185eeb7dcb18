#include "codegen/jit/array_capacity.h"

#include <algorithm>

#include "runtime/tensor/element.h"

namespace tfl::codegen {

namespace {

constexpr int64_t kFirst = 32, kFirstBytes = int64_t{1} << 20, kMost = int64_t{1} << 28;
constexpr int64_t kGuessBytes = int64_t{64} << 20;  // that are taken because a number may be that of the elements

void integers_in(const plan::Block& block, std::vector<int64_t>& out) {
  for (const plan::Step& s : block.steps) {
    if (s.kind == plan::Step::Kind::scalar && s.expr.kind == plan::ExprKind::constant &&
        (s.expr.dtype == DType::I32 || s.expr.dtype == DType::I64))
      out.push_back(load_int(s.expr.dtype, reinterpret_cast<const std::byte*>(&s.expr.bits)));
    for (const plan::Block& inner : s.blocks) integers_in(inner, out);
  }
}

}  // namespace

Room::Room(const plan::Plan& plan) {
  if (plan.room == plan::kNone) return;
  const plan::Size rows = plan.inputs[plan.room].dims[0];
  for (const plan::Value& v : plan.values) {
    if (v.dims.empty() || v.dims[0] != rows) continue;
    int64_t bytes = static_cast<int64_t>(dtype_size(v.dtype));
    for (size_t i = 1; i < v.dims.size(); ++i) {
      if (plan::is_known(v.dims[i]) && __builtin_mul_overflow(bytes, v.dims[i], &bytes)) bytes = kMost;
    }
    element_bytes_ = std::max(element_bytes_, bytes);
  }
  size_ = std::clamp<int64_t>(kFirstBytes / element_bytes_, 1, kFirst);
  integers_in(plan.body, constants_);
}

// A loop appends as often as it runs, and that is often a number among the inputs, one of their sizes or a constant.
bool Room::grow(std::span<const Tensor> inputs) {
  if (size_ >= kMost) return false;
  int64_t next = INT64_MAX;
  auto guess = [&](int64_t n) {
    if (n >= 2 * size_ && n <= kGuessBytes / element_bytes_) next = std::min(next, n + 8);
  };
  for (int64_t n : constants_) guess(n);
  for (const Tensor& t : inputs) {
    if (t.rank() == 0 && (t.dtype() == DType::I32 || t.dtype() == DType::I64)) guess(load_int(t.dtype(), t.raw()));
    for (int64_t d : t.dims()) guess(d);
  }
  const bool large = size_ > kGuessBytes / element_bytes_;
  size_ = std::min(next == INT64_MAX ? (large ? 2 : 4) * size_ : next, kMost);
  return true;
}

}  // namespace tfl::codegen
