// complex: construction, operators, text, methods. The arithmetic is CPython's: real numbers are widened first.
#include <cmath>

#include "frontend/core/attributes.h"
#include "frontend/core/complex_value.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/object/numbers/complex_number.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/format_spec.h"
#include "frontend/text/quote.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

HostComplex self_complex(const Value& v) { return {v.as<ComplexObject>()->re, v.as<ComplexObject>()->im}; }

std::string without_point(std::string text) {
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text;
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Where a number that begins at `at` ends; `at` itself if none does. With or without a sign.
size_t number_end(std::string_view s, size_t at) {
  size_t i = at;
  if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
  auto word = [&](std::string_view w) {
    if (s.size() - i < w.size()) return false;
    for (size_t k = 0; k < w.size(); ++k) {
      if ((s[i + k] | 0x20) != w[k]) return false;
    }
    i += w.size();
    return true;
  };
  if (word("infinity") || word("inf") || word("nan")) return i;
  auto digits = [&] {
    size_t from = i;
    while (i < s.size() && ((s[i] >= '0' && s[i] <= '9') || (s[i] == '_' && i > from))) ++i;
    return i > from;
  };
  bool some = digits();
  if (i < s.size() && s[i] == '.') {
    ++i;
    some = digits() || some;
  }
  if (!some) return at;
  if (i < s.size() && (s[i] | 0x20) == 'e') {
    size_t before = i++;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
    if (!digits()) i = before;
  }
  return i;
}

std::optional<HostComplex> parse_complex(std::string_view s) {
  auto trim = [&] {
    while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
    while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  };
  trim();
  if (s.starts_with('(') && s.ends_with(')') && s.size() > 1) {
    s = s.substr(1, s.size() - 2);
    trim();
  }
  if (s.empty()) return {};
  auto is_unit = [&](size_t at) { return at + 1 == s.size() && (s[at] | 0x20) == 'j'; };
  auto signed_unit = [&](size_t at) -> std::optional<double> {  // "+j", "-j", "j"
    double sign = 1;
    if (at < s.size() && (s[at] == '+' || s[at] == '-')) sign = s[at++] == '-' ? -1 : 1;
    return is_unit(at) ? std::optional(sign) : std::nullopt;
  };
  size_t end = number_end(s, 0);
  if (end == 0) {
    if (auto unit = signed_unit(0)) return HostComplex{0, *unit};
    return {};
  }
  std::optional<double> first = parse_float(s.substr(0, end));
  if (!first) return {};
  if (end == s.size()) return HostComplex{*first, 0};
  if (is_unit(end)) return HostComplex{0, *first};
  if (s[end] != '+' && s[end] != '-') return {};
  size_t last = number_end(s, end);
  if (last == end) {
    if (auto unit = signed_unit(end)) return HostComplex{*first, *unit};
    return {};
  }
  std::optional<double> second = parse_float(s.substr(end, last - end));
  if (!second || !is_unit(last)) return {};
  return HostComplex{*first, *second};
}

Result<Value> complex_construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "complex", args, {"real", "imag"}, 0, 0, out));
  HostComplex z;
  if (out[0].is_str()) {
    if (!out[1].is_empty()) return fail(ErrorKind::TypeError, "complex() can't take second arg if first is a string");
    auto parsed = parse_complex(text_of(out[0]));
    if (!parsed && text_of(out[0]).find('_') != std::string::npos)
      return fail(ErrorKind::ValueError, "could not convert string to complex: {}", quote_text(text_of(out[0])));
    if (!parsed) return fail(ErrorKind::ValueError, "complex() arg is a malformed string");
    z = *parsed;
  } else if (!out[0].is_empty()) {
    TFL_TRY(to_complex(interp, out[0], z.re, z.im));
  }
  if (!out[1].is_empty()) {
    if (out[1].is_str()) return fail(ErrorKind::TypeError, "complex() second arg can't be a string");
    HostComplex w;
    if (!complex_parts(out[1], w.re, w.im)) {
      auto real = to_double(interp, out[1]);
      if (!real && real.error().message.starts_with("must be real number"))
        return fail(ErrorKind::TypeError, "complex() second argument must be a number, not '{}'", interp.type_name(out[1]));
      w.re = TFL_TRY(std::move(real));
    }
    z.re -= w.im;
    z.im = out[0].is(Kind::Complex) ? z.im + w.re : w.re;
  }
  auto* made = interp.allocate<ComplexObject>(type);
  made->re = z.re;
  made->im = z.im;
  return Value::adopt(made);
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  HostComplex z = self_complex(self);
  return interp.str(complex_repr(z.re, z.im));
}

Result<Value> format_slot(Interp& interp, const Value& self, std::string_view spec) {
  if (spec.empty()) return to_str(interp, self);
  std::string_view name = interp.type_name(self);
  FormatSpec f = TFL_TRY(parse_format_spec(spec, 0, '>', name));
  if (f.fill == "0" && f.align == '=')
    return fail(ErrorKind::ValueError, "Zero padding is not allowed in complex format specifier");
  if (f.align == '=') return fail(ErrorKind::ValueError, "'=' alignment flag is not allowed in complex format specifier");
  if (f.type != 0 && std::string_view("eEfFgGn").find(f.type) == std::string_view::npos)
    return fail(ErrorKind::ValueError, "Unknown format code '{}' for object of type '{}'", f.type, name);
  TFL_TRY(guard_memory(interp, static_cast<size_t>(std::max(f.width, f.precision) + 1)));
  HostComplex z = self_complex(self);
  FormatSpec part = f;
  part.width = 0;
  const bool plain = f.type == 0;
  const bool real_shown = !plain || z.re != 0 || std::signbit(z.re);
  auto text_of_part = [&](double v) -> Result<std::string> {
    if (plain && f.precision < 0) {
      std::string digits = without_point(float_repr(v));
      return part.sign == '+' && digits[0] != '-' ? "+" + digits : part.sign == ' ' && digits[0] != '-' ? " " + digits : digits;
    }
    if (plain) part.type = 'g';
    return format_real(part, v, name);
  };
  std::string text;
  if (real_shown) {
    text = TFL_TRY(text_of_part(z.re));
    part.sign = '+';
  }
  text += TFL_TRY(text_of_part(z.im)) + "j";
  if (plain && real_shown) text = "(" + text + ")";
  FormatSpec outer = f;
  outer.type = 0;
  outer.precision = -1;
  return interp.str(pad(outer, "", text));
}

Result<uint64_t> hash_slot(Interp&, const Value& self) {
  HostComplex z = self_complex(self);
  return hash_double(z.re) + 1000003u * hash_double(z.im);
}
Result<bool> truth_slot(Interp&, const Value& self) {
  HostComplex z = self_complex(self);
  return z.re != 0 || z.im != 0;
}

Result<Value> unary_slot(Interp& interp, UnaryOp op, const Value& self) {
  HostComplex z = self_complex(self);
  switch (op) {
    case UnaryOp::Minus: return complex_value(interp, -z.re, -z.im);
    case UnaryOp::Plus: return complex_value(interp, z.re, z.im);
    case UnaryOp::Not: return Value::boolean(z.re == 0 && z.im == 0);
    case UnaryOp::Invert: break;
  }
  return fail(ErrorKind::TypeError, "bad operand type for unary ~: '{}'", interp.type_name(self));
}

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  HostComplex x, y;
  if (!complex_parts(a, x.re, x.im) || !complex_parts(b, y.re, y.im)) return interp.not_implemented;
  HostComplex r;
  switch (op) {
    case BinaryOp::Add: r = {x.re + y.re, x.im + y.im}; break;
    case BinaryOp::Sub: r = {x.re - y.re, x.im - y.im}; break;
    case BinaryOp::Mul: r = x * y; break;
    case BinaryOp::Div:
      if (y.re == 0 && y.im == 0) return fail(ErrorKind::ZeroDivisionError, "complex division by zero");
      r = x / y;
      break;
    case BinaryOp::Pow: r = TFL_TRY(complex_power(x, y)); break;
    default: return interp.not_implemented;
  }
  return complex_value(interp, r.re, r.im);
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  HostComplex x, y;
  if (op != CompareOp::Eq && op != CompareOp::Ne) return interp.not_implemented;
  if (!complex_parts(a, x.re, x.im) || !complex_parts(b, y.re, y.im)) return interp.not_implemented;
  bool equal = x.re == y.re && x.im == y.im;
  // An int beyond 2^53 is compared as it is.
  for (const Value* v : {&a, &b}) {
    if (Number n = number_of(*v); n.is == Number::Is::Int) equal = equal && compare_int_float(n.i, v == &a ? y.re : x.re) == 0;
  }
  return Value::boolean(equal == (op == CompareOp::Eq));
}

Result<Value> conjugate(Interp& interp, Value* a) {
  HostComplex z = self_complex(a[0]);
  return complex_value(interp, z.re, -z.im);
}
Result<Value> itself(Interp& interp, Value* a) {
  HostComplex z = self_complex(a[0]);
  return complex_value(interp, z.re, z.im);
}
Result<Value> real_part(Interp&, Value* a) { return Value::real(self_complex(a[0]).re); }
Result<Value> imaginary_part(Interp&, Value* a) { return Value::real(self_complex(a[0]).im); }
Result<Value> magnitude(Interp&, Value* a) {
  HostComplex z = self_complex(a[0]);
  double r = std::hypot(z.re, z.im);
  if (std::isinf(r) && std::isfinite(z.re) && std::isfinite(z.im))
    return fail(ErrorKind::OverflowError, "absolute value too large");
  return Value::real(r);
}

constexpr NativeDef kMethods[] = {
    method("conjugate", "self, /", conjugate),
    method("__complex__", "self, /", itself),
    method("__abs__", "self, /", magnitude),
    getter("real", real_part),
    getter("imag", imaginary_part),
};

}  // namespace

HostComplex operator*(HostComplex x, HostComplex y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }

HostComplex operator/(HostComplex x, HostComplex y) {
  double re = std::fabs(y.re), im = std::fabs(y.im);
  if (re >= im) {
    double ratio = y.im / y.re, below = y.re + y.im * ratio;
    return {(x.re + x.im * ratio) / below, (x.im - x.re * ratio) / below};
  }
  if (im >= re) {
    double ratio = y.re / y.im, below = y.re * ratio + y.im;
    return {(x.re * ratio + x.im) / below, (x.im * ratio - x.re) / below};
  }
  return {std::nan(""), std::nan("")};
}

Result<HostComplex> complex_power(HostComplex x, HostComplex y) {
  HostComplex r{1, 0};
  if (y.im == 0 && y.re == std::floor(y.re) && std::fabs(y.re) <= 100) {
    auto n = static_cast<int>(std::fabs(y.re));
    HostComplex p = x;
    for (int mask = 1; mask <= n; mask <<= 1) {
      if (n & mask) r = r * p;
      p = p * p;
    }
    if (y.re < 0) {
      if (r.re == 0 && r.im == 0) return fail(ErrorKind::ZeroDivisionError, "0.0 to a negative or complex power");
      r = HostComplex{1, 0} / r;
    }
  } else if (x.re == 0 && x.im == 0) {
    if (y.im != 0 || y.re < 0) return fail(ErrorKind::ZeroDivisionError, "0.0 to a negative or complex power");
    r = {0, 0};
  } else {
    double length = std::hypot(x.re, x.im), angle = std::atan2(x.im, x.re);
    double size = std::pow(length, y.re), phase = angle * y.re;
    if (y.im != 0) {
      size /= std::exp(angle * y.im);
      phase += y.im * std::log(length);
    }
    r = {size * std::cos(phase), size * std::sin(phase)};
  }
  if (std::isinf(r.re) || std::isinf(r.im)) return fail(ErrorKind::OverflowError, "complex exponentiation");
  return r;
}

bool complex_parts(const Value& v, double& re, double& im) {
  if (v.is(Kind::Complex)) {
    re = v.as<ComplexObject>()->re;
    im = v.as<ComplexObject>()->im;
    return true;
  }
  Number n = number_of(v);
  if (n.is == Number::Is::Not) return false;
  re = n.real();
  im = 0;
  return true;
}

Result<void> to_complex(Interp& interp, const Value& v, double& re, double& im) {
  if (complex_parts(v, re, im)) return {};
  if (is_tensor_like(v)) {
    Tensor t = TFL_TRY(to_concrete(interp, v));
    if (is_complex(t.dtype()) && t.size() == 1) {
      re = load_double(t.dtype(), t.raw());
      im = load_imag(t.dtype(), t.raw());
      return {};
    }
  }
  Value own = TFL_TRY(call_special(interp, v, interp.intern("__complex__"), {}));
  if (!own.is_empty()) {
    if (!own.is(Kind::Complex))
      return fail(ErrorKind::TypeError, "__complex__ returned non-complex (type {})", interp.type_name(own));
    complex_parts(own, re, im);
    return {};
  }
  auto real = to_double(interp, v);
  if (!real && real.error().kind == ErrorKind::TypeError && real.error().message.starts_with("must be real number"))
    return fail(ErrorKind::TypeError, "complex() first argument must be a string or a number, not '{}'", interp.type_name(v));
  re = TFL_TRY(std::move(real));
  im = 0;
  return {};
}

std::string complex_repr(double re, double im) {
  std::string imaginary = without_point(float_repr(im)) + "j";
  if (re == 0 && !std::signbit(re)) return imaginary;
  return "(" + without_point(float_repr(re)) + (imaginary[0] == '-' ? "" : "+") + imaginary + ")";
}

extern const Slots complex_slots;

const Slots complex_slots = {.kind = Kind::Complex,
                             .destroy = destroy_object<ComplexObject>,
                             .construct = complex_construct,
                             .repr = repr_slot,
                             .format = format_slot,
                             .hash = hash_slot,
                             .truth = truth_slot,
                             .unary = unary_slot,
                             .binary = binary_slot,
                             .compare = compare_slot};

std::span<const NativeDef> complex_methods() { return kMethods; }

}  // namespace tfl
