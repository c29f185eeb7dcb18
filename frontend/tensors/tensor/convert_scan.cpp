#include "frontend/tensors/tensor/convert_scan.h"

#include "frontend/core/scope.h"

namespace tfl {

namespace {

std::string class_text(Interp& interp, const Value& v) {
  const Type* t = interp.type_of(v);
  if (t->module->text == "builtins") return fmt::format("<class '{}'>", t->qualname->text);
  return fmt::format("<class '{}.{}'>", t->module->text, t->qualname->text);
}

Failure not_rectangular() { return fail(ErrorKind::ValueError, "Can't convert non-rectangular Python sequence to Tensor."); }
Failure mixed() { return fail(ErrorKind::ValueError, "Can't convert Python sequence with mixed types to Tensor."); }

int64_t range_length(const Range& r) {
  if (r.step > 0)
    return r.start < r.stop ? static_cast<int64_t>((static_cast<uint64_t>(r.stop) - static_cast<uint64_t>(r.start) - 1) /
                                                   static_cast<uint64_t>(r.step)) +
                                  1
                            : 0;
  return r.start > r.stop ? static_cast<int64_t>((static_cast<uint64_t>(r.start) - static_cast<uint64_t>(r.stop) - 1) /
                                                 (0 - static_cast<uint64_t>(r.step))) +
                                1
                          : 0;
}

/// A leaf of this kind after others.
Result<void> join_leaf(Scan& scan, Leaf leaf) {
  if (scan.leaf == Leaf::None || scan.leaf == leaf) {
    scan.leaf = leaf;
    return {};
  }
  // The first element decides; a bool fits among numbers, an int among floats and the other way round.
  if (scan.leaf == Leaf::Text || leaf == Leaf::Text || scan.leaf == Leaf::Bool) return mixed();
  // A graph's constants are made by NumPy, which takes the widest kind; eagerly a complex number must come first.
  if (leaf == Leaf::Complex && !scan.by_numpy) return mixed();
  if (leaf == Leaf::Complex) scan.leaf = Leaf::Complex;
  if (scan.leaf == Leaf::Complex) return {};
  if (leaf == Leaf::Float) scan.leaf = Leaf::Float;
  return {};
}

bool outside_i32(const Tensor& t) {
  auto beyond = [&](auto zero) {
    using T = decltype(zero);
    const T* at = t.data<T>();
    return std::any_of(at, at + t.size(), [](T v) {
      return (static_cast<int32_t>(v) < 0) != (v < T(0)) || static_cast<T>(static_cast<int32_t>(v)) != v;
    });
  };
  switch (t.dtype()) {
    case DType::I64: return beyond(int64_t());
    case DType::U64: return beyond(uint64_t());
    case DType::U32: return beyond(uint32_t());
    default: return false;
  }
}

/// A NumPy scalar, or the elements of an array, within a sequence: TensorFlow asks what kind of number it is, and not for its width.
Result<void> note_array(Interp& interp, const Tensor& t, Scan& scan) {
  if (t.size() == 0) return {};
  const bool first = scan.leaf == Leaf::None;
  const DType d = t.dtype();
  if (first && !scan.hosts)
    scan.arrays = d;
  else if (scan.arrays != d)
    scan.arrays.reset();
  if (first && (d == DType::F64 || d == DType::F16)) scan.real = d;
  if (is_integer(d) && dtype_size(d) >= 4 && d != DType::I32) scan.wide |= outside_i32(TFL_TRY(contiguous(interp.context, t)));
  return join_leaf(scan, d == DType::Bool     ? Leaf::Bool
                         : d == DType::String ? Leaf::Text
                         : is_integer(d)      ? Leaf::Int
                         : is_complex(d)      ? Leaf::Complex
                                              : Leaf::Float);
}

Result<void> note_leaf(Interp& interp, const Value& v, Scan& scan) {
  Leaf leaf;
  scan.hosts = true;
  scan.arrays.reset();
  switch (v.tag()) {
    case Tag::Bool: leaf = Leaf::Bool; break;
    case Tag::Int:
      leaf = Leaf::Int;
      if (v.as_int() != static_cast<int32_t>(v.as_int())) scan.wide = true;
      break;
    case Tag::Float: leaf = Leaf::Float; break;
    default:
      if (v.is(Kind::BigInt)) {
        scan.wide = true;
        return join_leaf(scan, Leaf::Int);
      }
      if (v.is(Kind::Instance) || (v.is(Kind::Native) && v.object()->type->slots->get_item && v.object()->type->slots->length)) {
        scan.objects = true;
        return fail(ErrorKind::ValueError, "an object");  // never seen: to_tensor() asks the object for its items
      }
      if (v.is(Kind::Str) || v.is(Kind::Bytes))
        leaf = Leaf::Text;
      else if (v.is(Kind::Complex))
        leaf = Leaf::Complex;
      else if (v.is_none() && scan.leaf != Leaf::None)
        return mixed();
      else
        return unsupported(interp, v);
  }
  return join_leaf(scan, leaf);
}

Result<void> note_dims(Scan& scan, size_t depth, std::span<const int64_t> dims, bool first) {
  if (first) {
    scan.dims.append(dims.begin(), dims.end());
    return {};
  }
  if (scan.dims.size() != depth + dims.size() || !std::equal(dims.begin(), dims.end(), scan.dims.begin() + depth))
    return not_rectangular();
  return {};
}

}  // namespace

Failure unsupported(Interp& interp, const Value& v) {
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  return fail(ErrorKind::ValueError, "Attempt to convert a value ({}) with an unsupported type ({}) to a Tensor.", *text,
              class_text(interp, v));
}

bool is_sequence(const Value& v) {
  switch (v.kind()) {
    case Kind::List:
    case Kind::Tuple:
    case Kind::Range:
    case Kind::Shape: return true;
    default: return false;
  }
}

int64_t sequence_length(const Value& v) {
  switch (v.kind()) {
    case Kind::List: return static_cast<int64_t>(v.as<List>()->items.size());
    case Kind::Tuple: return v.as<Tuple>()->size;
    case Kind::Range: return range_length(*v.as<Range>());
    default: return static_cast<int64_t>(v.as<ShapeObject>()->dims.size());
  }
}

Value sequence_item(const Value& v, int64_t i) {
  switch (v.kind()) {
    case Kind::List: return v.as<List>()->items[static_cast<size_t>(i)];
    case Kind::Tuple: return v.as<Tuple>()->items[i];
    case Kind::Range: return Value::integer(v.as<Range>()->start + i * v.as<Range>()->step);
    default: {
      int64_t d = v.as<ShapeObject>()->dims[static_cast<size_t>(i)];
      return d < 0 ? Value::none() : Value::integer(d);
    }
  }
}

bool is_tensor_or_variable(const Value& v) { return v.is(Kind::Tensor) || v.is(Kind::Variable); }

bool concrete_of(const Value& v, Tensor& out) {
  switch (v.kind()) {
    case Kind::Tensor: out = v.tensor(); return true;
    case Kind::Variable: out = variable_storage(v.as<VariableObject>())->value; return static_cast<bool>(out);
    case Kind::NdArray: out = v.as<NdArrayObject>()->array; return true;
    case Kind::NumPyScalar: out = v.as<NumPyScalarObject>()->value; return true;
    default: return false;
  }
}

Result<void> scan_value(Interp& interp, const Value& v, size_t depth, Scan& scan, bool first) {
  if (depth > kMaxNesting)
    return fail(ErrorKind::ValueError, "Too many nested sequences to convert to a Tensor (more than {}).", kMaxNesting);
  if (is_sequence(v)) {
    int64_t n = sequence_length(v);
    if (first)
      scan.dims.push_back(n);
    else if (depth >= scan.dims.size() || scan.dims[depth] != n)
      return not_rectangular();
    // The ends of a range tell about all of it.
    const bool ends = v.is(Kind::Range) && n > 2;
    for (int64_t i = 0; i < n; i = ends && i == 0 ? n - 1 : i + 1) {
      if ((i & kPollMask) == kPollMask) TFL_TRY(check_whole(interp.context));
      bool leading = first && i == 0;
      if (v.is(Kind::List) && !v.as<List>()->items[static_cast<size_t>(i)].is_object()) {
        if (!leading && scan.dims.size() != depth + 1) return not_rectangular();
        TFL_TRY(note_leaf(interp, v.as<List>()->items[static_cast<size_t>(i)], scan));
      } else {
        TFL_TRY(scan_value(interp, sequence_item(v, i), depth + 1, scan, leading));
      }
    }
    return {};
  }
  Tensor t;
  if (concrete_of(v, t)) {
    if (is_tensor_or_variable(v)) {
      if (!scan.decided) scan.decided = t.dtype();
      scan.tensors = true;
    } else {
      TFL_TRY(note_array(interp, t, scan));
    }
    return note_dims(scan, depth, t.dims(), first);
  }
  if (v.is(Kind::Symbolic)) {
    scan.tensors = true;
    return {};
  }
  if (!first && scan.dims.size() != depth) return not_rectangular();
  return note_leaf(interp, v, scan);
}

}  // namespace tfl
