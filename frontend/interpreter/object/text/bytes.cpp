// bytes: construction, items, operators.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/text/format_percent.h"
#include "frontend/text/codec.h"
#include "frontend/text/quote.h"
#include "frontend/text/search.h"

namespace tfl {

namespace {

const std::string& data_of(const Value& v) { return v.as<Bytes>()->data; }

Result<Value> finish(Interp& interp, Type* type, std::string data) {
  if (type == interp.types.bytes) return interp.bytes(std::move(data));
  Bytes* b = interp.allocate<Bytes>(type);
  b->data = std::move(data);
  return Value::adopt(b);
}

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, "bytes", args, {"source", "encoding", "errors"}, 0, 0, out));
  const Value& v = out[0];
  for (int i : {1, 2}) {
    if (out[i].is_empty() || out[i].is_str()) continue;
    return fail(ErrorKind::TypeError, "bytes() argument '{}' must be str, not {}", i == 1 ? "encoding" : "errors",
                interp.type_name(out[i]));
  }
  if (v.is_empty()) return finish(interp, type, {});
  if (v.is_str()) {
    if (out[1].is_empty()) return fail(ErrorKind::TypeError, "string argument without an encoding");
    CodecFault fault;
    auto data = encode_text(text_of(v), text_of(out[1]), out[2].is_str() ? std::string_view(text_of(out[2])) : "strict", &fault);
    if (!data) return codec_failure(interp, data.failure(), fault, v);
    return finish(interp, type, data.take());
  }
  if (!out[1].is_empty()) return fail(ErrorKind::TypeError, "encoding without a string argument");
  if (v.is(Kind::Bytes)) return finish(interp, type, data_of(v));
  if (Value own = TFL_TRY(call_special(interp, v, interp.intern("__bytes__"), {})); !own.is_empty()) {
    if (!own.is(Kind::Bytes)) return fail(ErrorKind::TypeError, "__bytes__ returned non-bytes (type {})", interp.type_name(own));
    return finish(interp, type, data_of(own));
  }
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
    return finish(interp, type, std::string(n, '\0'));
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
    if (byte < 0 || byte > 255) return fail(ErrorKind::ValueError, "bytes must be in range(0, 256)");
    data += static_cast<char>(byte);
    if (data.size() % kSmallGrowth == 0) TFL_TRY(guard_memory(interp, data.size()));
    return true;
  });
  if (!done) {
    if (done.error().kind == ErrorKind::TypeError && !done.error().payload &&
        done.error().message.ends_with("object is not iterable")) {
      return fail(ErrorKind::TypeError, "cannot convert '{}' object to bytes", interp.type_name(v));
    }
    return done.failure();
  }
  return finish(interp, type, std::move(data));
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  TFL_TRY(guard_memory(interp, data_of(self).size() * 2));
  return interp.str(quote_bytes(data_of(self)));
}
Result<uint64_t> hash_slot(Interp&, const Value& self) { return hash_text(data_of(self)); }
Result<bool> truth_slot(Interp&, const Value& self) { return !data_of(self).empty(); }
Result<int64_t> length_slot(Interp&, const Value& self) { return static_cast<int64_t>(data_of(self).size()); }

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  const std::string& s = data_of(self);
  auto n = static_cast<int64_t>(s.size());
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), n, start, stop, step));
    std::string out;
    int64_t count = slice_length(start, stop, step);
    if (step == 1) return interp.bytes(s.substr(static_cast<size_t>(start), static_cast<size_t>(count)));
    for (int64_t i = 0; i < count; ++i) out += s[static_cast<size_t>(start + i * step)];
    return interp.bytes(std::move(out));
  }
  int64_t i = TFL_TRY(sequence_index(interp, key, n, "byte"));
  return Value::integer(static_cast<unsigned char>(s[static_cast<size_t>(i)]));
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  if (item.is(Kind::Bytes)) return find_first(data_of(self), data_of(item)) != std::string_view::npos;
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

Result<Value> iter_slot(Interp& interp, const Value& self) { return make_bytes_iterator(interp, self); }

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && a.is(Kind::Bytes) && b.is(Kind::Bytes)) {
    TFL_TRY(guard_memory(interp, data_of(a).size() + data_of(b).size()));
    return interp.bytes(data_of(a) + data_of(b));
  }
  if (op == BinaryOp::Mod && a.is(Kind::Bytes)) return percent_format_bytes(interp, a, b);
  if (op == BinaryOp::Mul) {
    const Value& self = a.is(Kind::Bytes) ? a : b;
    Value times = unboxed(a.is(Kind::Bytes) ? b : a);
    if (times.is_int() || times.is_bool()) {
      size_t total = TFL_TRY(guard_repeat(interp, data_of(self).size(), times.as_int(), 1));
      std::string out;
      out.reserve(total);
      while (out.size() < total) out += data_of(self);
      return interp.bytes(std::move(out));
    }
  }
  return interp.not_implemented;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is(Kind::Bytes) || !b.is(Kind::Bytes)) return interp.not_implemented;
  int order = data_of(a).compare(data_of(b));
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

}  // namespace

extern const Slots bytes_slots;

const Slots bytes_slots = {.kind = Kind::Bytes,
                           .destroy = destroy_object<Bytes>,
                           .construct = construct,
                           .repr = repr_slot,
                           .hash = hash_slot,
                           .truth = truth_slot,
                           .length = length_slot,
                           .get_item = get_item_slot,
                           .contains = contains_slot,
                           .iter = iter_slot,
                           .binary = binary_slot,
                           .compare = compare_slot};

}  // namespace tfl
