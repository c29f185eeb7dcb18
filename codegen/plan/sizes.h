// Arithmetic over sizes of which some are known when the plan runs only: polynomials over the sizes of inputs and over what
// divisions, maxima and minima of them give. Equal polynomials are one symbol, and what is taken to be equal is replaced
// throughout. This header must not know nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codegen/plan/plan.h"

namespace tfl::plan {

class SizeTable {
 public:
  struct Term {
    int64_t factor;
    SmallVec<uint32_t, 2> atoms;  // in rising order; none: the constant
    bool operator==(const Term&) const = default;
  };
  /// Terms in the order of their atoms; no factor is 0.
  using Poly = std::vector<Term>;

  static Poly constant(int64_t v);
  static std::optional<int64_t> literal(const Poly& p);
  Poly dim(uint32_t input, uint32_t axis);
  Poly element(uint32_t input, uint32_t i);
  /// Whether elements decide about it: it may be anything.
  bool from_elements(const Poly& p) const;
  Poly add(const Poly& a, const Poly& b);
  Poly subtract(const Poly& a, const Poly& b);
  Poly multiply(const Poly& a, const Poly& b);
  /// Rounds towards minus infinity. What cancels is guarded to be at least 1.
  Poly divide(const Poly& a, const Poly& b);
  Poly larger(const Poly& a, const Poly& b) { return extreme(Symbol::Kind::maximum, a, b); }
  Poly smaller(const Poly& a, const Poly& b) { return extreme(Symbol::Kind::minimum, a, b); }
  bool never_negative(const Poly& p) const;

  /// What is taken for granted from here on; false where it cannot be.
  bool assume_equal(const Poly& a, const Poly& b);
  bool assume_at_least(const Poly& a, const Poly& b);
  /// An equality has been used to replace a size since this was asked last: earlier polynomials may be stated better.
  bool take_news();
  /// Forgets the guards that follow from a walk over the graph, to walk once more; what was replaced stays replaced.
  void restart();
  /// `p` in terms of what is known now.
  Poly current(const Poly& p);

  /// Of the operation that assumes what is assumed.
  uint32_t location = 0;

  /// Overflow of a factor, division by nothing: no plan.
  bool broken() const { return broken_; }

  /// Adds the guards that it has not been given yet; false when one has turned out not to hold.
  bool write_guards(Plan& plan);
  Size size(Plan& plan, const Poly& p);
  Poly poly(Size s) const;

 private:
  struct Atom {
    Symbol::Kind kind;
    uint32_t input = 0, axis = 0;
    Poly a, b;
  };
  struct Assumed {
    Poly a, b;
    uint32_t location = 0;
    bool operator==(const Assumed& o) const { return a == o.a && b == o.b; }
  };

  uint32_t atom(Symbol::Kind kind, uint32_t input, uint32_t axis, const Poly& a, const Poly& b);
  static Poly of_atom(uint32_t a) { return {{1, {a}}}; }
  void accumulate(Poly& sum, int64_t factor, const SmallVec<uint32_t, 2>& atoms);
  Poly extreme(Symbol::Kind kind, const Poly& a, const Poly& b);
  bool mentions(const Poly& p, uint32_t atom) const;
  Size symbol(Plan& plan, Symbol s, const Poly& p);
  Size atom_size(Plan& plan, uint32_t a);

  std::vector<Atom> atoms_;
  std::vector<std::optional<Poly>> replaced_;  // by atom
  std::vector<Assumed> replacements_;          // the guards that belong to them, in order
  std::vector<Assumed> equal_, at_least_;
  std::vector<Poly> symbols_;      // by symbol of the plan
  size_t written_[3] = {0, 0, 0};  // replacements, equalities and bounds that the plan has as guards
  bool news_ = false, broken_ = false;
};

}  // namespace tfl::plan
