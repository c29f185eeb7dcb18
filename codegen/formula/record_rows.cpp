// Rows of elementwise.def and elementwise_checks.def, instantiated for the value type that records.
#include "codegen/formula/rec.h"

#include "codegen/formula/record.h"
#include "codegen/formula/round.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/kernels/isa/rows.h"
#include "runtime/ops/op.h"

namespace tfl::formula {

namespace {

using Operands = std::span<const Operand>;

Term operand_term(Recorder& r, Operands operands, int number, Elem type) {
  auto n = static_cast<size_t>(number);
  if (n < operands.size() && operands[n]) return known_term(*operands[n]);
  return r.argument(number, type);
}

using RowRecorder = void (*)(Recorder&, Operands);

template <class Row, class T>
void record_as(Recorder& r, Operands operands) {
  using V = Rec<T>;
  using X = std::conditional_t<Row::types == TypeClass::choice, RecMask, V>;
  X x(operand_term(r, operands, 0, Row::types == TypeClass::choice ? Elem::mask : elem_tag<T>()));
  V y(0), z(0);
  if constexpr (Row::arity > 1) y = V(operand_term(r, operands, 1, elem_tag<T>()));
  if constexpr (Row::arity > 2) z = V(operand_term(r, operands, 2, elem_tag<T>()));
  auto value = Row::template value<V>(x, y, z);
  if constexpr (Row::result == ResultType::same) {
    r.finish(value.term, elem_tag<T>());
  } else if constexpr (Row::result == ResultType::boolean) {
    r.finish(value.term, Elem::mask);
  } else {
    r.finish(convert<std::uint8_t>(value).term, Elem::u8);
  }
}

template <class Row, class T, bool Truth>
constexpr RowRecorder row_recorder() {
  // What makes complex numbers is not recorded yet: graphs with these run such steps outside of machine code.
  if constexpr (row_takes<T>(Row::types, Truth) && Row::result != ResultType::pair) {
    return record_as<Row, T>;
  } else {
    return nullptr;
  }
}

template <class T, bool Truth>
constexpr RowRecorder kRows[kElementwiseCount] = {
#define TFL_ELEMENTWISE(name, tf_name, operands, types, result, value, gradients, ...) row_recorder<rows::Row_##name, T, Truth>(),
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
};

const RowRecorder* rows_of(DType dtype) {
  switch (dtype) {
    case DType::F16:
    case DType::BF16:
    case DType::F32: return kRows<float, false>;
    case DType::F64: return kRows<double, false>;
    case DType::I8: return kRows<int8_t, false>;
    case DType::I16: return kRows<int16_t, false>;
    case DType::I32: return kRows<int32_t, false>;
    case DType::I64: return kRows<int64_t, false>;
    case DType::U8: return kRows<uint8_t, false>;
    case DType::U16: return kRows<uint16_t, false>;
    case DType::U32: return kRows<uint32_t, false>;
    case DType::U64: return kRows<uint64_t, false>;
    case DType::Bool: return kRows<uint8_t, true>;
    case DType::C64:
    case DType::C128:
    case DType::String: break;
  }
  return nullptr;
}

// Whether a value is one that the half type has, given that the operands are.
bool fits_half(const Formula& f, Id id, DType half) {
  const Inst& i = f.at(id);
  switch (i.prim) {
    case Prim::argument: return i.type == Elem::f32;
    case Prim::constant: {
      auto x = std::bit_cast<float>(static_cast<uint32_t>(i.extra));
      return x != x || (half == DType::F16 ? to_f32(to_f16(x)) : to_f32(to_bf16(x))) == x;
    }
    case Prim::neg:
    case Prim::abs:
    case Prim::copysign:
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint: return fits_half(f, i.a, half);
    case Prim::minimum:
    case Prim::maximum: return fits_half(f, i.a, half) && fits_half(f, i.b, half);
    case Prim::select: return fits_half(f, i.b, half) && fits_half(f, i.c, half);
    default: return false;
  }
}

template <class T>
RecMask violation(Op op, Recorder& r, Operands operands) {
  using V [[maybe_unused]] = Rec<T>;
  Rec<T> y(operand_term(r, operands, 1, elem_tag<T>()));
#define TFL_ELEMENTWISE_CHECK(name, types, violated, kind, text) \
  if (op == Op::name) return row_takes<T>(TypeClass::types, false) ? RecMask(violated) : RecMask(false);
#include "runtime/ops/elementwise_checks.def"
#undef TFL_ELEMENTWISE_CHECK
  return RecMask(false);
}

}  // namespace

Elem elem_of_dtype(DType dtype) {
  switch (dtype) {
    case DType::F64: return Elem::f64;
    case DType::I8: return Elem::i8;
    case DType::I16: return Elem::i16;
    case DType::I32: return Elem::i32;
    case DType::I64: return Elem::i64;
    case DType::U8:
    case DType::Bool: return Elem::u8;
    case DType::U16: return Elem::u16;
    case DType::U32: return Elem::u32;
    case DType::U64: return Elem::u64;
    default: return Elem::f32;
  }
}

std::optional<Formula> record_row(Op op, DType dtype, std::span<const Operand> operands) {
  const RowRecorder* rows = rows_of(dtype);
  if (!rows || !is_elementwise(op) || !rows[static_cast<int>(op)]) return {};
  std::optional<Formula> f(std::in_place);
  Recorder r(*f);
  rows[static_cast<int>(op)](r, operands);
  bool half = dtype == DType::F16 || dtype == DType::BF16;
  if (half && f->at(f->value()).type == Elem::f32 && !fits_half(*f, f->value(), dtype)) {
    Term value{&r, f->value(), 0};
    r.finish(rounded_to(dtype, Rec<float>(value)).term, Elem::f32);
  }
  prune(*f);
  return f;
}

std::optional<Formula> record_violation(Op op, DType dtype, std::span<const Operand> operands) {
  std::optional<Formula> f(std::in_place);
  Recorder r(*f);
  RecMask m(false);
  switch (dtype) {
    case DType::I8: m = violation<int8_t>(op, r, operands); break;
    case DType::I16: m = violation<int16_t>(op, r, operands); break;
    case DType::I32: m = violation<int32_t>(op, r, operands); break;
    case DType::I64: m = violation<int64_t>(op, r, operands); break;
    case DType::U8: m = violation<uint8_t>(op, r, operands); break;
    case DType::U16: m = violation<uint16_t>(op, r, operands); break;
    case DType::U32: m = violation<uint32_t>(op, r, operands); break;
    case DType::U64: m = violation<uint64_t>(op, r, operands); break;
    default: break;
  }
  if (m.term.known() && !m.term.bits) return {};
  r.finish(m.term, Elem::mask);
  prune(*f);
  return f;
}

}  // namespace tfl::formula
