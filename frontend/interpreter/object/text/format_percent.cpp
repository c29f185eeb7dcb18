// text % values: printf-style formatting, for text and (with bytes in and out) for bytes.
#include "frontend/interpreter/object/text/format_percent.h"

#include <cmath>

#include "frontend/core/attributes.h"
#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/str.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/text/float_text.h"
#include "frontend/text/int_text.h"
#include "frontend/text/quote.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

struct Field {
  bool left = false, plus = false, blank = false, alternate = false, zero = false;
  int64_t width = 0;
  int64_t precision = -1;
  char type = 0;
};

class PercentFormatter {
 public:
  PercentFormatter(Interp& interp, std::string_view text, const Value& values, bool bytes)
      : interp_(interp), s_(text), values_(values), bytes_(bytes), is_tuple_(values.is(Kind::Tuple)) {
    bool mapping = !is_tuple_ && !values.is_str() && !(bytes && values.is(Kind::Bytes)) && values.is_object() &&
                   (values.is(Kind::Dict) || values.is(Kind::List) || interp.type_of(values)->slots->get_item ||
                    type_lookup(interp.type_of(values), interp.sym.__getitem__));
    if (mapping) mapping_ = values;
  }

  Result<std::string> run() {
    while (at_ < s_.size()) {
      size_t p = s_.find('%', at_);
      if (p == std::string_view::npos) {
        out_ += s_.substr(at_);
        break;
      }
      out_ += s_.substr(at_, p - at_);
      at_ = p + 1;
      TFL_TRY(one_field());
    }
    bool all_used = is_tuple_ ? next_ >= values_.as<Tuple>()->size : (single_used_ || !mapping_.is_empty());
    if (!all_used) {
      return fail(ErrorKind::TypeError, bytes_ ? "not all arguments converted during bytes formatting"
                                               : "not all arguments converted during string formatting");
    }
    return std::move(out_);
  }

 private:
  Failure incomplete() { return fail(ErrorKind::ValueError, "incomplete format"); }

  Result<Value> next_value() {
    if (is_tuple_) {
      if (next_ < values_.as<Tuple>()->size) return values_.as<Tuple>()->items[next_++];
    } else if (!single_used_ && keyed_.is_empty()) {
      single_used_ = true;
      return values_;
    } else if (!keyed_.is_empty()) {
      return std::move(keyed_);
    }
    return fail(ErrorKind::TypeError, "not enough arguments for format string");
  }

  Result<void> one_field() {
    Field f;
    if (at_ < s_.size() && s_[at_] == '%') {
      out_ += '%';
      ++at_;
      return {};
    }
    keyed_ = Value();
    if (at_ < s_.size() && s_[at_] == '(') TFL_TRY(key());
    for (; at_ < s_.size(); ++at_) {
      char c = s_[at_];
      if (c == '-')
        f.left = true;
      else if (c == '+')
        f.plus = true;
      else if (c == ' ')
        f.blank = true;
      else if (c == '#')
        f.alternate = true;
      else if (c == '0')
        f.zero = true;
      else
        break;
    }
    TFL_TRY(number(f.width, "width"));
    if (f.width < 0) {
      f.left = true;
      f.width = -f.width;
    }
    if (at_ < s_.size() && s_[at_] == '.') {
      ++at_;
      f.precision = 0;
      TFL_TRY(number(f.precision, "precision"));
      if (f.precision < 0) f.precision = 0;
    }
    if (at_ < s_.size() && (s_[at_] == 'h' || s_[at_] == 'l' || s_[at_] == 'L')) ++at_;
    if (at_ >= s_.size()) return incomplete();
    size_t type_at = at_;
    char32_t type = bytes_ ? static_cast<unsigned char>(s_[at_++]) : utf8::next(s_, at_);
    TFL_TRY(guard_memory(interp_, static_cast<size_t>(f.width) + static_cast<size_t>(f.precision + 1)));
    f.type = type < 0x80 ? static_cast<char>(type) : '?';
    if (type >= 0x80 || std::string_view("diuoxXeEfFgGcrsab").find(f.type) == std::string_view::npos ||
        (f.type == 'b' && !bytes_)) {
      // The value is taken first, as CPython does.
      TFL_TRY(next_value());
      int64_t index = bytes_ ? static_cast<int64_t>(type_at) : utf8::count(s_.substr(0, type_at));
      std::string shown = type > 31 && type < 127 ? std::string(1, f.type) : std::string("?");
      return fail(ErrorKind::ValueError, "unsupported format character '{}' (0x{:x}) at index {}", shown,
                  static_cast<uint32_t>(type), index);
    }
    Value v = TFL_TRY(next_value());
    return convert(f, v);
  }

  Result<void> key() {
    if (mapping_.is_empty()) return fail(ErrorKind::TypeError, "format requires a mapping");
    size_t start = ++at_;
    int open = 1;
    while (at_ < s_.size() && open > 0) {
      if (s_[at_] == '(') ++open;
      if (s_[at_] == ')') --open;
      ++at_;
    }
    if (open > 0) return fail(ErrorKind::ValueError, "incomplete format key");
    std::string name(s_.substr(start, at_ - start - 1));
    keyed_ = TFL_TRY(get_item(interp_, mapping_, bytes_ ? interp_.bytes(std::move(name)) : interp_.str(std::move(name))));
    single_used_ = true;
    is_tuple_ = false;
    return {};
  }

  /// Digits, or * for the next value.
  Result<void> number(int64_t& out, const char* what) {
    if (at_ < s_.size() && s_[at_] == '*') {
      ++at_;
      Value v = TFL_TRY(next_value());
      Value plain = unboxed(v);
      if (!plain.is_int() && !plain.is_bool()) return fail(ErrorKind::TypeError, "* wants int");
      out = plain.as_int();
      if (out < -INT32_MAX || out > INT32_MAX) return fail(ErrorKind::OverflowError, "Python int too large to convert to C int");
      return {};
    }
    int64_t v = 0;
    for (; at_ < s_.size() && s_[at_] >= '0' && s_[at_] <= '9'; ++at_) {
      v = v * 10 + (s_[at_] - '0');
      if (v > INT32_MAX) return fail(ErrorKind::ValueError, "{} too big", what);
    }
    out = v;
    return {};
  }

  Result<void> convert(const Field& f, const Value& v) {
    std::string sign, body;
    bool numeric = true;
    switch (f.type) {
      case 'd':
      case 'i':
      case 'u':
      case 'o':
      case 'x':
      case 'X': TFL_TRY(integer(f, v, sign, body)); break;
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G': TFL_TRY(real(f, v, sign, body)); break;
      case 'c': {
        numeric = false;
        TFL_TRY(character(v, body));
        break;
      }
      default: {
        numeric = false;
        TFL_TRY(text(f, v, body));
        if (f.precision >= 0 && f.precision < count(body)) {
          body.resize(bytes_ ? static_cast<size_t>(f.precision) : utf8::offset(body, f.precision));
        }
      }
    }
    if (numeric && sign.empty()) sign = f.plus ? "+" : f.blank ? " " : "";
    int64_t missing = f.width - count(body) - static_cast<int64_t>(sign.size());
    bool zeros = numeric && f.zero && !f.left;
    if (missing > 0 && !f.left && !zeros) out_.append(static_cast<size_t>(missing), ' ');
    out_ += sign;
    if (zeros && missing > 0) {
      // 0x stays in front of the zeros.
      bool prefixed = f.alternate && body.size() > 1 && body[0] == '0' && (f.type == 'x' || f.type == 'X' || f.type == 'o');
      body.insert(prefixed ? 2 : 0, static_cast<size_t>(missing), '0');
    }
    out_ += body;
    if (missing > 0 && f.left) out_.append(static_cast<size_t>(missing), ' ');
    return guard_memory(interp_, out_.size());
  }

  int64_t count(const std::string& s) const { return bytes_ ? static_cast<int64_t>(s.size()) : utf8::count(s); }

  /// Whether %d takes an instance of a script's class. int() alone would take one with __trunc__, too.
  bool is_numeric(const Value& v) const {
    const Type* type = interp_.type_of(v);
    const Symbols& sym = interp_.sym;
    return script_lookup(interp_, type, sym.__int__) || script_lookup(interp_, type, sym.__index__) ||
           script_lookup(interp_, type, sym.__float__);
  }

  Result<void> integer(const Field& f, const Value& v, std::string& sign, std::string& body) {
    bool decimal = f.type == 'd' || f.type == 'i' || f.type == 'u';
    Number n = number_of(v);
    Value i = n.whole() ? n.value() : Value();
    if (!n.whole()) {
      auto wrong = [&] {
        return fail(ErrorKind::TypeError, "%{} format: {} is required, not {}", f.type, decimal ? "a real number" : "an integer",
                    interp_.type_name(v));
      };
      bool script = interp_.type_of(v)->script;
      if (n.is == Number::Is::Float &&
          !(script && !decimal && script_lookup(interp_, interp_.type_of(v), interp_.sym.__index__))) {
        if (!decimal) return wrong();
        i = TFL_TRY(int_of_double(interp_, n.f));
      } else if (script ? !is_numeric(v) : v.is_str() || v.is(Kind::Bytes) || v.is_none()) {
        return wrong();
      } else {
        auto converted = decimal ? to_int_value(interp_, v) : to_index_value(interp_, v);
        if (!converted) {
          if (error_is(converted.error(), ErrorKind::TypeError)) return wrong();
          return converted.failure();
        }
        i = converted.take();
      }
    }
    int base = decimal ? 10 : f.type == 'o' ? 8 : 16;
    if (int_negative(i)) sign = "-";
    body = TFL_TRY(base == 10 ? int_text(interp_, i) : int_magnitude_text(interp_, i, base));
    if (body[0] == '-') body.erase(0, 1);
    if (f.precision > static_cast<int64_t>(body.size())) body.insert(0, static_cast<size_t>(f.precision) - body.size(), '0');
    if (f.alternate && !decimal) body.insert(0, f.type == 'o' ? "0o" : "0x");
    if (f.type == 'X') {
      for (char& c : body) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      }
    }
    return {};
  }

  Result<void> real(const Field& f, const Value& v, std::string& sign, std::string& body) {
    double d = TFL_TRY(to_double(interp_, v));
    if (std::signbit(d) && !std::isnan(d)) sign = "-";
    double a = std::fabs(d);
    char lower = static_cast<char>(f.type | 32);
    if (std::isnan(d))
      body = "nan";
    else if (std::isinf(d))
      body = "inf";
    else
      body = format_double(a, lower, f.precision < 0 ? 6 : static_cast<int>(f.precision), f.alternate);
    if (f.type != lower) {
      for (char& c : body) {
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 32);
      }
    }
    return {};
  }

  Result<void> character(const Value& v, std::string& body) {
    if (bytes_) {
      if ((v.is(Kind::Bytes) || v.is(Kind::ByteArray)) && v.as<Bytes>()->data.size() == 1) {
        body = v.as<Bytes>()->data;
        return {};
      }
      auto i = to_index(interp_, v);
      if (!i && !error_is(i.error(), ErrorKind::TypeError)) return i.failure();
      if (!i) return fail(ErrorKind::TypeError, "%c requires an integer in range(256) or a single byte");
      if (*i < 0 || *i > 255) return fail(ErrorKind::OverflowError, "%c arg not in range(256)");
      body = static_cast<char>(*i);
      return {};
    }
    if (v.is_str()) {
      if (str_length(v.as<Str>()) != 1) return fail(ErrorKind::TypeError, "%c requires int or char");
      body = text_of(v);
      return {};
    }
    auto i = to_index(interp_, v);
    if (!i) {
      if (error_is(i.error(), ErrorKind::TypeError)) return fail(ErrorKind::TypeError, "%c requires int or char");
      return i.failure();
    }
    if (*i < 0 || *i > 0x10FFFF) return fail(ErrorKind::OverflowError, "%c arg not in range(0x110000)");
    utf8::append(body, static_cast<char32_t>(*i));
    return {};
  }

  Result<void> text(const Field& f, const Value& v, std::string& body) {
    if (f.type == 'r' || f.type == 'a' || (bytes_ && f.type == 'a')) {
      body = TFL_TRY(repr_text(interp_, v));
      if (f.type == 'a' || bytes_) body = escape_non_ascii(body);
    } else if (bytes_) {
      Value held = v;
      if (is_bytes_like(v))
        held = TFL_TRY(bytes_like(interp_, v));
      else if (Value own = TFL_TRY(call_special(interp_, v, interp_.intern("__bytes__"), {})); !own.is_empty())
        held = own;
      if (!held.is(Kind::Bytes) && !held.is(Kind::ByteArray)) {
        return fail(ErrorKind::TypeError, "%b requires a bytes-like object, or an object that implements __bytes__, not '{}'",
                    interp_.type_name(v));
      }
      body = held.as<Bytes>()->data;
    } else {
      body = TFL_TRY(str_text(interp_, v));
    }
    return {};
  }

  Interp& interp_;
  std::string_view s_;
  Value values_;
  Value mapping_;  // Empty: the values are no mapping
  Value keyed_;    // what %(key) found
  bool bytes_;
  bool is_tuple_;
  bool single_used_ = false;
  int64_t next_ = 0;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

Result<Value> percent_format(Interp& interp, const Value& text, const Value& values) {
  std::string out = TFL_TRY(PercentFormatter(interp, text_of(text), values, false).run());
  return interp.str(std::move(out));
}

Result<Value> percent_format_bytes(Interp& interp, const Value& data, const Value& values) {
  std::string out = TFL_TRY(PercentFormatter(interp, data.as<Bytes>()->data, values, true).run());
  return interp.bytes(std::move(out));
}

}  // namespace tfl
