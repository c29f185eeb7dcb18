// t[key]: integers, slices, `...`, None, scalar tensors, boolean masks — as TensorFlow reads them.
#include <algorithm>

#include "frontend/core/tensor_operators.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

namespace {

constexpr std::string_view kIndexKinds =
    "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are valid indices";

Failure bad_index(Interp& interp, const Value& v) {
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  return fail(ErrorKind::TypeError, "{}, got {}", kIndexKinds, *text);
}

bool is_index_dtype(DType d) { return d == DType::I16 || d == DType::I32 || d == DType::I64; }

/// One entry of begin, end or strides, still as a host value or tensor.
struct Keys {
  std::vector<Value> begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_axis_mask = 0;
  bool symbolic = false;
};

/// Makes sure `v` can stand as an index; NumPy scalars and __index__ become ints.
Result<Value> check_index(Interp& interp, const Value& v, bool& symbolic) {
  if (v.is_int() || v.is_bool()) return Value::integer(v.as_int());
  switch (v.kind()) {
    case Kind::Tensor:
    case Kind::Variable:
    case Kind::NdArray:
    case Kind::NumPyScalar: {
      DType d = *dtype_of(interp, v);
      bool array = v.is(Kind::NdArray) || v.is(Kind::NumPyScalar);
      if (!is_index_dtype(d) && !(array && is_integer(d))) return bad_index(interp, v);
      if (v.is(Kind::Variable)) {
        Value read = TFL_TRY(to_tensor(interp, v));
        if (read.is(Kind::Symbolic)) return check_index(interp, read, symbolic);
      }
      Tensor t = TFL_TRY(to_concrete(interp, v));
      if (t.rank() == 1) return bad_index(interp, v);
      if (t.rank() != 0)
        return fail(ErrorKind::InvalidArgumentError, "an index must be a scalar, not {} [Op:StridedSlice] name: strided_slice/",
                    describe(t));
      if (array) return Value::integer(load_int(t.dtype(), t.raw()));
      return Value::of(std::move(t));
    }
    case Kind::Symbolic: {
      const TensorType& t = symbolic_type(v);
      if (!is_index_dtype(t.dtype) || (t.ranked && t.dims.size() == 1)) return bad_index(interp, v);
      symbolic = true;
      return v;
    }
    default: return bad_index(interp, v);
  }
}

Result<void> add_slice(Interp& interp, const Slice& s, Keys& keys) {
  int64_t bit = int64_t{1} << keys.begin.size();
  Value start = Value::integer(0), stop = Value::integer(0), step = Value::integer(1);
  if (s.start.is_none())
    keys.begin_mask |= bit;
  else
    start = TFL_TRY(check_index(interp, s.start, keys.symbolic));
  if (s.stop.is_none())
    keys.end_mask |= bit;
  else
    stop = TFL_TRY(check_index(interp, s.stop, keys.symbolic));
  if (!s.step.is_none()) step = TFL_TRY(check_index(interp, s.step, keys.symbolic));
  keys.begin.push_back(std::move(start));
  keys.end.push_back(std::move(stop));
  keys.strides.push_back(std::move(step));
  return {};
}

Result<void> add_key(Interp& interp, const Value& v, Keys& keys) {
  if (keys.begin.size() >= 62)
    return fail(ErrorKind::InvalidArgumentError, "too many indices [Op:StridedSlice] name: strided_slice/");
  if (v.is(Kind::Slice)) return add_slice(interp, *v.as<Slice>(), keys);
  int64_t bit = int64_t{1} << keys.begin.size();
  Value begin = Value::integer(0), end = Value::integer(0);
  if (v.identical(interp.ellipsis)) {
    keys.ellipsis_mask |= bit;
  } else if (v.is_none()) {
    keys.new_axis_mask |= bit;
  } else {
    begin = TFL_TRY(check_index(interp, v, keys.symbolic));
    keys.shrink_axis_mask |= bit;
    if (begin.is_int())
      end = Value::integer(begin.as_int() == INT64_MAX ? INT64_MAX : begin.as_int() + 1);
    else if (begin.is(Kind::Symbolic))
      end = TFL_TRY(tensor_binary(interp, BinaryOp::Add, begin, Value::integer(1)));
    else
      end = begin;
  }
  keys.begin.push_back(std::move(begin));
  keys.end.push_back(std::move(end));
  keys.strides.push_back(Value::integer(1));
  return {};
}

Result<Keys> read_keys(Interp& interp, const Value& key) {
  Keys keys;
  if (key.is(Kind::Tuple)) {
    for (const Value& v : key.as<Tuple>()->span()) TFL_TRY(add_key(interp, v, keys));
  } else if (key.is(Kind::List)) {
    for (const Value& v : std::vector<Value>(key.as<List>()->items)) TFL_TRY(add_key(interp, v, keys));
  } else {
    TFL_TRY(add_key(interp, key, keys));
  }
  return keys;
}

/// Tensors among the entries must share one type, as they would when packed.
Result<Dims> concrete(Interp& interp, const std::vector<Value>& entries) {
  Dims out;
  std::optional<DType> dtype;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Value& v = entries[i];
    if (v.is_int()) {
      out.push_back(v.as_int());
      continue;
    }
    DType d = v.tensor_rep()->dtype;
    if (dtype && *dtype != d) {
      return fail(ErrorKind::InvalidArgumentError,
                  "cannot compute Pack as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor [Op:Pack] "
                  "name: strided_slice/stack",
                  i, dtype_tf_name(*dtype), dtype_tf_name(d));
    }
    dtype = d;
    out.push_back(TFL_TRY(tensor_to_index(interp, v)));
  }
  return out;
}

Result<Value> pack_entries(Interp& interp, std::vector<Value> entries) {
  bool host = true;
  for (const Value& v : entries) host &= v.is_int();
  Value list = interp.list(std::move(entries));
  if (host) return to_tensor(interp, list);
  return stack_values(interp, list, 0);
}

/// A slice as a view; errors name the operation as indexing calls it.
Result<Value> sliced(Interp& interp, const Tensor& x, const SliceSpec& spec) {
  auto view = slice_view(interp.context, x, spec);
  if (view) return Value::of(view.take());
  if (view.error().message.ends_with("[Op:StridedSlice]")) view.error().message += " name: strided_slice/";
  return view.failure();
}

/// A key of host ints, slices of them, `...` and None, which needs neither values nor tensors on the way. False when it is another; `spec`
/// is of no use then.
bool add_host_key(Interp& interp, const Value& v, SliceSpec& spec) {
  if (spec.begin.size() >= 62) return false;
  int64_t bit = int64_t{1} << spec.begin.size();
  int64_t begin = 0, end = 0, step = 1;
  auto part = [](const Value& given, int64_t& number, int64_t* mask, int64_t left_out) {
    if (given.is_int())
      number = given.as_int();
    else if (given.is_none() && mask)
      *mask |= left_out;
    else
      return given.is_none();
    return true;
  };
  if (v.is_int()) {
    begin = v.as_int();
    end = begin == INT64_MAX ? begin : begin + 1;
    spec.shrink_axis_mask |= bit;
  } else if (v.is(Kind::Slice)) {
    const Slice* s = v.as<Slice>();
    if (!part(s->start, begin, &spec.begin_mask, bit) || !part(s->stop, end, &spec.end_mask, bit) ||
        !part(s->step, step, nullptr, bit))
      return false;
  } else if (v.is_none()) {
    spec.new_axis_mask |= bit;
  } else if (v.identical(interp.ellipsis)) {
    spec.ellipsis_mask |= bit;
  } else {
    return false;
  }
  spec.begin.push_back(begin);
  spec.end.push_back(end);
  spec.strides.push_back(step);
  return true;
}

bool add_host_keys(Interp& interp, const Value& key, SliceSpec& spec) {
  if (!key.is(Kind::Tuple)) return add_host_key(interp, key, spec);
  for (const Value& v : key.as<Tuple>()->span()) {
    if (!add_host_key(interp, v, spec)) return false;
  }
  return true;
}

/// x[i] with a host int, which is the common case of loops. Empty when it is anything else, or no row that x has.
Value plain_row(Interp& interp, const Value& x, const Value& key) {
  if (!key.is_int() || !x.is_tensor() || interp.sink || x.tensor_rep()->rank == 0) return Value();
  int64_t size = x.tensor_rep()->dims()[0];
  int64_t i = key.as_int() < 0 ? key.as_int() + size : key.as_int();
  if (i < 0 || i >= size) return Value();
  return Value::of(row_view(interp.context, x.tensor(), i));
}

}  // namespace

Result<SliceSpec> slice_spec(Interp& interp, const Value& key) {
  Keys keys = TFL_TRY(read_keys(interp, key));
  if (keys.symbolic) return fail(ErrorKind::TypeError, "a traced tensor cannot be an index here");
  SliceSpec spec;
  spec.begin = TFL_TRY(concrete(interp, keys.begin));
  spec.end = TFL_TRY(concrete(interp, keys.end));
  spec.strides = TFL_TRY(concrete(interp, keys.strides));
  for (size_t i = 0; i < spec.begin.size(); ++i) {
    if (keys.shrink_axis_mask >> i & 1) spec.end[i] = spec.begin[i] == INT64_MAX ? INT64_MAX : spec.begin[i] + 1;
  }
  spec.begin_mask = keys.begin_mask;
  spec.end_mask = keys.end_mask;
  spec.ellipsis_mask = keys.ellipsis_mask;
  spec.new_axis_mask = keys.new_axis_mask;
  spec.shrink_axis_mask = keys.shrink_axis_mask;
  return spec;
}

Result<Value> tensor_get_item(Interp& interp, const Value& tensor, const Value& key) {
  if (Value row = plain_row(interp, tensor, key); !row.is_empty()) return row;
  Value x = TFL_TRY(to_tensor(interp, tensor));
  if (Value row = plain_row(interp, x, key); !row.is_empty()) return row;
  if (key.is_bool() || (is_tensor_like(key) && dtype_of(interp, key) == DType::Bool))
    return boolean_mask(interp, x, key, Value::none());
  if (x.is_tensor() && !interp.sink) {
    SliceSpec spec;
    if (!add_host_keys(interp, key, spec)) spec = TFL_TRY(slice_spec(interp, key));
    return sliced(interp, x.tensor(), spec);
  }
  Keys keys = TFL_TRY(read_keys(interp, key));
  Value begin = TFL_TRY(pack_entries(interp, std::move(keys.begin)));
  Value end = TFL_TRY(pack_entries(interp, std::move(keys.end)));
  Value strides = TFL_TRY(pack_entries(interp, std::move(keys.strides)));
  // One of them in int64 makes all of them that.
  Value* parts[] = {&begin, &end, &strides};
  if (std::any_of(parts, parts + 3, [&](Value* v) { return dtype_of(interp, *v) == DType::I64; })) {
    for (Value* v : parts) *v = TFL_TRY(cast_value(interp, *v, DType::I64));
  }
  Attrs attrs;
  attrs.set_int(Attr::begin_mask, keys.begin_mask)
      .set_int(Attr::end_mask, keys.end_mask)
      .set_int(Attr::ellipsis_mask, keys.ellipsis_mask);
  attrs.set_int(Attr::new_axis_mask, keys.new_axis_mask).set_int(Attr::shrink_axis_mask, keys.shrink_axis_mask);
  return apply_op(interp, Op::strided_slice, {x, begin, end, strides}, attrs);
}

}  // namespace tfl
