// What records a formula: terms, which are constants or values of instructions already recorded, and the function that appends a
// primitive over them. Primitives of constants are computed at once, and what a constant decides is decided: so a formula that is
// recorded with constant operands has only what depends on the others. This header must not know the templates of runtime/math.
#pragma once

#include "codegen/formula/formula.h"

namespace tfl::formula {

class Recorder;

/// A constant when it has no recorder.
struct Term {
  Recorder* recorder = nullptr;
  Id id = kNoId;
  uint64_t bits = 0;

  bool known() const { return recorder == nullptr; }
  bool operator==(const Term&) const = default;
};
inline Term known_term(uint64_t bits) { return {nullptr, kNoId, bits}; }

class Recorder {
 public:
  explicit Recorder(Formula& f) : formula_(f), open_{0} { f.regions.resize(1); }
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  Formula& formula() { return formula_; }
  Term argument(int number, Elem type);
  Term append(const Inst& inst);
  /// The instruction of a term; a constant becomes one.
  Id id_of(const Term& t, Elem type);
  uint64_t table_of(Table table);
  /// What is recorded from now on goes into a new region.
  uint32_t open();
  void close() { open_.pop_back(); }
  Region& region(uint32_t number) { return formula_.regions[number]; }
  /// Ends the formula.
  void finish(const Term& value, Elem type) { formula_.regions[0].results = {id_of(value, type)}; }

 private:
  Formula& formula_;
  std::vector<uint32_t> open_;
};

/// prim(a, b, c) of `type` from operands of `from` (select: of `type`, but the mask a; table: a is of `from`).
Term record(Prim prim, Elem type, Elem from, const Term& a, const Term& b = {}, const Term& c = {});
Term record_table(const Term& index, Elem index_type, Table table);

}  // namespace tfl::formula
