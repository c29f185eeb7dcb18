// Algebra that keeps every bit: the laws of laws.def, and operations that only move elements and undo each other.
//
//   %a = multiply(%x, %one) : f32[3,4]            (%one: 1)
//   %b = transpose(%a) {perm = [1, 0]} : f32[4,3]
//   %c = transpose(%b) {perm = [1, 0]} : f32[3,4]
// becomes
//   %x
#include <cmath>

#include "ir/infer.h"
#include "ir/mutants.h"
#include "optimizer/moves.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"
#include "runtime/tensor/element.h"

namespace tfl::optimizer {

namespace {

enum class Side : uint8_t { left, right };
enum class Types : uint8_t { integers, floats, numbers, booleans };

struct Neutral {
  Op op;
  Side side;
  Types types;
  double value;
};
constexpr Neutral kNeutral[] = {
#define TFL_NEUTRAL(op, side, types, value, law) {Op::op, Side::side, Types::types, value},
#define TFL_INVOLUTION(op, law)
#define TFL_IDEMPOTENT(op, law)
#define TFL_SELF(op, law)
#define TFL_NEGATED(op, becomes, floats, law)
#include "optimizer/laws.def"
#undef TFL_NEUTRAL
};

constexpr Op kInvolutions[] = {
#define TFL_NEUTRAL(op, side, types, value, law)
#undef TFL_INVOLUTION
#define TFL_INVOLUTION(op, law) Op::op,
#include "optimizer/laws.def"
#undef TFL_INVOLUTION
#define TFL_INVOLUTION(op, law)
};

constexpr Op kIdempotent[] = {
#undef TFL_IDEMPOTENT
#define TFL_IDEMPOTENT(op, law) Op::op,
#include "optimizer/laws.def"
#undef TFL_IDEMPOTENT
#define TFL_IDEMPOTENT(op, law)
};

constexpr Op kSelf[] = {
#undef TFL_SELF
#define TFL_SELF(op, law) Op::op,
#include "optimizer/laws.def"
#undef TFL_SELF
#define TFL_SELF(op, law)
};

struct Negated {
  Op op, becomes;
  bool floats;
};
constexpr Negated kNegated[] = {
#undef TFL_NEGATED
#define TFL_NEGATED(op, becomes, floats, law) {Op::op, Op::becomes, floats},
#include "optimizer/laws.def"
#undef TFL_NEGATED
#undef TFL_NEUTRAL
#undef TFL_INVOLUTION
#undef TFL_IDEMPOTENT
#undef TFL_SELF
};

template <size_t N>
bool listed(const char* laws, const Op (&ops)[N], Op op) {
  for (size_t i = 0; i < N; ++i) {
    if (ops[i] == op) return !mutated(laws, i);
  }
  return false;
}

bool applies(Types types, DType dtype) {
  switch (types) {
    case Types::integers: return is_integer(dtype);
    case Types::floats: return is_floating(dtype);
    case Types::numbers: return is_numeric(dtype);
    case Types::booleans: return dtype == DType::Bool;
  }
  return false;
}

constexpr int64_t kMostCompared = 64;

// Every element of the constant is `value`, with its sign.
bool all_are(const Tensor& t, double value) {
  if (!t.contiguous() || t.size() == 0 || t.size() > kMostCompared || t.dtype() == DType::String || is_complex(t.dtype()))
    return false;
  for (int64_t i = 0; i < t.size(); ++i) {
    const std::byte* at = t.raw() + static_cast<size_t>(i) * dtype_size(t.dtype());
    if (is_floating(t.dtype())) {
      double v = load_double(t.dtype(), at);
      if (v != value || std::signbit(v) != std::signbit(value)) return false;
    } else if (load_int(t.dtype(), at) != static_cast<int64_t>(value)) {
      return false;
    }
  }
  return true;
}

// The constant does not make the result larger than `x` is.
bool does_not_widen(const Node& n, Ref x, const Tensor& constant) {
  return constant.rank() == 0 || same_type_exactly(n.types[0], x.type());
}

class Simplifier {
 public:
  explicit Simplifier(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) { return visit(n, block, rewriter); });
  }

 private:
  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    if (n.op == Op::array_pop) return !pop(n, rewriter);
    if (!is_pure(n) || n.types.empty()) return true;
    if (n.op == Op::unstack) return !unstack(n, rewriter);
    if (n.types.size() != 1) return true;
    // A law may give way to another: -(-(not ...)).
    Ref to = value_of(n);
    if (!to) to = moved_value(call_.context, block, n);
    if (to) {
      rewriter.replace({&n, 0}, to);
      return false;
    }
    if (negated(n) || turned(n)) rewriter.mark_changed();
    if (shorten_casts(n)) rewriter.mark_changed();
    return true;
  }

  static Ref value_of(const Node& n) {
    if (op_info(n.op).kind == OpKind::Elementwise) {
      if (Ref r = neutral(n)) return r;
      Ref x = n.operands[0];
      if (n.operands.size() == 1 && x.node->op == n.op) {
        if (listed("no involution", kInvolutions, n.op)) return x.node->operands[0];
        if (listed("not idempotent", kIdempotent, n.op)) return x;
      }
      if (n.operands.size() == 2 && x == n.operands[1] && listed("no self", kSelf, n.op)) return x;
      if (n.op == Op::where) return choice(n);
      return {};
    }
    if (n.op == Op::identity) return n.operands[0];
    if (n.op == Op::cast) return cast(n);
    return {};
  }

  static Ref neutral(const Node& n) {
    if (n.operands.size() != 2) return {};
    for (const Neutral& rule : kNeutral) {
      const auto row = &rule - kNeutral;
      if (rule.op != n.op || mutated("not neutral", row)) continue;
      const double value = mutated("other neutral", row) ? rule.value + 1 : rule.value;
      Ref constant = n.operands[rule.side == Side::right ? 1 : 0], other = n.operands[rule.side == Side::right ? 0 : 1];
      if (constant.node->op != Op::constant || !applies(rule.types, constant.type().tensor.dtype)) continue;
      if (all_are(constant.node->constant, value) && does_not_widen(n, other, constant.node->constant)) return other;
    }
    return {};
  }

  // where(p, x, x) = x; where(true, x, y) = x; as far as the others do not widen the result.
  static Ref choice(const Node& n) {
    Ref p = n.operands[0], x = n.operands[1], y = n.operands[2];
    auto fits = [&](Ref r) { return same_type_exactly(n.types[0], r.type()); };
    if (x == y && fits(x)) return x;
    if (p.node->op != Op::constant) return {};
    if (all_are(p.node->constant, 1) && fits(x)) return x;
    if (all_are(p.node->constant, 0) && fits(y)) return y;
    return {};
  }

  // Whether every value of `from` is one of `to`.
  static bool embeds(DType from, DType to) {
    if (from == to) return true;
    if (is_floating(from) && is_floating(to)) return to == DType::F64 || (to == DType::F32 && dtype_size(from) == 2);
    if (!is_integer(from) || !is_integer(to) || dtype_size(from) >= dtype_size(to)) return false;
    return is_unsigned(from) || !is_unsigned(to);
  }

  static Ref cast(const Node& n) {
    Ref x = n.operands[0];
    DType to = n.types[0].tensor.dtype;
    if (x.type().tensor.dtype == to) return x;
    if (x.node->op != Op::cast) return {};
    Ref source = x.node->operands[0];
    if (source.type().tensor.dtype == to && embeds(to, x.type().tensor.dtype)) return source;
    return {};
  }

  // cast(cast(x)) where the first loses nothing and the second goes on in the same direction.
  static bool shorten_casts(Node& n) {
    if (n.op != Op::cast || n.operands[0].node->op != Op::cast) return false;
    Ref middle = n.operands[0], source = middle.node->operands[0];
    if (!embeds(source.type().tensor.dtype, middle.type().tensor.dtype) ||
        !embeds(middle.type().tensor.dtype, n.types[0].tensor.dtype))
      return false;
    n.operands[0] = source;
    return true;
  }

  static bool negated(Node& n) {
    if (n.op != Op::logical_not) return false;
    const Node& x = *n.operands[0].node;
    for (const Negated& rule : kNegated) {
      if (rule.op != x.op || (!rule.floats && is_floating(x.operands[0].type().tensor.dtype))) continue;
      if (effects_of(x).fails) return false;  // it would fail under another name
      const auto row = &rule - kNegated;
      if (mutated("not negated", row)) return false;
      n.op = mutated("other negated", row) ? rule.op : rule.becomes;
      n.attrs = x.attrs;
      SmallVec<Ref, 2> operands = x.operands;
      n.operands = std::move(operands);
      return true;
    }
    return false;
  }

  // A product reads its matrices either way.
  static bool turned(Node& n) {
    if (n.op != Op::matmul) return false;
    bool any = false, transposed[] = {n.attrs.get_bool(Attr::transpose_a), n.attrs.get_bool(Attr::transpose_b)};
    for (size_t i = 0; i < 2; ++i) {
      const Node& x = *n.operands[i].node;
      Dims perm;
      if (x.op != Op::transpose || !permutation(x, perm) || perm.size() < 2) continue;
      std::swap(perm[perm.size() - 2], perm[perm.size() - 1]);
      if (!is_identity(perm)) continue;
      transposed[i] = !transposed[i];
      n.operands[i] = x.operands[0];
      any = true;
    }
    if (any) n.attrs = Attrs().set_bool(Attr::transpose_a, transposed[0]).set_bool(Attr::transpose_b, transposed[1]);
    return any;
  }

  // pop(push(a, x)), as loops and their gradients leave it when they are unrolled.
  static bool pop(Node& n, Rewriter& rewriter) {
    const Node& x = *n.operands[0].node;
    if (x.op != Op::array_push || !(x.operands[0].type() == n.types[0]) || !(x.operands[1].type() == n.types[1])) return false;
    rewriter.replace_all(n, x.operands);
    return true;
  }

  // unstack(stack(a, b)) on one axis.
  static bool unstack(Node& n, Rewriter& rewriter) {
    const Node& x = *n.operands[0].node;
    if (x.op != Op::stack || x.operands.size() != n.types.size()) return false;
    int64_t rank = x.types[0].tensor.ranked ? static_cast<int64_t>(x.types[0].tensor.dims.size()) : 0;
    auto axis = [rank](const Node& of) {
      int64_t a = of.attrs.get_int(Attr::axis);
      return a < 0 ? a + rank : a;
    };
    if (rank == 0 || axis(n) != axis(x)) return false;
    for (uint32_t i = 0; i < n.types.size(); ++i) {
      if (!same_type_exactly(x.operands[i].type(), n.types[i])) return false;
    }
    rewriter.replace_all(n, x.operands);
    return true;
  }

  PassCall& call_;
};

}  // namespace

void run_simplify(PassCall& call) {
  Simplifier simplify(call);
  innermost_first(call.function.body, simplify);
}

}  // namespace tfl::optimizer
