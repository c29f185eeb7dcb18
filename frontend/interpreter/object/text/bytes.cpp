// bytes: construction, items, operators.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/buffer.h"
#include "frontend/core/exception.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/text/bytes.h"
#include "frontend/interpreter/object/text/format_percent.h"
#include "frontend/text/codec.h"
#include "frontend/text/quote.h"
#include "frontend/text/search.h"

namespace tfl {

namespace {

const std::string& data_of(const Value& v) { return v.as<Bytes>()->data; }
bool is_bytes(const Value& v) { return v.is(Kind::Bytes) || v.is(Kind::ByteArray); }

Result<Value> finish(Interp& interp, Type* type, std::string data) {
  if (type == interp.types.bytes) return interp.bytes(std::move(data));
  Bytes* b = interp.allocate<Bytes>(type);
  b->data = std::move(data);
  return Value::adopt(b);
}

}  // namespace

Result<std::string> bytes_from_arguments(Interp& interp, std::string_view function, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, function, args, {"source", "encoding", "errors"}, 0, 0, out));
  const Value& v = out[0];
  for (int i : {1, 2}) {
    if (out[i].is_empty() || out[i].is_str()) continue;
    return fail(ErrorKind::TypeError, "{}() argument '{}' must be str, not {}", function, i == 1 ? "encoding" : "errors",
                interp.type_name(out[i]));
  }
  if (v.is_empty()) return std::string();
  if (v.is_str()) {
    if (out[1].is_empty()) return fail(ErrorKind::TypeError, "string argument without an encoding");
    CodecFault fault;
    auto data = encode_text(text_of(v), text_of(out[1]), out[2].is_str() ? std::string_view(text_of(out[2])) : "strict", &fault);
    if (!data) return codec_failure(interp, data.failure(), fault, v);
    return data.take();
  }
  if (!out[1].is_empty()) return fail(ErrorKind::TypeError, "encoding without a string argument");
  if (v.is(Kind::Bytes) && !(v.object()->type->script && function == "bytes")) return data_of(v);
  if (Value own = TFL_TRY(call_special(interp, v, interp.intern("__bytes__"), {})); !own.is_empty()) {
    if (!own.is(Kind::Bytes)) return fail(ErrorKind::TypeError, "__bytes__ returned non-bytes (type {})", interp.type_name(own));
    return data_of(own);
  }
  if (is_bytes_like(v)) return TFL_TRY(bytes_like(interp, v)).as<Bytes>()->data;
  Value plain = unboxed(v);
  if (script_lookup(interp, interp.type_of(v), interp.sym.__index__)) {
    auto count = to_index(interp, v);
    if (count)
      plain = Value::integer(*count);
    else if (!error_is(count.error(), ErrorKind::TypeError))
      return count.failure();
  }
  if (plain.is_int() || plain.is_bool()) {
    if (plain.as_int() < 0) return fail(ErrorKind::ValueError, "negative count");
    size_t n = TFL_TRY(guard_repeat(interp, 1, plain.as_int(), 1));
    return std::string(n, '\0');
  }
  Value source = v;
  if (interp.type_of(v)->script &&
      (script_lookup(interp, interp.type_of(v), interp.sym.__iter__) || interp.type_of(v)->slots->iter)) {
    source = TFL_TRY(iter(interp, v));
    TFL_TRY(ask_length_hint(interp, v));
  }
  std::string data;
  auto done = for_each(interp, source, [&](Value item) -> Result<bool> {
    int64_t byte = TFL_TRY(to_index(interp, item));
    if (byte < 0 || byte > 255)
      return fail(ErrorKind::ValueError, "{} must be in range(0, 256)", function == "bytes" ? "bytes" : "byte");
    data += static_cast<char>(byte);
    if (data.size() % kSmallGrowth == 0) TFL_TRY(guard_memory(interp, data.size()));
    return true;
  });
  if (!done) {
    if (done.error().kind == ErrorKind::TypeError && !done.error().payload &&
        done.error().message.ends_with("object is not iterable")) {
      return fail(ErrorKind::TypeError, "cannot convert '{}' object to {}", interp.type_name(v), function);
    }
    return done.failure();
  }
  return data;
}

namespace {

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  std::string data = TFL_TRY(bytes_from_arguments(interp, "bytes", args));
  return finish(interp, type, std::move(data));
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  TFL_TRY(guard_memory(interp, data_of(self).size() * 2));
  return interp.str(quote_bytes(data_of(self)));
}
Result<uint64_t> hash_slot(Interp&, const Value& self) { return hash_text(data_of(self)); }
Result<bool> truth_slot(Interp&, const Value& self) { return !data_of(self).empty(); }
Result<int64_t> length_slot(Interp&, const Value& self) { return static_cast<int64_t>(data_of(self).size()); }

}  // namespace

Result<Value> bytes_iter(Interp& interp, const Value& self) { return make_bytes_iterator(interp, self); }

Result<Value> bytes_get_item(Interp& interp, const Value& self, const Value& key) {
  const std::string& s = data_of(self);
  auto n = static_cast<int64_t>(s.size());
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), n, start, stop, step));
    std::string out;
    int64_t count = slice_length(start, stop, step);
    if (step == 1) return bytes_of_kind(interp, self, s.substr(static_cast<size_t>(start), static_cast<size_t>(count)));
    for (int64_t i = 0; i < count; ++i) out += s[static_cast<size_t>(start + i * step)];
    return bytes_of_kind(interp, self, std::move(out));
  }
  int64_t i = TFL_TRY(sequence_index(interp, key, n, self.is(Kind::ByteArray) ? "bytearray" : "byte"));
  if (i >= static_cast<int64_t>(s.size())) return fail(ErrorKind::IndexError, "bytearray index out of range");
  return Value::integer(static_cast<unsigned char>(s[static_cast<size_t>(i)]));
}

Result<bool> bytes_contains(Interp& interp, const Value& self, const Value& item) {
  if (is_bytes_like(item)) {
    Value held = TFL_TRY(bytes_like(interp, item));
    return find_first(data_of(self), data_of(held)) != std::string_view::npos;
  }
  Value plain = unboxed(item);
  if (script_lookup(interp, interp.type_of(item), interp.sym.__index__)) {
    if (auto i = to_index(interp, item)) plain = Value::integer(*i);
  }
  if (!plain.is_int() && !plain.is_bool()) {
    return fail(ErrorKind::TypeError, "a bytes-like object is required, not '{}'", interp.type_name(item));
  }
  if (plain.as_int() < 0 || plain.as_int() > 255) return fail(ErrorKind::ValueError, "byte must be in range(0, 256)");
  return data_of(self).find(static_cast<char>(plain.as_int())) != std::string::npos;
}

Result<Value> bytes_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  const bool left = is_bytes(a);
  if (op == BinaryOp::Add && left && is_bytes_like(b)) {
    Value more = TFL_TRY(bytes_like(interp, b));
    TFL_TRY(guard_memory(interp, data_of(a).size() + data_of(more).size()));
    return bytes_of_kind(interp, a, data_of(a) + data_of(more));
  }
  if (op == BinaryOp::Mod && left) {
    Value made = TFL_TRY(percent_format_bytes(interp, a, b));
    return a.is(Kind::ByteArray) ? bytes_of_kind(interp, a, data_of(made)) : made;
  }
  if (op == BinaryOp::Mul) {
    const Value& self = left ? a : b;
    Value times = unboxed(left ? b : a);
    if (times.is_int() || times.is_bool()) {
      size_t total = TFL_TRY(guard_repeat(interp, data_of(self).size(), times.as_int(), 1));
      std::string out;
      out.reserve(total);
      while (out.size() < total) out += data_of(self);
      return bytes_of_kind(interp, self, std::move(out));
    }
  }
  return interp.not_implemented;
}

Result<Value> bytes_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!is_bytes_like(a) || !is_bytes_like(b)) return interp.not_implemented;
  const bool order_only = op != CompareOp::Eq && op != CompareOp::Ne;
  if (order_only && !a.is(Kind::ByteArray) && !b.is(Kind::ByteArray) && (!a.is(Kind::Bytes) || !b.is(Kind::Bytes)))
    return interp.not_implemented;
  Value left = TFL_TRY(bytes_like(interp, a)), right = TFL_TRY(bytes_like(interp, b));
  int order = data_of(left).compare(data_of(right));
  switch (op) {
    case CompareOp::Eq: return Value::boolean(order == 0);
    case CompareOp::Ne: return Value::boolean(order != 0);
    case CompareOp::Lt: return Value::boolean(order < 0);
    case CompareOp::Le: return Value::boolean(order <= 0);
    case CompareOp::Gt: return Value::boolean(order > 0);
    case CompareOp::Ge: return Value::boolean(order >= 0);
    default: return interp.not_implemented;
  }
}

extern const Slots bytes_slots;

const Slots bytes_slots = {.kind = Kind::Bytes,
                           .destroy = destroy_object<Bytes>,
                           .construct = construct,
                           .repr = repr_slot,
                           .hash = hash_slot,
                           .truth = truth_slot,
                           .length = length_slot,
                           .get_item = bytes_get_item,
                           .contains = bytes_contains,
                           .iter = bytes_iter,
                           .binary = bytes_binary,
                           .compare = bytes_compare};

}  // namespace tfl
