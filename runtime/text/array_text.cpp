#include "runtime/text/array_text.h"

#include <algorithm>
#include <vector>

#include "runtime/tensor/dtype_dispatch.h"
#include "runtime/tensor/element.h"
#include "runtime/text/decimal.h"
#include "runtime/text/float_format.h"

namespace tfl {

namespace {

struct Shown {
  const Tensor& t;
  bool summary;
  int64_t edge;

  bool cut(int axis) const { return summary && t.dim(axis) > 2 * edge; }
};

// visit(offset) for the elements that are shown, in row-major order.
template <class F>
void for_each_shown(const Shown& shown, int axis, int64_t offset, F& visit) {
  if (axis == shown.t.rank()) return visit(offset);
  int64_t size = shown.t.dim(axis), stride = shown.t.strides()[axis];
  bool cut = shown.cut(axis);
  for (int64_t i = 0; i < size; ++i) {
    if (cut && i == shown.edge) i = size - shown.edge;
    if (i < size) for_each_shown(shown, axis + 1, offset + i * stride, visit);
  }
}

double float_at(const Tensor& t, int64_t offset) {
  switch (t.dtype()) {
    case DType::F16: return to_f32(t.data<f16>()[offset]);
    case DType::BF16: return to_f32(t.data<bf16>()[offset]);
    case DType::F32: return t.data<float>()[offset];
    default: return t.data<double>()[offset];
  }
}

std::string integer_at(const Tensor& t, int64_t offset) {
  switch (t.dtype()) {
    case DType::I8: return std::to_string(t.data<int8_t>()[offset]);
    case DType::I16: return std::to_string(t.data<int16_t>()[offset]);
    case DType::I32: return std::to_string(t.data<int32_t>()[offset]);
    case DType::I64: return std::to_string(t.data<int64_t>()[offset]);
    case DType::U8: return std::to_string(t.data<uint8_t>()[offset]);
    case DType::U16: return std::to_string(t.data<uint16_t>()[offset]);
    case DType::U32: return std::to_string(t.data<uint32_t>()[offset]);
    default: return std::to_string(t.data<uint64_t>()[offset]);
  }
}

// The texts of the elements that are shown, in order, padded to stand in columns.
std::vector<std::string> words_of(const Shown& shown, const PrintOptions& options) {
  const Tensor& t = shown.t;
  std::vector<std::string> words;
  auto collect = [&](auto&& text_at) {
    auto visit = [&](int64_t offset) { words.push_back(text_at(offset)); };
    for_each_shown(shown, 0, 0, visit);
  };
  switch (dtype_group(t.dtype())) {
    case DTypeGroup::String: {
      bool quoted = options.quote && text_type(t).is_text();
      collect([&](int64_t i) {
        return quoted ? options.quote(t.data<std::string>()[i], false) : bytes_repr(t.data<std::string>()[i]);
      });
      break;
    }
    case DTypeGroup::Bool: {
      const char* yes = t.rank() > 0 ? " True" : "True";
      collect([&](int64_t i) { return std::string(t.data<bool>()[i] ? yes : "False"); });
      break;
    }
    case DTypeGroup::Signed:
    case DTypeGroup::Unsigned: {
      collect([&](int64_t i) { return integer_at(t, i); });
      bool negative = std::any_of(words.begin(), words.end(), [](const std::string& w) { return w[0] == '-'; });
      if (options.sign == '+' || (options.sign == ' ' && !negative)) {
        for (std::string& w : words) {
          if (w[0] != '-') w.insert(0, 1, options.sign);
        }
      }
      size_t width = 0;
      for (const std::string& w : words) width = std::max(width, w.size());
      for (std::string& w : words) w.insert(0, width - w.size(), ' ');
      break;
    }
    case DTypeGroup::Float: {
      if (t.dtype() == DType::BF16) {
        collect([&](int64_t i) { return general_text(float_at(t, i), 6); });
        break;
      }
      std::vector<double> values;
      auto visit = [&](int64_t offset) { values.push_back(float_at(t, offset)); };
      for_each_shown(shown, 0, 0, visit);
      FloatFormat format(t.dtype(), values, options);
      for (double v : values) words.push_back(format.text(v));
      break;
    }
    case DTypeGroup::Complex: {
      std::vector<double> re, im;
      auto visit = [&](int64_t offset) {
        const std::byte* at = t.raw() + offset * static_cast<int64_t>(dtype_size(t.dtype()));
        re.push_back(load_double(t.dtype(), at));
        im.push_back(load_imag(t.dtype(), at));
      };
      for_each_shown(shown, 0, 0, visit);
      PrintOptions with_sign = options;
      with_sign.sign = '+';
      DType part = part_dtype(t.dtype());
      FloatFormat real(part, re, options), imag(part, im, with_sign);
      for (size_t i = 0; i < re.size(); ++i) {
        std::string text = imag.text(im[i]);
        text.insert(text.find_last_not_of(' ') + 1, "j");
        words.push_back(real.text(re[i]) + text);
      }
      break;
    }
  }
  return words;
}

// Puts words into rows and rows into brackets, breaking lines at a width.
struct Layout {
  const Shown& shown;
  const std::vector<std::string>& words;
  std::string_view separator;
  size_t next = 0;

  std::string_view bare_separator() const {
    size_t end = separator.find_last_not_of(" \t\n");
    return separator.substr(0, end == std::string_view::npos ? 0 : end + 1);
  }

  static void strip(std::string& line) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\n')) line.pop_back();
  }

  // `indent` columns of blanks begin each line; `width` is what is left of the line for this depth.
  std::string rows(int axis, int64_t indent, int64_t width) {
    int axes_left = shown.t.rank() - axis;
    if (axes_left == 0) return words[next++];
    int64_t size = shown.t.dim(axis);
    bool cut = shown.cut(axis);
    int64_t leading = cut ? shown.edge : 0, trailing = cut ? shown.edge : size;
    const std::string blanks(static_cast<size_t>(indent), ' ');
    std::string out;
    if (axes_left == 1) {
      int64_t room = width - std::max<int64_t>(static_cast<int64_t>(bare_separator().size()), 1);
      std::string line = blanks;
      auto put = [&](std::string_view word) {
        if (static_cast<int64_t>(line.size() + word.size()) > room && static_cast<int64_t>(line.size()) > indent) {
          strip(line);
          out += line;
          out += '\n';
          line = blanks;
        }
        line += word;
      };
      for (int64_t i = 0; i < leading; ++i) {
        put(words[next++]);
        line += separator;
      }
      if (cut) {
        put("...");
        line += separator;
      }
      for (int64_t i = 0; i < trailing; ++i) {
        put(words[next++]);
        if (i + 1 < trailing) line += separator;
      }
      out += line;
    } else {
      std::string between(bare_separator());
      between.append(static_cast<size_t>(axes_left - 1), '\n');
      for (int64_t i = 0; i < leading; ++i) out += blanks + rows(axis + 1, indent + 1, width - 1) + between;
      if (cut) out += blanks + "..." + between;
      for (int64_t i = 0; i < trailing; ++i) {
        out += blanks + rows(axis + 1, indent + 1, width - 1);
        if (i + 1 < trailing) out += between;
      }
    }
    return "[" + out.substr(static_cast<size_t>(indent)) + "]";
  }
};

bool is_summarised(const Tensor& t, const PrintOptions& options) { return t.size() > options.threshold; }

}  // namespace

std::string text_type_name(TextType type) {
  if (!type.fixed()) return "object";
  return (type.kind == TextKind::text ? "<U" : "|S") + std::to_string(type.width);
}

std::string array_text(const Tensor& t, const PrintOptions& options, std::string_view separator, std::string_view prefix,
                       std::string_view suffix) {
  if (t.size() == 0) return "[]";
  Shown shown{t, is_summarised(t, options), options.edge_items};
  std::vector<std::string> words = words_of(shown, options);
  Layout layout{shown, words, separator};
  return layout.rows(0, static_cast<int64_t>(prefix.size()) + 1, options.line_width - static_cast<int64_t>(suffix.size()));
}

std::string array_str(const Tensor& t, const PrintOptions& options) {
  if (t.rank() == 0 && t.dtype() == DType::String && text_type(t).is_text()) return *t.data<std::string>();
  if (t.rank() == 0 && t.dtype() == DType::String && text_type(t).fixed()) return "np.bytes_(" + element_str(t) + ")";
  return t.rank() == 0 ? element_str(t) : array_text(t, options);
}

std::string array_repr(const Tensor& t, const PrintOptions& options) {
  std::string body = array_text(t, options, ", ", "array(", ")");
  std::string extras;
  auto add = [&](const std::string& text) { extras += (extras.empty() ? "" : ", ") + text; };
  bool plain_empty = t.rank() == 1 && t.size() == 0;
  if ((t.size() == 0 && !plain_empty) || is_summarised(t, options)) add("shape=" + shape_tuple_text(t.dims()));
  bool implied = t.dtype() == DType::I64 || t.dtype() == DType::F64 || t.dtype() == DType::C128 || t.dtype() == DType::Bool;
  if (!implied || t.size() == 0)
    add("dtype=" + (t.dtype() != DType::String ? std::string(dtype_name(t.dtype()))
                    : text_type(t).fixed()     ? "'" + text_type_name(text_type(t)) + "'"
                                               : "object"));
  std::string text = "array(" + body;
  if (extras.empty()) return text + ")";
  text += ',';
  size_t line_start = text.rfind('\n');
  int64_t last_line = static_cast<int64_t>(text.size() - (line_start == std::string::npos ? 0 : line_start + 1));
  bool fits = last_line + static_cast<int64_t>(extras.size()) + 2 <= options.line_width;
  return text + (fits ? " " : "\n      ") + extras + ")";
}

namespace {

// As Python writes one: without a real part that is +0, and no number with ".0".
template <class Text>
std::string complex_text(const Tensor& t, Text text) {
  auto part = [&](double v) {
    std::string s = text(v);
    if (s.ends_with(".0")) s.resize(s.size() - 2);
    return s;
  };
  double re = load_double(t.dtype(), t.raw()), im = load_imag(t.dtype(), t.raw());
  std::string imaginary = part(im) + "j";
  if (re == 0 && !__builtin_signbit(re)) return imaginary;
  return "(" + part(re) + (imaginary[0] == '-' ? "" : "+") + imaginary + ")";
}

}  // namespace

std::string element_str(const Tensor& t) {
  switch (dtype_group(t.dtype())) {
    case DTypeGroup::String: return bytes_repr(*t.data<std::string>());
    case DTypeGroup::Bool: return *t.data<bool>() ? "True" : "False";
    case DTypeGroup::Float: return scalar_text(t.dtype(), float_at(t, 0));
    case DTypeGroup::Complex: return complex_text(t, [&](double v) { return scalar_text(part_dtype(t.dtype()), v); });
    default: return integer_at(t, 0);
  }
}

std::string element_item_repr(const Tensor& t) {
  if (is_complex(t.dtype())) return complex_text(t, double_repr);
  return dtype_group(t.dtype()) == DTypeGroup::Float ? double_repr(float_at(t, 0)) : element_str(t);
}

}  // namespace tfl
