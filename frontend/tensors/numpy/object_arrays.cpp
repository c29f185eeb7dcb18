#include "frontend/tensors/numpy/object_arrays.h"

#include <algorithm>
#include <cstring>

#include "frontend/core/native_module.h"
#include "frontend/core/protocol.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

template <class T>
std::string code_of(char kind, const T& value) {
  std::string s(2 + sizeof(T), '\xFF');
  s[1] = kind;
  std::memcpy(s.data() + 2, &value, sizeof(T));
  return s;
}
template <class T>
T value_in(const std::string& s) {
  T value{};
  if (s.size() >= 2 + sizeof(T)) std::memcpy(&value, s.data() + 2, sizeof(T));
  return value;
}

/// What is kept for codes: a list of the objects, and where each stands there by its address.
Result<std::pair<Value, Value>> kept_objects(Interp& interp) {
  Value home = TFL_TRY(interp.import_module("_np"));
  Dict* names = home.as<Module>()->dict.as<Dict>();
  Value list = dict_get_str(names, interp.intern("_objects"));
  if (list.is_empty()) {
    list = interp.list({});
    dict_set_str(names, interp.intern("_objects"), list);
    dict_set_str(names, interp.intern("_places"), interp.dict());
  }
  return std::pair{list, dict_get_str(names, interp.intern("_places"))};
}

/// Numbers, text and bytes, which have a code by themselves or are text; no object of the script.
bool is_plain(const Value& v) {
  return v.is_bool() || v.is_int() || v.is_float() || v.is(Kind::Complex) || v.is_str() || v.is(Kind::Bytes) ||
         v.is(Kind::NumPyScalar) || v.is(Kind::NdArray);
}

std::span<const Value> items_of(const Value& v) {
  return v.is(Kind::List) ? std::span<const Value>(v.as<List>()->items) : v.as<Tuple>()->span();
}
bool is_rows(const Value& v) { return v.is(Kind::List) || v.is(Kind::Tuple); }

Result<Tensor> broadcast_objects(Interp& interp, const Tensor& t, std::span<const int64_t> dims) {
  Dims strides(dims.size(), 0);
  for (int i = 1; i <= t.rank(); ++i) {
    size_t to = dims.size() - static_cast<size_t>(i);
    if (t.dim(t.rank() - i) != 1) strides[to] = t.strides()[static_cast<size_t>(t.rank() - i)];
  }
  return contiguous(interp.context, Tensor::view(interp.context, t, dims, strides, 0));
}

Result<Tensor> object_operand(Interp& interp, const Value& v) {
  if (!is_plain(v) && !is_rows(v)) return objects_of(interp, v, 0);
  Tensor t = v.is(Kind::NdArray) || v.is(Kind::NumPyScalar) ? TFL_TRY(as_array(interp, v)) : TFL_TRY(objects_of(interp, v));
  return holds_objects(t) ? t : to_text(interp, t, {TextKind::text_objects, 0});
}

/// visit(x, y, i) for the elements of two operands that broadcast; gives their common sizes to `room` first.
template <class Room, class Visit>
Result<void> together(Interp& interp, const Value& a, const Value& b, Room&& room, Visit&& visit) {
  Tensor x = TFL_TRY(object_operand(interp, a)), y = TFL_TRY(object_operand(interp, b));
  Dims dims(static_cast<size_t>(std::max(x.rank(), y.rank())), 1);
  for (const Tensor* t : {&x, &y}) {
    for (int i = 1; i <= t->rank(); ++i) {
      int64_t& d = dims[dims.size() - static_cast<size_t>(i)];
      int64_t n = t->dim(t->rank() - i);
      if (d != 1 && n != 1 && d != n)
        return fail(ErrorKind::ValueError, "operands could not be broadcast together with shapes {} {} ",
                    shape_tuple_text(x.dims()), shape_tuple_text(y.dims()));
      if (d == 1) d = n;
    }
  }
  TFL_TRY(room(dims));
  x = TFL_TRY(broadcast_objects(interp, x, dims));
  y = TFL_TRY(broadcast_objects(interp, y, dims));
  for (int64_t i = 0; i < x.size(); ++i) {
    Value left = TFL_TRY(object_of(interp, x.data<std::string>()[i])),
          right = TFL_TRY(object_of(interp, y.data<std::string>()[i]));
    TFL_TRY(visit(left, right, i));
  }
  return {};
}

Result<Tensor> object_room(Interp& interp, std::span<const int64_t> dims) {
  Tensor t = TFL_TRY(Tensor::empty(interp.context, DType::String, dims));
  set_text_type(t, {TextKind::text_objects, 0});
  return t;
}

/// The sizes that nested rows have in common, at most `most` of them. An array among them counts with its own sizes.
void sizes_of(Interp& interp, const Value& v, size_t depth, Dims& sizes, size_t& most) {
  if (depth >= most) return;
  Dims own;
  if (v.is(Kind::NdArray)) {
    own = Dims(array_content(interp, v.as<NdArrayObject>()).dims());
  } else if (is_rows(v)) {
    own.push_back(static_cast<int64_t>(items_of(v).size()));
  }
  if (own.empty()) {
    most = depth;
    return;
  }
  for (size_t i = 0; i < own.size() && depth + i < most; ++i) {
    if (sizes.size() == depth + i) {
      sizes.push_back(own[i]);
    } else if (sizes[depth + i] != own[i]) {
      most = depth + i;
    }
  }
  if (v.is(Kind::NdArray)) {
    most = std::min(most, depth + own.size());
    return;
  }
  for (const Value& item : items_of(v)) sizes_of(interp, item, depth + 1, sizes, most);
}

Result<void> fill_objects(Interp& interp, const Value& v, size_t depth, size_t rank, std::string*& to) {
  if (depth == rank) {
    *to++ = TFL_TRY(object_code(interp, v));
    return {};
  }
  if (v.is(Kind::NdArray)) {
    Tensor t = TFL_TRY(to_text(interp, array_content(interp, v.as<NdArrayObject>()), {TextKind::text_objects, 0}));
    if (static_cast<size_t>(t.rank()) == rank - depth) {
      t = TFL_TRY(contiguous(interp.context, t));
      to = std::copy_n(t.data<std::string>(), t.size(), to);
      return {};
    }
    for (int64_t i = 0; i < t.dim(0); ++i) {
      Value row = TFL_TRY(array_get_item(interp, v, Value::integer(i)));
      TFL_TRY(fill_objects(interp, row, depth + 1, rank, to));
    }
    return {};
  }
  for (const Value& item : items_of(v)) TFL_TRY(fill_objects(interp, item, depth + 1, rank, to));
  return {};
}

}  // namespace

Result<std::string> object_code(Interp& interp, const Value& v) {
  if (v.is_str()) return text_of(v);
  if (v.is_none()) return std::string("\xFFn");
  if (v.is_bool()) return std::string("\xFF") + (v.as_bool() ? "t" : "f");
  if (v.is_int()) return code_of('i', v.as_int());
  if (v.is_float()) return code_of('d', v.as_float());
  if (v.is(Kind::Bytes)) return std::string("\xFF") + "b" + v.as<Bytes>()->data;
  if (v.is(Kind::NumPyScalar)) {
    const Tensor& t = v.as<NumPyScalarObject>()->value;
    std::string s("\xFFs");
    s += static_cast<char>(t.dtype());
    return s.append(reinterpret_cast<const char*>(t.raw()), dtype_size(t.dtype()));
  }
  auto [list, places] = TFL_TRY(kept_objects(interp));
  Value address = Value::integer(static_cast<int64_t>(reinterpret_cast<intptr_t>(v.object())));
  Value place = TFL_TRY(dict_get(interp, places.as<Dict>(), address));
  if (place.is_empty()) {
    place = Value::integer(static_cast<int64_t>(list.as<List>()->items.size()));
    list.as<List>()->items.push_back(v);
    TFL_TRY(dict_set(interp, places.as<Dict>(), address, place));
  }
  return code_of('o', place.as_int());
}

Result<Value> object_of(Interp& interp, const std::string& s) {
  if (!is_object_code(s) || s.size() < 2) return interp.str(s);
  switch (s[1]) {
    case 'n': return Value::none();
    case 't': return Value::boolean(true);
    case 'f': return Value::boolean(false);
    case 'i': return Value::integer(value_in<int64_t>(s));
    case 'd': return Value::real(value_in<double>(s));
    case 'b': return interp.bytes(s.substr(2));
    case 's': {
      auto dtype = static_cast<DType>(s[2]);
      Tensor t = TFL_TRY(Tensor::empty(interp.context, dtype, {}));
      std::memcpy(t.raw(), s.data() + 3, dtype_size(dtype));
      return numpy_scalar_value(interp, t);
    }
    default: break;
  }
  auto [list, places] = TFL_TRY(kept_objects(interp));
  auto at = static_cast<size_t>(value_in<int64_t>(s));
  if (at >= list.as<List>()->items.size()) return fail(ErrorKind::SystemError, "an element of an array of objects is lost");
  return list.as<List>()->items[at];
}

bool holds_objects(const Tensor& t) { return t.dtype() == DType::String && text_type(t).kind == TextKind::text_objects; }
bool holds_objects(Interp& interp, const Value& v) {
  return v.is(Kind::NdArray) && holds_objects(array_content(interp, v.as<NdArrayObject>()));
}

Result<bool> has_object_codes(Interp& interp, const Tensor& t) {
  if (!holds_objects(t)) return false;
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  const auto* s = row_major.data<std::string>();
  return std::any_of(s, s + t.size(), is_object_code);
}

Result<Tensor> objects_of(Interp& interp, const Value& v, size_t most) {
  Dims sizes;
  sizes_of(interp, v, 0, sizes, most);
  Dims dims(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(std::min(most, sizes.size())));
  TFL_TRY(element_count(dims));
  Tensor out = TFL_TRY(object_room(interp, dims));
  auto* to = out.data<std::string>();
  TFL_TRY(fill_objects(interp, v, 0, dims.size(), to));
  return out;
}

bool becomes_objects(const Value& v) {
  if (v.is_none() || v.is(Kind::Dict) || v.is(Kind::Set)) return true;
  if (!is_rows(v)) return false;
  struct Look {
    bool object = false, tensor = false;
    void at(const Value& x, int depth) {
      if (depth > 64) return;
      if (is_rows(x)) {
        for (const Value& item : items_of(x)) at(item, depth + 1);
      } else if (is_tensor_like(x) && !is_plain(x)) {
        tensor = true;
      } else if (!is_plain(x) && !x.is(Kind::Range) && !x.is(Kind::Shape)) {
        object = true;
      }
    }
  } look;
  look.at(v, 0);
  return look.object && !look.tensor;
}

Result<Tensor> numbers_as_objects(Interp& interp, const Tensor& t) {
  Tensor out = TFL_TRY(object_room(interp, t.dims()));
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  for (int64_t i = 0; i < t.size(); ++i) {
    Value element = TFL_TRY(to_host(interp, Tensor::view(interp.context, row_major, {}, {}, i)));
    out.data<std::string>()[i] = TFL_TRY(object_code(interp, element));
  }
  return out;
}

Result<Value> objects_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::MatMul) return fail(ErrorKind::TypeError, "products of arrays of objects are not in TFL's numpy");
  Tensor out;
  TFL_TRY(together(
      interp, a, b,
      [&](const Dims& dims) -> Result<void> {
        out = TFL_TRY(object_room(interp, dims));
        return {};
      },
      [&](const Value& x, const Value& y, int64_t i) -> Result<void> {
        Value r = TFL_TRY(binary(interp, op, x, y));
        out.data<std::string>()[i] = TFL_TRY(object_code(interp, r));
        return {};
      }));
  return array_result(interp, out);
}

Result<Value> objects_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  Tensor out;
  TFL_TRY(together(
      interp, a, b,
      [&](const Dims& dims) -> Result<void> {
        out = TFL_TRY(Tensor::empty(interp.context, DType::Bool, dims));
        return {};
      },
      [&](const Value& x, const Value& y, int64_t i) -> Result<void> {
        Value r = TFL_TRY(compare(interp, op, x, y));
        out.data<bool>()[i] = TFL_TRY(truth(interp, r));
        return {};
      }));
  return array_result(interp, out);
}

Result<Value> objects_unary(Interp& interp, UnaryOp op, const Value& a) {
  Tensor t = TFL_TRY(contiguous(interp.context, array_content(interp, a.as<NdArrayObject>())));
  Tensor out = TFL_TRY(object_room(interp, t.dims()));
  for (int64_t i = 0; i < t.size(); ++i) {
    Value x = TFL_TRY(object_of(interp, t.data<std::string>()[i]));
    Value r = TFL_TRY(unary(interp, op, x));
    out.data<std::string>()[i] = TFL_TRY(object_code(interp, r));
  }
  return array_result(interp, out);
}

Result<Tensor> shown_objects(Interp& interp, const Tensor& t) {
  Tensor out = TFL_TRY(object_room(interp, t.dims()));
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  for (int64_t i = 0; i < t.size(); ++i) {
    Value element = TFL_TRY(object_of(interp, row_major.data<std::string>()[i]));
    std::string text = TFL_TRY(repr_text(interp, element));
    out.data<std::string>()[i] = element.is(Kind::List) && t.rank() > 0 ? "list(" + text + ")" : text;
  }
  return out;
}

}  // namespace tfl
