// Natives of Fourier transforms of pairs along a last axis; `mode` says what results are multiplied by.
#include "frontend/core/native.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

namespace {

/// _fft(x, axis, inverse, mode)
Result<Value> fft(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Attrs attrs;
  attrs.set_int(Attr::axis, TFL_TRY(static_int(interp, args[1])));
  if (TFL_TRY(truth(interp, args[2]))) attrs.set_bool(Attr::reverse, true);
  attrs.set_text(Attr::mode, TFL_TRY(str_text(interp, args[3])));
  return apply_op(interp, Op::fft, {x}, attrs);
}

/// _rfft(x, mode)
Result<Value> rfft(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, Op::rfft, {x}, Attrs().set_text(Attr::mode, TFL_TRY(str_text(interp, args[1]))));
}

/// _irfft(x, sizes, mode)
Result<Value> irfft(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0])), sizes = TFL_TRY(shape_operand(interp, args[1]));
  return apply_op(interp, Op::irfft, {x, sizes}, Attrs().set_text(Attr::mode, TFL_TRY(str_text(interp, args[2]))));
}

/// Complex numbers as pairs along a last axis of 2, and back: the same bits, and unlike `bitcast` with a gradient.
template <DType (*other)(DType)>
Result<Value> seen_as(Interp& interp, Value* args) {
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  DType dtype = other(dtype_of(interp, x).value_or(DType::F32));
  return apply_op(interp, Op::bitcast, {x}, Attrs().set_dtype(Attr::dtype, dtype).set_text(Attr::mode, "pairs"));
}

constexpr NativeDef kFourierNatives[] = {
    function("_pairs_of_complex", "x", seen_as<part_dtype>),
    function("_complex_of_pairs", "x", seen_as<complex_of>),
    function("_fft", "x, axis, inverse, mode", fft),
    function("_rfft", "x, mode", rfft),
    function("_irfft", "x, sizes, mode", irfft),
};

}  // namespace

std::span<const NativeDef> fourier_natives() { return kFourierNatives; }

}  // namespace tfl
