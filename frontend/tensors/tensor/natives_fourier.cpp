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

constexpr NativeDef kFourierNatives[] = {
    function("_fft", "x, axis, inverse, mode", fft),
    function("_rfft", "x, mode", rfft),
    function("_irfft", "x, sizes, mode", irfft),
};

}  // namespace

std::span<const NativeDef> fourier_natives() { return kFourierNatives; }

}  // namespace tfl
