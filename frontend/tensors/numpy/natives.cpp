// The module `_np`: what stdlib/numpy needs that TFL source cannot say — conversion between arrays and tensors, scalar classes,
// element types of mixed operations, bytes of elements, print options, compressed data.
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "frontend/core/buffer.h"
#include "frontend/core/native_module.h"
#include "frontend/tensors/numpy/array.h"
#include "frontend/tensors/numpy/eigen.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/tensors/numpy/stored.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

Result<std::optional<DType>> dtype_argument(Interp& interp, const Value& v) {
  if (v.is_none() || v.is_empty()) return std::optional<DType>();
  DType d = TFL_TRY(to_numpy_dtype(interp, v));
  return std::optional<DType>(d);
}

/// Whether bytes, and whether other things, are among the items of nested lists.
void look_for_bytes(const Value& v, bool& bytes, bool& other, int depth = 0) {
  bool list = v.is(Kind::List);
  if (depth > 64 || (!list && !v.is(Kind::Tuple))) {
    (v.is(Kind::Bytes) ? bytes : other) = true;
    return;
  }
  for (const Value& item : list ? std::span<const Value>(v.as<List>()->items) : v.as<Tuple>()->span())
    look_for_bytes(item, bytes, other, depth + 1);
}

/// What np.array(v, dtype) holds.
Result<Tensor> array_argument(Interp& interp, const Value& v, const Value& dtype) {
  auto text = wanted_text_type(interp, dtype);
  if (text && text->kind == TextKind::text_objects && !is_tensor_like(v)) {
    // Bytes alone are what a tensor of strings holds.
    bool bytes = false, other = false;
    look_for_bytes(v, bytes, other);
    if (!bytes || other) return objects_of(interp, v);
  }
  if (text) return to_text(interp, TFL_TRY(as_array(interp, v)), *text);
  return as_array(interp, v, TFL_TRY(dtype_argument(interp, dtype)));
}

Result<Value> np_asarray(Interp& interp, Value* args) {
  if (wanted_text_type(interp, args[1])) {
    Tensor t = TFL_TRY(array_argument(interp, args[0], args[1]));
    bool same = args[0].is(Kind::NdArray) && array_content(interp, args[0].as<NdArrayObject>()).same_object(t);
    return same ? args[0] : ndarray_value(interp, t);
  }
  auto dtype = TFL_TRY(dtype_argument(interp, args[1]));
  return as_array_value(interp, args[0], dtype);
}

Result<Value> np_array(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(array_argument(interp, args[0], args[1]));
  return ndarray_value(interp, args[0].is(Kind::NdArray) ? TFL_TRY(copy_of(interp, t)) : t);
}

/// The elements as a tensor for the operations of `_tf`: it lives no longer than the call it is an operand of.
Result<Value> np_tensor(Interp& interp, Value* args) { return Value::of(TFL_TRY(array_argument(interp, args[0], args[1]))); }

Result<Value> np_wrap(Interp& interp, Value* args) { return array_result(interp, TFL_TRY(to_concrete(interp, args[0]))); }
Result<Value> np_wrap_array(Interp& interp, Value* args) { return ndarray_value(interp, TFL_TRY(to_concrete(interp, args[0]))); }

Result<Value> np_result_type(Interp& interp, Value* args) {
  std::optional<Operand> whole;
  DType dtype = DType::F64;
  TextType text;
  for (const Value& v : args[0].as<Tuple>()->span()) {
    Operand o;
    auto wanted = wanted_text_type(interp, v.is_str() ? Value() : v);
    if (wanted) {
      o.t = TFL_TRY(Tensor::empty(interp.context, DType::String, {}));
      set_text_type(o.t, *wanted);
    } else if (v.is(Kind::DType) || v.is(Kind::Type)) {
      DType d = TFL_TRY(to_numpy_dtype(interp, v));
      o.t = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), d));
    } else {
      o = TFL_TRY(operand_of(interp, v));
    }
    if (o.t.dtype() == DType::String)
      text = whole && whole->t.dtype() == DType::String ? promote(text, text_type(o.t)) : text_type(o.t);
    if (!whole) {
      dtype = o.t.dtype();
      whole = o;
      continue;
    }
    dtype = TFL_TRY(common_type(interp, *whole, o));
    bool weak = whole->weak != Operand::Weak::No && o.weak != Operand::Weak::No;
    whole->t = dtype == DType::String
                   ? TFL_TRY(Tensor::empty(interp.context, dtype, {}))
                   : TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<int32_t>(interp.context, DType::I32, 0)), dtype));
    if (!weak) whole->weak = Operand::Weak::No;
  }
  return dtype == DType::String ? text_dtype_value(interp, text) : numpy_dtype_value(interp, dtype);
}

/// A view of other sizes: reshape that shares where the elements lie in order.
Result<Value> np_reshape(Interp& interp, Value* args) {
  Value self = args[0];
  if (!self.is(Kind::NdArray)) self = ndarray_value(interp, TFL_TRY(as_array(interp, self)));
  Tensor t = array_content(interp, self.as<NdArrayObject>());
  Dims dims = TFL_TRY(to_axes(interp, args[1]));
  int64_t known = 1, unknown = -1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] >= 0) {
      if (__builtin_mul_overflow(known, dims[i], &known))
        return fail(ErrorKind::ValueError, "array is too big; the sizes overflow");
    } else if (unknown >= 0) {
      return fail(ErrorKind::ValueError, "can only specify one unknown dimension");
    } else {
      unknown = static_cast<int64_t>(i);
    }
  }
  bool fits = unknown < 0 ? known == t.size() : known > 0 && t.size() % known == 0;
  if (!fits) {
    std::string shown;  // an unknown size as NumPy shows it: not at all in front
    for (int64_t d : dims) {
      if (d < 0 && shown.empty()) continue;
      shown += shown.empty() ? "(" : ",";
      shown += d < 0 ? "newaxis" : std::to_string(d);
    }
    shown += dims.size() == 1 ? ",)" : ")";
    return fail(ErrorKind::ValueError, "cannot reshape array of size {} into shape {}", t.size(), shown);
  }
  if (unknown >= 0) dims[static_cast<size_t>(unknown)] = t.size() / known;
  if (t.contiguous()) return array_view(interp, self, dims, Tensor::row_major_strides(dims), 0);
  Tensor row_major = TFL_TRY(contiguous(interp.context, t));
  Value fresh = ndarray_value(interp, row_major);
  return array_view(interp, fresh, dims, Tensor::row_major_strides(dims), 0);
}

/// A view with axes in another order.
Result<Value> np_transpose(Interp& interp, Value* args) {
  Value self = args[0];
  if (!self.is(Kind::NdArray)) self = ndarray_value(interp, TFL_TRY(as_array(interp, self)));
  Tensor t = array_content(interp, self.as<NdArrayObject>());
  Dims axes = TFL_TRY(to_axes(interp, args[1]));
  if (axes.size() != static_cast<size_t>(t.rank())) return fail(ErrorKind::ValueError, "axes don't match array");
  Dims dims, strides;
  SmallVec<bool, 8> seen(axes.size(), false);
  for (int64_t a : axes) {
    int64_t axis = a < 0 ? a + t.rank() : a;
    if (axis < 0 || axis >= t.rank())
      return fail(ErrorKind::AxisError, "axis {} is out of bounds for array of dimension {}", a, t.rank());
    if (seen[static_cast<size_t>(axis)]) return fail(ErrorKind::ValueError, "repeated axis in transpose");
    seen[static_cast<size_t>(axis)] = true;
    dims.push_back(t.dim(static_cast<int>(axis)));
    strides.push_back(t.strides()[static_cast<size_t>(axis)]);
  }
  return array_view(interp, self, dims, strides, 0);
}

/// A view of any sizes and steps, counted in elements. ValueError where it would leave the memory of the array.
Result<Value> np_strided(Interp& interp, Value* args) {
  if (!args[0].is(Kind::NdArray)) return fail(ErrorKind::TypeError, "an array is expected");
  NdArrayObject* a = args[0].as<NdArrayObject>();
  Tensor& root = a->base.is(Kind::NdArray) ? a->base.as<NdArrayObject>()->array : a->array;
  Tensor& t = array_content(interp, a);
  Dims dims, strides;
  for (const Value& v : TFL_TRY(to_vector(interp, args[1]))) dims.push_back(TFL_TRY(to_index(interp, v)));
  for (const Value& v : TFL_TRY(to_vector(interp, args[2]))) strides.push_back(TFL_TRY(to_index(interp, v)));
  if (std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d < 0; }))
    return fail(ErrorKind::ValueError, "negative dimensions are not allowed");
  TFL_TRY(element_count(dims));
  if (dims.size() != strides.size()) return fail(ErrorKind::ValueError, "as many steps as sizes are expected");
  int64_t first = (t.raw() - root.raw()) / static_cast<int64_t>(dtype_size(t.dtype())), last = first;
  for (size_t i = 0; i < dims.size(); ++i) {
    int64_t reach;
    bool over = __builtin_mul_overflow(std::max<int64_t>(dims[i] - 1, 0), strides[i], &reach);
    int64_t& end = strides[i] < 0 ? first : last;
    if (over || __builtin_add_overflow(end, reach, &end)) return fail(ErrorKind::ValueError, "the steps overflow");
  }
  bool empty = std::any_of(dims.begin(), dims.end(), [](int64_t d) { return d == 0; });
  if (!empty && (first < 0 || last >= root.size()))
    return fail(ErrorKind::ValueError, "the view would leave the memory of the array");
  return array_view(interp, args[0], dims, strides, 0);
}

/// Elements from one to the next along each axis.
Result<Value> np_steps(Interp& interp, Value* args) {
  std::vector<Value> steps;
  if (args[0].is(Kind::NdArray)) {
    for (int64_t s : array_content(interp, args[0].as<NdArrayObject>()).strides()) steps.push_back(Value::integer(s));
  }
  return interp.list(std::move(steps));
}

/// Gives an array the sizes and elements of another, whose own they are: a.resize().
Result<Value> np_become(Interp& interp, Value* args) {
  if (!args[0].is(Kind::NdArray) || !args[1].is(Kind::NdArray)) return fail(ErrorKind::TypeError, "arrays are expected");
  NdArrayObject* a = args[0].as<NdArrayObject>();
  if (!a->writable) return fail(ErrorKind::ValueError, "cannot resize this array: it is read-only");
  a->array = TFL_TRY(copy_of(interp, array_content(interp, args[1].as<NdArrayObject>())));
  a->base = Value();
  a->owned = false;
  a->offset = 0;
  ++a->generation;
  TFL_TRY(array_for_write(interp, a));  // in a buffer, which views can share
  return Value::none();
}

/// frombuffer(bytes, dtype, shape, offset): elements copied out of bytes, little-endian.
Result<Value> np_frombuffer(Interp& interp, Value* args) {
  Value held = TFL_TRY(bytes_like(interp, args[0]));
  const std::string& data = held.as<Bytes>()->data;
  DType dtype = TFL_TRY(to_numpy_dtype(interp, args[1]));
  int64_t offset = TFL_TRY(to_index(interp, args[3]));
  if (offset < 0 || static_cast<size_t>(offset) > data.size())
    return fail(ErrorKind::ValueError, "offset must be non-negative and no greater than buffer length ({})", data.size());
  if (dtype == DType::String) {
    TextType text = *wanted_text_type(interp, args[1]);
    if (!text.fixed() || args[2].is_none()) return fail(ErrorKind::ValueError, "cannot create an object array from bytes");
    return ndarray_value(interp, TFL_TRY(from_fixed_bytes(interp, std::string_view(data).substr(static_cast<size_t>(offset)),
                                                          text, TFL_TRY(to_dims(interp, args[2])))));
  }
  size_t left = data.size() - static_cast<size_t>(offset), size = dtype_size(dtype);
  Dims dims;
  if (args[2].is_none()) {
    if (left % size) return fail(ErrorKind::ValueError, "buffer size must be a multiple of element size");
    dims.push_back(static_cast<int64_t>(left / size));
  } else {
    dims = TFL_TRY(to_dims(interp, args[2]));
  }
  int64_t n = TFL_TRY(element_count(dims));
  if (static_cast<uint64_t>(n) > left / size)
    return fail(ErrorKind::ValueError, "the data end after {} of {} elements", left / size, n);
  Tensor t = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
  std::memcpy(t.raw(), data.data() + offset, t.bytes());
  if (dtype == DType::Bool) {
    for (int64_t i = 0; i < n; ++i) t.data<uint8_t>()[i] = t.data<uint8_t>()[i] != 0;
  }
  return ndarray_value(interp, t);
}

/// zlib(bytes, format, limit): inflates; format 31 gzip, 15 zlib, -15 raw. ValueError for damaged data or more than `limit` bytes.
Result<Value> np_inflate(Interp& interp, Value* args) {
  const std::string& data = args[0].as<Bytes>()->data;
  int64_t format = TFL_TRY(to_index(interp, args[1]));
  int64_t limit = TFL_TRY(to_index(interp, args[2]));
  auto bound = static_cast<int64_t>(interp.context.memory.limit() / 2);
  if (limit < 0 || limit > bound) limit = bound;
  z_stream z{};
  if (inflateInit2(&z, static_cast<int>(format)) != Z_OK) return fail(ErrorKind::ValueError, "bad compression format");
  std::string out;
  std::string chunk(size_t{1} << 20, 0);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));  // NOLINT: zlib does not write there
  z.avail_in = static_cast<uInt>(std::min<size_t>(data.size(), 0xFFFFFFFFu));
  int status = Z_OK;
  while (status == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(chunk.data());
    z.avail_out = static_cast<uInt>(chunk.size());
    status = ::inflate(&z, Z_NO_FLUSH);
    out.append(chunk, 0, chunk.size() - z.avail_out);
    if (static_cast<int64_t>(out.size()) > limit) {
      inflateEnd(&z);
      return fail(ErrorKind::ValueError, "compressed data hold more than the {} bytes that were expected", limit);
    }
    if (status == Z_OK && z.avail_in == 0 && z.avail_out != 0) break;
  }
  inflateEnd(&z);
  if (status != Z_STREAM_END) return fail(ErrorKind::ValueError, "compressed data are damaged or end too early");
  return interp.bytes(std::move(out));
}

/// deflate(bytes, format): see np_inflate for the format.
Result<Value> np_deflate(Interp& interp, Value* args) {
  const std::string& data = args[0].as<Bytes>()->data;
  auto format = static_cast<int>(TFL_TRY(to_index(interp, args[1])));
  z_stream z{};
  if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return fail(ErrorKind::SystemError, "zlib");
  std::string out(deflateBound(&z, data.size()), 0);
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));  // NOLINT: zlib does not write there
  z.avail_in = static_cast<uInt>(data.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return interp.bytes(std::move(out));
}

/// crc32(bytes, before): of bytes that follow others whose checksum is `before`.
Result<Value> np_crc32(Interp& interp, Value* args) {
  const std::string& data = args[0].as<Bytes>()->data;
  auto sum = static_cast<uLong>(TFL_TRY(to_index(interp, args[1])));
  return Value::integer(static_cast<int64_t>(::crc32_z(sum, reinterpret_cast<const Bytef*>(data.data()), data.size())));
}

Result<Value> np_print_options(Interp& interp, Value* args) {
  PrintOptions& o = interp.tensors->print_options;
  Value before = interp.dict();
  auto keep = [&](const char* name, Value v) { dict_set_str(before.as<Dict>(), interp.intern(name), std::move(v)); };
  keep("precision", Value::integer(o.precision));
  keep("threshold", Value::integer(o.threshold));
  keep("edgeitems", Value::integer(o.edge_items));
  keep("linewidth", Value::integer(o.line_width));
  keep("suppress", Value::boolean(o.suppress));
  keep("floatmode", interp.str(o.float_mode == FloatMode::fixed     ? "fixed"
                               : o.float_mode == FloatMode::unique  ? "unique"
                               : o.float_mode == FloatMode::maxprec ? "maxprec"
                                                                    : "maxprec_equal"));
  keep("sign", interp.str(std::string(1, o.sign)));
  keep("nanstr", interp.str(o.nan));
  keep("infstr", interp.str(o.inf));
  if (args[0].is_none()) return before;
  Dict* d = args[0].as<Dict>();
  auto number = [&](const char* name, auto& target) -> Result<void> {
    Value v = dict_get_str(d, interp.intern(name));
    if (v.is_empty() || v.is_none()) return {};
    int64_t i = TFL_TRY(to_index(interp, v));
    if (i < 0) return fail(ErrorKind::ValueError, "{} must be >= 0", name);
    target = static_cast<std::remove_reference_t<decltype(target)>>(std::min<int64_t>(i, 1 << 30));
    return {};
  };
  TFL_TRY(number("precision", o.precision));
  TFL_TRY(number("threshold", o.threshold));
  TFL_TRY(number("edgeitems", o.edge_items));
  TFL_TRY(number("linewidth", o.line_width));
  if (Value v = dict_get_str(d, interp.intern("suppress")); v.is_bool()) o.suppress = v.as_bool();
  if (Value v = dict_get_str(d, interp.intern("nanstr")); v.is_str()) o.nan = text_of(v);
  if (Value v = dict_get_str(d, interp.intern("infstr")); v.is_str()) o.inf = text_of(v);
  if (Value v = dict_get_str(d, interp.intern("sign")); v.is_str() && text_of(v).size() == 1) o.sign = text_of(v)[0];
  if (Value v = dict_get_str(d, interp.intern("floatmode")); v.is_str()) {
    const std::string& m = text_of(v);
    o.float_mode = m == "fixed"           ? FloatMode::fixed
                   : m == "unique"        ? FloatMode::unique
                   : m == "maxprec_equal" ? FloatMode::maxprec_equal
                                          : FloatMode::maxprec;
  }
  return before;
}

Result<Value> np_array2string(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(as_array(interp, args[0]));
  PrintOptions o = interp.tensors->print_options;
  if (args[1].is_int()) o.precision = static_cast<int>(args[1].as_int());
  if (args[2].is_bool()) o.suppress = args[2].as_bool();
  return interp.str(array_text(t, o, args[3].is_str() ? text_of(args[3]) : " ", args[4].is_str() ? text_of(args[4]) : ""));
}

Result<Value> np_dtype(Interp& interp, Value* args) {
  if (auto text = wanted_text_type(interp, args[0])) return text_dtype_value(interp, *text);
  return numpy_dtype_value(interp, TFL_TRY(to_numpy_dtype(interp, args[0])));
}
/// The place of each string among all of them in order, equal ones alike: numbers that sort as the strings do.
Result<Value> np_text_ranks(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(contiguous(interp.context, TFL_TRY(as_array(interp, args[0]))));
  if (t.dtype() != DType::String) return fail(ErrorKind::TypeError, "an array of strings is expected");
  if (TFL_TRY(has_object_codes(interp, t))) {
    Value methods = TFL_TRY(interp.import_module("numpy._memory"));
    Value ranks = dict_get_str(methods.as<Module>()->dict.as<Dict>(), interp.intern("_object_ranks"));
    return interp.call(ranks, {args[0], TFL_TRY(to_host(interp, t))});
  }
  std::vector<int64_t> order(static_cast<size_t>(t.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto* strings = t.data<std::string>();
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strings[a] < strings[b]; });
  Tensor ranks = TFL_TRY(Tensor::empty(interp.context, DType::I64, t.dims()));
  int64_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    if (i && strings[order[i]] != strings[order[i - 1]]) ++rank;
    ranks.data<int64_t>()[order[i]] = rank;
  }
  return ndarray_value(interp, ranks);
}
/// Whether elements may be stored; with an argument, whether they may be from now on.
Result<Value> np_writable(Interp&, Value* args) {
  if (!args[0].is(Kind::NdArray)) return Value::boolean(false);
  auto* a = args[0].as<NdArrayObject>();
  if (args[1].is_bool()) {
    if (args[1].as_bool() && a->base.is(Kind::NdArray) && !a->base.as<NdArrayObject>()->writable)
      return fail(ErrorKind::ValueError, "cannot set WRITEABLE flag to True of this array");
    a->writable = args[1].as_bool();
  }
  return Value::boolean(a->writable);
}
Result<Value> np_set_readonly(Interp&, Value* args) {
  if (args[0].is(Kind::NdArray)) args[0].as<NdArrayObject>()->writable = false;
  return args[0];
}

constexpr NativeDef kNumPy[] = {
    function("asarray", "a, dtype=None, /", np_asarray),
    function("array", "a, dtype=None, /", np_array),
    function("tensor", "a, dtype=None, /", np_tensor),
    function("wrap", "t, /", np_wrap),
    function("wrap_array", "t, /", np_wrap_array),
    function("result_type", "*args", np_result_type),
    function("reshape", "a, shape, /", np_reshape),
    function("transpose", "a, axes, /", np_transpose),
    function("strided", "a, shape, steps, /", np_strided),
    function("steps", "a, /", np_steps),
    function("become", "a, other, /", np_become),
    function("writable", "a, value=None, /", np_writable),
    function("frombuffer", "data, dtype, shape=None, offset=0, /", np_frombuffer),
    function("stored_size", "source, /", np_stored_size),
    function("stored_bytes", "source, at, n, /", np_stored_bytes),
    function("stored_head", "source, at, packed, method, n, /", np_stored_head),
    function("stored_elements", "source, at, packed, method, full, crc, skip, dtype, shape, /", np_stored_elements),
    function("inflate", "data: bytes, format, limit, /", np_inflate),
    function("deflate", "data: bytes, format=-15, /", np_deflate),
    function("crc32", "data: bytes, before=0, /", np_crc32),
    function("print_options", "options: dict|None=None, /", np_print_options),
    function("array2string", "a, precision, suppress, separator, prefix, /", np_array2string),
    function("text_ranks", "a, /", np_text_ranks),
    function("dtype", "d, /", np_dtype),
    function("eigen", "a, /", numpy_eigen),
    function("readonly", "a, /", np_set_readonly),
};

}  // namespace

Result<void> init_np(Interp& interp, Module& module) {
  define_all(interp, module, kNumPy);
  const Types& t = interp.types;
  Type* const types[] = {t.np_generic,   t.np_number,    t.np_integer, t.np_signedinteger, t.np_unsignedinteger,
                         t.np_inexact,   t.np_floating,  t.np_float16, t.np_bfloat16,      t.np_float32,
                         t.np_float64,   t.np_int8,      t.np_int16,   t.np_int32,         t.np_int64,
                         t.np_uint8,     t.np_uint16,    t.np_uint32,  t.np_uint64,        t.np_complexfloating,
                         t.np_complex64, t.np_complex128};
  for (Type* type : types) define(interp, module, type->name->text, Value::share(type));
  define(interp, module, "bool_", Value::share(t.np_bool));
  define(interp, module, "ndarray", Value::share(t.ndarray));
  define(interp, module, "AxisError", Value::share(interp.exception_type(ErrorKind::AxisError)));
  define(interp, module, "LinAlgError", Value::share(interp.exception_type(ErrorKind::LinAlgError)));
  return {};
}

}  // namespace tfl
