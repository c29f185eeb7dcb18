// A formula: what an elementwise operation does with one element, as a list of primitive instructions. It is plain data, recorded
// from the templates of runtime/math (codegen/formula/record.h), from which back ends write code for any number of lanes. The
// primitives and what they guarantee are those of runtime/math/vec.h. This header must not know a back end, nor where elements
// lie.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tfl::formula {

enum class Elem : uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f32, f64, mask };

constexpr bool is_float(Elem e) { return e == Elem::f32 || e == Elem::f64; }
constexpr bool is_signed(Elem e) { return e <= Elem::i64; }
constexpr int bits_of(Elem e) {
  switch (e) {
    case Elem::i8:
    case Elem::u8: return 8;
    case Elem::i16:
    case Elem::u16: return 16;
    case Elem::i32:
    case Elem::u32:
    case Elem::f32: return 32;
    case Elem::i64:
    case Elem::u64:
    case Elem::f64: return 64;
    case Elem::mask: return 1;
  }
  return 0;
}

enum class Prim : uint8_t {
  argument,  // number `extra`
  constant,  // `extra`: the bits, zeros above them
  add,
  subtract,
  multiply,
  divide,
  bit_and,
  bit_or,
  bit_xor,  // of integers and masks
  shift_left,
  shift_right,  // b: the count, of the same type
  minimum,
  maximum,
  copysign,
  neg,
  abs,  // of floats
  sqrt,
  floor,
  ceil,
  trunc,
  rint,
  fma,        // a * b + c
  round_f16,  // of f32: to the nearest value that f16 has
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,  // give a mask
  select,         // a ? b : c
  convert,
  bitcast,
  table,      // tables[extra][a]
  rarely,     // where the mask a holds the results of region `extra`, elsewhere its inputs; read by `result`
  iterate,    // the region `extra` as a loop, for the lanes of mask a; read by `result`
  result,     // number `extra` of the rarely or iterate a
  parameter,  // number `extra` of the values that go round the loop, in its region
};

using Id = uint32_t;
inline constexpr Id kNoId = UINT32_MAX;

struct Inst {
  Prim prim = Prim::constant;
  Elem type = Elem::mask;
  Id a = kNoId, b = kNoId, c = kNoId;
  uint64_t extra = 0;
};

/// Instructions that run in order. Region 0 is the formula itself, its one result the value.
struct Region {
  std::vector<Id> body;
  std::vector<Id> inputs;   // rarely: what lanes have that do not need it; iterate: the first values of its parameters
  std::vector<Id> params;   // iterate
  std::vector<Id> results;  // rarely: the values; iterate: the next values of the parameters
  Id go_on = kNoId;         // iterate: a mask; lanes where it does not hold keep what `results` has given them, and stop
  int64_t limit = 0;        // iterate: rounds at most
};

struct Table {
  Elem type = Elem::u32;
  std::vector<uint64_t> values;
};

struct Formula {
  std::vector<Inst> insts;
  std::vector<Region> regions;
  std::vector<Table> tables;
  int arguments = 0;

  Id value() const { return regions[0].results[0]; }
  const Inst& at(Id id) const { return insts[id]; }
};

/// Removes what the value does not need.
void prune(Formula& f);
/// For people.
std::string formula_text(const Formula& f);

/// The primitive over constants; `from` is the type of its operands, `type` that of its value (of comparisons and masks: `mask`).
uint64_t evaluate(Prim prim, Elem type, Elem from, uint64_t a, uint64_t b, uint64_t c);
/// The whole formula for one element.
uint64_t evaluate(const Formula& f, const uint64_t* arguments);

}  // namespace tfl::formula
