// str: construction, items, operators.
#include "frontend/core/str.h"
#include "frontend/core/buffer.h"

#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/hashing.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/text/format_percent.h"
#include "frontend/text/codec.h"
#include "frontend/text/format_spec.h"
#include "frontend/text/quote.h"
#include "frontend/text/search.h"
#include "frontend/text/utf8.h"

namespace tfl {

namespace {

// Text that is not ASCII keeps the byte offsets of every kStride-th character, as far as somebody has asked, so that a character is found in
// the same time wherever it stands. Text only ever grows at its end, which leaves them right.
constexpr int64_t kStride = 32;
constexpr size_t kShort = 64;  // bytes that are walked instead

bool walked(const Str* s) { return s->text.size() <= kShort || s->text.size() > UINT32_MAX; }

/// Places up to number `last`, which is in the text.
std::vector<uint32_t>& places_up_to(Str* s, size_t last) {
  if (!s->places) s->places = std::make_unique<std::vector<uint32_t>>(1, 0u);
  std::vector<uint32_t>& places = *s->places;
  while (places.size() <= last) {
    size_t from = places.back();
    places.push_back(static_cast<uint32_t>(from + utf8::offset(std::string_view(s->text).substr(from), kStride)));
  }
  return places;
}

}  // namespace

size_t str_offset(Str* s, int64_t index) {
  int64_t n = str_length(s);
  if (s->ascii()) return static_cast<size_t>(index);
  if (index >= n) return s->text.size();
  if (walked(s)) return utf8::offset(s->text, index);
  size_t from = places_up_to(s, static_cast<size_t>(index / kStride))[static_cast<size_t>(index / kStride)];
  return from + utf8::offset(std::string_view(s->text).substr(from), index % kStride);
}

std::string_view str_range(Str* s, int64_t start, int64_t stop) {
  if (start >= stop) return {};
  size_t b = str_offset(s, start);
  std::string_view rest = std::string_view(s->text).substr(b);
  if (s->ascii()) return rest.substr(0, static_cast<size_t>(stop - start));
  if (stop == s->length) return rest;
  return rest.substr(0, stop - start <= kStride ? utf8::offset(rest, stop - start) : str_offset(s, stop) - b);
}

int64_t str_character(Str* s, size_t offset) {
  int64_t n = str_length(s);
  if (s->ascii()) return static_cast<int64_t>(offset);
  if (walked(s)) return utf8::count(std::string_view(s->text).substr(0, offset));
  if (offset >= s->text.size()) return n;
  const std::vector<uint32_t>* places = &places_up_to(s, 0);
  auto known = static_cast<int64_t>(places->size());
  while (places->back() <= offset && known * kStride < n) {
    places = &places_up_to(s, static_cast<size_t>(known));
    known = static_cast<int64_t>(places->size());
  }
  auto above = std::upper_bound(places->begin(), places->end(), static_cast<uint32_t>(offset));
  auto before = static_cast<size_t>(above - places->begin()) - 1;
  return static_cast<int64_t>(before) * kStride +
         utf8::count(std::string_view(s->text).substr((*places)[before], offset - (*places)[before]));
}

Result<void> str_bounds(Interp& interp, const Value& start, const Value& end, int64_t length, int64_t& from, int64_t& to) {
  auto bound = [&](const Value& v, int64_t if_none) -> Result<int64_t> {
    if (v.is_none() || v.is_empty()) return if_none;
    auto i = to_index(interp, v);
    if (!i && i.error().kind == ErrorKind::TypeError && !i.error().payload &&
        !script_lookup(interp, interp.type_of(v), interp.sym.__index__)) {
      return fail(ErrorKind::TypeError, "slice indices must be integers or None or have an __index__ method");
    }
    return i;
  };
  from = TFL_TRY(bound(start, 0));
  to = TFL_TRY(bound(end, length));
  if (from < 0) from = std::max<int64_t>(0, from + length);
  if (to < 0) to = std::max<int64_t>(0, to + length);
  to = std::min(to, length);
  return {};
}

Result<Str*> need_str(Interp& interp, const Value& v) {
  if (v.is_str()) return v.as<Str>();
  return fail(ErrorKind::TypeError, "must be str, not {}", interp.type_name(v));
}

namespace {

Result<Value> as_type(Interp& interp, Type* type, Value text) {
  if (type == interp.types.str) return text;
  Str* s = interp.allocate<Str>(type);
  s->text = text_of(text);
  s->length = -1;
  return Value::adopt(s);
}

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, "str", args, {"object", "encoding", "errors"}, 0, 0, out));
  if (out[1].is_empty() && out[2].is_empty()) {
    if (out[0].is_empty()) return as_type(interp, type, interp.str(std::string()));
    Value text = TFL_TRY(to_str(interp, out[0]));
    return as_type(interp, type, std::move(text));
  }
  for (int i = 1; i < 3; ++i) {
    if (!out[i].is_empty() && !out[i].is_str()) {
      return fail(ErrorKind::TypeError, "str() argument '{}' must be str, not {}", i == 1 ? "encoding" : "errors",
                  interp.type_name(out[i]));
    }
  }
  if (out[0].is_str()) return fail(ErrorKind::TypeError, "decoding str is not supported");
  if (!is_bytes_like(out[0])) {
    return fail(ErrorKind::TypeError, "decoding to str: need a bytes-like object, {} found", interp.type_name(out[0]));
  }
  CodecFault fault;
  out[0] = TFL_TRY(bytes_like(interp, out[0]));
  auto text = decode_text(out[0].as<Bytes>()->data, out[1].is_empty() ? "utf-8" : std::string_view(text_of(out[1])),
                          out[2].is_empty() ? "strict" : std::string_view(text_of(out[2])), &fault);
  if (!text) return codec_failure(interp, text.failure(), fault, out[0]);
  return as_type(interp, type, interp.str(text.take()));
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  TFL_TRY(guard_memory(interp, text_of(self).size()));
  std::string text = quote_text(text_of(self), false, stop_of(interp));
  TFL_TRY(look_for_interrupt(interp));
  return interp.str(std::move(text));
}

Result<Value> str_slot(Interp& interp, const Value& self) {
  if (self.object()->type == interp.types.str) return self;
  return interp.str(text_of(self));
}

Result<Value> format_slot(Interp& interp, const Value& self, std::string_view spec) {
  if (spec.empty()) return to_str(interp, self);
  std::string_view name = interp.type_name(self);
  FormatSpec f = TFL_TRY(parse_format_spec(spec, 's', '<', name));
  TFL_TRY(guard_memory(interp, static_cast<size_t>(f.width + 1)));
  std::string text = TFL_TRY(format_text(f, text_of(self), name));
  return interp.str(std::move(text));
}

Result<uint64_t> hash_slot(Interp&, const Value& self) { return str_hash(self.as<Str>()); }
Result<bool> truth_slot(Interp&, const Value& self) { return !text_of(self).empty(); }
Result<int64_t> length_slot(Interp&, const Value& self) { return str_length(self.as<Str>()); }

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  Str* s = self.as<Str>();
  int64_t n = str_length(s);
  if (key.is(Kind::Slice)) {
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), n, start, stop, step));
    if (step == 1) {
      if (start == 0 && stop >= n && s->type == interp.types.str) return self;
      return interp.str(std::string(str_range(s, start, stop)));
    }
    int64_t count = slice_length(start, stop, step);
    std::string out;
    if (s->ascii()) {
      out.reserve(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i) out += s->text[static_cast<size_t>(start + i * step)];
    } else if (step == -1) {
      out = utf8::reversed(str_range(s, start - count + 1, start + 1));
    } else {
      // Each step goes on from the character before.
      size_t at = count > 0 ? str_offset(s, start) : 0;
      std::string_view text = s->text;
      for (int64_t i = 0; i < count; ++i) {
        if (i > 0) at = step > 0 && step <= kStride ? at + utf8::offset(text.substr(at), step) : str_offset(s, start + i * step);
        out += text.substr(at, utf8::size_of(static_cast<unsigned char>(text[at])));
      }
    }
    return interp.str(std::move(out));
  }
  int64_t i = TFL_TRY(sequence_index(interp, key, n, "string"));
  return character_at(interp, s->text, s->ascii() ? static_cast<size_t>(i) : str_offset(s, i));
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  if (!item.is_str()) {
    return fail(ErrorKind::TypeError, "'in <string>' requires string as left operand, not {}", interp.type_name(item));
  }
  return find_first(text_of(self), text_of(item)) != std::string_view::npos;
}

Result<Value> iter_slot(Interp& interp, const Value& self) { return make_str_iterator(interp, self); }

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::Add && a.is_str() && b.is_str()) {
    const std::string &x = text_of(a), &y = text_of(b);
    TFL_TRY(guard_memory(interp, x.size() + y.size()));
    std::string out;
    out.reserve(x.size() + y.size());
    out += x;
    out += y;
    return interp.str(std::move(out));
  }
  if (op == BinaryOp::Mod && a.is_str()) return percent_format(interp, a, b);
  if (op == BinaryOp::Mul) {
    const Value& self = a.is_str() ? a : b;
    Value times = unboxed(a.is_str() ? b : a);
    if (times.is_int() || times.is_bool()) {
      const std::string& s = text_of(self);
      size_t total = TFL_TRY(guard_repeat(interp, s.size(), times.as_int(), 1));
      if (s.size() == 1) return interp.str(std::string(total, s[0]));
      std::string out;
      out.reserve(total);
      while (out.size() < total) out += s;
      return interp.str(std::move(out));
    }
  }
  return interp.not_implemented;
}

/// text += more: nobody else sees the text when the target holds the only reference, so that a loop of these is linear.
Result<Value> inplace_slot(Interp& interp, BinaryOp op, const Value& self, const Value& b) {
  Str* s = self.as<Str>();
  if (op != BinaryOp::Add || s->refs != 1 || s->interned || s->type != interp.types.str || !b.is_str())
    return binary_slot(interp, op, self, b);
  const Str* more = b.as<Str>();
  size_t size = s->text.size() + more->text.size();
  if (size > s->text.capacity()) TFL_TRY(guard_memory(interp, size * 2));
  s->length = s->length >= 0 && more->length >= 0 ? s->length + more->length : -1;
  s->hash = 0;
  s->text += more->text;
  return self;
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!a.is_str() || !b.is_str()) return interp.not_implemented;
  const std::string &x = text_of(a), &y = text_of(b);
  switch (op) {
    case CompareOp::Eq: return Value::boolean(x == y);
    case CompareOp::Ne: return Value::boolean(x != y);
    case CompareOp::Lt: return Value::boolean(x < y);
    case CompareOp::Le: return Value::boolean(x <= y);
    case CompareOp::Gt: return Value::boolean(x > y);
    case CompareOp::Ge: return Value::boolean(x >= y);
    default: return interp.not_implemented;
  }
}

}  // namespace

extern const Slots str_slots;

const Slots str_slots = {.kind = Kind::Str,
                         .destroy = destroy_object<Str>,
                         .construct = construct,
                         .repr = repr_slot,
                         .str = str_slot,
                         .format = format_slot,
                         .hash = hash_slot,
                         .truth = truth_slot,
                         .length = length_slot,
                         .get_item = get_item_slot,
                         .contains = contains_slot,
                         .iter = iter_slot,
                         .binary = binary_slot,
                         .inplace = inplace_slot,
                         .compare = compare_slot};

}  // namespace tfl
