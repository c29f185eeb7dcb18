// Host values to tensors. Two passes over nested sequences: the first finds sizes and the element type, the second fills.
#include <cmath>
#include <cstring>
#include <limits>

#include "frontend/core/big_int.h"
#include "frontend/core/complex_value.h"
#include "frontend/core/object_elements.h"
#include "frontend/core/scope.h"
#include "frontend/core/tensor_api.h"
#include "frontend/tensors/tensor/convert_scan.h"
#include "runtime/ops/op.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// An int that the element type has no room for, although it is one of whole numbers.
bool out_of_range(const Value& v, DType dtype) { return v.is(Kind::BigInt) && is_integer(dtype); }

Failure too_large_int() {
  return fail(ErrorKind::ValueError, "Can't convert Python sequence with out-of-range integer to Tensor.");
}

Failure cannot_convert(Interp& interp, const Value& whole, DType dtype) {
  auto text = repr_text(interp, whole);
  if (!text) return text.failure();
  return fail(ErrorKind::TypeError, "Cannot convert {} to EagerTensor of dtype {}", *text, dtype_tf_name(dtype));
}

/// Stores a host leaf as one element; false when TensorFlow refuses the pair.
bool store_leaf(const Value& v, DType dtype, std::byte* at) {
  // Truth values count as numbers in the dtypes that NumPy has a fast way to, and in no others.
  const bool counts =
      dtype == DType::I32 || dtype == DType::I64 || dtype == DType::F16 || dtype == DType::F32 || dtype == DType::F64;
  bool integral = v.is_int() || (v.is_bool() && counts);
  switch (dtype) {
    case DType::Bool:
      if (!v.is_bool()) return false;
      *reinterpret_cast<bool*>(at) = v.as_bool();
      return true;
    case DType::String:
      if (v.is(Kind::Str))
        *reinterpret_cast<std::string*>(at) = v.as<Str>()->text;
      else if (v.is(Kind::Bytes))
        *reinterpret_cast<std::string*>(at) = v.as<Bytes>()->data;
      else
        return false;
      return true;
    default:
      if (is_complex(dtype)) {
        if (v.is_bool()) return false;
        double re = 0, im = 0;
        if (!complex_parts(v, re, im)) return false;
        store_complex(dtype, re, im, at);
      } else if (v.is(Kind::BigInt)) {
        uint64_t bits = 0;
        if (is_integer(dtype) && (dtype != DType::U64 || !int_to_u64(v, bits))) return false;
        if (is_floating(dtype))
          store_double(dtype, int_to_double(v), at);
        else
          std::memcpy(at, &bits, sizeof bits);
      } else if (is_floating(dtype)) {
        if (!integral && !v.is_float()) return false;
        store_double(dtype, integral ? static_cast<double>(v.as_int()) : v.as_float(), at);
      } else {
        if (!integral) return false;
        store_int(dtype, v.as_int(), at);
      }
      return true;
  }
}

/// A float that does not fit float32 although it is finite is an error where nobody asked for float32, by name or as the other operand's type.
bool overflows_f32(double d) {
  return std::isfinite(d) && std::fabs(d) > std::numeric_limits<float>::max() && std::isinf(static_cast<float>(d));
}

/// Tensors of a graph, and what a graph captures or a tape watches: what a sink must see.
bool is_for_sink(const Value& v) { return v.is(Kind::Symbolic) || is_tensor_or_variable(v); }

/// Whether `test` holds for v, or for an item of the nested lists and tuples that it is.
template <class Test>
bool holds(const Value& v, const Test& test, int depth = 0) {
  if (test(v)) return true;
  if (depth > kMaxNesting || (!v.is(Kind::List) && !v.is(Kind::Tuple))) return false;
  int64_t n = sequence_length(v);
  for (int64_t i = 0; i < n; ++i) {
    if (holds(sequence_item(v, i), test, depth + 1)) return true;
  }
  return false;
}

struct Filler {
  Interp& interp;
  DType dtype;
  size_t size;
  std::byte* at;
  bool guard_f32;
  bool packs;  // tensors are among the items: each item by itself becomes one
  bool casts;  // and those of another dtype are cast
  int64_t filled = 0;

  /// `shown`: what an error shows of it. A list is shown as the list that is next to an item; among tensors, as what is converted by itself.
  Result<void> fill(const Value& v, const Value& parent, const Value& shown) {
    if (is_sequence(v)) {
      const bool by_themselves = packs && holds(v, is_tensor_or_variable);
      const Value& inner = packs ? shown : v;
      if (v.is(Kind::List)) {
        // No copies of the items: nothing here runs script code, so the list cannot change under us.
        for (const Value& item : v.as<List>()->items) {
          if ((++filled & kPollMask) == 0) TFL_TRY(check_whole(interp.context));
          TFL_TRY(fill(item, v, by_themselves ? item : inner));
        }
        return {};
      }
      int64_t n = sequence_length(v);
      for (int64_t i = 0; i < n; ++i) {
        if ((++filled & kPollMask) == 0) TFL_TRY(check_whole(interp.context));
        Value item = sequence_item(v, i);
        TFL_TRY(fill(item, v, by_themselves ? item : inner));
      }
      return {};
    }
    Tensor t;
    if (concrete_of(v, t)) {
      Tensor c = t;
      if (t.dtype() != dtype) {
        bool array = v.is(Kind::NdArray) || v.is(Kind::NumPyScalar);
        // A fraction is no integer, and a number no bool.
        if (array && !casts && ((is_floating(t.dtype()) && is_integer(dtype)) || dtype == DType::Bool))
          return cannot_convert(interp, shown, dtype);
        if ((!array && !casts) || t.dtype() == DType::String || dtype == DType::String)
          return cannot_pack(v, parent, t.dtype(), shown);
        c = TFL_TRY(apply1(interp.context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, dtype)));
      }
      c = TFL_TRY(contiguous(interp.context, c));
      if (dtype == DType::String) {
        for (int64_t i = 0; i < c.size(); ++i, at += size) *reinterpret_cast<std::string*>(at) = c.data<std::string>()[i];
      } else {
        std::memcpy(at, c.raw(), c.bytes());
        at += c.bytes();
      }
      return {};
    }
    if (guard_f32 && v.is_float() && overflows_f32(v.as_float())) {
      return fail(ErrorKind::ValueError, "Can't convert Python sequence with a value out of range for a double-precision float.")
          .with_hint("the value does not fit float32; give dtype=tf.float64");
    }
    if (!store_leaf(v, dtype, at)) return out_of_range(v, dtype) ? too_large_int() : cannot_convert(interp, shown, dtype);
    at += size;
    return {};
  }

  Failure cannot_pack(const Value& v, const Value& parent, DType other, const Value& shown) {
    if (!packs || !is_sequence(parent)) return cannot_convert(interp, shown, dtype);
    int64_t i = 0;
    while (i + 1 < sequence_length(parent) && !sequence_item(parent, i).identical(v)) ++i;
    return fail(
        ErrorKind::InvalidArgumentError,
        "cannot compute Pack as input #{}(zero-based) was expected to be a {} tensor but is a {} tensor [Op:Pack] name: packed",
        i, dtype_tf_name(dtype), dtype_tf_name(other));
  }
};

DType natural_dtype(const Interp& interp, const Scan& scan) {
  if (scan.decided) return *scan.decided;
  // A graph's constants are made by NumPy, and what 64 bits have by default becomes 32.
  if (interp.sink && scan.arrays && *scan.arrays != DType::F64 && *scan.arrays != DType::I64) return *scan.arrays;
  switch (scan.leaf) {
    case Leaf::Bool: return DType::Bool;
    case Leaf::Int: return scan.wide ? DType::I64 : DType::I32;
    case Leaf::Text: return DType::String;
    case Leaf::Float: return interp.sink ? DType::F32 : scan.real;
    case Leaf::Complex: return DType::C128;
    case Leaf::None: break;
  }
  return DType::F32;
}

bool fits(const Scan& scan, DType dtype) {
  switch (scan.leaf) {
    case Leaf::None: return true;
    case Leaf::Bool: return dtype == DType::Bool || is_numeric(dtype);
    case Leaf::Int: return is_numeric(dtype) || is_complex(dtype);
    case Leaf::Float: return is_floating(dtype) || is_complex(dtype);
    case Leaf::Complex: return is_complex(dtype);
    case Leaf::Text: return dtype == DType::String;
  }
  return false;
}

/// A list with symbolic tensors in it: each item converted and packed, level by level. `casts`: the dtype was asked for, and tensors of
/// another are cast to it.
Result<Value> pack(Interp& interp, const Value& v, const ToTensor& wanted, bool casts) {
  if (!is_sequence(v)) {
    if (casts && is_for_sink(v)) return cast_value(interp, TFL_TRY(to_tensor(interp, v)), *wanted.dtype);
    return to_tensor(interp, v, wanted);
  }
  SmallVec<Value, 2> results;
  std::vector<Value> items;
  int64_t n = sequence_length(v);
  ToTensor inner = wanted;
  for (int64_t i = 0; i < n; ++i) {
    if (auto d = dtype_of(interp, sequence_item(v, i)); d && !inner.dtype) inner.dtype = d;
  }
  for (int64_t i = 0; i < n; ++i) items.push_back(TFL_TRY(pack(interp, sequence_item(v, i), inner, casts)));
  TFL_TRY(apply_op(interp, Op::stack, items, Attrs().set_int(Attr::axis, 0), results));
  return std::move(results[0]);
}

/// The same nested sequences with tensors, arrays and lists where objects were: what __tf_tensor__ or __array__ gives, or the items that
/// __getitem__ has.
Result<Value> without_objects(Interp& interp, const Value& v, int depth) {
  if (depth > kMaxNesting)
    return fail(ErrorKind::ValueError, "Too many nested sequences to convert to a Tensor (more than {}).", kMaxNesting);
  std::vector<Value> items;
  if (v.is(Kind::Instance)) {
    Value method = TFL_TRY(special(interp, v, interp.intern("__tf_tensor__")));
    if (!method.is_empty()) {
      Value tensor = TFL_TRY(interp.call(method, {}));
      if (!is_tensor_like(tensor)) return fail(ErrorKind::TypeError, "object __tf_tensor__ method not producing a tensor");
      return tensor;
    }
    method = TFL_TRY(special(interp, v, interp.sym.__array__));
    if (!method.is_empty()) {
      Value array = TFL_TRY(interp.call(method, {}));
      if (!is_tensor_like(array)) return fail(ErrorKind::ValueError, "object __array__ method not producing an array");
      return array;
    }
    if (TFL_TRY(special(interp, v, interp.sym.__getitem__)).is_empty()) return unsupported(interp, v);
    if (TFL_TRY(special(interp, v, interp.sym.__len__)).is_empty())
      return fail(ErrorKind::ValueError, "TypeError: object of type '{}' has no len()\n", interp.type_name(v));
    items = TFL_TRY(to_vector(interp, v));
  } else if (v.is(Kind::Native) && v.object()->type->slots->get_item && v.object()->type->slots->length) {  // a deque
    items = TFL_TRY(to_vector(interp, v));
  } else if (v.is(Kind::List) || v.is(Kind::Tuple)) {
    for (int64_t i = 0; i < sequence_length(v); ++i) items.push_back(sequence_item(v, i));
  } else {
    return v;
  }
  for (Value& item : items) item = TFL_TRY(without_objects(interp, item, depth + 1));
  return interp.list(std::move(items));
}

Failure wrong_dtype(Interp& interp, const Value& v, DType wanted, DType actual) {
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  return fail(ErrorKind::ValueError, "Tensor conversion requested dtype {} for {} with dtype {}: {}", dtype_name(wanted),
              v.is(Kind::Variable) ? "Variable" : "Tensor", dtype_name(actual), *text);
}

Result<Value> convert_tensor(Interp& interp, const Value& v, const Tensor& t, const ToTensor& wanted) {
  bool array = v.is(Kind::NdArray) || v.is(Kind::NumPyScalar);
  std::optional<DType> target = wanted.dtype;
  if (!target && array && wanted.preferred && *wanted.preferred != DType::String && t.dtype() != DType::String)
    target = wanted.preferred;
  if (target && *target != t.dtype()) {
    if (array && t.dtype() != DType::String && *target != DType::String) {
      return Value::of(TFL_TRY(apply1(interp.context, Op::cast, {t}, Attrs().set_dtype(Attr::dtype, *target))));
    }
    return fail(ErrorKind::ValueError, "Tensor conversion requested dtype {} for {} with dtype {}: {}", dtype_name(*wanted.dtype),
                v.is(Kind::Variable) ? "Variable" : "Tensor", dtype_name(t.dtype()), tensor_repr(interp, t));
  }
  if (v.is(Kind::Tensor)) return v;
  if (array) {
    // An array may change later; a tensor may not. Nor is the number that x.numpy() gave x itself, which a tape may watch.
    Tensor copy = TFL_TRY(Tensor::empty(interp.context, t.dtype(), t.dims()));
    Tensor row_major = TFL_TRY(contiguous(interp.context, t));
    if (t.dtype() == DType::String && text_type(t).kind == TextKind::text_objects) {
      for (int64_t i = 0; i < t.size(); ++i) {
        const std::string& s = row_major.data<std::string>()[i];
        if (!is_object_code(s)) continue;
        Value object = TFL_TRY(object_of(interp, s));
        if (!object.is(Kind::Bytes))
          return fail(ErrorKind::ValueError, "Failed to convert a NumPy array to a Tensor (Unsupported object type {}).",
                      interp.type_name(object));
      }
    }
    if (t.dtype() == DType::String)
      std::copy_n(row_major.data<std::string>(), t.size(), copy.data<std::string>());
    else
      std::memcpy(copy.raw(), row_major.raw(), row_major.bytes());
    return Value::of(literal(interp, std::move(copy)));
  }
  return Value::of(t);
}

}  // namespace

bool is_tensor_like(const Value& v) {
  switch (v.kind()) {
    case Kind::Tensor:
    case Kind::Symbolic:
    case Kind::Variable:
    case Kind::NdArray:
    case Kind::NumPyScalar: return true;
    default: return false;
  }
}

Result<Value> to_tensor(Interp& interp, const Value& v, const ToTensor& wanted) {
  if (v.is(Kind::Tensor) && (!wanted.dtype || *wanted.dtype == v.tensor_rep()->dtype)) [[likely]]
    return v;
  Tensor t;
  if (v.is(Kind::Variable) && interp.sink) {
    VariableObject* variable = variable_storage(v.as<VariableObject>());
    if (wanted.dtype && *wanted.dtype != variable->dtype) return wrong_dtype(interp, v, *wanted.dtype, variable->dtype);
    return interp.sink->read_variable(interp, variable);
  }
  if (concrete_of(v, t)) return convert_tensor(interp, v, t, wanted);
  if (v.is(Kind::Symbolic)) {
    DType dtype = symbolic_type(v).dtype;
    if (wanted.dtype && *wanted.dtype != dtype && symbolic(v)->ir_type().is_tensor())
      return wrong_dtype(interp, v, *wanted.dtype, dtype);
    return v;
  }
  if (v.is(Kind::Variable)) {
    return fail(ErrorKind::FailedPreconditionError,
                "Could not find variable {}. This could mean that the variable has been deleted.", v.as<VariableObject>()->name);
  }
  if (is_sequence(v) && holds(v, [&](const Value& item) { return interp.sink ? is_for_sink(item) : item.is(Kind::Symbolic); })) {
    ToTensor items = wanted;
    if (!items.dtype) items.dtype = wanted.preferred;
    return pack(interp, v, items, items.dtype && wanted.cast_items);
  }
  if (v.is_none() && interp.sink && interp.sink->building()) return fail(ErrorKind::ValueError, "None values not supported.");
  Scan scan;
  scan.by_numpy = wanted.dtype == DType::C128 || (interp.sink && interp.sink->building());
  auto scanned = scan_value(interp, v, 0, scan, true);
  if (!scanned && scan.objects) return to_tensor(interp, TFL_TRY(without_objects(interp, v, 0)), wanted);
  if (!scanned) return scanned.failure();
  DType dtype = wanted.dtype ? *wanted.dtype : natural_dtype(interp, scan);
  const bool hinted = !wanted.dtype && wanted.preferred && (scan.tensors || !scan.decided) && fits(scan, *wanted.preferred);
  if (hinted) dtype = *wanted.preferred;
  if (wanted.dtype && !wanted.cast_items && scan.leaf == Leaf::None && scan.decided && *scan.decided != dtype && scan.tensors) {
    return cannot_convert(interp, v, dtype);
  }
  Tensor out = TFL_TRY(Tensor::empty(interp.context, dtype, scan.dims));
  Filler filler{interp,
                dtype,
                dtype_size(dtype),
                out.raw(),
                !wanted.dtype && !hinted && dtype == DType::F32,
                scan.tensors,
                (wanted.dtype || hinted) && wanted.cast_items};
  if (out.size() > 0) TFL_TRY(filler.fill(v, v, v));
  return Value::of(literal(interp, std::move(out)));
}

Result<Tensor> to_concrete(Interp& interp, const Value& v, const ToTensor& wanted) {
  Value t = TFL_TRY(to_tensor(interp, v, wanted));
  if (!t.is_tensor()) {
    // What constants and static sizes decide is known while tracing.
    if (Tensor known = known_value(interp, t)) return known;
    return fail(ErrorKind::NotImplementedError,
                "Cannot convert a symbolic tf.Tensor ({}:{}) to a numpy array. This error may indicate that you're trying to "
                "pass a Tensor to a NumPy call, "
                "which is not supported.",
                shown_name(symbolic(t)), symbolic(t)->index)
        .with_hint("move this out of the tf.function, or use a tensor operation in its place");
  }
  return t.tensor();
}

}  // namespace tfl
