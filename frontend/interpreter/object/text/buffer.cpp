// What bytes-like objects have in common, and single items of their formats.
#include "frontend/core/buffer.h"

#include <cstring>
#include <type_traits>

#include "frontend/core/big_int.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

/// Row by row without gaps.
bool in_a_row(const MemoryView& view) {
  int64_t expected = view.item_size;
  for (size_t i = view.shape.size(); i-- > 0;) {
    if (view.shape[i] > 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

void gather_items(const MemoryView& view, size_t axis, const char* from, std::string& out) {
  if (axis == view.shape.size()) {
    out.append(from, static_cast<size_t>(view.item_size));
    return;
  }
  for (int64_t i = 0; i < view.shape[axis]; ++i) gather_items(view, axis + 1, from + i * view.strides[axis], out);
}

template <class T>
Value loaded_int(const char* from) {
  T v;
  std::memcpy(&v, from, sizeof v);
  return Value::integer(static_cast<int64_t>(v));
}

template <class T>
Result<StoreFault> store_int(Interp& interp, char* to, const Value& value) {
  auto index = to_index_value(interp, value);
  if (!index) {
    if (index.error().kind == ErrorKind::TypeError && !index.error().payload) return StoreFault::Type;
    return index.failure();
  }
  T v;
  if (index->is_int() || index->is_bool()) {
    const int64_t i = index->as_int();
    v = static_cast<T>(i);
    if constexpr (sizeof(T) < 8) {
      if (static_cast<int64_t>(v) != i) return StoreFault::Range;
    } else if (std::is_unsigned_v<T> && i < 0) {
      return StoreFault::Range;
    }
  } else {
    uint64_t whole = 0;
    if (!std::is_unsigned_v<T> || sizeof(T) < 8 || !int_to_u64(*index, whole)) return StoreFault::Range;
    v = static_cast<T>(whole);
  }
  std::memcpy(to, &v, sizeof v);
  return StoreFault::None;
}

}  // namespace

std::optional<std::string_view> buffer_of(const Value& v) {
  if (v.is(Kind::Bytes) || v.is(Kind::ByteArray)) return std::string_view(v.as<Bytes>()->data);
  if (!v.is(Kind::MemoryView)) return {};
  const MemoryView& view = *v.as<MemoryView>();
  if (view.base.is_empty() || !in_a_row(view)) return {};
  int64_t size = view.item_size;
  for (int64_t n : view.shape) size *= n;
  return std::string_view(view.base.as<Bytes>()->data).substr(static_cast<size_t>(view.offset), static_cast<size_t>(size));
}

bool is_bytes_like(const Value& v) { return v.is(Kind::Bytes) || v.is(Kind::ByteArray) || v.is(Kind::MemoryView); }

Result<Value> bytes_like(Interp& interp, const Value& v) {
  if (v.is(Kind::Bytes) || v.is(Kind::ByteArray)) return v;
  if (!v.is(Kind::MemoryView))
    return fail(ErrorKind::TypeError, "a bytes-like object is required, not '{}'", interp.type_name(v));
  const MemoryView& view = *v.as<MemoryView>();
  if (view.base.is_empty()) return fail(ErrorKind::ValueError, "operation forbidden on released memoryview object");
  if (auto whole = buffer_of(v)) return interp.bytes(std::string(*whole));
  std::string out;
  gather_items(view, 0, view.base.as<Bytes>()->data.data() + view.offset, out);
  return interp.bytes(std::move(out));
}

Result<std::span<char>> writable_buffer(Interp& interp, const Value& v, std::string_view wanted) {
  if (v.is(Kind::MemoryView) && v.as<MemoryView>()->base.is_empty())
    return fail(ErrorKind::ValueError, "operation forbidden on released memoryview object");
  auto bytes = buffer_of(v);
  const bool readonly = v.is(Kind::Bytes) || (v.is(Kind::MemoryView) && v.as<MemoryView>()->readonly);
  if (!bytes || readonly) return fail(ErrorKind::TypeError, "{}, not {}", wanted, interp.type_name(v));
  return std::span<char>(const_cast<char*>(bytes->data()), bytes->size());
}

Value bytes_of_kind(Interp& interp, const Value& like, std::string data) {
  if (!like.is(Kind::ByteArray)) return interp.bytes(std::move(data));
  auto* array = interp.allocate<ByteArray>(interp.types.bytearray);
  array->data = std::move(data);
  return Value::adopt(array);
}

Result<void> check_resizable(const ByteArray* array) {
  if (array->exports == 0) return {};
  return fail(ErrorKind::BufferError, "Existing exports of data: object cannot be re-sized");
}

int64_t element_size(char code) {
  switch (code) {
    case 'b':
    case 'B':
    case 'c':
    case '?': return 1;
    case 'h':
    case 'H': return 2;
    case 'i':
    case 'I':
    case 'f':
    case 'u': return 4;
    case 'l':
    case 'L':
    case 'q':
    case 'Q':
    case 'n':
    case 'N':
    case 'P':
    case 'd': return 8;
    default: return 0;
  }
}

Value load_element(Interp& interp, char code, const char* from) {
  switch (code) {
    case 'b': return loaded_int<int8_t>(from);
    case 'B': return loaded_int<uint8_t>(from);
    case 'c': return interp.bytes(std::string(from, 1));
    case '?': return Value::boolean(*from != 0);
    case 'h': return loaded_int<int16_t>(from);
    case 'H': return loaded_int<uint16_t>(from);
    case 'i': return loaded_int<int32_t>(from);
    case 'I': return loaded_int<uint32_t>(from);
    case 'l':
    case 'q':
    case 'n': return loaded_int<int64_t>(from);
    case 'L':
    case 'Q':
    case 'N':
    case 'P': {
      uint64_t v;
      std::memcpy(&v, from, sizeof v);
      return int_value(interp, v);
    }
    case 'u': {
      uint32_t c;
      std::memcpy(&c, from, sizeof c);
      std::string text;
      utf8::append(text, c <= 0x10FFFF ? c : 0xFFFD);
      return interp.str(std::move(text));
    }
    case 'f': {
      float v;
      std::memcpy(&v, from, sizeof v);
      return Value::real(static_cast<double>(v));
    }
    default: {
      double v;
      std::memcpy(&v, from, sizeof v);
      return Value::real(v);
    }
  }
}

Result<StoreFault> store_element(Interp& interp, char code, char* to, const Value& value) {
  switch (code) {
    case 'b': return store_int<int8_t>(interp, to, value);
    case 'B': return store_int<uint8_t>(interp, to, value);
    case 'h': return store_int<int16_t>(interp, to, value);
    case 'H': return store_int<uint16_t>(interp, to, value);
    case 'i': return store_int<int32_t>(interp, to, value);
    case 'I': return store_int<uint32_t>(interp, to, value);
    case 'l':
    case 'q':
    case 'n': return store_int<int64_t>(interp, to, value);
    case 'L':
    case 'Q':
    case 'N':
    case 'P': return store_int<uint64_t>(interp, to, value);
    case 'c':
      if (!value.is(Kind::Bytes)) return StoreFault::Type;
      if (value.as<Bytes>()->data.size() != 1) return StoreFault::Range;
      *to = value.as<Bytes>()->data[0];
      return StoreFault::None;
    case 'u': {
      if (!value.is_str()) return StoreFault::Type;
      if (str_length(value.as<Str>()) != 1) return StoreFault::Range;
      size_t at = 0;
      const auto c = static_cast<uint32_t>(utf8::next(text_of(value), at));
      std::memcpy(to, &c, sizeof c);
      return StoreFault::None;
    }
    case '?': *to = TFL_TRY(truth(interp, value)) ? 1 : 0; return StoreFault::None;
    default: break;
  }
  auto number = to_double(interp, value);
  if (!number) {
    if (number.error().kind == ErrorKind::TypeError && !number.error().payload) return StoreFault::Type;
    return number.failure();
  }
  if (code == 'd') {
    const double v = *number;
    std::memcpy(to, &v, sizeof v);
  } else {
    const auto v = static_cast<float>(*number);
    std::memcpy(to, &v, sizeof v);
  }
  return StoreFault::None;
}

}  // namespace tfl
