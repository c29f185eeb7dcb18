// memoryview: views of the bytes of others, item by item in a format, in any number of dimensions.
#include "frontend/core/buffer.h"

#include <algorithm>

#include "frontend/core/exception.h"
#include "frontend/core/hashing.h"
#include "frontend/core/native.h"
#include "frontend/core/str.h"
#include "frontend/interpreter/object/containers/list.h"

namespace tfl {

namespace {

constexpr size_t kMostDimensions = 64;

MemoryView& view_of(const Value& v) { return *v.as<MemoryView>(); }
char* memory_of(const MemoryView& view) { return view.base.as<Bytes>()->data.data() + view.offset; }

Result<void> check_alive(const MemoryView& view) {
  if (!view.base.is_empty()) return {};
  return fail(ErrorKind::ValueError, "operation forbidden on released memoryview object");
}

void let_go(MemoryView& view) {
  if (view.base.is(Kind::ByteArray)) --view.base.as<ByteArray>()->exports;
  view.base = Value();
  view.shown = Value();
}

void destroy_view(Object* o) {
  auto* view = static_cast<MemoryView*>(o);
  if (!view->base.is_empty()) let_go(*view);
  view->~MemoryView();
  Heap::release(o, sizeof(MemoryView));
}

/// A view of the same memory; the caller changes what differs.
MemoryView* same_memory(Interp& interp, const MemoryView& of) {
  auto* view = interp.allocate<MemoryView>(interp.types.memory_view);
  view->base = of.base;
  view->shown = of.shown;
  view->format = of.format;
  view->item_size = of.item_size;
  view->readonly = of.readonly;
  view->offset = of.offset;
  view->shape = of.shape;
  view->strides = of.strides;
  if (view->base.is(Kind::ByteArray)) ++view->base.as<ByteArray>()->exports;
  return view;
}

/// The letter of a format of one letter, '@' in front apart; 0 for others.
char letter_of(std::string_view format) {
  if (format.starts_with('@')) format.remove_prefix(1);
  return format.size() == 1 && element_size(format[0]) > 0 && format[0] != 'u' ? format[0] : '\0';
}

Result<Value> construct(Interp& interp, Type*, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "memoryview", args, {"object"}, 1, 0, out));
  const Value& object = out[0];
  if (object.is(Kind::MemoryView)) {
    TFL_TRY(check_alive(view_of(object)));
    return Value::adopt(same_memory(interp, view_of(object)));
  }
  if (!is_bytes_like(object))
    return fail(ErrorKind::TypeError, "memoryview: a bytes-like object is required, not '{}'", interp.type_name(object));
  MemoryView whole;
  whole.base = object;
  whole.shown = object;
  whole.format = "B";
  whole.readonly = object.is(Kind::Bytes);
  if (object.object()->type->is_subtype_of(interp.types.byte_store)) {
    Value code = TFL_TRY(get_attr(interp, object, interp.intern("typecode")));
    if (code.is_str() && element_size(text_of(code)[0]) > 0)
      whole.format = text_of(code), whole.item_size = element_size(text_of(code)[0]);
    if (whole.format == "u") whole.format = "w";
  }
  whole.shape = {static_cast<int64_t>(object.as<Bytes>()->data.size()) / whole.item_size};
  whole.strides = {whole.item_size};
  return Value::adopt(same_memory(interp, whole));
}

Result<Value> repr_slot(Interp& interp, const Value& self) {
  return interp.strf("<{}memory at {:#x}>", view_of(self).base.is_empty() ? "released " : "",
                     reinterpret_cast<uintptr_t>(self.counted()));
}

Result<int64_t> length_slot(Interp&, const Value& self) {
  TFL_TRY(check_alive(view_of(self)));
  return view_of(self).shape.empty() ? 1 : view_of(self).shape[0];
}

Result<uint64_t> hash_slot(Interp& interp, const Value& self) {
  if (view_of(self).hash != 0) return view_of(self).hash;
  TFL_TRY(check_alive(view_of(self)));
  if (!view_of(self).readonly) return fail(ErrorKind::ValueError, "cannot hash writable memoryview object");
  const char letter = letter_of(view_of(self).format);
  if (letter != 'B' && letter != 'b' && letter != 'c')
    return fail(ErrorKind::ValueError, "memoryview: hashing is restricted to formats 'B', 'b' or 'c'");
  Value held = TFL_TRY(bytes_like(interp, self));
  return view_of(self).hash = hash_text(held.as<Bytes>()->data);
}

Failure unknown_format(const MemoryView& view) {
  return fail(ErrorKind::NotImplementedError, "memoryview: format {} not supported", view.format);
}

/// Where the item at these indices stands, in bytes behind the offset.
Result<int64_t> place_of(Interp& interp, const MemoryView& view, std::span<const Value> indices) {
  int64_t at = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    int64_t i = TFL_TRY(to_index(interp, indices[axis]));
    const int64_t n = view.shape[axis];
    if (i < 0) i += n;
    if (i < 0 || i >= n) return fail(ErrorKind::IndexError, "index out of bounds on dimension {}", axis + 1);
    at += i * view.strides[axis];
  }
  return at;
}

/// The indices of one item: a number for a view of one dimension, else a tuple.
Result<std::vector<Value>> indices_of(Interp& interp, const MemoryView& view, const Value& key) {
  std::vector<Value> indices;
  if (key.is(Kind::Tuple)) {
    for (const Value& v : key.as<Tuple>()->span()) {
      if (v.is(Kind::Slice)) return fail(ErrorKind::NotImplementedError, "multi-dimensional slicing is not implemented");
      indices.push_back(v);
    }
  } else {
    if (!key.is_int() && !key.is_bool()) {
      auto i = to_index(interp, key);
      if (!i && i.error().kind == ErrorKind::TypeError && !i.error().payload)
        return fail(ErrorKind::TypeError, "memoryview: invalid slice key");
      if (!i) return i.failure();
    }
    indices.push_back(key);
  }
  if (view.shape.empty() && !indices.empty()) return fail(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  if (indices.size() < view.shape.size())
    return fail(ErrorKind::NotImplementedError, "{}",
                key.is(Kind::Tuple) ? "sub-views are not implemented" : "multi-dimensional sub-views are not implemented");
  if (indices.size() > view.shape.size())
    return fail(ErrorKind::TypeError, "cannot index {}-dimension view with {}-element tuple", view.shape.size(), indices.size());
  return indices;
}

Result<Value> item_at(Interp& interp, const MemoryView& view, int64_t place) {
  const char letter = letter_of(view.format);
  if (letter == 0) return unknown_format(view);
  return load_element(interp, letter, memory_of(view) + place);
}

Result<Value> sliced(Interp& interp, const MemoryView& view, const Slice& slice) {
  if (view.shape.empty()) return fail(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  int64_t start, stop, step;
  TFL_TRY(slice_bounds(interp, slice, view.shape[0], start, stop, step));
  TFL_TRY(check_alive(view));
  MemoryView* part = same_memory(interp, view);
  Value made = Value::adopt(part);
  part->shape[0] = slice_length(start, stop, step);
  if (part->shape[0] > 0) part->offset += start * view.strides[0];
  part->strides[0] = view.strides[0] * step;
  return made;
}

Result<Value> get_item_slot(Interp& interp, const Value& self, const Value& key) {
  const MemoryView& view = view_of(self);
  TFL_TRY(check_alive(view));
  if (key.identical(interp.ellipsis) || (key.is(Kind::Tuple) && key.as<Tuple>()->size == 0)) {
    if (!view.shape.empty()) return self;
    return key.is(Kind::Tuple) ? item_at(interp, view, 0) : Result<Value>(self);
  }
  if (key.is(Kind::Slice)) return sliced(interp, view, *key.as<Slice>());
  std::vector<Value> indices = TFL_TRY(indices_of(interp, view, key));
  const int64_t place = TFL_TRY(place_of(interp, view, indices));
  TFL_TRY(check_alive(view));
  return item_at(interp, view, place);
}

Result<void> put_item(Interp& interp, const MemoryView& view, int64_t place, const Value& value) {
  const char letter = letter_of(view.format);
  if (letter == 0) return unknown_format(view);
  alignas(8) char item[8] = {};
  const StoreFault fault = TFL_TRY(store_element(interp, letter, item, value));
  if (fault == StoreFault::Type) return fail(ErrorKind::TypeError, "memoryview: invalid type for format '{}'", view.format);
  if (fault == StoreFault::Range) return fail(ErrorKind::ValueError, "memoryview: invalid value for format '{}'", view.format);
  TFL_TRY(check_alive(view));
  std::copy_n(item, view.item_size, memory_of(view) + place);
  return {};
}

Result<void> set_item_slot(Interp& interp, const Value& self, const Value& key, const Value& value) {
  const MemoryView& view = view_of(self);
  TFL_TRY(check_alive(view));
  if (view.readonly) return fail(ErrorKind::TypeError, "cannot modify read-only memory");
  if (value.is_empty()) return fail(ErrorKind::TypeError, "cannot delete memory");
  if (key.is(Kind::Slice)) {
    if (view.shape.size() != 1)
      return fail(ErrorKind::NotImplementedError, "memoryview slice assignments are currently restricted to ndim = 1");
    Value part = TFL_TRY(sliced(interp, view, *key.as<Slice>()));
    MemoryView& to = view_of(part);
    if (!is_bytes_like(value))
      return fail(ErrorKind::TypeError, "a bytes-like object is required, not '{}'", interp.type_name(value));
    std::string_view format = value.is(Kind::MemoryView) ? std::string_view(view_of(value).format) : std::string_view("B");
    if (value.object()->type->is_subtype_of(interp.types.byte_store)) {
      Value code = TFL_TRY(get_attr(interp, value, interp.intern("typecode")));
      if (code.is_str()) format = text_of(code);
      if (code.is_str() && letter_of(format) != letter_of(to.format)) format = "";
      if (!format.empty()) format = to.format;
    }
    Value held = TFL_TRY(bytes_like(interp, value));
    const std::string data = held.as<Bytes>()->data;
    if (letter_of(format) != letter_of(to.format) || static_cast<int64_t>(data.size()) != to.shape[0] * to.item_size)
      return fail(ErrorKind::ValueError, "memoryview assignment: lvalue and rvalue have different structures");
    for (int64_t i = 0; i < to.shape[0]; ++i)
      std::copy_n(data.data() + i * to.item_size, to.item_size, memory_of(to) + i * to.strides[0]);
    return {};
  }
  if (view.shape.empty() && (key.identical(interp.ellipsis) || (key.is(Kind::Tuple) && key.as<Tuple>()->size == 0)))
    return put_item(interp, view, 0, value);
  std::vector<Value> indices = TFL_TRY(indices_of(interp, view, key));
  const int64_t place = TFL_TRY(place_of(interp, view, indices));
  return put_item(interp, view, place, value);
}

Result<Value> next_item(Interp& interp, Value& state, int64_t& position) {
  const MemoryView& view = view_of(state);
  TFL_TRY(check_alive(view));
  if (position >= view.shape[0]) return Value();
  return item_at(interp, view, position++ * view.strides[0]);
}

Result<Value> iter_slot(Interp& interp, const Value& self) {
  TFL_TRY(check_alive(view_of(self)));
  if (view_of(self).shape.empty()) return fail(ErrorKind::TypeError, "invalid indexing of 0-dim memory");
  if (view_of(self).shape.size() > 1)
    return fail(ErrorKind::NotImplementedError, "multi-dimensional sub-views are not implemented");
  return make_iterator(interp, interp.types.sequence_iterator, next_item, self);
}

/// The items as a list, of lists where there are several dimensions.
Result<Value> listed(Interp& interp, const MemoryView& view, size_t axis, int64_t place) {
  if (axis == view.shape.size()) return item_at(interp, view, place);
  std::vector<Value> items;
  TFL_TRY(guard_memory(interp, static_cast<size_t>(view.shape[axis]) * sizeof(Value)));
  for (int64_t i = 0; i < view.shape[axis]; ++i) {
    Value item = TFL_TRY(listed(interp, view, axis + 1, place + i * view.strides[axis]));
    items.push_back(std::move(item));
  }
  return interp.list(std::move(items));
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if ((op != CompareOp::Eq && op != CompareOp::Ne) || !is_bytes_like(a) || !is_bytes_like(b)) return interp.not_implemented;
  CallArgs none;
  Value sides[2];
  for (int i : {0, 1}) {
    const Value& side = i ? b : a;
    Value one = side;
    CallArgs args{&one, 1};
    if (side.is(Kind::MemoryView)) {
      if (view_of(side).base.is_empty()) return Value::boolean((a.identical(b)) == (op == CompareOp::Eq));
      sides[i] = side;
    } else {
      sides[i] = TFL_TRY(construct(interp, interp.types.memory_view, args));
    }
  }
  const MemoryView &x = view_of(sides[0]), &y = view_of(sides[1]);
  bool equal = x.shape == y.shape;
  if (equal && letter_of(x.format) == letter_of(y.format) && letter_of(x.format) != 'd' && letter_of(x.format) != 'f') {
    Value left = TFL_TRY(bytes_like(interp, sides[0])), right = TFL_TRY(bytes_like(interp, sides[1]));
    equal = left.as<Bytes>()->data == right.as<Bytes>()->data;
  } else if (equal) {
    if (letter_of(x.format) == 0 || letter_of(y.format) == 0) {
      equal = false;
    } else {
      Value left = TFL_TRY(listed(interp, x, 0, 0)), right = TFL_TRY(listed(interp, y, 0, 0));
      Value same = TFL_TRY(compare(interp, CompareOp::Eq, left, right));
      equal = TFL_TRY(truth(interp, same));
    }
  }
  return Value::boolean(equal == (op == CompareOp::Eq));
}

Value numbers(Interp& interp, const std::vector<int64_t>& from) {
  std::vector<Value> items;
  for (int64_t n : from) items.push_back(Value::integer(n));
  return interp.tuple(items);
}

int64_t bytes_in(const MemoryView& view) {
  int64_t size = view.item_size;
  for (int64_t n : view.shape) size *= n;
  return size;
}

bool in_order(const MemoryView& view, bool first_fastest) {
  int64_t expected = view.item_size;
  const size_t n = view.shape.size();
  for (size_t k = 0; k < n; ++k) {
    const size_t axis = first_fastest ? k : n - 1 - k;
    if (view.shape[axis] > 1 && view.strides[axis] != expected) return false;
    expected *= view.shape[axis];
  }
  return true;
}

Result<Value> get_attr_slot(Interp& interp, const Value& self, Str* name) {
  const MemoryView& view = view_of(self);
  const std::string_view n = name->text;
  auto known = [&](std::initializer_list<std::string_view> names) {
    for (std::string_view k : names) {
      if (k == n) return true;
    }
    return false;
  };
  if (!known({"obj", "nbytes", "readonly", "format", "itemsize", "ndim", "shape", "strides", "suboffsets", "c_contiguous",
              "f_contiguous", "contiguous"}))
    return Value();
  TFL_TRY(check_alive(view));
  if (n == "obj") return view.shown;
  if (n == "nbytes") return Value::integer(bytes_in(view));
  if (n == "readonly") return Value::boolean(view.readonly);
  if (n == "format") return interp.str(view.format);
  if (n == "itemsize") return Value::integer(view.item_size);
  if (n == "ndim") return Value::integer(static_cast<int64_t>(view.shape.size()));
  if (n == "shape") return numbers(interp, view.shape);
  if (n == "strides") return numbers(interp, view.strides);
  if (n == "suboffsets") return interp.empty_tuple;
  if (n == "c_contiguous") return Value::boolean(in_order(view, false));
  if (n == "f_contiguous") return Value::boolean(in_order(view, true));
  return Value::boolean(in_order(view, false) || in_order(view, true));
}

// ------------------------------------------------------------------------------------------------------------ methods

Result<Value> tobytes(Interp& interp, Value* a) {
  TFL_TRY(check_alive(view_of(a[0])));
  if (!a[1].is_none()) {
    Str* order = TFL_TRY(need_str(interp, a[1]));
    if (order->text != "C" && order->text != "F" && order->text != "A")
      return fail(ErrorKind::ValueError, "order must be 'C', 'F' or 'A'");
    if (order->text == "F" && view_of(a[0]).shape.size() > 1) {
      MemoryView* turned = same_memory(interp, view_of(a[0]));
      Value held = Value::adopt(turned);
      std::reverse(turned->shape.begin(), turned->shape.end());
      std::reverse(turned->strides.begin(), turned->strides.end());
      Value data = TFL_TRY(bytes_like(interp, held));
      return data;
    }
  }
  return bytes_like(interp, a[0]);
}

Result<Value> tolist(Interp& interp, Value* a) {
  TFL_TRY(check_alive(view_of(a[0])));
  if (letter_of(view_of(a[0]).format) == 0) return unknown_format(view_of(a[0]));
  return listed(interp, view_of(a[0]), 0, 0);
}

Result<Value> hex(Interp& interp, Value* a) {
  Value data = TFL_TRY(bytes_like(interp, a[0]));
  return a[1].is_empty() ? interp.call_method(data, interp.intern("hex"), {})
                         : interp.call_method(data, interp.intern("hex"), {a[1], a[2]});
}

Result<Value> release(Interp&, Value* a) {
  MemoryView& view = view_of(a[0]);
  if (!view.base.is_empty()) let_go(view);
  return Value::none();
}

Result<Value> toreadonly(Interp& interp, Value* a) {
  TFL_TRY(check_alive(view_of(a[0])));
  MemoryView* same = same_memory(interp, view_of(a[0]));
  same->readonly = true;
  return Value::adopt(same);
}

Result<Value> enter(Interp&, Value* a) {
  TFL_TRY(check_alive(view_of(a[0])));
  return a[0];
}
Result<Value> leave(Interp& interp, Value* a) { return release(interp, a); }

Result<Value> cast(Interp& interp, Value* a) {
  const MemoryView& view = view_of(a[0]);
  TFL_TRY(check_alive(view));
  Str* format = TFL_TRY(need_str(interp, a[1]));
  if (!in_order(view, false)) return fail(ErrorKind::TypeError, "memoryview: casts are restricted to C-contiguous views");
  const char letter = letter_of(format->text);
  if (letter == 0)
    return fail(ErrorKind::ValueError,
                "memoryview: destination format must be a native single character format prefixed with an optional '@'");
  auto is_byte = [](char c) { return c == 'B' || c == 'b' || c == 'c'; };
  if (!a[2].is_none() && view.shape.size() > 1)
    return fail(ErrorKind::TypeError, "memoryview: cast must be 1D -> ND or ND -> 1D");
  if (!is_byte(letter_of(view.format)) && !is_byte(letter) && letter != letter_of(view.format))
    return fail(ErrorKind::TypeError, "memoryview: cannot cast between two non-byte formats");
  const int64_t size = element_size(letter), total = bytes_in(view);
  if (total % size) return fail(ErrorKind::TypeError, "memoryview: length is not a multiple of itemsize");
  std::vector<int64_t> shape{total / size};
  if (!a[2].is_none()) {
    if (!a[2].is(Kind::List) && !a[2].is(Kind::Tuple)) return fail(ErrorKind::TypeError, "shape must be a list or a tuple");
    std::vector<Value> sizes = TFL_TRY(to_vector(interp, a[2]));
    if (sizes.size() > kMostDimensions) return fail(ErrorKind::ValueError, "memoryview: number of dimensions must not exceed 64");
    shape.clear();
    int64_t product = 1;
    for (const Value& v : sizes) {
      if (!v.is_int()) return fail(ErrorKind::TypeError, "memoryview.cast(): elements of shape must be integers");
      if (v.as_int() <= 0) return fail(ErrorKind::ValueError, "memoryview.cast(): elements of shape must be integers > 0");
      if (__builtin_mul_overflow(product, v.as_int(), &product))
        return fail(ErrorKind::ValueError, "memoryview.cast(): product(shape) > SSIZE_MAX");
      shape.push_back(v.as_int());
    }
    if (product != total / size) return fail(ErrorKind::TypeError, "memoryview: product(shape) * itemsize != buffer size");
  }
  MemoryView* made = same_memory(interp, view);
  Value held = Value::adopt(made);
  made->format = format->text;
  made->item_size = size;
  made->shape = std::move(shape);
  made->strides.assign(made->shape.size(), size);
  for (size_t axis = made->shape.size(); axis-- > 1;) made->strides[axis - 1] = made->strides[axis] * made->shape[axis];
  return held;
}

constexpr NativeDef kMethods[] = {
    method("tobytes", "self, /, order=None", tobytes),
    method("tolist", "self, /", tolist),
    method("hex", "self, /, sep=..., bytes_per_sep=1", hex),
    method("release", "self, /", release),
    method("toreadonly", "self, /", toreadonly),
    method("cast", "self, /, format, shape=None", cast),
    method("__enter__", "self, /", enter),
    method("__exit__", "self, /, *exc_info", leave),
};

}  // namespace

extern const Slots memory_view_slots;

const Slots memory_view_slots = {.kind = Kind::MemoryView,
                                 .destroy = destroy_view,
                                 .construct = construct,
                                 .repr = repr_slot,
                                 .hash = hash_slot,
                                 .length = length_slot,
                                 .get_item = get_item_slot,
                                 .set_item = set_item_slot,
                                 .iter = iter_slot,
                                 .compare = compare_slot,
                                 .get_attr = get_attr_slot};

std::span<const NativeDef> memory_view_methods() { return kMethods; }

}  // namespace tfl
