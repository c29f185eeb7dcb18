// The module `_struct`: numbers packed into bytes, for stdlib/python/struct.tfl.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/core/big_int.h"
#include "frontend/core/buffer.h"
#include "frontend/core/native_module.h"

namespace tfl::packing {

namespace {

struct Item {
  char code;
  size_t count;  // bytes of s and p; 1 for others
  size_t offset, width;
};

struct Layout {
  bool big = false, native = true;
  size_t size = 0;
  std::vector<Item> items;
};

Failure wrong(Interp& interp, const std::string& text) { return module_error(interp, "_struct", "error", text); }

/// Bytes of one; 0: no such code.
size_t width_of(char code, bool native) {
  switch (code) {
    case 'x':
    case 'c':
    case 'b':
    case 'B':
    case '?':
    case 's':
    case 'p': return 1;
    case 'h':
    case 'H':
    case 'e': return 2;
    case 'i':
    case 'I':
    case 'f': return 4;
    case 'l':
    case 'L': return native ? 8 : 4;
    case 'q':
    case 'Q':
    case 'd': return 8;
    case 'n':
    case 'N':
    case 'P': return native ? 8 : 0;
    default: return 0;
  }
}

Result<Layout> layout_of(Interp& interp, const Value& format) {
  if (!format.is_str() && !format.is(Kind::Bytes)) {
    return fail(ErrorKind::TypeError, "Struct() argument 1 must be a str or bytes object, not {}", interp.type_name(format));
  }
  std::string_view text = format.is_str() ? std::string_view(text_of(format)) : std::string_view(format.as<Bytes>()->data);
  Layout layout;
  if (!text.empty() && std::string_view("@=<>!").find(text[0]) != std::string_view::npos) {
    layout.big = text[0] == '>' || text[0] == '!';
    layout.native = text[0] == '@';
    text.remove_prefix(1);
  }
  constexpr size_t kMost = size_t{1} << 40;
  for (size_t at = 0; at < text.size(); ++at) {
    if (std::string_view(" \t\n\r\f\v").find(text[at]) != std::string_view::npos) continue;
    size_t count = 1, digits = at;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
      count = (at == digits ? 0 : count * 10) + static_cast<size_t>(text[at] - '0');
      if (count > kMost) return wrong(interp, "overflow in item count");
    }
    if (at == text.size()) return wrong(interp, "repeat count given without format specifier");
    char code = text[at];
    size_t width = width_of(code, layout.native);
    if (width == 0) return wrong(interp, "bad char in struct format");
    if (layout.native && width > 1) layout.size = (layout.size + width - 1) / width * width;
    if (count * width > kMost - layout.size) return wrong(interp, "total struct size too long");
    if (code == 's' || code == 'p') {
      layout.items.push_back({code, count, layout.size, count});
    } else if (code != 'x') {
      TFL_TRY(guard_memory(interp, count * sizeof(Item)));
      for (size_t i = 0; i < count; ++i) layout.items.push_back({code, 1, layout.size + i * width, width});
    }
    layout.size += count * width;
  }
  return layout;
}

void store(char* to, uint64_t bits, size_t width, bool big) {
  for (size_t i = 0; i < width; ++i) to[big ? width - 1 - i : i] = static_cast<char>(bits >> (8 * i));
}

uint64_t loaded(const char* from, size_t width, bool big) {
  uint64_t bits = 0;
  for (size_t i = 0; i < width; ++i)
    bits |= static_cast<uint64_t>(static_cast<unsigned char>(from[big ? width - 1 - i : i])) << (8 * i);
  return bits;
}

bool is_signed(char code) { return std::string_view("bhilqn").find(code) != std::string_view::npos; }

Result<uint64_t> whole_bits(Interp& interp, const Item& item, const Value& v) {
  auto index = to_index_value(interp, v);
  if (!index && !index.error().payload && index.error().kind == ErrorKind::TypeError)
    return wrong(interp, "required argument is not an integer");
  Value whole = TFL_TRY(std::move(index));
  size_t bits = item.width * 8;
  bool sign = is_signed(item.code);
  if (bits == 64) {
    uint64_t n = 0;
    if (sign ? whole.is(Kind::BigInt) : !int_to_u64(whole, n)) return wrong(interp, "argument out of range");
    return sign ? static_cast<uint64_t>(whole.as_int()) : n;
  }
  int64_t low = sign ? -(int64_t{1} << (bits - 1)) : 0, high = (int64_t{1} << (sign ? bits - 1 : bits)) - 1;
  // CPython reads the number as one of 64 bits first, without a sign for what is wider than a short.
  uint64_t unsigned_number = 0;
  const bool wide = !sign && bits == 32 && int_to_u64(whole, unsigned_number);
  if (!wide && (whole.is(Kind::BigInt) || (!sign && bits == 32))) return wrong(interp, "argument out of range");
  const int64_t n = whole.is(Kind::BigInt) ? INT64_MAX : whole.as_int();
  if (n < low || n > high) {
    std::string name = item.code == 'b'   ? "byte"
                       : item.code == 'B' ? "ubyte"
                       : item.code == 'h' ? "short"
                       : item.code == 'H' ? "ushort"
                                          : "";
    if (name.empty()) name = "'" + std::string(1, item.code) + "'";
    return wrong(interp, name + " format requires " + std::to_string(low) + " <= number <= " + std::to_string(high));
  }
  return static_cast<uint64_t>(n);
}

/// The nearest half, ties to even; false: too large.
bool half_bits(double x, uint64_t& bits) {
  uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  double size = std::fabs(x);
  if (std::isnan(x)) {
    bits = sign | 0x7E00;
  } else if (std::isinf(x)) {
    bits = sign | 0x7C00;
  } else if (size < 0x1p-14) {
    bits = sign | static_cast<uint64_t>(std::nearbyint(size * 0x1p24));
  } else {
    int exponent = std::ilogb(size);
    auto fraction = static_cast<uint64_t>(std::nearbyint(std::ldexp(size, 10 - exponent)));
    uint64_t all = (static_cast<uint64_t>(exponent + 14) << 10) + fraction;
    if (all >= 0x7C00) return false;
    bits = sign | all;
  }
  return true;
}

double half_value(uint64_t bits) {
  double sign = bits & 0x8000 ? -1.0 : 1.0;
  auto exponent = static_cast<int>(bits >> 10 & 0x1F);
  auto fraction = static_cast<double>(bits & 0x3FF);
  if (exponent == 0x1F)
    return fraction != 0 ? std::copysign(std::numeric_limits<double>::quiet_NaN(), sign)
                         : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024, exponent - 25));
}

Result<uint64_t> real_bits(Interp& interp, const Item& item, const Value& v, bool native) {
  auto number = to_double(interp, v);
  if (!number && !number.error().payload && number.error().kind == ErrorKind::TypeError)
    return wrong(interp, "required argument is not a float");
  if (!number || v.is_str()) return number ? wrong(interp, "required argument is not a float") : number.failure();
  double x = *number;
  if (item.code == 'd') return std::bit_cast<uint64_t>(x);
  auto too_large = [&] { return fail(ErrorKind::OverflowError, "float too large to pack with {} format", item.code); };
  if (item.code == 'e') {
    uint64_t bits = 0;
    if (!half_bits(x, bits)) return too_large();
    return bits;
  }
  auto narrow = static_cast<float>(x);
  if (std::isinf(narrow) && !std::isinf(x) && !native) return too_large();
  return static_cast<uint64_t>(std::bit_cast<uint32_t>(narrow));
}

Result<void> pack_one(Interp& interp, const Layout& layout, const Item& item, const Value& v, char* to) {
  switch (item.code) {
    case 'c':
      if (!v.is(Kind::Bytes) || v.as<Bytes>()->data.size() != 1)
        return wrong(interp, "char format requires a bytes object of length 1");
      *to = v.as<Bytes>()->data[0];
      return {};
    case 's':
    case 'p': {
      if (!v.is(Kind::Bytes)) return wrong(interp, std::string("argument for '") + item.code + "' must be a bytes object");
      const std::string& data = v.as<Bytes>()->data;
      if (item.count == 0) return {};
      size_t lead = item.code == 'p' ? 1 : 0, n = std::min(data.size(), item.count - lead);
      if (lead) *to = static_cast<char>(std::min<size_t>(n, 255));
      std::memcpy(to + lead, data.data(), n);
      return {};
    }
    case '?': {
      bool yes = TFL_TRY(truth(interp, v));
      *to = static_cast<char>(yes);
      return {};
    }
    case 'e':
    case 'f':
    case 'd': store(to, TFL_TRY(real_bits(interp, item, v, layout.native)), item.width, layout.big); return {};
    default: store(to, TFL_TRY(whole_bits(interp, item, v)), item.width, layout.big); return {};
  }
}

/// pack(format, values)
Result<Value> pack(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  std::span<Value> values = a[1].as<Tuple>()->span();
  if (values.size() != layout.items.size()) {
    return wrong(interp, "pack expected " + std::to_string(layout.items.size()) + " items for packing (got " +
                             std::to_string(values.size()) + ")");
  }
  TFL_TRY(guard_memory(interp, layout.size));
  std::string out(layout.size, '\0');
  for (size_t i = 0; i < values.size(); ++i)
    TFL_TRY(pack_one(interp, layout, layout.items[i], values[i], out.data() + layout.items[i].offset));
  return interp.bytes(std::move(out));
}

Result<Value> unpack_one(Interp& interp, const Layout& layout, const Item& item, const char* from) {
  switch (item.code) {
    case 'c':
    case 's': return interp.bytes(std::string(from, item.width));
    case 'p': {
      if (item.count == 0) return interp.bytes({});
      return interp.bytes(std::string(from + 1, std::min<size_t>(static_cast<unsigned char>(*from), item.count - 1)));
    }
    case '?': return Value::boolean(*from != 0);
    case 'e': return Value::real(half_value(loaded(from, 2, layout.big)));
    case 'f': return Value::real(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(loaded(from, 4, layout.big)))));
    case 'd': return Value::real(std::bit_cast<double>(loaded(from, 8, layout.big)));
    default: break;
  }
  uint64_t bits = loaded(from, item.width, layout.big);
  if (is_signed(item.code)) {
    size_t unused = 64 - item.width * 8;
    return Value::integer(static_cast<int64_t>(bits << unused) >> unused);
  }
  return int_value(interp, bits);
}

Result<Value> values_at(Interp& interp, const Layout& layout, const char* data) {
  Tuple* t = new_tuple(interp, interp.types.tuple, static_cast<int64_t>(layout.items.size()));
  Value made = Value::adopt(t);
  for (size_t i = 0; i < layout.items.size(); ++i)
    t->items[i] = TFL_TRY(unpack_one(interp, layout, layout.items[i], data + layout.items[i].offset));
  return layout.items.empty() ? interp.empty_tuple : made;
}

Result<Value> unpack(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  Value held = TFL_TRY(bytes_like(interp, a[1]));
  const std::string* data = &held.as<Bytes>()->data;
  if (data->size() != layout.size) return wrong(interp, "unpack requires a buffer of " + std::to_string(layout.size) + " bytes");
  return values_at(interp, layout, data->data());
}

Result<Value> unpack_from(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  Value held = TFL_TRY(bytes_like(interp, a[1]));
  const std::string* data = &held.as<Bytes>()->data;
  int64_t offset = TFL_TRY(to_index(interp, a[2]));
  auto length = static_cast<int64_t>(data->size());
  std::string size = std::to_string(layout.size), actual = std::to_string(length);
  if (offset < 0) {
    if (offset + length < 0)
      return wrong(interp, "offset " + std::to_string(offset) + " out of range for " + actual + "-byte buffer");
    if (offset + static_cast<int64_t>(layout.size) > 0) {
      return wrong(interp, "not enough data to unpack " + size + " bytes at offset " + std::to_string(offset));
    }
    offset += length;
  }
  if (length - offset < static_cast<int64_t>(layout.size)) {
    return wrong(interp, "unpack_from requires a buffer of at least " +
                             std::to_string(layout.size + static_cast<size_t>(offset)) + " bytes for unpacking " + size +
                             " bytes at offset " + std::to_string(offset) + " (actual buffer size is " + actual + ")");
  }
  return values_at(interp, layout, data->data() + offset);
}

/// All that fill the buffer one after the other, as a list.
Result<Value> unpack_all(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  Value held = TFL_TRY(bytes_like(interp, a[1]));
  const std::string* data = &held.as<Bytes>()->data;
  if (layout.size == 0) return wrong(interp, "cannot iteratively unpack with a struct of length 0");
  if (data->size() % layout.size)
    return wrong(interp, "iterative unpacking requires a buffer of a multiple of " + std::to_string(layout.size) + " bytes");
  std::vector<Value> found;
  for (size_t at = 0; at < data->size(); at += layout.size) {
    Value values = TFL_TRY(values_at(interp, layout, data->data() + at));
    found.push_back(std::move(values));
  }
  return interp.list(std::move(found));
}

Result<Value> calcsize(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  return Value::integer(static_cast<int64_t>(layout.size));
}

/// pack_into(format, buffer, offset, *values)
Result<Value> pack_into(Interp& interp, Value* a) {
  Layout layout = TFL_TRY(layout_of(interp, a[0]));
  std::span<char> to = TFL_TRY(writable_buffer(interp, a[1], "pack_into() argument 2 must be read-write bytes-like object"));
  int64_t offset = TFL_TRY(to_index(interp, a[2]));
  Value arguments[2] = {a[0], a[3]};
  Value packed = TFL_TRY(pack(interp, arguments));
  const std::string& data = packed.as<Bytes>()->data;
  const auto size = static_cast<int64_t>(data.size());
  to = TFL_TRY(writable_buffer(interp, a[1], "pack_into() argument 2 must be read-write bytes-like object"));
  const auto length = static_cast<int64_t>(to.size());
  std::string shown = std::to_string(offset), actual = std::to_string(length);
  if (offset < 0) {
    if (offset + size > 0) return wrong(interp, "no space to pack " + std::to_string(size) + " bytes at offset " + shown);
    if (offset + length < 0) return wrong(interp, "offset " + shown + " out of range for " + actual + "-byte buffer");
    offset += length;
  }
  if (length - offset < size) {
    return wrong(interp, "pack_into requires a buffer of at least " + std::to_string(size + offset) + " bytes for packing " +
                             std::to_string(size) + " bytes at offset " + std::to_string(offset) + " (actual buffer size is " +
                             actual + ")");
  }
  std::copy(data.begin(), data.end(), to.begin() + offset);
  return Value::none();
}

constexpr NativeDef kFunctions[] = {
    function("pack", "format, /, *values", pack),
    function("pack_into", "format, buffer, offset, /, *values", pack_into),
    function("unpack", "format, buffer, /", unpack),
    function("unpack_from", "format, /, buffer, offset=0", unpack_from),
    function("unpack_all", "format, buffer, /", unpack_all),
    function("calcsize", "format, /", calcsize),
};

}  // namespace

}  // namespace tfl::packing

namespace tfl {

Result<void> init_struct(Interp& interp, Module& module) {
  define_all(interp, module, packing::kFunctions);
  dict_set_str(module.dict.as<Dict>(), interp.intern("byte_store"), Value::share(interp.types.byte_store));  // array.array's base
  return {};
}

}  // namespace tfl
