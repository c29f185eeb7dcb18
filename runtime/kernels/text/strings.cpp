// Kernels of the operations on strings, those on one string at a time first. Bytes are bytes; UTF-8 is read where a unit says so.
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/kernels/layout/walk.h"
#include "runtime/kernels/parallel.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"
#include "runtime/text/print_tensor.h"

namespace tfl {

namespace {

using shape_rules::invalid;

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool continues(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool by_character(const RunCall& call) { return call.attrs.get_text(Attr::unit) == "UTF8_CHAR"; }

int64_t characters(const std::string& s) {
  return std::count_if(s.begin(), s.end(), [](char c) { return !continues(c); });
}

std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_blank(s.back())) s.remove_suffix(1);
  return s;
}

/// Applies f to each string of operand 0.
template <class F>
Result<void> map_strings(RunCall& call, F f) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) out.data<std::string>()[i] = f(x.data<std::string>()[i]);
  return call.give(std::move(out));
}

/// An operand's elements, row-major over sizes it broadcasts to.
Result<Tensor> spread(RunCall& call, size_t operand, std::span<const int64_t> dims) {
  const Tensor& x = call.operands[operand];
  Dims strides = broadcast_strides(x.dims(), x.strides(), dims);
  return contiguous(call.context, Tensor::view(call.context, x, dims, strides, 0));
}

Result<Tensor> strings_of(RunCall& call, const std::vector<std::string>& parts) {
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::String, Dims{static_cast<int64_t>(parts.size())}));
  std::copy(parts.begin(), parts.end(), out.data<std::string>());
  return out;
}

}  // namespace

Result<void> run_string_length(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  bool utf8 = by_character(call);
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::string& s = x.data<std::string>()[i];
    out.data<int32_t>()[i] = static_cast<int32_t>(utf8 ? characters(s) : static_cast<int64_t>(s.size()));
  }
  return call.give(std::move(out));
}

Result<void> run_string_upper(RunCall& call) {
  return map_strings(call, [](std::string s) {
    for (char& c : s) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
    return s;
  });
}

Result<void> run_string_lower(RunCall& call) {
  return map_strings(call, [](std::string s) {
    for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    return s;
  });
}

Result<void> run_string_strip(RunCall& call) {
  return map_strings(call, [](const std::string& s) { return std::string(stripped(s)); });
}

Result<void> run_string_join(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  std::string separator(call.attrs.get_text(Attr::separator));
  for (size_t k = 0; k < call.operands.size(); ++k) {
    Tensor x = TFL_TRY(spread(call, k, out.dims()));
    for (int64_t i = 0; i < out.size() && !stopped(call.context, i); ++i) {
      std::string& s = out.data<std::string>()[i];
      if (k > 0) s += separator;
      s += x.data<std::string>()[i];
    }
  }
  return call.give(std::move(out));
}

Result<void> run_reduce_join(RunCall& call) {
  const Tensor& x = call.operands[0];
  Tensor out = TFL_TRY(call.allocate());
  std::string separator(call.attrs.get_text(Attr::separator));
  // The reduced axes go last, the one named first innermost, since it is joined first; what is kept stays in front.
  Dims order, reduced;
  if (const Dims* axes = call.attrs.get_ints(Attr::axes)) {
    for (int64_t a : *axes) reduced.insert(0, a < 0 ? a + x.rank() : a);
  } else {
    for (int64_t a = 0; a < x.rank(); ++a) reduced.push_back(a);
  }
  for (int64_t a = 0; a < x.rank(); ++a) {
    if (std::find(reduced.begin(), reduced.end(), a) == reduced.end()) order.push_back(a);
  }
  order.append(reduced.begin(), reduced.end());
  Dims dims, strides;
  int64_t run = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    dims.push_back(x.dims()[static_cast<size_t>(order[i])]);
    strides.push_back(x.strides()[static_cast<size_t>(order[i])]);
    if (i >= order.size() - reduced.size()) run *= dims.back();
  }
  Tensor rows = TFL_TRY(contiguous(call.context, Tensor::view(call.context, x, dims, strides, 0)));
  for (int64_t i = 0; i < out.size() && !stopped(call.context, i); ++i) {
    std::string& s = out.data<std::string>()[i];
    for (int64_t k = 0; k < run; ++k) {
      if (k > 0) s += separator;
      s += rows.data<std::string>()[i * run + k];
    }
  }
  return call.give(std::move(out));
}

Result<void> run_substr(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  Tensor x = TFL_TRY(spread(call, 0, out.dims())), pos = TFL_TRY(spread(call, 1, out.dims())),
         len = TFL_TRY(spread(call, 2, out.dims()));
  bool utf8 = by_character(call);
  size_t width = dtype_size(pos.dtype());
  for (int64_t i = 0; i < out.size() && !stopped(call.context, i); ++i) {
    const std::string& s = x.data<std::string>()[i];
    int64_t p = load_int(pos.dtype(), pos.raw() + static_cast<size_t>(i) * width),
            n = load_int(len.dtype(), len.raw() + static_cast<size_t>(i) * width);
    int64_t size = utf8 ? characters(s) : static_cast<int64_t>(s.size());
    if (p > size || p < -size) {
      return invalid(call.op, "pos {} out of range for string b'{}' at index {}", p, s, i);
    }
    int64_t begin = p < 0 ? p + size : p;
    int64_t end = n < 0 || n > size - begin ? size : begin + n;
    if (utf8) {
      size_t at = 0;
      int64_t seen = 0;
      auto advance = [&](int64_t to) {
        while (seen < to && at < s.size()) {
          ++at;
          while (at < s.size() && continues(s[at])) ++at;
          ++seen;
        }
        return at;
      };
      size_t from = advance(begin), to = advance(end);
      out.data<std::string>()[i] = s.substr(from, to - from);
    } else {
      out.data<std::string>()[i] = s.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    }
  }
  return call.give(std::move(out));
}

Result<void> run_as_string(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  if (x.dtype() == DType::String) return call.give(std::move(x));
  Tensor out = TFL_TRY(call.allocate());
  DType d = x.dtype();
  int precision = static_cast<int>(call.attrs.get_int(Attr::precision, -1)),
      width = static_cast<int>(call.attrs.get_int(Attr::width, -1));
  std::string format = "%" + std::string(call.attrs.get_text(Attr::fill));
  if (width >= 0) format += std::to_string(width);
  if (precision >= 0) format += "." + std::to_string(precision);
  if (is_floating(d) || is_complex(d))
    format += call.attrs.get_bool(Attr::scientific) ? "e" : call.attrs.get_bool(Attr::shortest) ? "g" : "f";
  else if (d == DType::Bool)
    format += "s";
  else
    format += is_unsigned(d) ? "llu" : "lld";
  if (is_complex(d)) format = "(" + format + "," + format + ")";
  std::string buffer;
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::byte* at = x.raw() + static_cast<size_t>(i) * dtype_size(d);
    auto print = [&](char* to, size_t room) {
      // The format holds nothing but a checked flag, two numbers and the letter above.
      if (is_complex(d)) return std::snprintf(to, room, format.c_str(), load_double(d, at), load_imag(d, at));
      if (is_floating(d)) return std::snprintf(to, room, format.c_str(), load_double(d, at));
      if (d == DType::Bool) return std::snprintf(to, room, format.c_str(), load_int(d, at) ? "true" : "false");
      return std::snprintf(to, room, format.c_str(), static_cast<long long>(load_int(d, at)));
    };
    int n = print(nullptr, 0);
    buffer.resize(static_cast<size_t>(n) + 1);
    print(buffer.data(), buffer.size());
    buffer.resize(static_cast<size_t>(n));
    out.data<std::string>()[i] = buffer;
  }
  return call.give(std::move(out));
}

namespace {

template <class T>
bool parse_number(std::string_view text, T& value) {
  text = stripped(text);
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (text.empty()) return false;
  auto r = std::from_chars(text.data(), text.data() + text.size(), value);
  if (r.ptr != text.data() + text.size()) return false;
  if constexpr (std::is_floating_point_v<T>) {
    if (r.ec == std::errc::result_out_of_range) {
      // Too large or too small for the type: what strtod gives.
      value = static_cast<T>(std::strtod(std::string(text).c_str(), nullptr));
      return true;
    }
  }
  return r.ec == std::errc();
}

template <class T>
bool parse_into(const std::string& s, std::byte* at) {
  T v{};
  if (!parse_number(s, v)) return false;
  *reinterpret_cast<T*>(at) = v;
  return true;
}

}  // namespace

Result<void> run_string_to_number(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::string& s = x.data<std::string>()[i];
    std::byte* at = out.raw() + static_cast<size_t>(i) * dtype_size(out.dtype());
    bool good = false;
    switch (out.dtype()) {
      case DType::F32: good = parse_into<float>(s, at); break;
      case DType::F64: good = parse_into<double>(s, at); break;
      case DType::I32: good = parse_into<int32_t>(s, at); break;
      case DType::I64: good = parse_into<int64_t>(s, at); break;
      case DType::U32: good = parse_into<uint32_t>(s, at); break;
      default: good = parse_into<uint64_t>(s, at); break;
    }
    if (!good) return invalid(call.op, "StringToNumberOp could not correctly convert string: {}", s);
  }
  return call.give(std::move(out));
}

// ------------------------------------------------------------------------------------------------ many parts of each string

namespace {

/// Calls found(begin, size) for each part of `s`.
template <class Found>
void each_part(std::string_view s, std::string_view separator, int64_t limit, Found found) {
  size_t at = 0;
  int64_t count = 0;
  if (separator.empty()) {
    while (at < s.size()) {
      while (at < s.size() && is_blank(s[at])) ++at;
      if (at == s.size()) break;
      size_t end = at;
      bool last = limit >= 0 && count == limit;
      while (end < s.size() && (last || !is_blank(s[end]))) ++end;
      found(at, end - at);
      ++count;
      at = end;
    }
    return;
  }
  for (;;) {
    size_t next = limit >= 0 && count == limit ? std::string_view::npos : s.find(separator, at);
    found(at, std::min(next, s.size()) - at);
    if (next == std::string_view::npos) break;
    ++count;
    at = next + separator.size();
  }
}

/// The same for each byte, or each character of UTF-8.
template <class Found>
void each_unit(std::string_view s, bool utf8, Found found) {
  for (size_t at = 0; at < s.size();) {
    size_t end = at + 1;
    while (utf8 && end < s.size() && continues(s[end])) ++end;
    found(at, end - at);
    at = end;
  }
}

/// Calls found(begin, code point) for each character; -1 for a byte that begins none.
template <class Found>
void each_point(std::string_view s, Found found) {
  for (size_t i = 0; i < s.size();) {
    auto byte = static_cast<unsigned char>(s[i]);
    size_t n = byte < 0x80                   ? 1
               : byte >= 0xC2 && byte < 0xE0 ? 2
               : byte >= 0xE0 && byte < 0xF0 ? 3
               : byte >= 0xF0 && byte < 0xF5 ? 4
                                             : 0;
    bool good = n > 0 && i + n <= s.size();
    int32_t c = n == 1 ? byte : n == 0 ? 0 : byte & (0xFF >> (n + 1));
    for (size_t k = 1; good && k < n; ++k) {
      good = continues(s[i + k]);
      c = (c << 6) | (static_cast<unsigned char>(s[i + k]) & 0x3F);
    }
    found(i, good ? c : -1);
    i += good ? n : 1;
  }
}

/// How many parts each string has. `each(s, found)` finds those of one.
template <class Each>
Result<void> give_counts(RunCall& call, Each each) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(Tensor::empty(call.context, DType::I64, Dims{x.size()}));
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    int64_t count = 0;
    each(x.data<std::string>()[i], [&](size_t, auto) { ++count; });
    out.data<int64_t>()[i] = count;
  }
  return call.give(std::move(out));
}

/// The parts of all strings, one behind the other.
template <class Each>
Result<void> give_parts(RunCall& call, Each each) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  std::vector<std::string> parts;
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::string& s = x.data<std::string>()[i];
    each(s, [&](size_t at, size_t size) { parts.push_back(s.substr(at, size)); });
  }
  return call.give(TFL_TRY(strings_of(call, parts)));
}

}  // namespace

Result<void> run_string_split(RunCall& call) {
  std::string_view separator = call.attrs.get_text(Attr::separator);
  int64_t limit = call.attrs.get_int(Attr::limit, -1);
  auto each = [&](std::string_view s, auto found) { each_part(s, separator, limit, found); };
  return call.attrs.get_text(Attr::mode) == "counts" ? give_counts(call, each) : give_parts(call, each);
}

Result<void> run_bytes_split(RunCall& call) {
  bool utf8 = by_character(call);
  auto each = [&](std::string_view s, auto found) { each_unit(s, utf8, found); };
  return call.attrs.get_text(Attr::mode) == "counts" ? give_counts(call, each) : give_parts(call, each);
}

Result<void> run_unicode_decode(RunCall& call) {
  std::string_view mode = call.attrs.get_text(Attr::mode);
  if (mode == "counts") return give_counts(call, [](std::string_view s, auto found) { each_point(s, found); });
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  std::vector<int64_t> found;
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i)
    each_point(x.data<std::string>()[i],
               [&](size_t at, int32_t point) { found.push_back(mode == "offsets" ? static_cast<int64_t>(at) : point); });
  Dims dims{static_cast<int64_t>(found.size())};
  Tensor out = TFL_TRY(Tensor::empty(call.context, mode == "offsets" ? DType::I64 : DType::I32, dims));
  if (mode == "offsets")
    std::copy(found.begin(), found.end(), out.data<int64_t>());
  else
    std::transform(found.begin(), found.end(), out.data<int32_t>(), [](int64_t v) { return static_cast<int32_t>(v); });
  return call.give(std::move(out));
}

Result<void> run_unicode_encode(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  int64_t n = x.dim(x.rank() - 1);
  for (int64_t i = 0; i < out.size() && !stopped(call.context, i); ++i) {
    std::string& s = out.data<std::string>()[i];
    for (int64_t k = 0; k < n; ++k) {
      auto c = static_cast<uint32_t>(x.data<int32_t>()[i * n + k]);
      if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) c = 0xFFFD;
      if (c < 0x80) {
        s += static_cast<char>(c);
      } else if (c < 0x800) {
        s += static_cast<char>(0xC0 | (c >> 6));
        s += static_cast<char>(0x80 | (c & 0x3F));
      } else if (c < 0x10000) {
        s += static_cast<char>(0xE0 | (c >> 12));
        s += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        s += static_cast<char>(0x80 | (c & 0x3F));
      } else {
        s += static_cast<char>(0xF0 | (c >> 18));
        s += static_cast<char>(0x80 | ((c >> 12) & 0x3F));
        s += static_cast<char>(0x80 | ((c >> 6) & 0x3F));
        s += static_cast<char>(0x80 | (c & 0x3F));
      }
    }
  }
  return call.give(std::move(out));
}

Result<void> run_string_format(RunCall& call) {
  std::string_view rest = call.attrs.get_text(Attr::template_text), placeholder = call.attrs.get_text(Attr::placeholder);
  std::string text;
  for (const Tensor& t : call.operands) {
    size_t at = rest.find(placeholder);
    if (at == std::string_view::npos) break;
    text += rest.substr(0, at);
    text += print_tensor(t, call.attrs.get_int(Attr::summarize, 3));
    rest.remove_prefix(at + placeholder.size());
  }
  text += rest;
  return call.give(TFL_TRY(scalar<std::string>(call.context, DType::String, std::move(text))));
}

}  // namespace tfl
