#include "runtime/shapes/range.h"

#include <string>

#include "runtime/kernels/layout/range_loops.h"
#include "runtime/ops/structural.h"

namespace tfl {

namespace {

using ranges::Compute;
using ranges::rounded;
using ranges::through;
using ranges::with_numeric_type;

template <class T>
Compute<T> read(const Tensor& t) {
  return ranges::read(t.data<T>());
}

template <class T>
std::string text(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{:g}", v);
  } else {
    return std::to_string(v);
  }
}

template <class T>
Result<int64_t> size_of_range(Op op, const Attrs& attrs, Compute<T> start, Compute<T> limit, Compute<T> delta) {
  auto refuse = [&](const std::string& what) { return op_failure(ErrorKind::InvalidArgumentError, op, attrs, what); };
  int64_t n = 0;
  switch (ranges::count<T>(start, limit, delta, n)) {
    case ranges::Refusal::no_step: return refuse("Requires delta != 0: " + text(delta));
    case ranges::Refusal::not_up: return refuse("Requires start <= limit when delta > 0: " + text(start) + '/' + text(limit));
    case ranges::Refusal::not_down: return refuse("Requires start >= limit when delta < 0: " + text(start) + '/' + text(limit));
    case ranges::Refusal::too_long: return refuse("Requires ((limit - start) / delta) <= 9223372036854775807");
    case ranges::Refusal::none: break;
  }
  return n;
}

}  // namespace

Result<int64_t> range_size(Op op, const Attrs& attrs, const Tensor& start, const Tensor& limit, const Tensor& delta) {
  return with_numeric_type(start.dtype(), [&](auto tag) -> Result<int64_t> {
    using T = typename decltype(tag)::type;
    return size_of_range<T>(op, attrs, read<T>(start), read<T>(limit), read<T>(delta));
  });
}

Result<void> run_range(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  with_numeric_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    ranges::fill<T>(read<T>(call.operands[0]), read<T>(call.operands[2]), out.size(), out.data<T>());
  });
  return call.give(std::move(out));
}

Result<void> run_linspace(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  with_numeric_type(out.dtype(), [&](auto tag) {
    using T = typename decltype(tag)::type;
    using C = Compute<T>;
    if constexpr (std::is_floating_point_v<C>) {
      const C start = read<T>(call.operands[0]), stop = read<T>(call.operands[1]);
      int64_t n = out.size();
      T* to = out.data<T>();
      if (n > 0) to[0] = rounded<T>(start);
      if (n < 2) return;
      const C step = through<T>(through<T>(stop - start) / through<T>(static_cast<C>(n - 1)));
      for (int64_t i = 1; i < n - 1; ++i) to[i] = rounded<T>(start + through<T>(through<T>(static_cast<C>(i)) * step));
      to[n - 1] = rounded<T>(stop);
    }
  });
  return call.give(std::move(out));
}

}  // namespace tfl
