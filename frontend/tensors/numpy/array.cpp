#include "frontend/tensors/numpy/array.h"

#include <algorithm>

#include "frontend/core/big_int.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

/// Elements in a buffer of their own, row-major, however few they are: views share a buffer, not what lies inside a tensor.
Result<Tensor> own_copy(Interp& interp, const Tensor& t) {
  if (t.contiguous() && t.rep()->refs == 1 && t.rep()->buffer && t.rep()->buffer->refs == 1) return t;
  auto least = static_cast<int64_t>(kInlineBytes / dtype_size(t.dtype()) + 1);
  Tensor room = TFL_TRY(Tensor::empty(interp.context, t.dtype(), Dims{std::max(t.size(), least)}));
  Dims strides = Tensor::row_major_strides(t.dims());
  Tensor copy = Tensor::view(interp.context, room, t.dims(), strides, 0);
  copy.rep()->extra = t.rep()->extra;
  copy_strided(interp.context, t.dtype(), t.dims(), copy.raw(), strides, t.raw(), t.strides());
  return copy;
}

NdArrayObject* root_of(NdArrayObject* a) { return a->base.is(Kind::NdArray) ? a->base.as<NdArrayObject>() : a; }

Result<void> own(Interp& interp, NdArrayObject* root) {
  if (root->owned) return {};
  Tensor held = std::move(root->array);
  auto copy = own_copy(interp, held);
  if (!copy) {
    root->array = std::move(held);
    return copy.failure();
  }
  root->array = copy.take();
  root->owned = true;
  ++root->generation;
  return {};
}

enum class Group : uint8_t { Bool, Unsigned, Signed, Float, Complex, Other };
Group group_of(DType d) {
  if (d == DType::Bool) return Group::Bool;
  if (is_floating(d)) return Group::Float;
  if (is_complex(d)) return Group::Complex;
  if (is_unsigned(d)) return Group::Unsigned;
  return is_integer(d) ? Group::Signed : Group::Other;
}

/// Whether a view's elements are among those of its root.
bool lies_within(const NdArrayObject& view, const Tensor& root) {
  if (view.array.size() == 0) return true;
  int64_t first = view.offset, last = view.offset;
  for (int i = 0; i < view.array.rank(); ++i) {
    int64_t step = view.array.strides()[static_cast<size_t>(i)];
    (step < 0 ? first : last) += (view.array.dim(i) - 1) * step;
  }
  return first >= 0 && last < root.size() && root.dtype() == view.array.dtype();
}

DType signed_of_size(size_t bytes) {
  return bytes <= 1 ? DType::I8 : bytes == 2 ? DType::I16 : bytes == 4 ? DType::I32 : DType::I64;
}

}  // namespace

Tensor& array_content(Interp& interp, NdArrayObject* a) {
  if (!a->base.is(Kind::NdArray)) return a->array;
  NdArrayObject* root = a->base.as<NdArrayObject>();
  if (a->generation != root->generation && !lies_within(*a, root->array)) {
    a->generation = root->generation;  // the root was resized: what the view sees is its own now
  } else if (a->generation != root->generation) {
    a->array = Tensor::view(interp.context, root->array, Dims(a->array.dims()), Dims(a->array.strides()), a->offset);
    a->generation = root->generation;
  }
  return a->array;
}

Result<Tensor*> array_for_write(Interp& interp, NdArrayObject* a) {
  if (!a->writable) return fail(ErrorKind::ValueError, "assignment destination is read-only");
  TFL_TRY(own(interp, root_of(a)));
  return &array_content(interp, a);
}

Value array_view(Interp& interp, const Value& base, std::span<const int64_t> dims, std::span<const int64_t> strides,
                 int64_t offset) {
  NdArrayObject* from = base.as<NdArrayObject>();
  NdArrayObject* root = root_of(from);
  // A view must share; elements that lie inside a small tensor get a buffer first.
  if (!root->array.rep()->buffer) {
    if (auto moved = own(interp, root); !moved) return base;  // a few bytes: the limit itself is reached
  }
  Tensor& content = array_content(interp, from);
  NdArrayObject* v = interp.allocate<NdArrayObject>(interp.types.ndarray);
  v->array = Tensor::view(interp.context, content, dims, strides, offset);
  v->base = from->base.is(Kind::NdArray) ? from->base : base;
  v->writable = from->writable;
  v->owned = false;
  v->generation = root->generation;
  v->offset = (v->array.raw() - root->array.raw()) / static_cast<int64_t>(dtype_size(content.dtype()));
  return Value::adopt(v);
}

Value ndarray_value(Interp& interp, Tensor t, Value base) {
  NdArrayObject* a = interp.allocate<NdArrayObject>(interp.types.ndarray);
  a->owned = false;
  if (!t.contiguous()) {
    if (auto copy = contiguous(interp.context, t)) t = copy.take();
  }
  a->array = std::move(t);
  a->base = std::move(base);
  a->writable = true;
  a->generation = 0;
  a->offset = 0;
  return Value::adopt(a);
}

Result<Tensor> copy_of(Interp& interp, const Tensor& t) {
  Tensor copy = TFL_TRY(Tensor::empty(interp.context, t.dtype(), t.dims()));
  copy.rep()->extra = t.rep()->extra;
  copy_strided(interp.context, t.dtype(), t.dims(), copy.raw(), copy.strides(), t.raw(), t.strides());
  return copy;
}

Value array_result(Interp& interp, Tensor t) {
  return t.rank() == 0 ? numpy_scalar_value(interp, std::move(t)) : ndarray_value(interp, std::move(t));
}

Result<Tensor> cast_tensor(Interp& interp, const Tensor& t, DType dtype) {
  if (t.dtype() == dtype) return t;
  if (t.dtype() == DType::String) return from_text(interp, t, dtype);
  if (dtype == DType::String) {
    return fail(ErrorKind::TypeError, "Cannot cast array data from dtype('{}') to dtype('O')", dtype_name(t.dtype()));
  }
  if (is_complex(t.dtype()) && dtype == DType::Bool) {
    Tensor zero = TFL_TRY(cast_tensor(interp, TFL_TRY(scalar<double>(interp.context, DType::F64, 0)), t.dtype()));
    return apply1(interp.context, Op::not_equal, {t, zero});
  }
  return apply1(interp.context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype));
}

/// Nested lists with integers in the place of truth values.
static Value numbers_of(Interp& interp, const Value& v) {
  if (v.is_bool()) return Value::integer(v.as_bool() ? 1 : 0);
  if (!v.is(Kind::List) && !v.is(Kind::Tuple)) return v;
  std::span<const Value> items = v.is(Kind::List) ? std::span<const Value>(v.as<List>()->items) : v.as<Tuple>()->span();
  std::vector<Value> out;
  out.reserve(items.size());
  for (const Value& item : items) out.push_back(numbers_of(interp, item));
  return interp.list(std::move(out));
}

Result<void> check_fits(const Tensor& t, DType wanted) {
  if (!is_integer(wanted) || wanted == DType::I64 || t.dtype() != DType::I64 || !t.contiguous()) return {};
  int bits = static_cast<int>(8 * dtype_size(wanted));
  int64_t low = is_unsigned(wanted) ? 0 : -(int64_t{1} << (bits - 1));
  int64_t high = is_unsigned(wanted) ? (bits == 64 ? INT64_MAX : (int64_t{1} << bits) - 1) : (int64_t{1} << (bits - 1)) - 1;
  for (int64_t i = 0; i < t.size(); ++i) {
    int64_t x = t.data<int64_t>()[i];
    if (x < low || x > high)
      return fail(ErrorKind::OverflowError, "Python integer {} out of bounds for {}", x, dtype_name(wanted));
  }
  return {};
}

/// The sizes that nested lists have in common, as far as they go.
static void common_sizes(const Value& v, size_t depth, Dims& sizes, size_t& limit) {
  bool list = v.is(Kind::List) || v.is(Kind::Tuple);
  if (!list || depth >= 64) {
    limit = std::min(limit, depth);
    return;
  }
  std::span<const Value> items = v.is(Kind::List) ? std::span<const Value>(v.as<List>()->items) : v.as<Tuple>()->span();
  auto n = static_cast<int64_t>(items.size());
  if (sizes.size() == depth)
    sizes.push_back(n);
  else if (sizes[depth] != n)
    limit = std::min(limit, depth);
  for (const Value& item : items) {
    if (depth + 1 < limit) common_sizes(item, depth + 1, sizes, limit);
  }
}

static Failure inhomogeneous(const Value& v) {
  Dims sizes;
  size_t limit = 64;
  common_sizes(v, 0, sizes, limit);
  limit = std::max<size_t>(std::min(limit, sizes.size()), 1);
  Dims common(sizes.begin(), sizes.begin() + static_cast<ptrdiff_t>(std::min(limit, sizes.size())));
  return fail(ErrorKind::ValueError,
              "setting an array element with a sequence. The requested array has an inhomogeneous shape after {} dimensions. The "
              "detected shape was {} + "
              "inhomogeneous part.",
              limit, shape_tuple_text(common));
}

Result<Tensor> as_array(Interp& interp, const Value& v, std::optional<DType> wanted) {
  if (v.is(Kind::NdArray)) {
    Tensor t = array_content(interp, v.as<NdArrayObject>());
    return wanted ? cast_tensor(interp, t, *wanted) : Result<Tensor>(t);
  }
  ToTensor how;
  if (v.is_float())
    return wanted && *wanted != DType::F64
               ? cast_tensor(interp, TFL_TRY(scalar<double>(interp.context, DType::F64, v.as_float())), *wanted)
               : scalar<double>(interp.context, DType::F64, v.as_float());
  if (v.is_int()) {
    Tensor t = TFL_TRY(scalar<int64_t>(interp.context, DType::I64, v.as_int()));
    if (wanted) TFL_TRY(check_fits(t, *wanted));
    return wanted ? cast_tensor(interp, t, *wanted) : Result<Tensor>(t);
  }
  if (v.is(Kind::BigInt)) {
    if (wanted && (is_floating(*wanted) || is_complex(*wanted)))
      return cast_tensor(interp, TFL_TRY(scalar<double>(interp.context, DType::F64, int_to_double(v))), *wanted);
    uint64_t bits = 0;
    if (!int_to_u64(v, bits) || (wanted && *wanted != DType::U64 && *wanted != DType::Bool))
      return fail(ErrorKind::OverflowError, "Python int too large to convert to C long");
    Tensor t = TFL_TRY(scalar<uint64_t>(interp.context, DType::U64, bits));
    return wanted ? cast_tensor(interp, t, *wanted) : Result<Tensor>(t);
  }
  if (is_tensor_like(v) || v.is_bool() || v.is_str() || v.is(Kind::Bytes) || v.is(Kind::Complex)) {
    Tensor t = TFL_TRY(to_concrete(interp, v));
    if (t.dtype() == DType::String) find_text_type(interp, v, t);
    return wanted ? cast_tensor(interp, t, *wanted) : Result<Tensor>(t);
  }
  // Sequences of Python numbers are 64 bits wide; those with arrays and tensors in them take the widest of theirs.
  struct Walk {
    Interp& interp;
    bool complex = false, real = false, whole = false, large = false, boolean = false, other = false;
    std::optional<DType> decided;
    void look(const Value& item, int depth) {
      if (depth > 64) return;
      if (item.is(Kind::List)) {
        for (const Value& x : item.as<List>()->items) look(x, depth + 1);
      } else if (item.is(Kind::Tuple)) {
        for (const Value& x : item.as<Tuple>()->span()) look(x, depth + 1);
      } else if (item.is_float()) {
        real = true;
      } else if (uint64_t bits; item.is(Kind::BigInt) && int_to_u64(item, bits)) {
        large = true;
      } else if (item.is(Kind::Complex)) {
        complex = true;
      } else if (item.is_int() || item.is(Kind::Range) || item.is(Kind::Shape)) {
        whole = true;
      } else if (item.is_bool()) {
        boolean = true;
      } else if (auto d = dtype_of(interp, item)) {
        decided = decided ? promote_types(*decided, *d) : *d;
      } else {
        other = true;
      }
    }
  } walk{interp};
  walk.look(v, 0);
  if (walk.boolean && (walk.complex || walk.real || walk.whole) && !walk.decided && !walk.other) {
    // Among numbers a truth value is a number, wherever it stands.
    return as_array(interp, numbers_of(interp, v), wanted);
  }
  std::optional<DType> natural;
  if (!walk.other) {
    if (walk.complex)
      natural = DType::C128;
    else if (walk.real || (walk.large && walk.whole))
      natural = DType::F64;
    else if (walk.large)
      natural = DType::U64;
    else if (walk.whole)
      natural = DType::I64;
    else if (walk.boolean)
      natural = DType::Bool;
    if (walk.decided) natural = natural && !walk.boolean ? promote_types(*natural, *walk.decided) : walk.decided;
    if (!natural && !walk.decided) natural = DType::F64;
  }
  if (natural && *natural != DType::String && (!wanted || !is_integer(*natural) || !is_numeric(*wanted))) {
    // Through the natural type first: 1.5 to int32 truncates, as NumPy does and tensors refuse.
    how.dtype = walk.decided && *walk.decided != *natural ? std::nullopt : natural;
    if (!how.dtype || walk.decided) {
      auto direct = to_concrete(interp, v, how);
      if (direct) return cast_tensor(interp, *direct, wanted ? *wanted : *natural);
      how.dtype = natural;
    }
    auto t = to_concrete(interp, v, how);
    if (!t) {
      if (t.error().message.find("rectangular") != std::string::npos) {
        return inhomogeneous(v);
      }
      return t.failure();
    }
    return wanted ? cast_tensor(interp, *t, *wanted) : Result<Tensor>(t.take());
  }
  if (wanted && natural == DType::I64 && !walk.decided && is_integer(*wanted)) {
    how.dtype = natural;
    auto t = to_concrete(interp, v, how);
    if (t) {
      TFL_TRY(check_fits(*t, *wanted));
      return cast_tensor(interp, *t, *wanted);
    }
  }
  if (std::optional<Tensor> mixed = TFL_TRY(mixed_text(interp, v)))
    return wanted ? cast_tensor(interp, *mixed, *wanted) : Result<Tensor>(*mixed);
  if (walk.other && becomes_objects(v)) {
    Tensor objects = TFL_TRY(objects_of(interp, v));
    return wanted ? cast_tensor(interp, objects, *wanted) : Result<Tensor>(objects);
  }
  if (!wanted && walk.decided == DType::String) how.dtype = walk.decided;
  auto t = to_concrete(interp, v, how);
  if (!t || t->dtype() != DType::String) {
    if (wanted) how.dtype = wanted;
    return to_concrete(interp, v, how);
  }
  find_text_type(interp, v, *t);
  return wanted ? cast_tensor(interp, *t, *wanted) : Result<Tensor>(t.take());
}

Result<Value> as_array_value(Interp& interp, const Value& v, std::optional<DType> wanted) {
  if (v.is(Kind::NdArray) && (!wanted || v.as<NdArrayObject>()->array.dtype() == *wanted)) return v;
  return ndarray_value(interp, TFL_TRY(as_array(interp, v, wanted)));
}

DType promote_types(DType a, DType b) {
  if (a == b) return a;
  Group ga = group_of(a), gb = group_of(b);
  if (ga == Group::Other || gb == Group::Other) return DType::String;
  if (ga > gb) {
    std::swap(a, b);
    std::swap(ga, gb);
  }
  size_t sa = dtype_size(a), sb = dtype_size(b);
  if (ga == Group::Bool) return b;
  if (ga == gb) {
    if (ga == Group::Float && sa == sb) return DType::F32;  // float16 with bfloat16
    return sa > sb ? a : b;
  }
  if (gb == Group::Complex) {
    // float16 and integers of 8 and 16 bits fit the floats of complex64.
    bool narrow = ga == Group::Float ? sa <= 4 : sa <= 2;
    return narrow ? b : DType::C128;
  }
  if (gb == Group::Float) {
    if (sa == 1) return b;
    if (sa == 2) return sb == 2 ? DType::F32 : b;
    return DType::F64;
  }
  // Unsigned with signed: the next wider signed type holds both.
  if (sb > sa) return b;
  return sa == 8 ? DType::F64 : signed_of_size(sa * 2);
}

Result<Operand> operand_of(Interp& interp, const Value& v) {
  Operand o;
  if (v.is_bool())
    o.weak = Operand::Weak::Bool;
  else if (v.is_int())
    o.weak = Operand::Weak::Int;
  else if (v.is_float())
    o.weak = Operand::Weak::Float;
  else if (v.is(Kind::Complex))
    o.weak = Operand::Weak::Complex;
  o.t = TFL_TRY(as_array(interp, v));
  return o;
}

Result<DType> common_type(Interp&, const Operand& a, const Operand& b) {
  using Weak = Operand::Weak;
  if ((a.weak == Weak::No) == (b.weak == Weak::No)) return promote_types(a.t.dtype(), b.t.dtype());
  const Operand& weak = a.weak == Weak::No ? b : a;
  DType strong = (a.weak == Weak::No ? a : b).t.dtype();
  switch (weak.weak) {
    case Weak::Int: return strong == DType::Bool ? DType::I64 : strong;
    case Weak::Float: return is_floating(strong) || is_complex(strong) || strong == DType::String ? strong : DType::F64;
    case Weak::Complex:
      if (is_complex(strong) || strong == DType::String) return strong;
      return is_floating(strong) ? complex_of(strong) : DType::C128;
    default: return strong;
  }
}

Result<DType> to_numpy_dtype(Interp& interp, const Value& v) {
  if (v.identical(Value::share(interp.types.float_)) || v.is_none()) return DType::F64;
  if (v.identical(Value::share(interp.types.int_))) return DType::I64;
  if (v.identical(Value::share(interp.types.complex))) return DType::C128;
  if (v.is_str()) {
    std::string_view text = v.as<Str>()->text;
    if (text.size() > 1 && (text[0] == '<' || text[0] == '=' || text[0] == '|')) text.remove_prefix(1);
    if (text == "i2" || text == "h") return DType::I16;
    if (text == "u2" || text == "H") return DType::U16;
    if (text == "u4" || text == "I") return DType::U32;
    if (text == "u8" || text == "L" || text == "uint") return DType::U64;
    if (text == "b1") return DType::Bool;
    if (text == "complex" || text == "c16" || text == "D" || text == "cdouble") return DType::C128;
    if (text == "c8" || text == "F" || text == "csingle") return DType::C64;
    if (text == "float" || text == "d" || text == "f8" || text == "<f8") return DType::F64;
    if (text == "int" || text == "i8" || text == "<i8" || text == "l") return DType::I64;
    if (text == "f" || text == "f4" || text == "<f4") return DType::F32;
    if (text == "i4" || text == "<i4" || text == "i") return DType::I32;
    if (text == "u1" || text == "B") return DType::U8;
    if (text == "i1" || text == "b") return DType::I8;
    if (text == "?" || text == "bool_") return DType::Bool;
    if (text == "f2" || text == "e") return DType::F16;
  }
  if (wanted_text_type(interp, v)) return DType::String;
  auto d = to_dtype(interp, v);
  if (!d && v.is_str()) return fail(ErrorKind::TypeError, "data type '{}' not understood", v.as<Str>()->text);
  if (!d) {
    std::string shown = TFL_TRY(str_text(interp, v));
    return fail(ErrorKind::TypeError, "Cannot interpret '{}' as a data type", shown)
        .with_hint(v.is_int() ? "this argument is the dtype; a shape is one argument: (2, 3)" : "");
  }
  return *d;
}

Type* numpy_scalar_type(Interp& interp, DType dtype) { return interp.tensors->numpy_scalars[static_cast<size_t>(dtype)]; }

}  // namespace tfl
