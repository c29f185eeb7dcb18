// Which element types the elementwise operations take and give. Apart from the operation table, because the loops of every
// instruction set depend on it: another kind of operation must not compile them anew.
#pragma once

#include <cstdint>

#include "runtime/tensor/dtype.h"

namespace tfl {

/// Which element types an elementwise operation takes.
enum class TypeClass : uint8_t {
  any,      // every type, strings included
  numeric,  // integers and floats
  number,   // these and complex numbers
  number_or_string,
  floating,
  fractional,  // floats and complex numbers
  complex,
  single_or_double,  // floats that are no half types
  integer,
  signed_integer,
  boolean,
  real_signed,    // floats and signed integers
  signed_number,  // these and complex numbers
  choice,         // a bool first, then two operands of one type, whichever
};
bool type_class_has(TypeClass types, DType dtype);
/// The element type of an elementwise result.
enum class ResultType : uint8_t {
  same,
  boolean,
  byte,
  part,  // the floats that a complex number is made of
  pair,  // the complex number that is made of floats
};

}  // namespace tfl
