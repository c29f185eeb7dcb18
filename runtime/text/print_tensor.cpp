#include "runtime/text/print_tensor.h"

#include <fmt/core.h>

#include <algorithm>

#include "runtime/tensor/element.h"
#include "runtime/text/print_number.h"

namespace tfl {

namespace {

/// A string as TensorFlow quotes it: C escapes, UTF-8 kept.
std::string quoted(const std::string& s) {
  std::string out = "\"";
  for (char c : s) {
    switch (c) {
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      case '"': out += "\\\""; break;
      case '\'': out += "\\'"; break;
      case '\\': out += "\\\\"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
          out += fmt::format("\\{:03o}", static_cast<unsigned>(c));
        else
          out += c;
    }
  }
  return out + '"';
}

struct Printer {
  const Tensor& t;
  int64_t edge;
  std::string out;
  int64_t left = 0;  // elements of a failed assertion's text

  void element(const std::byte* at) {
    DType d = t.dtype();
    if (d == DType::String)
      out += quoted(*reinterpret_cast<const std::string*>(at));
    else if (is_complex(d))
      out += '?';  // what TensorFlow prints of them
    else if (is_floating(d))
      out += d == DType::F64 ? print_number(load_double(d, at)) : print_number(static_cast<float>(load_double(d, at)));
    else if (d == DType::U64)
      out += fmt::format("{}", static_cast<uint64_t>(load_int(d, at)));
    else
      out += fmt::format("{}", load_int(d, at));
  }

  void spacing(int axis) {
    if (axis == t.rank() - 1) {
      out += ' ';
      return;
    }
    out.append(static_cast<size_t>(t.rank() - axis - 1), '\n');
    out.append(static_cast<size_t>(axis + 1), ' ');
  }

  void axis(int a, const std::byte* at) {
    if (a == t.rank()) return element(at);
    out += '[';
    int64_t n = t.dim(a);
    ptrdiff_t step = t.strides()[static_cast<size_t>(a)] * static_cast<ptrdiff_t>(dtype_size(t.dtype()));
    for (int64_t i = 0; i < edge && i < n; ++i) {
      if (i > 0) spacing(a);
      axis(a + 1, at + i * step);
    }
    if (n > 2 * edge) {
      spacing(a);
      out += "...";
    }
    for (int64_t i = std::max(edge, n - edge); i < n; ++i) {
      spacing(a);
      axis(a + 1, at + i * step);
    }
    out += ']';
  }

  /// The elements that are left, as TensorFlow's SummarizeValue writes them: the outermost brackets are whoever's asks.
  void first_elements(int a, const std::byte* at) {
    if (left <= 0) return;
    if (a == t.rank()) {
      --left;
      if (t.dtype() == DType::String)
        out += *reinterpret_cast<const std::string*>(at);
      else
        element(at);
      return;
    }
    const bool innermost = a == t.rank() - 1 || t.dtype() == DType::String;
    ptrdiff_t step = t.strides()[static_cast<size_t>(a)] * static_cast<ptrdiff_t>(dtype_size(t.dtype()));
    for (int64_t i = 0; i < t.dim(a); ++i) {
      if (left <= 0) {
        if (innermost && a != 0 && t.dtype() != DType::String) out += "...";
        return;
      }
      if (innermost && i > 0) out += ' ';
      if (!innermost) out += '[';
      first_elements(a + 1, at + i * step);
      if (!innermost) out += ']';
    }
  }
};

}  // namespace

std::string print_tensor(const Tensor& t, int64_t summarize) {
  if (summarize <= of_check(-1)) {
    const int64_t most = of_check(0) - summarize;
    Printer p{t, 0, {}, most < 0 ? t.size() : std::min(most, t.size())};
    const bool more = p.left < t.size();
    p.first_elements(0, t.raw());
    if (more) p.out += "...";
    return std::move(p.out);
  }
  if (is_complex(t.dtype()) && t.rank() > 0) {  // which TensorFlow does not know how to write
    int64_t shown = summarize < 0 ? t.size() : std::min(summarize, t.size());
    std::string text;
    for (int64_t i = 0; i < shown; ++i) text += i ? " ?" : "?";
    return "[" + text + (shown < t.size() ? "...]" : "]");
  }
  Printer p{t, summarize < 0 ? t.size() : std::min(summarize, t.size()), {}};
  p.axis(0, t.raw());
  return std::move(p.out);
}

}  // namespace tfl
