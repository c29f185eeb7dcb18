// What is true of an operation, as its row in runtime/ops/*.def says it. Whoever wants to know something of operations asks here and
// does not name them; what is an operation's own (its shape rule, kernel, gradient, emission) is a function in the file of these.
// This header must not know what anybody does with a fact.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/ops/op.h"

namespace tfl {

inline constexpr size_t kOpCount = 0
#define TFL_ELEMENTWISE(...) +1
#include "runtime/ops/elementwise.def"
#undef TFL_ELEMENTWISE
#define TFL_OP(...) +1
#include "runtime/ops/structural.def"
#undef TFL_OP
#define TFL_CONTROL(...) +1
#include "runtime/ops/control.def"
#undef TFL_CONTROL
    ;

// The kinds that rows name belong to the kernels.
enum class Routine : uint8_t;
enum class WindowKind : uint8_t;
enum class ReduceKind : uint8_t;

/// How machine code computes an operation.
enum class PlanForm : uint8_t {
  none,          // not at all: the library does
  control,       // regions, constants, effects
  elementwise,   // its formula
  ordered_view,  // elements of the first operand, in their order
  view,          // elements of the first operand, at other places
  deferred,      // an expression where an element is needed
  reduction,     // folds over axes
  product,       // of matrices
  window,        // convolutions and pooling
  routine,       // a call
  write,         // moves into memory of its own
};

/// When an operation may fail whose operands its rule has accepted.
enum class Fails : uint8_t {
  never,
  by_sizes,     // while the sizes of an operand are unknown
  by_values,    // that, or while an operand behind the first is no constant
  by_numbers,   // while one of the operands named is no constant
  by_elements,  // it looks at elements
  elementwise,  // sizes that differ, and what elementwise_checks.def says
};

/// Which operands make integers that follow from sizes.
enum class Follows : uint8_t {
  none,
  types,   // the type of the operand
  first,   // the first operand
  second,  // the second one
  all,     // all of them
  picked,  // the first one, where the others are constants
};

struct OpFacts {
  PlanForm form = PlanForm::none;
  std::string_view arguments;  // of elementwise operations in scripts: "features, alpha"
  std::string_view homes;      // where scripts find it: "tf math", "math:floormod" under another name
  Fails fails = Fails::by_elements;
  uint8_t numbers = 0;           // of Fails::by_numbers: a bit an operand
  bool reads = false;            // variables
  bool writes = false;           // variables, streams, the state of generators
  bool regions = false;          // it runs blocks of its own
  bool variable = false;         // operand 0 is a variable, and nothing else happens to it
  bool rows = false;             // an operation on arrays that machine code knows, of elements with one size
  bool by_operands = false;      // of rows that only graphs have: the result is a tensor that depends on the operands alone
  bool refuses = false;          // machine code looks at elements that it may refuse
  bool words = false;            // words a message; it cannot fail
  bool commutes = false;         // x op y is y op x to the last bit (all NaN being one), unless they give strings
  bool stops_at_zero = false;    // where no gradient flows in, none flows out, however steep it is there
  bool steps_are_exact = false;  // its formula rounds several times and loses nothing
  int8_t sizes_in = -1;          // the operand that holds the sizes of the result
  uint8_t unread = 0;            // operands whose elements machine code does not read: a bit each
  uint8_t cost = 1;  // of an element that is computed where it is needed; elementwise operations have theirs from the formula
  Follows follows = Follows::none;
  Routine routine{};  // of PlanForm::routine, with the flag that says which one it is
  int64_t how = 0;
  WindowKind window{};  // of PlanForm::window
  ReduceKind folds{};   // of PlanForm::reduction

  bool reads_elements(size_t operand) const { return operand > 7 || !(unread >> operand & 1); }
  /// A result is some of the operand's elements, and none is computed.
  bool is_view() const { return form == PlanForm::view || form == PlanForm::ordered_view; }
};

const OpFacts& op_facts(Op op);

/// A function for each of some operations, found by name.
template <class F>
struct OpTable {
  struct Row {
    Op op;
    F function;
  };
  template <size_t n>
  constexpr OpTable(const Row (&rows)[n]) {  // NOLINT: a list of rows is a table
    for (const Row& r : rows) of_[static_cast<size_t>(r.op)] = r.function;
  }
  constexpr F operator[](Op op) const { return of_[static_cast<size_t>(op)]; }

 private:
  F of_[kOpCount]{};
};

}  // namespace tfl
