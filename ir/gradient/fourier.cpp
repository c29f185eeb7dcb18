// Gradients of Fourier transforms: each is linear, so its gradient is the transposed one, which has a row, too.
#include "ir/gradient/compose.h"
#include "ir/gradient/rules.h"

namespace tfl::gradient {

namespace {

/// The attributes of the transposed transform: `flag` says which of the two it is.
Attrs turned(const RuleCall& c, Attr flag) {
  Attrs attrs;
  for (Attr name : {Attr::reverse, Attr::adjoint}) {
    if (c.attrs.get_bool(name) != (name == flag)) attrs.set_bool(name, true);
  }
  if (const AttrValue* axis = c.attrs.find(Attr::axis)) attrs.set_int(Attr::axis, axis->integer);
  if (std::string_view mode = c.attrs.get_text(Attr::mode); !mode.empty()) attrs.set_text(Attr::mode, std::string(mode));
  return attrs;
}

void fft(RuleCall& c) { c.give(0, emit(Op::fft, {c.g()}, turned(c, Attr::reverse))); }

// Half a spectrum stands for a whole one where it is an operand and not where it is a result.
void rfft(RuleCall& c) { c.give(0, emit(Op::irfft, {c.g(), c.x_shape(0)}, turned(c, Attr::adjoint))); }
void irfft(RuleCall& c) {
  if (c.wanted(0)) c.give(0, emit(Op::rfft, {c.g()}, turned(c, Attr::adjoint)));
}

// Complex numbers seen as pairs, or pairs as complex numbers; TensorFlow's own `bitcast` has no gradient.
void pairs(RuleCall& c) {
  if (c.attrs.get_text(Attr::mode) != "pairs") return;
  Attrs back = Attrs().set_dtype(Attr::dtype, c.operand_type(0).tensor.dtype).set_text(Attr::mode, "pairs");
  c.give(0, emit(Op::bitcast, {c.g()}, back));
}

constexpr RuleRow kFourierRules[] = {
    {Op::bitcast, pairs},
    {Op::fft, fft},
    {Op::rfft, rfft},
    {Op::irfft, irfft},
};

}  // namespace

std::span<const RuleRow> fourier_rules() { return kFourierRules; }

}  // namespace tfl::gradient
