// a[key] and a[key] = value with NumPy's rules. Ints, slices, None and ... make a view; arrays and lists of indices or bools pick
// single places, worked out as one list of offsets that reading and writing share.
#include <algorithm>
#include <cstring>

#include "frontend/tensors/numpy/elements.h"
#include "frontend/tensors/numpy/object_arrays.h"
#include "frontend/tensors/numpy/string_arrays.h"
#include "runtime/tensor/copy.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// One part of a key, after bools have become indices.
struct Part {
  enum class Kind : uint8_t { Int, Slice, NewAxis, Ellipsis, Array } kind;
  int64_t index = 0;
  Value slice;
  Tensor array;  // int64
};

Failure out_of_bounds(int64_t index, size_t axis, int64_t size) {
  return fail(ErrorKind::IndexError, "index {} is out of bounds for axis {} with size {}", index, axis, size);
}

Failure bad_key() {
  return fail(
      ErrorKind::IndexError,
      "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices");
}

/// The key's items; `consumed` counts the axes of the array that they use up.
Result<void> parse_key(Interp& interp, const Value& item, std::vector<Part>& parts, size_t& consumed, const Tensor& target) {
  if (item.is_none()) {
    parts.push_back({Part::Kind::NewAxis, 0, {}, {}});
    return {};
  }
  if (item.identical(interp.ellipsis)) {
    for (const Part& p : parts) {
      if (p.kind == Part::Kind::Ellipsis) return fail(ErrorKind::IndexError, "an index can only have a single ellipsis ('...')");
    }
    parts.push_back({Part::Kind::Ellipsis, 0, {}, {}});
    return {};
  }
  if (item.is(Kind::Slice)) {
    parts.push_back({Part::Kind::Slice, 0, item, {}});
    ++consumed;
    return {};
  }
  if (item.is_int()) {
    parts.push_back({Part::Kind::Int, item.as_int(), {}, {}});
    ++consumed;
    return {};
  }
  bool data = is_tensor_like(item) || item.is(Kind::List) || item.is(Kind::Tuple) || item.is_bool();
  if (!data) {
    if (item.is_float() || item.is_str()) return bad_key();
    Value index = TFL_TRY(special(interp, item, interp.sym.__index__));
    if (index.is_empty()) return bad_key();
    int64_t i = TFL_TRY(to_index(interp, item));
    parts.push_back({Part::Kind::Int, i, {}, {}});
    ++consumed;
    return {};
  }
  Tensor t = TFL_TRY(as_array(interp, item));
  if (t.size() == 0 && t.dtype() == DType::F64 && !is_tensor_like(item)) t = TFL_TRY(cast_tensor(interp, t, DType::I64));
  if (t.dtype() == DType::Bool) {
    for (int i = 0; i < t.rank(); ++i) {
      size_t axis = consumed + static_cast<size_t>(i);
      if (axis < static_cast<size_t>(target.rank()) && t.dim(i) != target.dim(static_cast<int>(axis))) {
        return fail(ErrorKind::IndexError,
                    "boolean index did not match indexed array along axis {}; size of axis is {} but size of corresponding "
                    "boolean axis is {}",
                    axis, target.dim(static_cast<int>(axis)), t.dim(i));
      }
    }
    if (t.rank() == 0)
      return fail(ErrorKind::IndexError, "a single bool cannot index an array here").with_hint("use a mask of the array's shape");
    Tensor places = TFL_TRY(apply1(interp.context, Op::nonzero, {t}));  // [count, rank] int64
    Tensor flat = TFL_TRY(contiguous(interp.context, places));
    int64_t count = flat.dim(0), rank = t.rank();
    for (int64_t d = 0; d < rank; ++d) {
      Tensor column = TFL_TRY(Tensor::empty(interp.context, DType::I64, Dims{count}));
      for (int64_t i = 0; i < count; ++i) column.data<int64_t>()[i] = flat.data<int64_t>()[i * rank + d];
      parts.push_back({Part::Kind::Array, 0, {}, column});
      ++consumed;
    }
    return {};
  }
  if (!is_integer(t.dtype())) return fail(ErrorKind::IndexError, "arrays used as indices must be of integer (or boolean) type");
  t = TFL_TRY(cast_tensor(interp, t, DType::I64));
  if (t.rank() == 0 && (item.is(Kind::NumPyScalar) || item.is_tensor() || item.is(Kind::Variable))) {
    parts.push_back({Part::Kind::Int, *t.data<int64_t>(), {}, {}});
  } else {
    t = TFL_TRY(contiguous(interp.context, t));
    parts.push_back({Part::Kind::Array, 0, {}, t});
  }
  ++consumed;
  return {};
}

/// Where the picked elements are: a strided layout, and with index arrays a list of offsets for the axes they form.
struct Selection {
  Dims dims, strides;  // of the result; the stride of an index axis is unused
  int64_t offset = 0;
  std::vector<int64_t> offsets;  // one for each element of the index arrays' common shape
  Dims index_dims;
  size_t index_at = 0;  // where the index axes stand among the result's
  bool advanced = false;
};

Result<Selection> select(Interp& interp, const Tensor& t, const Value& key) {
  std::vector<Part> parts;
  size_t consumed = 0;
  if (key.is(Kind::Tuple)) {
    for (const Value& item : key.as<Tuple>()->span()) TFL_TRY(parse_key(interp, item, parts, consumed, t));
  } else {
    TFL_TRY(parse_key(interp, key, parts, consumed, t));
  }
  auto rank = static_cast<size_t>(t.rank());
  if (consumed > rank) {
    return fail(ErrorKind::IndexError, "too many indices for array: array is {}-dimensional, but {} were indexed", rank,
                consumed);
  }
  bool advanced = std::any_of(parts.begin(), parts.end(), [](const Part& p) { return p.kind == Part::Kind::Array; });
  if (std::none_of(parts.begin(), parts.end(), [](const Part& p) { return p.kind == Part::Kind::Ellipsis; }))
    parts.push_back({Part::Kind::Ellipsis, 0, {}, {}});

  Selection s;
  s.advanced = advanced;
  // The common shape of the index arrays; an int beside them is an array of one.
  if (advanced) {
    for (const Part& p : parts) {
      if (p.kind != Part::Kind::Array) continue;
      std::span<const int64_t> d = p.array.dims();
      Dims merged;
      size_t n = std::max(d.size(), s.index_dims.size());
      for (size_t i = 0; i < n; ++i) {
        int64_t a = i + d.size() < n ? 1 : d[i + d.size() - n];
        int64_t b = i + s.index_dims.size() < n ? 1 : s.index_dims[i + s.index_dims.size() - n];
        if (a != b && a != 1 && b != 1) {
          return fail(ErrorKind::IndexError, "shape mismatch: indexing arrays could not be broadcast together with shapes {} {}",
                      shape_tuple_text(s.index_dims), shape_tuple_text(d));
        }
        merged.push_back(a == 1 ? b : a);
      }
      s.index_dims = std::move(merged);
    }
    int64_t n = TFL_TRY(element_count(s.index_dims));
    s.offsets.assign(static_cast<size_t>(n), 0);
  }
  size_t axis = 0;
  bool placed = false, gap = false, apart = false;
  for (const Part& p : parts) {
    bool index_like = p.kind == Part::Kind::Array || (advanced && p.kind == Part::Kind::Int);
    if (index_like && placed && gap) apart = true;
    if (!index_like && placed) gap = true;
    switch (p.kind) {
      case Part::Kind::NewAxis:
        s.dims.push_back(1);
        s.strides.push_back(0);
        break;
      case Part::Kind::Ellipsis:
        for (size_t left = rank - consumed; left > 0; --left, ++axis) {
          s.dims.push_back(t.dim(static_cast<int>(axis)));
          s.strides.push_back(t.strides()[axis]);
        }
        break;
      case Part::Kind::Slice: {
        int64_t start, stop, step, size = t.dim(static_cast<int>(axis));
        TFL_TRY(slice_bounds(interp, *p.slice.as<Slice>(), size, start, stop, step));
        int64_t n =
            step > 0 ? (start < stop ? (stop - start - 1) / step + 1 : 0) : (start > stop ? (start - stop - 1) / -step + 1 : 0);
        s.dims.push_back(n);
        s.strides.push_back(t.strides()[axis] * step);
        if (n > 0) s.offset += start * t.strides()[axis];
        ++axis;
        break;
      }
      case Part::Kind::Int: {
        int64_t size = t.dim(static_cast<int>(axis)), i = p.index;
        if (i < -size || i >= size) return out_of_bounds(p.index, axis, size);
        s.offset += (i < 0 ? i + size : i) * t.strides()[axis];
        ++axis;
        if (advanced && !placed) {
          s.index_at = s.dims.size();
          placed = true;
        }
        break;
      }
      case Part::Kind::Array: {
        if (!placed) s.index_at = s.dims.size();
        placed = true;
        int64_t size = t.dim(static_cast<int>(axis)), stride = t.strides()[axis];
        std::span<const int64_t> d = p.array.dims();
        const int64_t* values = p.array.data<int64_t>();
        size_t extra = s.index_dims.size() - d.size();
        Dims at(s.index_dims.size(), 0);
        Dims own = Tensor::row_major_strides(d);
        for (int64_t& out : s.offsets) {
          int64_t where = 0;
          for (size_t k = 0; k < d.size(); ++k) where += d[k] == 1 ? 0 : at[k + extra] * own[k];
          int64_t i = values[where];
          if (i < -size || i >= size) return out_of_bounds(i, axis, size);
          out += (i < 0 ? i + size : i) * stride;
          for (size_t k = at.size(); k-- > 0;) {
            if (++at[k] < s.index_dims[k]) break;
            at[k] = 0;
          }
        }
        ++axis;
        break;
      }
    }
  }
  if (apart) s.index_at = 0;
  return s;
}

bool has_ellipsis(Interp& interp, const Value& key) {
  if (!key.is(Kind::Tuple)) return key.identical(interp.ellipsis);
  std::span<Value> items = key.as<Tuple>()->span();
  return std::any_of(items.begin(), items.end(), [&](const Value& v) { return v.identical(interp.ellipsis); });
}

/// Calls visit(offset of a block, number of the block) for each index tuple: the result's axes before the index axes are walked
/// outside, those behind them are one strided block.
template <class F>
void for_each_block(const Selection& s, F&& visit) {
  Dims outer(std::span<const int64_t>(s.dims.data(), s.index_at));
  Dims at(outer.size(), 0);
  int64_t n = 1;
  for (int64_t d : outer) n *= d;
  int64_t block = 0;
  for (int64_t k = 0; k < n; ++k) {
    int64_t base = s.offset;
    for (size_t i = 0; i < outer.size(); ++i) base += at[i] * s.strides[i];
    for (int64_t o : s.offsets) visit(base + o, block++);
    for (size_t i = outer.size(); i-- > 0;) {
      if (++at[i] < outer[i]) break;
      at[i] = 0;
    }
  }
}

Dims result_dims(const Selection& s) {
  Dims d(std::span<const int64_t>(s.dims.data(), s.index_at));
  d.append(s.index_dims.begin(), s.index_dims.end());
  d.append(s.dims.begin() + s.index_at, s.dims.end());
  return d;
}

/// `t` read with sizes `dims`, repeated where it has size 1; the strides of that, or an error.
Result<Dims> broadcast_strides(const Tensor& t, std::span<const int64_t> dims) {
  auto mine = t.dims();
  size_t skip = 0;
  while (mine.size() - skip > dims.size() && mine[skip] == 1) ++skip;
  bool fits = mine.size() - skip <= dims.size();
  Dims strides(dims.size(), 0);
  for (size_t i = 0; fits && i < mine.size() - skip; ++i) {
    size_t to = dims.size() - (mine.size() - skip) + i;
    if (mine[skip + i] == dims[to])
      strides[to] = t.strides()[skip + i];
    else if (mine[skip + i] != 1)
      fits = false;
  }
  if (!fits) {
    return fail(ErrorKind::ValueError, "could not broadcast input array from shape {} into shape {}", shape_tuple_text(mine),
                shape_tuple_text(dims));
  }
  return strides;
}

}  // namespace

Result<Value> array_get_item(Interp& interp, const Value& self, const Value& key) {
  NdArrayObject* a = self.as<NdArrayObject>();
  Tensor& content = array_content(interp, a);
  if (const std::byte* place = content.dtype() == DType::String ? nullptr : element_place(content, key)) {
    if (Value one = element_at(interp, content.dtype(), place); !one.is_empty()) return one;
  }
  Tensor t = content;
  Selection s = TFL_TRY(select(interp, t, key));
  if (!s.advanced) {
    // With ... in the key even a single element is an array that can be assigned to.
    if (s.dims.empty() && !has_ellipsis(interp, key)) {
      Tensor one = TFL_TRY(Tensor::empty(interp.context, t.dtype(), {}));
      one.rep()->extra = t.rep()->extra;
      copy_strided(interp.context, t.dtype(), {}, one.raw(), {}, t.raw() + s.offset * static_cast<int64_t>(dtype_size(t.dtype())),
                   {});
      return numpy_scalar_value(interp, one);
    }
    return array_view(interp, self, s.dims, s.strides, s.offset);
  }
  Dims dims = result_dims(s);
  Tensor out = TFL_TRY(Tensor::empty(interp.context, t.dtype(), dims));
  out.rep()->extra = t.rep()->extra;
  std::span<const int64_t> inner(s.dims.data() + s.index_at, s.dims.size() - s.index_at);
  std::span<const int64_t> inner_strides(s.strides.data() + s.index_at, inner.size());
  Dims own = Tensor::row_major_strides(inner);
  int64_t length = 1;
  for (int64_t d : inner) length *= d;
  auto size = static_cast<int64_t>(dtype_size(t.dtype()));
  for_each_block(s, [&](int64_t offset, int64_t block) {
    copy_strided(interp.context, t.dtype(), inner, out.raw() + block * length * size, own, t.raw() + offset * size,
                 inner_strides);
  });
  return array_result(interp, out);
}

/// a[key] = source, whose elements have the array's type.
static Result<void> store(Interp& interp, NdArrayObject* a, const Value& key, Tensor source) {
  DType dtype = source.dtype();
  Tensor* target = TFL_TRY(array_for_write(interp, a));
  Selection s = TFL_TRY(select(interp, *target, key));
  if (source.rep()->buffer && source.rep()->buffer == target->rep()->buffer) {
    // a[1:] = a[:-1]: the right side is read as it was.
    source = TFL_TRY(copy_of(interp, source));
  }
  auto size = static_cast<int64_t>(dtype_size(dtype));
  if (!s.advanced) {
    Dims from = TFL_TRY(broadcast_strides(source, s.dims));
    copy_strided(interp.context, dtype, s.dims, target->raw() + s.offset * size, s.strides, source.raw(), from);
    return {};
  }
  Dims dims = result_dims(s);
  Dims from = TFL_TRY(broadcast_strides(source, dims));
  std::span<const int64_t> inner(s.dims.data() + s.index_at, s.dims.size() - s.index_at);
  std::span<const int64_t> inner_strides(s.strides.data() + s.index_at, inner.size());
  size_t lead = s.index_at + s.index_dims.size();
  Dims at(lead, 0);
  for_each_block(s, [&](int64_t offset, int64_t) {
    int64_t source_offset = 0;
    for (size_t i = 0; i < lead; ++i) source_offset += at[i] * from[i];
    copy_strided(interp.context, dtype, inner, target->raw() + offset * size, inner_strides, source.raw() + source_offset * size,
                 std::span<const int64_t>(from.data() + lead, from.size() - lead));
    for (size_t i = lead; i-- > 0;) {
      if (++at[i] < dims[i]) break;
      at[i] = 0;
    }
  });
  return {};
}

Result<void> array_set_item(Interp& interp, const Value& self, const Value& key, const Value& value) {
  NdArrayObject* a = self.as<NdArrayObject>();
  if (value.is_empty()) return fail(ErrorKind::ValueError, "cannot delete array elements");
  DType dtype = array_content(interp, a).dtype();
  if (a->writable && dtype != DType::String && element_place(array_content(interp, a), key)) {
    Tensor* own = TFL_TRY(array_for_write(interp, a));  // which may lie elsewhere now
    auto* place = const_cast<std::byte*>(element_place(*own, key));
    if (place && store_element(dtype, place, value)) return {};
  }
  if (holds_objects(array_content(interp, a))) {
    // A single place takes any object; more of them take the items of a sequence.
    Selection s = TFL_TRY(select(interp, array_content(interp, a), key));
    size_t rank = s.dims.size() + s.index_dims.size();
    Tensor objects =
        is_tensor_like(value) && rank > 0 ? TFL_TRY(as_array(interp, value)) : TFL_TRY(objects_of(interp, value, rank));
    return store(interp, a, key, TFL_TRY(text_to_store(interp, objects, array_content(interp, a))));
  }
  bool host = value.is_int() || value.is(Kind::List) || value.is(Kind::Tuple);  // integers that do not fit are refused
  Tensor source = TFL_TRY(host && is_integer(dtype) ? as_array(interp, value, dtype) : as_array(interp, value));
  source = TFL_TRY(dtype == DType::String ? text_to_store(interp, source, array_content(interp, a))
                                          : cast_tensor(interp, source, dtype));
  return store(interp, a, key, std::move(source));
}

}  // namespace tfl
