#include "codegen/plan/sizes.h"

namespace tfl::plan {

using Poly = SizeTable::Poly;

namespace {

// What the caller brings; others are computed.
bool is_given(Symbol::Kind kind) { return kind == Symbol::Kind::dim || kind == Symbol::Kind::element; }

bool before(const SmallVec<uint32_t, 2>& a, const SmallVec<uint32_t, 2>& b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

int64_t floor_div(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

}  // namespace

Poly SizeTable::constant(int64_t v) { return v ? Poly{{v, {}}} : Poly{}; }

std::optional<int64_t> SizeTable::literal(const Poly& p) {
  if (p.empty()) return 0;
  if (p.size() == 1 && p[0].atoms.empty()) return p[0].factor;
  return std::nullopt;
}

uint32_t SizeTable::atom(Symbol::Kind kind, uint32_t input, uint32_t axis, const Poly& a, const Poly& b) {
  for (uint32_t i = 0; i < atoms_.size(); ++i) {
    const Atom& x = atoms_[i];
    if (x.kind == kind && x.input == input && x.axis == axis && x.a == a && x.b == b) return i;
  }
  atoms_.push_back({kind, input, axis, a, b});
  replaced_.emplace_back();
  return static_cast<uint32_t>(atoms_.size() - 1);
}

Poly SizeTable::dim(uint32_t input, uint32_t axis) { return current(of_atom(atom(Symbol::Kind::dim, input, axis, {}, {}))); }

Poly SizeTable::element(uint32_t input, uint32_t i) { return current(of_atom(atom(Symbol::Kind::element, input, i, {}, {}))); }

bool SizeTable::from_elements(const Poly& p) const {
  for (const Term& t : p) {
    for (uint32_t a : t.atoms) {
      const Atom& x = atoms_[a];
      if (x.kind == Symbol::Kind::element || from_elements(x.a) || from_elements(x.b)) return true;
    }
  }
  return false;
}

void SizeTable::accumulate(Poly& sum, int64_t factor, const SmallVec<uint32_t, 2>& atoms) {
  auto at = std::lower_bound(sum.begin(), sum.end(), atoms,
                             [](const Term& t, const SmallVec<uint32_t, 2>& v) { return before(t.atoms, v); });
  if (at == sum.end() || !(at->atoms == atoms)) {
    if (factor) sum.insert(at, Term{factor, atoms});
    return;
  }
  broken_ |= __builtin_add_overflow(at->factor, factor, &at->factor);
  if (at->factor == 0) sum.erase(at);
}

Poly SizeTable::add(const Poly& a, const Poly& b) {
  Poly sum = a;
  for (const Term& t : b) accumulate(sum, t.factor, t.atoms);
  return sum;
}

Poly SizeTable::subtract(const Poly& a, const Poly& b) {
  Poly sum = a;
  for (const Term& t : b) {
    int64_t factor = 0;
    broken_ |= __builtin_sub_overflow(int64_t{0}, t.factor, &factor);
    accumulate(sum, factor, t.atoms);
  }
  return sum;
}

Poly SizeTable::multiply(const Poly& a, const Poly& b) {
  Poly product;
  for (const Term& x : a) {
    for (const Term& y : b) {
      int64_t factor = 0;
      broken_ |= __builtin_mul_overflow(x.factor, y.factor, &factor);
      SmallVec<uint32_t, 2> atoms = x.atoms;
      atoms.append(y.atoms.begin(), y.atoms.end());
      std::sort(atoms.begin(), atoms.end());
      accumulate(product, factor, atoms);
    }
  }
  return product;
}

Poly SizeTable::divide(const Poly& a, const Poly& b) {
  if (b.empty() || broken_) {
    broken_ = true;
    return {};
  }
  std::optional<int64_t> x = literal(a), y = literal(b);
  if (x && y) {
    broken_ |= *y == -1 && *x == INT64_MIN;
    return broken_ ? Poly{} : constant(floor_div(*x, *y));
  }
  // A divisor of one term goes into every term that has its factor and its atoms.
  if (b.size() == 1) {
    const Term& d = b[0];
    Poly quotient;
    bool exact = true;
    for (const Term& t : a) {
      SmallVec<uint32_t, 2> rest;
      size_t k = 0;
      for (uint32_t atom : t.atoms) {
        if (k < d.atoms.size() && d.atoms[k] == atom)
          ++k;
        else
          rest.push_back(atom);
      }
      exact = exact && k == d.atoms.size() && d.factor != -1 && t.factor % d.factor == 0;
      if (exact) accumulate(quotient, t.factor / d.factor, rest);
    }
    if (exact) {
      for (uint32_t atom : d.atoms) {
        if (!assume_at_least(of_atom(atom), constant(1))) broken_ = true;
      }
      return quotient;
    }
  }
  return current(of_atom(atom(Symbol::Kind::divide, 0, 0, a, b)));
}

Poly SizeTable::extreme(Symbol::Kind kind, const Poly& a, const Poly& b) {
  bool want_larger = kind == Symbol::Kind::maximum;
  Poly difference = subtract(a, b);
  if (never_negative(difference)) return want_larger ? a : b;
  if (never_negative(subtract(b, a))) return want_larger ? b : a;
  return current(of_atom(atom(kind, 0, 0, a, b)));
}

bool SizeTable::never_negative(const Poly& p) const {
  for (const Term& t : p) {
    if (t.factor < 0) return false;
    for (uint32_t a : t.atoms) {
      const Atom& x = atoms_[a];
      switch (x.kind) {
        case Symbol::Kind::dim: break;
        case Symbol::Kind::divide:
          if (!never_negative(x.a) || !never_negative(x.b)) return false;
          break;
        case Symbol::Kind::maximum:
          if (!never_negative(x.a) && !never_negative(x.b)) return false;
          break;
        case Symbol::Kind::minimum:
          if (!never_negative(x.a) || !never_negative(x.b)) return false;
          break;
        default: return false;
      }
    }
  }
  return true;
}

bool SizeTable::mentions(const Poly& p, uint32_t atom) const {
  for (const Term& t : p) {
    for (uint32_t a : t.atoms) {
      if (a == atom || mentions(atoms_[a].a, atom) || mentions(atoms_[a].b, atom)) return true;
    }
  }
  return false;
}

Poly SizeTable::current(const Poly& p) {
  bool stands = true;
  for (const Term& t : p) {
    for (uint32_t a : t.atoms) stands = stands && !replaced_[a] && is_given(atoms_[a].kind);
  }
  if (stands) return p;
  Poly sum;
  for (const Term& t : p) {
    Poly product = constant(t.factor);
    for (uint32_t a : t.atoms) {
      Poly value = of_atom(a);
      if (replaced_[a]) {
        value = current(Poly(*replaced_[a]));
      } else if (!is_given(atoms_[a].kind)) {
        Atom x = atoms_[a];
        Poly inner = current(x.a), other = current(x.b);
        if (!(inner == x.a) || !(other == x.b))
          value = x.kind == Symbol::Kind::divide ? divide(inner, other) : extreme(x.kind, inner, other);
      }
      product = multiply(product, value);
    }
    sum = add(sum, product);
  }
  return sum;
}

bool SizeTable::assume_equal(const Poly& left, const Poly& right) {
  Poly a = current(left), b = current(right);
  Poly difference = subtract(a, b);
  if (std::optional<int64_t> v = literal(difference)) return *v == 0;
  // The youngest atom that stands alone gives way.
  for (uint32_t k = static_cast<uint32_t>(atoms_.size()); k-- > 0;) {
    for (size_t i = 0; i < difference.size(); ++i) {
      const Term t = difference[i];
      if (t.atoms.size() != 1 || t.atoms[0] != k || (t.factor != 1 && t.factor != -1)) continue;
      Poly rest = difference;
      rest.erase(rest.begin() + static_cast<ptrdiff_t>(i));
      if (mentions(rest, k)) continue;
      Poly value = t.factor == 1 ? subtract({}, rest) : rest;
      if (std::optional<int64_t> v = literal(value)) {
        if (*v < 0 && atoms_[k].kind == Symbol::Kind::dim) return false;
        // n is 2 n only for one n: such sizes differ as a rule.
        if (!literal(a) && !literal(b)) return false;
      }
      replacements_.push_back({of_atom(k), value, location});
      replaced_[k] = std::move(value);
      news_ = true;
      return true;
    }
  }
  Assumed guard{std::move(a), std::move(b), location};
  if (std::find(equal_.begin(), equal_.end(), guard) == equal_.end()) equal_.push_back(std::move(guard));
  return true;
}

bool SizeTable::assume_at_least(const Poly& left, const Poly& right) {
  Poly difference = subtract(current(left), current(right));
  if (never_negative(difference)) return true;
  if (literal(difference)) return false;
  Assumed guard{{}, {}, location};
  for (const Term& t : difference) {
    if (t.factor > 0)
      guard.a.push_back(t);
    else
      accumulate(guard.b, -t.factor, t.atoms);
  }
  if (std::find(at_least_.begin(), at_least_.end(), guard) == at_least_.end()) at_least_.push_back(std::move(guard));
  return true;
}

bool SizeTable::take_news() {
  bool news = news_;
  news_ = false;
  return news;
}

void SizeTable::restart() {
  equal_.clear();
  at_least_.clear();
}

bool SizeTable::write_guards(Plan& plan) {
  for (size_t& i = written_[0]; i < replacements_.size(); ++i) {
    Assumed g = replacements_[i];
    plan.guards.push_back({Guard::Kind::equal, size(plan, g.a), size(plan, g.b), g.location});
  }
  for (size_t& i = written_[1]; i < equal_.size(); ++i) {
    Poly a = current(equal_[i].a), b = current(equal_[i].b);
    if (a == b) continue;
    if (literal(subtract(a, b))) return false;
    plan.guards.push_back({Guard::Kind::equal, size(plan, a), size(plan, b), equal_[i].location});
  }
  for (size_t& i = written_[2]; i < at_least_.size(); ++i) {
    Poly a = current(at_least_[i].a), b = current(at_least_[i].b);
    Poly difference = subtract(a, b);
    if (never_negative(difference)) continue;
    if (literal(difference)) return false;
    plan.guards.push_back({Guard::Kind::at_least, size(plan, a), size(plan, b), at_least_[i].location});
  }
  return !broken_;
}

Size SizeTable::symbol(Plan& plan, Symbol s, const Poly& p) {
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    const Symbol& x = plan.symbols[i];
    if (x.kind == s.kind && x.input == s.input && x.axis == s.axis && x.a == s.a && x.b == s.b) return ~static_cast<Size>(i);
  }
  plan.symbols.push_back(s);
  symbols_.push_back(p);
  return ~static_cast<Size>(plan.symbols.size() - 1);
}

Size SizeTable::atom_size(Plan& plan, uint32_t a) {
  Atom x = atoms_[a];
  Symbol s{x.kind, x.input, x.axis, 0, 0};
  if (!is_given(x.kind)) {
    s.a = size(plan, x.a);
    s.b = size(plan, x.b);
  }
  return symbol(plan, s, of_atom(a));
}

Size SizeTable::size(Plan& plan, const Poly& p) {
  if (std::optional<int64_t> v = literal(p); v && *v >= 0) return *v;
  for (size_t i = 0; i < symbols_.size(); ++i) {
    if (symbols_[i] == p) return ~static_cast<Size>(i);
  }
  auto join = [&](Symbol::Kind kind, Size a, Size b, const Poly& value) { return symbol(plan, {kind, 0, 0, a, b}, value); };
  // What is added, then what is taken away from it.
  Poly value;
  Size sum = 0;
  bool any = false;
  for (bool positive : {true, false}) {
    for (const Term& t : p) {
      if ((t.factor > 0) != positive || t.atoms.empty()) continue;
      Poly product = constant(1);
      Size term = 1;
      for (uint32_t a : t.atoms) {
        product = multiply(product, of_atom(a));
        Size factor = atom_size(plan, a);
        term = term == 1 ? factor : join(Symbol::Kind::multiply, term, factor, product);
      }
      int64_t times = positive ? t.factor : -t.factor;
      product = multiply(product, constant(times));
      if (times != 1) term = join(Symbol::Kind::multiply, term, times, product);
      value = positive ? add(value, product) : subtract(value, product);
      if (!any && positive)
        sum = term;
      else
        sum = join(positive ? Symbol::Kind::add : Symbol::Kind::subtract, sum, term, value);
      any = true;
    }
    for (const Term& t : p) {
      if ((t.factor > 0) != positive || !t.atoms.empty()) continue;
      value = add(value, constant(t.factor));
      int64_t amount = positive ? t.factor : -t.factor;
      if (!any && positive)
        sum = amount;
      else
        sum = join(positive ? Symbol::Kind::add : Symbol::Kind::subtract, sum, amount, value);
      any = true;
    }
  }
  return sum;
}

Poly SizeTable::poly(Size s) const { return is_known(s) ? constant(s) : symbols_[symbol_of(s)]; }

}  // namespace tfl::plan
