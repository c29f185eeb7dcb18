#include "runtime/kernels/range.h"

#include <cmath>
#include <string>

#include "runtime/kernels/dispatch.h"
#include "runtime/ops/structural.h"

namespace tfl {

namespace {

template <class T>
using Compute = compute_type<T>;

template <class T>
Compute<T> read(const Tensor& t) {
  if constexpr (is_half<T>) {
    return to_f32(*t.data<T>());
  } else {
    return *t.data<T>();
  }
}
template <class T>
T rounded(Compute<T> v) {
  if constexpr (std::is_same_v<T, f16>) {
    return to_f16(v);
  } else if constexpr (std::is_same_v<T, bf16>) {
    return to_bf16(v);
  } else {
    return v;
  }
}
// v as a T holds it, in the type it is computed in.
template <class T>
Compute<T> through(Compute<T> v) {
  if constexpr (is_half<T>) {
    return to_f32(rounded<T>(v));
  } else {
    return v;
  }
}

template <class T>
std::string text(T v) {
  if constexpr (std::is_floating_point_v<T>) {
    return fmt::format("{:g}", v);
  } else {
    return std::to_string(v);
  }
}

// f(TypeTag<T>) for the numeric types; the shape rules have refused the others.
template <class F>
decltype(auto) with_numeric_type(DType dtype, F&& f) {
  return with_element_type(dtype, [&](auto tag) {
    using T = typename decltype(tag)::type;
    if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, bool>) {
      return f(TypeTag<int8_t>{});
    } else {
      return f(tag);
    }
  });
}

template <class T>
Result<int64_t> size_of_range(Op op, const Attrs& attrs, Compute<T> start, Compute<T> limit, Compute<T> delta) {
  auto refuse = [&](const std::string& what) { return op_failure(ErrorKind::InvalidArgumentError, op, attrs, what); };
  if (delta == 0) return refuse("Requires delta != 0: " + text(delta));
  if (delta > 0 && !(start <= limit))
    return refuse("Requires start <= limit when delta > 0: " + text(start) + '/' + text(limit));
  if (!(delta > 0) && !(start >= limit))
    return refuse("Requires start >= limit when delta < 0: " + text(start) + '/' + text(limit));
  if constexpr (std::is_integral_v<Compute<T>>) {
    // The distance of two 64-bit numbers needs 64 bits without a sign.
    auto distance = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                              : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    uint64_t step = delta > 0 ? static_cast<uint64_t>(delta) : 0 - static_cast<uint64_t>(delta);
    uint64_t n = distance / step + (distance % step != 0);
    if (n > INT64_MAX) return refuse("Requires ((limit - start) / delta) <= 9223372036854775807");
    return static_cast<int64_t>(n);
  } else {
    auto n = std::ceil(std::abs((limit - start) / delta));
    if (!(n <= Compute<T>(0x1p62))) return refuse("Requires ((limit - start) / delta) <= 9223372036854775807");
    return static_cast<int64_t>(n);
  }
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
    using C = Compute<T>;
    // Integers wrap, and so must not be computed as signed numbers; every float operation rounds to T.
    using W = std::conditional_t<std::is_integral_v<C>, uint64_t, C>;
    const C first = read<T>(call.operands[0]), delta = read<T>(call.operands[2]);
    T* to = out.data<T>();
    for (int64_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_integral_v<C>) {
        to[i] = static_cast<T>(static_cast<W>(first) + static_cast<W>(i) * static_cast<W>(delta));
      } else {
        to[i] = rounded<T>(first + through<T>(through<T>(static_cast<C>(i)) * delta));
      }
    }
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
