#include "ir/array.h"

#include <cstring>

#include "runtime/ops/groups.h"
#include "runtime/shapes/rules.h"
#include "runtime/tensor/element.h"

namespace tfl::ir {

namespace {

constexpr int64_t kMostItems = int64_t{1} << 28;

template <class... Args>
Failure refuse(fmt::format_string<Args...> format, Args&&... args) {
  return fail(ErrorKind::InvalidArgumentError, fmt::vformat(format, fmt::make_format_args(args...)));
}

int64_t index_of(const Tensor& t) { return load_int(t.dtype(), t.raw()); }

Result<Dims> indices_of(const Tensor& t) {
  if (t.rank() != 1) return refuse("Expected indices to be a vector, but received shape: {}", shape_text(t.dims()));
  return shape_rules::integers(t);
}

// The content, to be changed: a copy when somebody else sees it.
ArrayContent& writable(Array& a) {
  if (a.use_count() != 1) a = std::make_shared<ArrayContent>(*a);
  return *a;
}

bool matches(const TensorType& element, const Tensor& item) {
  if (!element.ranked) return true;
  if (element.dims.size() != static_cast<size_t>(item.rank())) return false;
  for (size_t i = 0; i < element.dims.size(); ++i) {
    if (element.dims[i] >= 0 && element.dims[i] != item.dim(static_cast<int>(i))) return false;
  }
  return true;
}

Result<Tensor> zeros(Context& context, DType dtype, std::span<const int64_t> dims) {
  Tensor t = TFL_TRY(Tensor::empty(context, dtype, dims));
  if (dtype != DType::String && t.size()) std::memset(t.raw(), 0, t.bytes());
  return t;
}

// The sizes of an element never written: those of the array's type, or of what was written elsewhere.
Result<Dims> missing_dims(const ArrayContent& a, std::string_view doing) {
  TensorType known = a.element;
  for (const Tensor& t : a.items) {
    if (known.ranked && shape_rules::all_known(known.dims)) break;
    if (t) known = {t.dtype(), true, Dims(t.dims())};
  }
  if (known.ranked && shape_rules::all_known(known.dims)) return known.dims;
  return refuse("Trying to {} an uninitialized tensor but element_shape is not fully defined.{}", doing,
                known.ranked ? shape_rules::shape_words(known.dims) : std::string("<unknown>"));
}

Result<Tensor> item(Context& context, const ArrayContent& a, size_t i, std::string_view doing) {
  if (a.items[i]) return a.items[i];
  Dims dims = TFL_TRY(missing_dims(a, doing));
  return zeros(context, a.element.dtype, dims);
}

Result<Tensor> read(Context& context, const ArrayContent& a, const Tensor& index) {
  int64_t i = index_of(index);
  int64_t n = static_cast<int64_t>(a.items.size());
  if (i < 0 || i >= n) return refuse("Trying to access element {} in a list with {} elements.", i, n);
  return item(context, a, static_cast<size_t>(i), "read");
}

Result<size_t> place_for(ArrayContent& a, int64_t i) {
  int64_t n = static_cast<int64_t>(a.items.size());
  if (i >= n && a.grows && i < kMostItems) {
    a.items.resize(static_cast<size_t>(i) + 1);
  } else if (i < 0 || i >= n) {
    return refuse("Trying to modify element {} in a list with {} elements.", i, n);
  }
  return static_cast<size_t>(i);
}

Result<void> set(ArrayContent& a, int64_t i, Tensor value) {
  if (!matches(a.element, value)) {
    return refuse("Tried to set a tensor with incompatible shape at a list index. Item element shape: {} list shape: {}",
                  shape_text(value.dims()), shape_rules::shape_words(a.element.dims));
  }
  size_t at = TFL_TRY(place_for(a, i));
  a.items[at] = std::move(value);
  return {};
}

// Where the elements are the rows of one tensor, as machine code leaves them, that is what they make; else nothing.
Tensor rows_of(Context& context, const Tensors& items) {
  const Tensor& first = items[0];
  if (first.dtype() == DType::String || items.size() < 2 || !first.rep() || !first.rep()->buffer) return {};
  const size_t bytes = first.bytes();
  if (bytes == 0 || first.rep()->buffer->bytes / 2 > bytes * items.size()) return {};  // the rest would stay with it
  for (size_t i = 0; i < items.size(); ++i) {
    const TensorRep* r = items[i].rep();
    if (!r || r->buffer != first.rep()->buffer || !r->contiguous || items[i].dtype() != first.dtype() ||
        !std::equal(items[i].dims().begin(), items[i].dims().end(), first.dims().begin(), first.dims().end()) ||
        items[i].raw() != first.raw() + i * bytes)
      return {};
  }
  Dims dims(first.dims());
  dims.insert(0, static_cast<int64_t>(items.size()));
  return Tensor::view(context, first, dims, Tensor::row_major_strides(dims), 0);
}

Result<Tensor> stack(Context& context, const ArrayContent& a, Tensors items) {
  if (items.empty()) {
    Dims dims{0};
    if (!a.element.ranked || !shape_rules::all_known(a.element.dims)) {
      return refuse("Tried to stack elements of an empty list with non-fully-defined element_shape: {}",
                    a.element.ranked ? shape_rules::shape_words(a.element.dims) : std::string("<unknown>"));
    }
    dims.append(a.element.dims.begin(), a.element.dims.end());
    return zeros(context, a.element.dtype, dims);
  }
  if (Tensor rows = rows_of(context, items)) return rows;
  for (const Tensor& t : items) {
    if (!std::equal(t.dims().begin(), t.dims().end(), items[0].dims().begin(), items[0].dims().end())) {
      return refuse("Tried to stack list which contains tensors of incompatible shapes: {} vs. {}", shape_text(items[0].dims()),
                    shape_text(t.dims()));
    }
  }
  Attrs attrs;
  attrs.set_int(Attr::axis, 0);
  Tensors results;
  TFL_TRY(apply(context, Op::stack, items, attrs, results));
  return std::move(results[0]);
}

Result<Tensor> stack_all(Context& context, const ArrayContent& a) {
  Tensors items;
  for (size_t i = 0; i < a.items.size(); ++i) items.push_back(TFL_TRY(item(context, a, i, "stack")));
  return stack(context, a, std::move(items));
}

Result<Tensor> concat(Context& context, const ArrayContent& a) {
  Tensors items;
  for (size_t i = 0; i < a.items.size(); ++i) {
    Tensor t = TFL_TRY(item(context, a, i, "concat"));
    if (t.rank() == 0) return refuse("Concat requires elements to be at least vectors, found scalars instead.");
    items.push_back(std::move(t));
  }
  if (items.empty()) {
    if (!a.element.ranked || a.element.dims.empty()) {
      return refuse("All except the first dimension must be fully defined when concating an empty tensor list.");
    }
    Dims dims = a.element.dims;
    dims[0] = 0;
    if (!shape_rules::all_known(dims))
      return refuse("All except the first dimension must be fully defined when concating an empty tensor list. element_shape: {}",
                    shape_rules::shape_words(a.element.dims));
    return zeros(context, a.element.dtype, dims);
  }
  Attrs attrs;
  attrs.set_int(Attr::axis, 0);
  Tensors results;
  TFL_TRY(apply(context, Op::concat, items, attrs, results));
  return std::move(results[0]);
}

Result<Tensor> gather(Context& context, const ArrayContent& a, const Tensor& indices) {
  Tensors items;
  for (int64_t i : TFL_TRY(indices_of(indices))) {
    if (i < 0 || i >= static_cast<int64_t>(a.items.size()))
      return refuse("Trying to gather element {} in a list with {} elements.", i, a.items.size());
    items.push_back(TFL_TRY(item(context, a, static_cast<size_t>(i), "gather")));
  }
  return stack(context, a, std::move(items));
}

Result<void> rows(Context& context, const Tensor& x, Tensors& out) {
  if (x.rank() == 0) return refuse("Tensor must be at least a vector, but saw shape: []");
  if (x.dim(0) == 0) return {};
  Attrs attrs;
  attrs.set_int(Attr::axis, 0).set_int(Attr::num, x.dim(0));
  Tensor operands[] = {x};
  return apply(context, Op::unstack, operands, attrs, out);
}

Result<void> scatter(Context& context, ArrayContent& a, const Tensor& indices, const Tensor& values) {
  Tensors items;
  TFL_TRY(rows(context, values, items));
  Dims at = TFL_TRY(indices_of(indices));
  if (at.size() != items.size()) {
    return refuse("Specified a list with shape {} from a tensor with shape {}", shape_text(indices.dims()),
                  shape_text(values.dims()));
  }
  for (int64_t i : at) {
    if (i < 0) return refuse("Indices in TensorListScatter must all be non-negative.");
    if (i >= kMostItems) return fail(ErrorKind::ResourceExhaustedError, "a list of {} elements is too long", i);
    if (i >= static_cast<int64_t>(a.items.size())) a.items.resize(static_cast<size_t>(i) + 1);
  }
  for (size_t i = 0; i < at.size(); ++i) TFL_TRY(set(a, at[i], items[i]));
  return {};
}

// `keeps`: the lengths are those that the elements have.
Result<void> split(Context& context, ArrayContent& a, const Tensor& values, const Tensor& lengths, bool keeps) {
  if (values.rank() == 0) return refuse("Tensor must be at least a vector, but saw shape: []");
  if (lengths.rank() != 1 && !keeps)
    return refuse("Expected lengths to be a vector, received shape: {}", shape_text(lengths.dims()));
  Dims sizes = keeps ? Dims() : shape_rules::integers(lengths);
  for (const Tensor& t : a.items) {
    if (keeps) sizes.push_back(t && t.rank() > 0 ? t.dim(0) : 0);
  }
  int64_t total = 0;
  for (int64_t n : sizes) {
    if (n < 0) return refuse("Invalid value in lengths: {}", n);
    if (__builtin_add_overflow(total, n, &total)) total = INT64_MAX;
  }
  if (total != values.dim(0)) {
    return refuse("Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {} and value's shape is: {} ",
                  total, shape_text(values.dims()));
  }
  if (!a.grows && !a.items.empty() && a.items.size() != sizes.size()) {
    return refuse(
        "TensorArray's size is not equal to the size of lengths ({} vs. {}), and the TensorArray is not marked as dynamically "
        "resizeable.",
        a.items.size(), sizes.size());
  }
  a.items.clear();
  int64_t from = 0;
  for (int64_t n : sizes) {
    Dims dims(values.dims());
    dims[0] = n;
    Tensor part = Tensor::view(context, values, dims, values.strides(), n ? from * values.strides()[0] : 0);
    from += n;
    a.items.emplace_back();
    TFL_TRY(set(a, static_cast<int64_t>(a.items.size()) - 1, std::move(part)));
  }
  return {};
}

Result<void> accumulate(Context& context, Tensor& into, const Tensor& value) {
  if (!into) {
    into = value;
    return {};
  }
  Tensor both[2] = {std::move(into), value};
  Tensors results;
  TFL_TRY(apply_consuming(context, Op::add, both, {}, results));
  into = std::move(results[0]);
  return {};
}

Result<void> sum(Context& context, ArrayContent& a, const ArrayContent& b) {
  if (a.items.size() != b.items.size())
    return refuse("Trying to add two lists of tensors of different lengths: {} vs {}", a.items.size(), b.items.size());
  for (size_t i = 0; i < a.items.size(); ++i) {
    if (b.items[i]) TFL_TRY(accumulate(context, a.items[i], b.items[i]));
  }
  return {};
}

}  // namespace

Result<Array> array_of_rows(Context& context, const TensorType& element, Tensor rows, int64_t count) {
  auto array = std::make_shared<ArrayContent>();
  if (count < rows.dim(0) / 2) {  // what is not used would stay as long as an element
    Dims used(rows.dims());
    used[0] = count;
    Tensor few = TFL_TRY(Tensor::empty(context, rows.dtype(), used));
    if (few.size()) std::memcpy(few.raw(), rows.raw(), few.bytes());
    rows = std::move(few);
  }
  array->element = element;
  array->grows = true;
  Dims dims(rows.dims().subspan(1));
  array->items.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i)
    array->items.push_back(Tensor::view(context, rows, dims, rows.strides().subspan(1), i * rows.strides()[0]));
  return array;
}

Result<void> run_array(Context& context, Op op, const Attrs& attrs, const Type& result, Array& array, Array& other,
                       Tensors& tensors) {
  auto give = [&](Tensor t) -> Result<void> {
    tensors.clear();
    tensors.push_back(std::move(t));
    return {};
  };
  switch (static_cast<ArrayOp>(op)) {
    case ArrayOp::array_new: {
      int64_t n = index_of(tensors[0]);
      if (n < 0) return refuse("The num_elements to reserve must be a non negative number, but got {}", n);
      if (n >= kMostItems) return fail(ErrorKind::ResourceExhaustedError, "a list of {} elements is too long", n);
      array = std::make_shared<ArrayContent>();
      array->element = result.tensor;
      array->grows = attrs.get_bool(Attr::grows);
      array->items.resize(static_cast<size_t>(n));
      return {};
    }
    case ArrayOp::array_from: {
      array = std::make_shared<ArrayContent>();
      array->element = result.tensor;
      Tensors items;
      TFL_TRY(rows(context, tensors[0], items));
      array->items.assign(items.begin(), items.end());
      array->grows = attrs.get_bool(Attr::grows);
      if (!array->element.ranked) array->element = {tensors[0].dtype(), true, Dims(tensors[0].dims().subspan(1))};
      return {};
    }
    case ArrayOp::array_size:
      return give(TFL_TRY(scalar<int32_t>(context, DType::I32, static_cast<int32_t>(array->items.size()))));
    case ArrayOp::array_read: return give(TFL_TRY(read(context, *array, tensors[0])));
    case ArrayOp::array_write: return set(writable(array), index_of(tensors[0]), std::move(tensors[1]));
    case ArrayOp::array_push: {
      ArrayContent& a = writable(array);
      if (!matches(a.element, tensors[0])) {
        return refuse("Tried to append a tensor with incompatible shape to a list. Op element shape: {} list shape: {}",
                      shape_text(tensors[0].dims()), shape_rules::shape_words(a.element.dims));
      }
      if (static_cast<int64_t>(a.items.size()) >= kMostItems)
        return fail(ErrorKind::ResourceExhaustedError, "a list of {} elements is too long", a.items.size());
      a.items.push_back(std::move(tensors[0]));
      return {};
    }
    case ArrayOp::array_pop: {
      if (array->items.empty()) return refuse("Trying to pop from an empty list.");
      ArrayContent& a = writable(array);
      Tensor last = TFL_TRY(item(context, a, a.items.size() - 1, "read"));
      a.items.pop_back();
      return give(std::move(last));
    }
    case ArrayOp::array_stack:
      // Of no elements: the shape that the node declares for them.
      if (const Dims* shape = attrs.get_ints(Attr::shape); shape && array->items.empty() && shape_rules::all_known(*shape)) {
        Dims dims = *shape;
        dims.insert(0, 0);
        return give(TFL_TRY(zeros(context, array->element.dtype, dims)));
      }
      return give(TFL_TRY(stack_all(context, *array)));
    case ArrayOp::array_concat: return give(TFL_TRY(concat(context, *array)));
    case ArrayOp::array_gather: return give(TFL_TRY(gather(context, *array, tensors[0])));
    case ArrayOp::array_scatter: return scatter(context, writable(array), tensors[0], tensors[1]);
    case ArrayOp::array_split: return split(context, writable(array), tensors[0], tensors[1], attrs.get_bool(Attr::keepdims));
    case ArrayOp::array_add: {
      ArrayContent& a = writable(array);
      size_t at = TFL_TRY(place_for(a, index_of(tensors[0])));
      return accumulate(context, a.items[at], tensors[1]);
    }
    case ArrayOp::array_zeros_like: {
      auto fresh = std::make_shared<ArrayContent>();
      fresh->element = array->element;
      fresh->grows = array->grows;
      fresh->items.resize(array->items.size());
      array = std::move(fresh);
      return {};
    }
    case ArrayOp::array_sum: return sum(context, writable(array), *other);
  }
  return fail(ErrorKind::InternalError, "operation {} is not about arrays", op_info(op).name);
}

}  // namespace tfl::ir
