#include "runtime/shapes/window.h"

#include <algorithm>

#include "runtime/shapes/rules.h"

namespace tfl {

using namespace shape_rules;

namespace {

constexpr int64_t kMostSpan = int64_t{1} << 40;  // of places a window covers, and of padding

int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

Result<Windows> make_windows(Op op, std::span<const int64_t> in, std::span<const int64_t> kernel, const Attrs& attrs) {
  Windows w;
  size_t n = in.size(), skipped = 3 - n;
  const Dims* strides = attrs.get_ints(Attr::strides);
  const Dims* dilations = attrs.get_ints(Attr::dilations);
  const Dims* pads = attrs.get_ints(Attr::explicit_paddings);
  std::string_view padding = attrs.get_text(Attr::padding);
  if (padding != "SAME" && padding != "VALID" && padding != "EXPLICIT")
    return invalid(op,
                   "Value for attr 'padding' of \"{}\" is not in the list of allowed values: \"SAME\", \"VALID\", \"EXPLICIT\"",
                   padding);
  if ((strides && strides->size() != n) || (dilations && dilations->size() != n) ||
      (padding == "EXPLICIT" && (!pads || pads->size() != 2 * n)))
    return fail(ErrorKind::InternalError, "{} has attributes for another number of axes", op_info(op).name);
  for (size_t i = 0; i < n; ++i) {
    WindowAxis& a = w.axes[i + skipped];
    a.in = in[i];
    a.kernel = kernel[i];
    a.stride = strides ? (*strides)[i] : 1;
    a.dilation = dilations ? (*dilations)[i] : 1;
    if (a.stride <= 0) return invalid(op, "Row and column strides should be larger than 0.");
    if (a.dilation <= 0) return invalid(op, "Dilated rates should be larger than 0.");
    int64_t span;
    if (known(a.kernel) && (__builtin_mul_overflow(std::max<int64_t>(a.kernel - 1, 0), a.dilation, &span) || span > kMostSpan))
      return invalid(op, "the windows are too large");
    span = known(a.kernel) ? span + 1 : -1;
    if (padding == "EXPLICIT") {
      a.before = (*pads)[2 * i];
      a.after = (*pads)[2 * i + 1];
      if (a.before < 0 || a.after < 0) return invalid(op, "All elements of explicit_paddings must be nonnegative");
      if (a.before > kMostSpan || a.after > kMostSpan) return invalid(op, "explicit_paddings are too large");
    }
    if (!known(a.in)) {
      a.out = -1;
    } else if (padding == "SAME") {
      a.out = ceil_div(a.in, a.stride);
      if (known(span)) {
        int64_t needed = std::max<int64_t>(0, (a.out - 1) * a.stride + span - a.in);
        a.before = needed / 2;
        a.after = needed - a.before;
      }
    } else if (!known(span)) {
      a.out = -1;
    } else {
      int64_t places = a.in + a.before + a.after - span + a.stride;
      a.out = places / a.stride;
      if (places < 0)
        return invalid(op, "Computed output size would be negative: {} [input_size: {}, effective_filter_size: {}, stride: {}]",
                       a.out, a.in, span, a.stride);
    }
  }
  return w;
}

Result<Convolution> make_convolution(Op op, std::span<const int64_t> x, std::span<const int64_t> filter, bool depthwise,
                                     const Attrs& attrs) {
  Convolution c;
  size_t n = x.size() - 2;
  c.batch = x[0];
  c.channels_in = x[n + 1];
  int64_t in_group = filter[n];
  if (depthwise) {
    if (!may_equal(c.channels_in, in_group))
      return invalid(op, "input and filter must have the same depth: {} vs {}", c.channels_in, in_group);
    c.groups = merge(c.channels_in, in_group);
    c.channels_in = c.groups;
    if (known(c.groups) && known(filter[n + 1])) {
      if (__builtin_mul_overflow(c.groups, filter[n + 1], &c.channels_out)) return invalid(op, "the filter is too large");
    } else {
      c.channels_out = -1;
    }
  } else {
    c.channels_out = filter[n + 1];
    if (known(c.channels_in) && known(in_group)) {
      if (in_group == 0) return invalid(op, "filter depth must be positive, but is 0 in {}", shape_words(filter));
      if (c.channels_in % in_group != 0)
        return invalid(op, "input depth must be evenly divisible by filter depth: {} vs {}", c.channels_in, in_group);
      c.groups = c.channels_in / in_group;
      if (c.groups > 0 && known(c.channels_out) && c.channels_out % c.groups != 0)
        return invalid(op, "output depth must be evenly divisible by number of groups: {} vs {}", c.channels_out, c.groups);
      c.groups = std::max<int64_t>(c.groups, 1);
    }
  }
  c.windows = TFL_TRY(make_windows(op, x.subspan(1, n), filter.first(n), attrs));
  return c;
}

Dims convolution_sizes(const Convolution& c, size_t spatial_axes) {
  Dims out{c.batch};
  for (size_t i = 3 - spatial_axes; i < 3; ++i) out.push_back(c.windows.axes[i].out);
  out.push_back(c.channels_out);
  return out;
}

}  // namespace tfl
