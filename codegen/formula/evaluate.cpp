// Primitives over constants, by the vectors of runtime/math with one lane: their definition.
#include <bit>
#include <limits>

#include "codegen/formula/formula.h"
#include "runtime/math/half.h"

namespace tfl::formula {

namespace {

template <class T>
T from_bits(uint64_t bits) {
  return std::bit_cast<T>(static_cast<unsigned_of<T>>(bits));
}
template <class T>
uint64_t to_bits(T x) {
  return std::bit_cast<unsigned_of<T>>(x);
}

// f(T{}) with the C++ type of an element.
template <class F>
uint64_t with_type(Elem e, F f) {
  switch (e) {
    case Elem::i8: return f(int8_t{});
    case Elem::i16: return f(int16_t{});
    case Elem::i32: return f(int32_t{});
    case Elem::i64: return f(int64_t{});
    case Elem::u8: return f(uint8_t{});
    case Elem::u16: return f(uint16_t{});
    case Elem::u32: return f(uint32_t{});
    case Elem::u64: return f(uint64_t{});
    case Elem::f32: return f(float{});
    case Elem::f64: return f(double{});
    case Elem::mask: break;
  }
  return 0;
}

template <class To, class From>
uint64_t converted(From x) {
  if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // What formulas convert is in range; what a constant makes of a value that is then not chosen need not be.
    constexpr From bound = static_cast<From>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;
    if (!(x < bound && (std::is_signed_v<To> ? x >= -bound : x > From(-1)))) return 0;
  }
  return to_bits(convert<To>(Vec<From, 1>(x)).get());
}

uint64_t evaluate_mask(Prim prim, uint64_t a, uint64_t b, uint64_t c) {
  switch (prim) {
    case Prim::bit_and: return a & b;
    case Prim::bit_or: return a | b;
    case Prim::bit_xor: return a ^ b;
    case Prim::select: return a ? b : c;
    case Prim::equal: return a == b;
    case Prim::not_equal: return a != b;
    default: return 0;
  }
}

template <class T>
uint64_t evaluate_as(Prim prim, uint64_t bits_a, uint64_t bits_b, uint64_t bits_c) {
  using V = Vec<T, 1>;
  V a(from_bits<T>(bits_a)), b(from_bits<T>(bits_b)), c(from_bits<T>(bits_c));
  auto bits = [](const V& v) { return to_bits(v.get()); };
  auto truth = [](const auto& m) { return static_cast<uint64_t>(m[0]); };
  switch (prim) {
    case Prim::add: return bits(a + b);
    case Prim::subtract: return bits(a - b);
    case Prim::multiply: return bits(a * b);
    case Prim::divide:
      if constexpr (std::is_integral_v<T>) {
        if (b.get() == 0) return 0;
        if (std::is_signed_v<T> && b.get() == static_cast<T>(-1)) return bits(neg(a));
      }
      return bits(a / b);
    case Prim::equal: return truth(a == b);
    case Prim::not_equal: return truth(a != b);
    case Prim::less: return truth(a < b);
    case Prim::less_equal: return truth(a <= b);
    case Prim::greater: return truth(a > b);
    case Prim::greater_equal: return truth(a >= b);
    default: break;
  }
  if constexpr (std::is_floating_point_v<T>) {
    switch (prim) {
      case Prim::minimum: return bits(min(a, b));
      case Prim::maximum: return bits(max(a, b));
      case Prim::copysign: return bits(copysign(a, b));
      case Prim::neg: return bits(neg(a));
      case Prim::abs: return bits(abs(a));
      case Prim::sqrt: return bits(sqrt(a));
      case Prim::floor: return bits(floor(a));
      case Prim::ceil: return bits(ceil(a));
      case Prim::trunc: return bits(trunc(a));
      case Prim::rint: return bits(rint(a));
      case Prim::fma: return bits(fma(a, b, c));
      default: break;
    }
    if constexpr (std::is_same_v<T, float>) {
      if (prim == Prim::round_f16) return to_bits(to_f32(to_f16(a.get())));
    }
  } else {
    int count = static_cast<int>(bits_b) & (8 * static_cast<int>(sizeof(T)) - 1);
    switch (prim) {
      case Prim::bit_and: return bits(a & b);
      case Prim::bit_or: return bits(a | b);
      case Prim::bit_xor: return bits(a ^ b);
      case Prim::shift_left: return bits(shl(a, count));
      case Prim::shift_right: return bits(shr(a, count));
      default: break;
    }
  }
  return 0;
}

struct Run {
  const Formula& f;
  const uint64_t* arguments;
  std::vector<uint64_t> values;

  void region(const Region& r) {
    for (Id id : r.body) step(id);
  }

  void step(Id id) {
    const Inst& i = f.at(id);
    auto value = [&](Id operand) { return operand == kNoId ? 0 : values[operand]; };
    switch (i.prim) {
      case Prim::argument: values[id] = arguments[i.extra]; return;
      case Prim::constant: values[id] = i.extra; return;
      case Prim::table: values[id] = f.tables[i.extra].values[values[i.a]]; return;
      case Prim::parameter: return;
      case Prim::rarely: {
        const Region& r = f.regions[i.extra];
        if (values[i.a]) region(r);
        return;
      }
      case Prim::iterate: {
        const Region& r = f.regions[i.extra];
        bool active = values[i.a] != 0;
        for (size_t k = 0; k < r.params.size(); ++k) values[r.params[k]] = values[r.inputs[k]];
        for (int64_t n = 0; active && n < r.limit; ++n) {
          region(r);
          active = values[r.go_on] != 0;
          std::vector<uint64_t> next;
          for (Id result : r.results) next.push_back(values[result]);
          for (size_t k = 0; k < r.params.size(); ++k) values[r.params[k]] = next[k];
        }
        return;
      }
      case Prim::result: {
        const Inst& all = f.at(i.a);
        const Region& r = f.regions[all.extra];
        if (all.prim == Prim::iterate) {
          values[id] = values[r.params[i.extra]];
        } else {
          values[id] = values[values[all.a] ? r.results[i.extra] : r.inputs[i.extra]];
        }
        return;
      }
      default: break;
    }
    values[id] = evaluate(i.prim, i.type, f.at(i.prim == Prim::select ? i.b : i.a).type, value(i.a), value(i.b), value(i.c));
  }
};

}  // namespace

uint64_t evaluate(Prim prim, Elem type, Elem from, uint64_t a, uint64_t b, uint64_t c) {
  if (prim == Prim::bitcast) return a;
  if (prim == Prim::select) return a ? b : c;
  if (from == Elem::mask) return evaluate_mask(prim, a, b, c);
  if (prim == Prim::convert) {
    return with_type(from, [&](auto source) {
      return with_type(type, [&](auto target) { return converted<decltype(target)>(from_bits<decltype(source)>(a)); });
    });
  }
  return with_type(from, [&](auto t) { return evaluate_as<decltype(t)>(prim, a, b, c); });
}

uint64_t evaluate(const Formula& f, const uint64_t* arguments) {
  Run run{f, arguments, std::vector<uint64_t>(f.insts.size())};
  run.region(f.regions[0]);
  return run.values[f.value()];
}

}  // namespace tfl::formula
