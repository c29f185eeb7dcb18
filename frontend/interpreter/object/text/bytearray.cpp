// bytearray: construction, items, operators, and the methods that bytes has not.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/text/bytes.h"
#include "frontend/interpreter/object/text/format_percent.h"
#include "frontend/text/quote.h"

namespace tfl {

namespace {

ByteArray* array_of(const Value& v) { return v.as<ByteArray>(); }
int64_t size_of(const Value& v) { return static_cast<int64_t>(array_of(v)->data.size()); }

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  auto* array = interp.allocate<ByteArray>(type);
  Value self = Value::adopt(array);
  if (type->script && has_script_init(interp, type)) return self;
  array->data = TFL_TRY(bytes_from_arguments(interp, "bytearray", args));
  return self;
}

/// bytearray.__init__: what a class of the script calls on itself.
Result<Value> initialise(Interp& interp, CallArgs& args) {
  if (args.count == 0 || !args.values[0].is(Kind::ByteArray))
    return fail(ErrorKind::TypeError, "descriptor '__init__' requires a 'bytearray' object");
  Value self = args.values[0];
  CallArgs rest{args.values + 1, args.count - 1, args.keywords};
  std::string data = TFL_TRY(bytes_from_arguments(interp, "bytearray", rest));
  TFL_TRY(check_resizable(array_of(self)));
  array_of(self)->data = std::move(data);
  return Value::none();
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  TFL_TRY(guard_memory(interp, array_of(self)->data.size() * 2));
  return interp.str(std::string(self.object()->type->name->text) + "(" + quote_bytes(array_of(self)->data) + ")");
}
Result<bool> truth_slot(Interp&, const Value& self) { return !array_of(self)->data.empty(); }
Result<int64_t> length_slot(Interp&, const Value& self) { return size_of(self); }

/// A byte that is stored: 0 to 255.
Result<char> byte_of(Interp& interp, const Value& v) {
  auto i = to_clamped_index(interp, v);
  if (!i) {
    if (i.error().kind == ErrorKind::TypeError && !i.error().payload)
      return fail(ErrorKind::TypeError, "'{}' object cannot be interpreted as an integer", interp.type_name(v));
    return i.failure();
  }
  if (*i < 0 || *i > 255) return fail(ErrorKind::ValueError, "byte must be in range(0, 256)");
  return static_cast<char>(*i);
}

/// What is put in place of a slice, or added: bytes-like, or an iterable of numbers.
Result<std::string> bytes_to_store(Interp& interp, const Value& v, const char* wrong) {
  if (is_bytes_like(v)) {
    Value held = TFL_TRY(bytes_like(interp, v));
    return held.as<Bytes>()->data;
  }
  if (v.is_str() || v.is_int() || v.is_bool() || v.is_float())
    return fail(ErrorKind::TypeError, "{}", std::string(wrong) + std::string(interp.type_name(v)));
  std::string data;
  auto done = for_each(interp, v, [&](Value item) -> Result<bool> {
    data += TFL_TRY(byte_of(interp, item));
    if (data.size() % kSmallGrowth == 0) TFL_TRY(guard_memory(interp, data.size()));
    return true;
  });
  if (done) return data;
  if (done.error().kind == ErrorKind::TypeError && !done.error().payload &&
      done.error().message.ends_with("object is not iterable"))
    return fail(ErrorKind::TypeError, "{}", std::string(wrong) + std::string(interp.type_name(v)));
  return done.failure();
}

Result<void> set_slice(Interp& interp, const Value& self, const Slice& slice, const Value& value) {
  std::string with;
  if (!value.is_empty())
    with = TFL_TRY(bytes_to_store(interp, value, "can assign only bytes, buffers, or iterables of ints in range(0, 256), not "));
  int64_t start, stop, step;
  TFL_TRY(slice_unpack(interp, slice, start, stop, step));
  slice_adjust(size_of(self), start, stop, step);
  ByteArray* array = array_of(self);
  std::string& data = array->data;
  const int64_t n = slice_length(start, stop, step);
  if (step == 1) {
    if (static_cast<int64_t>(with.size()) != n) TFL_TRY(check_resizable(array));
    TFL_TRY(guard_memory(interp, data.size() + with.size()));
    data.replace(static_cast<size_t>(start), static_cast<size_t>(n), with);
    return {};
  }
  if (!value.is_empty()) {
    if (with.empty() && n == 0) return {};
    if (static_cast<int64_t>(with.size()) != n) {
      return fail(ErrorKind::ValueError, "attempt to assign bytes of size {} to extended slice of size {}", with.size(), n);
    }
    for (int64_t i = 0; i < n; ++i) data[static_cast<size_t>(start + i * step)] = with[static_cast<size_t>(i)];
    return {};
  }
  if (n == 0) return {};
  TFL_TRY(check_resizable(array));
  std::string kept;
  for (int64_t i = 0; i < static_cast<int64_t>(data.size()); ++i) {
    const int64_t from = i - start;
    const bool gone = from % step == 0 && from / step >= 0 && from / step < n;
    if (!gone) kept += data[static_cast<size_t>(i)];
  }
  data.swap(kept);
  return {};
}

Result<void> set_item_slot(Interp& interp, const Value& self, const Value& key, const Value& value) {
  if (key.is(Kind::Slice)) return set_slice(interp, self, *key.as<Slice>(), value);
  int64_t i = TFL_TRY(sequence_index(interp, key, size_of(self), "bytearray"));
  if (value.is_empty()) {
    TFL_TRY(check_resizable(array_of(self)));
    array_of(self)->data.erase(static_cast<size_t>(i), 1);
    return {};
  }
  const char byte = TFL_TRY(byte_of(interp, value));
  if (i >= size_of(self)) return fail(ErrorKind::IndexError, "bytearray index out of range");
  array_of(self)->data[static_cast<size_t>(i)] = byte;
  return {};
}

Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  ByteArray* array = array_of(self);
  if (op == BinaryOp::Add && is_bytes_like(b)) {
    Value held = TFL_TRY(bytes_like(interp, b));
    const std::string& more = held.as<Bytes>()->data;
    if (more.empty()) return self;
    TFL_TRY(check_resizable(array));
    TFL_TRY(guard_memory(interp, array->data.size() + more.size()));
    array->data.append(std::string(more));
    return self;
  }
  Value times = unboxed(b);
  if (op == BinaryOp::Mul && (times.is_int() || times.is_bool())) {
    const size_t total = TFL_TRY(guard_repeat(interp, array->data.size(), times.as_int(), 1));
    if (total != array->data.size()) TFL_TRY(check_resizable(array));
    const std::string once = array->data;
    array->data.clear();
    while (array->data.size() < total) array->data += once;
    return self;
  }
  return interp.not_implemented;
}

// ------------------------------------------------------------------------------------------------------------ methods

Result<Value> append(Interp& interp, Value* a) {
  const char byte = TFL_TRY(byte_of(interp, a[1]));
  TFL_TRY(check_resizable(array_of(a[0])));
  TFL_TRY(guard_memory(interp, array_of(a[0])->data.size() + 1));
  array_of(a[0])->data += byte;
  return Value::none();
}

Result<Value> extend(Interp& interp, Value* a) {
  if (a[1].is_str() && !text_of(a[1]).empty())
    return fail(ErrorKind::TypeError, "'str' object cannot be interpreted as an integer");
  std::string more = TFL_TRY(bytes_to_store(interp, a[1], "can't extend bytearray with "));
  if (more.empty()) return Value::none();
  TFL_TRY(check_resizable(array_of(a[0])));
  TFL_TRY(guard_memory(interp, array_of(a[0])->data.size() + more.size()));
  array_of(a[0])->data += more;
  return Value::none();
}

Result<Value> insert(Interp& interp, Value* a) {
  int64_t at = TFL_TRY(to_clamped_index(interp, a[1]));
  const char byte = TFL_TRY(byte_of(interp, a[2]));
  TFL_TRY(check_resizable(array_of(a[0])));
  const int64_t n = size_of(a[0]);
  if (at < 0) at = std::max<int64_t>(0, at + n);
  array_of(a[0])->data.insert(static_cast<size_t>(std::min(at, n)), 1, byte);
  return Value::none();
}

Result<Value> pop(Interp& interp, Value* a) {
  int64_t i = TFL_TRY(to_index(interp, a[1]));
  const int64_t n = size_of(a[0]);
  if (n == 0) return fail(ErrorKind::IndexError, "pop from empty bytearray");
  if (i < 0) i += n;
  if (i < 0 || i >= n) return fail(ErrorKind::IndexError, "pop index out of range");
  TFL_TRY(check_resizable(array_of(a[0])));
  const auto byte = static_cast<unsigned char>(array_of(a[0])->data[static_cast<size_t>(i)]);
  array_of(a[0])->data.erase(static_cast<size_t>(i), 1);
  return Value::integer(byte);
}

Result<Value> remove(Interp& interp, Value* a) {
  const char byte = TFL_TRY(byte_of(interp, a[1]));
  const size_t at = array_of(a[0])->data.find(byte);
  if (at == std::string::npos) return fail(ErrorKind::ValueError, "value not found in bytearray");
  TFL_TRY(check_resizable(array_of(a[0])));
  array_of(a[0])->data.erase(at, 1);
  return Value::none();
}

Result<Value> reverse(Interp&, Value* a) {
  std::string& data = array_of(a[0])->data;
  std::reverse(data.begin(), data.end());
  return Value::none();
}

Result<Value> clear(Interp&, Value* a) {
  TFL_TRY(check_resizable(array_of(a[0])));
  array_of(a[0])->data.clear();
  return Value::none();
}

Result<Value> copy(Interp& interp, Value* a) { return bytes_of_kind(interp, a[0], array_of(a[0])->data); }

/// bytearray(text, 'latin-1'): what pickles of Python's hold.
Result<Value> reduce(Interp& interp, Value* a) {
  Value data = interp.bytes(array_of(a[0])->data);
  Value state = Value::none();
  if (Dict* own = instance_dict(interp, a[0], false)) state = Value::share(own);
  return interp.tuple({Value::share(a[0].object()->type), interp.tuple({data}), state});
}

constexpr NativeDef kMethods[] = {
    raw_method("__init__", initialise),
    method("append", "self, item, /", append),
    method("extend", "self, iterable_of_ints, /", extend),
    method("insert", "self, index, item, /", insert),
    method("pop", "self, index=-1, /", pop),
    method("remove", "self, value, /", remove),
    method("reverse", "self, /", reverse),
    method("clear", "self, /", clear),
    method("copy", "self, /", copy),
    method("__reduce__", "self, /", reduce),
};

// ------------------------------------------------------------------------------------------------- array.array's storage

Result<Value> store_construct(Interp& interp, Type* type, CallArgs&) { return Value::adopt(interp.allocate<ByteArray>(type)); }

/// The letter of a format, and where item number `index` stands.
Result<char*> element_at(Interp& interp, const Value& self, const Value& code, const Value& index, char& letter) {
  letter = text_of(code).empty() ? '\0' : text_of(code)[0];
  const int64_t size = element_size(letter);
  if (size == 0) return fail(ErrorKind::ValueError, "bad typecode (must be b, B, u, h, H, i, I, l, L, q, Q, f or d)");
  int64_t i = TFL_TRY(to_index(interp, index));
  const int64_t n = size_of(self) / size;
  if (i < 0) i += n;
  if (i < 0 || i >= n) return fail(ErrorKind::IndexError, "array index out of range");
  return array_of(self)->data.data() + i * size;
}

Result<Value> store_get(Interp& interp, Value* a) {
  char letter;
  char* at = TFL_TRY(element_at(interp, a[0], a[1], a[2], letter));
  return load_element(interp, letter, at);
}

/// All items of a format, as a list.
Result<Value> store_items(Interp& interp, Value* a) {
  const char letter = text_of(a[1]).empty() ? '\0' : text_of(a[1])[0];
  const int64_t size = element_size(letter);
  if (size == 0) return fail(ErrorKind::ValueError, "bad typecode");
  std::vector<Value> items;
  const int64_t n = size_of(a[0]) / size;
  TFL_TRY(guard_memory(interp, static_cast<size_t>(n) * sizeof(Value)));
  items.reserve(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) items.push_back(load_element(interp, letter, array_of(a[0])->data.data() + i * size));
  return interp.list(std::move(items));
}

/// _set(code, index, value): 0, or 1 for a value of another type and 2 for one that does not fit. index None: behind the last one.
Result<Value> store_set(Interp& interp, Value* a) {
  char letter = text_of(a[1]).empty() ? '\0' : text_of(a[1])[0];
  alignas(8) char item[8] = {};
  const auto size = static_cast<size_t>(element_size(letter));
  const StoreFault fault = TFL_TRY(store_element(interp, letter, item, a[3]));
  if (fault != StoreFault::None) return Value::integer(fault == StoreFault::Type ? 1 : 2);
  if (a[2].is_none()) {
    TFL_TRY(check_resizable(array_of(a[0])));
    TFL_TRY(guard_memory(interp, array_of(a[0])->data.size() + size));
    array_of(a[0])->data.append(item, size);
    return Value::integer(0);
  }
  char* at = TFL_TRY(element_at(interp, a[0], a[1], a[2], letter));
  std::copy_n(item, size, at);
  return Value::integer(0);
}

/// The bytes from `start` on up to `stop` are replaced by `data`.
Result<Value> store_replace(Interp& interp, Value* a) {
  const int64_t start = TFL_TRY(to_index(interp, a[1])), stop = TFL_TRY(to_index(interp, a[2])), n = size_of(a[0]);
  Value held = TFL_TRY(bytes_like(interp, a[3]));
  const std::string data = held.as<Bytes>()->data;
  if (start < 0 || stop < start || stop > n) return fail(ErrorKind::IndexError, "place outside of the storage");
  if (static_cast<int64_t>(data.size()) != stop - start) TFL_TRY(check_resizable(array_of(a[0])));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(n) + data.size()));
  array_of(a[0])->data.replace(static_cast<size_t>(start), static_cast<size_t>(stop - start), data);
  return Value::none();
}

/// How many items of this many bytes there are.
Result<Value> store_count(Interp& interp, Value* a) {
  const int64_t size = TFL_TRY(to_index(interp, a[1]));
  return Value::integer(size > 0 ? size_of(a[0]) / size : 0);
}

Result<Value> store_bytes(Interp& interp, Value* a) { return interp.bytes(array_of(a[0])->data); }

constexpr NativeDef kStoreMethods[] = {
    method("_get", "self, code: str, index, /", store_get), method("_set", "self, code: str, index, value, /", store_set),
    method("_items", "self, code: str, /", store_items),    method("_replace", "self, start, stop, data, /", store_replace),
    method("_count", "self, size, /", store_count),         method("_bytes", "self, /", store_bytes),
};

}  // namespace

extern const Slots bytearray_slots, byte_store_slots;

const Slots bytearray_slots = {.kind = Kind::ByteArray,
                               .destroy = destroy_object<ByteArray>,
                               .construct = construct,
                               .repr = repr_slot,
                               .truth = truth_slot,
                               .length = length_slot,
                               .get_item = bytes_get_item,
                               .set_item = set_item_slot,
                               .contains = bytes_contains,
                               .iter = bytes_iter,
                               .binary = bytes_binary,
                               .inplace = inplace_slot,
                               .compare = bytes_compare};

const Slots byte_store_slots = {
    .kind = Kind::ByteArray, .destroy = destroy_object<ByteArray>, .construct = store_construct, .has_dict = true};

/// Those of bytes, and what changes the array.
std::span<const NativeDef> bytearray_methods() { return kMethods; }
std::span<const NativeDef> byte_store_methods() { return kStoreMethods; }

}  // namespace tfl
