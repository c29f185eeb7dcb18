// Objects that are bytes in memory: bytes, bytearray (and the storage of array.array), memoryview. Natives that take "a bytes-like
// object" ask here.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "frontend/core/interp.h"

namespace tfl {

/// bytearray, and what array.array keeps its elements in. Like bytes, but for who else may change it.
struct ByteArray : Bytes {
  uint32_t exports = 0;  // memoryviews of it: its size must not change while there are some
};

/// A view of another object's bytes as items of one format, in any number of dimensions.
struct MemoryView : Object {
  Value base;   // bytes or bytearray; Empty once released
  Value shown;  // what `obj` gives
  std::string format;
  int64_t item_size = 1;
  bool readonly = false;
  uint64_t hash = 0;  // 0: not asked yet
  int64_t offset = 0;
  std::vector<int64_t> shape, strides;  // strides in bytes
};

/// The bytes of a bytes-like object whose bytes stand in a row; nothing for every other value.
std::optional<std::string_view> buffer_of(const Value& v);
/// Whether `v` is bytes-like at all.
bool is_bytes_like(const Value& v);
/// `v` as an object whose Bytes::data holds its bytes: itself, or for a memoryview a copy. TypeError for what is not bytes-like.
Result<Value> bytes_like(Interp& interp, const Value& v);
/// The bytes of a bytes-like object that may be written. `wanted` begins the message: "readinto() argument must be read-write bytes-like object".
Result<std::span<char>> writable_buffer(Interp& interp, const Value& v, std::string_view wanted);
/// What methods of bytes and bytearray give: an object of the kind of `like`.
Value bytes_of_kind(Interp& interp, const Value& like, std::string data);
/// BufferError while a memoryview looks at it.
Result<void> check_resizable(const ByteArray* array);

/// One item of a format of one letter (native size and order). Empty where the format is not one of those.
int64_t element_size(char code);  // 0: no such format
Value load_element(Interp& interp, char code, const char* from);
enum class StoreFault : uint8_t { None, Type, Range };
Result<StoreFault> store_element(Interp& interp, char code, char* to, const Value& value);

}  // namespace tfl
