// Tensors of tfl.h: elements that lie in memory of one side and are seen by the other.
#include <cstring>

#include "cli/embed/dlpack.h"
#include "cli/embed/interp.h"
#include "frontend/core/native.h"
#include "frontend/core/tensor_api.h"
#include "frontend/tensors/numpy/array.h"
#include "runtime/tensor/copy.h"

namespace tfl::embed {

namespace {

enum : uint8_t { kSigned = 0, kUnsigned = 1, kFloat = 2, kBfloat = 4, kBool = 6 };

struct ElementCode {
  DType dtype;
  uint8_t code, bits;
};
constexpr ElementCode kCodes[] = {{DType::F32, kFloat, 32},    {DType::F64, kFloat, 64},    {DType::F16, kFloat, 16},
                                  {DType::BF16, kBfloat, 16},  {DType::I64, kSigned, 64},   {DType::I32, kSigned, 32},
                                  {DType::I16, kSigned, 16},   {DType::I8, kSigned, 8},     {DType::U8, kUnsigned, 8},
                                  {DType::U16, kUnsigned, 16}, {DType::U32, kUnsigned, 32}, {DType::U64, kUnsigned, 64},
                                  {DType::Bool, kBool, 8}};

const ElementCode* code_of(DType dtype) {
  for (const ElementCode& c : kCodes) {
    if (c.dtype == dtype) return &c;
  }
  return nullptr;
}

const ElementCode* code_of(uint8_t code, uint8_t bits) {
  for (const ElementCode& c : kCodes) {
    if (c.code == code && c.bits == bits) return &c;
  }
  return nullptr;
}

/// Elements are copied rather than borrowed when there are so few, or when they do not lie as the processor wants them.
bool is_copied(const tfl_view& v, size_t bytes, size_t size) {
  return bytes <= kInlineBytes || reinterpret_cast<uintptr_t>(v.data) % size != 0;
}

/// A tensor of what `view` shows; `lent` is set where it sees the memory itself.
Result<Tensor> tensor_of(Context& context, const tfl_view& view, Borrowed*& lent) {
  const ElementCode* element = code_of(view.code, view.bits);
  if (!element)
    return fail(ErrorKind::TypeError, "there is no element type of code {} with {} bits", static_cast<int>(view.code),
                static_cast<int>(view.bits));
  if (view.ndim < 0 || view.ndim > kMaxRank || (view.ndim > 0 && !view.shape))
    return fail(ErrorKind::ValueError, "a tensor has 0 to {} dimensions and their sizes, not {}", kMaxRank, view.ndim);
  std::span<const int64_t> dims(view.shape, static_cast<size_t>(view.ndim));
  const int64_t count = TFL_TRY(element_count(dims));
  const size_t size = dtype_size(element->dtype);
  if (!view.data && count > 0) return fail(ErrorKind::ValueError, "{} elements are to lie at NULL", count);
  Dims strides = Tensor::row_major_strides(dims);
  if (view.strides) std::copy_n(view.strides, dims.size(), strides.begin());
  const size_t bytes = static_cast<size_t>(count) * size;
  if (is_copied(view, bytes, size)) {
    Tensor t = TFL_TRY(Tensor::empty(context, element->dtype, dims));
    if (count == 0) return t;
    copy_strided(context, element->dtype, dims, t.raw(), t.strides(), static_cast<const std::byte*>(view.data), strides);
    return t;
  }
  return borrow(context, element->dtype, dims, strides, view.data, lent);
}

/// The elements of a value as they are now, here.
Result<Tensor> elements_of(Interp& interp, const Value& v) {
  if (v.is_tensor()) return v.tensor();
  if (v.is(Kind::NdArray)) return array_content(interp, v.as<NdArrayObject>());
  if (v.is(Kind::NumPyScalar)) return v.as<NumPyScalarObject>()->value;
  if (v.is(Kind::Variable)) return to_concrete(interp, v);
  return fail(ErrorKind::TypeError, "a {} is no tensor", interp.type_name(v));
}

tfl_error* from_view(Core& core, tfl_kind kind, const tfl_view& view, void (*release)(void*), void* user, tfl_value** out) {
  Borrowed* lent = nullptr;
  tfl_error* error = guarded(core, [&]() -> Result<void> {
    if (kind != TFL_KIND_TENSOR && kind != TFL_KIND_ARRAY)
      return fail(ErrorKind::ValueError, "of elements a tensor or an array is made");
    Tensor t = TFL_TRY(tensor_of(core.context, view, lent));
    if (lent) {
      lent->give_back = release;
      lent->user = user;
      core.lend(lent);
    }
    Value value = kind == TFL_KIND_TENSOR ? Value::of(std::move(t)) : array_result(core.interp, std::move(t));
    *out = new_value(core, std::move(value));
    return {};
  });
  if (!lent && release) release(user);
  return error;
}

/// A managed tensor that we hand out.
struct Exported {
  DLManagedTensor managed;
  Core* core;
  Tensor tensor;
  Dims shape, strides;
};

void give_up(DLManagedTensor* managed) {
  auto* e = static_cast<Exported*>(managed->manager_ctx);
  Core* core = e->core;
  core->drop(Value(), std::move(e->tensor));
  delete e;
  core->release();
}

}  // namespace

}  // namespace tfl::embed

using namespace tfl;
using namespace tfl::embed;

extern "C" {

tfl_error* tfl_from_view(tfl_interp* interp, tfl_kind kind, const tfl_view* view, void (*release)(void*), void* user,
                         tfl_value** out) {
  *out = nullptr;
  return from_view(core_of(interp), kind, *view, release, user, out);
}

tfl_error* tfl_to_view(tfl_interp* interp, tfl_value* value, tfl_view* view) {
  Core& core = core_of(interp);
  *view = {};
  return guarded(core, [&]() -> Result<void> {
    const Value& v = value->value;
    if (!value->seen) {
      value->seen = TFL_TRY(elements_of(core.interp, v));
      // An array that others know copies its elements before they are written to: from now on somebody else sees them.
      if (v.is(Kind::NdArray) && v.counted()->refs > 1) {
        NdArrayObject* a = v.as<NdArrayObject>();
        (a->base.is(Kind::NdArray) ? a->base.as<NdArrayObject>() : a)->owned = false;
      }
    }
    const Tensor& t = value->seen;
    const ElementCode* element = code_of(t.dtype());
    if (!element) return fail(ErrorKind::TypeError, "texts do not lie as elements; tfl_to_host makes a list of them");
    const TensorRep* rep = t.rep();
    // Nobody else: the tensor is known to the value and to `seen`, or to an array that only the value knows and to `seen`.
    const bool own = v.is_tensor() || (v.counted()->refs == 1 && (v.is(Kind::NdArray) || v.is(Kind::NumPyScalar)));
    const bool alone = own && rep->refs <= 2 && (!rep->buffer || rep->buffer->refs == 1) && !is_borrowed(t);
    *view = {const_cast<std::byte*>(t.raw()),
             rep->dims(),
             rep->strides(),
             static_cast<int32_t>(t.rank()),
             element->code,
             element->bits,
             !alone,
             0};
    return {};
  });
}

tfl_error* tfl_from_dlpack(tfl_interp* interp, tfl_kind kind, DLManagedTensor* managed, tfl_value** out) {
  *out = nullptr;
  auto release = [](void* user) {
    auto* m = static_cast<DLManagedTensor*>(user);
    if (m->deleter) m->deleter(m);
  };
  const DLTensor& t = managed->dl_tensor;
  const char* wrong = nullptr;
  // 1 is the processor's memory; 3 and 11 are that, too, as CUDA and ROCm pin it.
  if (t.device.device_type != 1 && t.device.device_type != 3 && t.device.device_type != 11)
    wrong = "the elements lie in a device's memory: bring them to the processor's first";
  else if (t.dtype.lanes != 1)
    wrong = "elements of several lanes have no type here";
  if (wrong) {
    release(managed);
    return new_error("TypeError", wrong);
  }
  tfl_view view{static_cast<char*>(t.data) + t.byte_offset, t.shape, t.strides, t.ndim, t.dtype.code, t.dtype.bits, 0, 0};
  if (!t.data) view.data = nullptr;
  return from_view(core_of(interp), kind, view, release, managed, out);
}

tfl_error* tfl_to_dlpack(tfl_interp* interp, tfl_value* value, DLManagedTensor** out) {
  *out = nullptr;
  tfl_view view;
  if (tfl_error* error = tfl_to_view(interp, value, &view)) return error;
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    core.retain();
    auto* e = new Exported{{}, &core, value->seen, Dims(value->seen.dims()), Dims(value->seen.strides())};
    e->managed = {{view.data, {1, 0}, view.ndim, {view.code, view.bits, 1}, e->shape.data(), e->strides.data(), 0}, e, give_up};
    *out = &e->managed;
    return {};
  });
}

tfl_error* tfl_to_host(tfl_interp* interp, const tfl_value* value, tfl_value** out) {
  *out = nullptr;
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    Tensor t = TFL_TRY(elements_of(core.interp, value->value));
    *out = new_value(core, TFL_TRY(to_host(core.interp, t)));
    return {};
  });
}

}  // extern "C"
