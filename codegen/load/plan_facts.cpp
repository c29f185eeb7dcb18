#include "codegen/load/plan_facts.h"

#include <algorithm>
#include <cstring>

#include "runtime/kernels/elementwise/elementwise_checks.h"

namespace tfl::codegen {

namespace {

using plan::is_known;
using plan::Plan;
using plan::ResultPlace;
using plan::Size;
using plan::Step;

constexpr size_t kSlotAlignment = 64;

bool aligned_end(size_t at, int64_t bytes, size_t& end) {
  return bytes >= 0 && !__builtin_add_overflow(at, static_cast<size_t>(bytes), &end) &&
         !__builtin_add_overflow(end, kSlotAlignment - 1, &end) && (end &= ~(kSlotAlignment - 1), true);
}

bool compute(const plan::Symbol& s, std::span<const Tensor> inputs, const int64_t* words, int64_t& value) {
  using Kind = plan::Symbol::Kind;
  if (s.kind == Kind::dim) {
    value = inputs[s.input].dim(static_cast<int>(s.axis));
    return true;
  }
  int64_t a = size_of(s.a, words), b = size_of(s.b, words);
  switch (s.kind) {
    case Kind::dim:
    case Kind::element: break;
    case Kind::add: return !__builtin_add_overflow(a, b, &value);
    case Kind::subtract: return !__builtin_sub_overflow(a, b, &value);
    case Kind::multiply: return !__builtin_mul_overflow(a, b, &value);
    case Kind::divide:
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      value = a / b - (a % b != 0 && (a < 0) != (b < 0));
      return true;
    case Kind::maximum: value = std::max(a, b); return true;
    case Kind::minimum: value = std::min(a, b); return true;
  }
  return false;
}

bool row_fails(const plan::Expr& e) { return e.kind == plan::ExprKind::apply && row_has_checks(e.op); }

bool steps_fail(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const Step& s) {
    return s.kind == Step::Kind::check || (s.kind == Step::Kind::scalar && row_fails(s.expr)) ||
           std::any_of(s.blocks.begin(), s.blocks.end(), steps_fail);
  });
}

bool routine_may_fail(const plan::RoutineStep& r) { return routine_fails(r.routine); }

/// Whether the code may find out on the way that an operation would raise.
bool plan_fails(const Plan& p) {
  return steps_fail(p.body) || std::any_of(p.routines.begin(), p.routines.end(), routine_may_fail) ||
         std::any_of(p.kernels.begin(), p.kernels.end(),
                     [](const plan::Kernel& k) { return std::any_of(k.exprs.begin(), k.exprs.end(), row_fails); });
}

}  // namespace

PlanFacts::PlanFacts(const Plan& p, std::span<const Tensor> constants) {
  for (const plan::Value& v : p.values) {
    if (v.word == plan::kNone) continue;
    usable = usable && v.word < p.words;
    size_t count = SIZE_MAX;
    switch (v.home) {
      case plan::Home::input: count = p.inputs.size(); break;
      case plan::Home::constant: count = constants.size(); break;
      case plan::Home::result: count = p.results.size(); break;
      case plan::Home::temporary: count = p.slots.size(); break;
      case plan::Home::pointer:
      case plan::Home::scalar: continue;  // the code writes them
    }
    usable = usable && v.index < count;
    addresses.push_back({v.word, v.home, v.index});
  }
  for (const plan::Symbol& s : p.symbols) {
    usable = usable && s.kind != plan::Symbol::Kind::element;
    if (s.kind == plan::Symbol::Kind::dim) usable = usable && s.input < p.inputs.size() && s.axis < p.inputs[s.input].dims.size();
  }
  usable = usable && p.symbols.size() <= p.words;
  for (const plan::InputType& t : p.inputs) {
    for (Size s : t.dims) symbolic = symbolic || !is_known(s);
  }
  for (const ResultPlace& r : p.results) {
    switch (r.kind) {
      case ResultPlace::Kind::memory: break;
      case ResultPlace::Kind::scalar: usable = usable && r.index < p.values.size() && p.values[r.index].word < p.words; break;
      case ResultPlace::Kind::input: usable = usable && r.index < p.inputs.size(); break;
      case ResultPlace::Kind::constant: usable = usable && r.index < constants.size(); break;
    }
  }
  for (const Tensor& t : constants) usable = usable && t.contiguous();

  known_arena = std::all_of(p.slots.begin(), p.slots.end(), is_known);
  for (size_t i = 0; known_arena && i < p.slots.size(); ++i) {
    offsets.push_back(arena_bytes);
    usable = usable && aligned_end(arena_bytes, p.slots[i], arena_bytes);
  }
  can_fail = plan_fails(p);
}

bool PlanFacts::types_hold(const Plan& plan, std::span<const Tensor> inputs, size_t results) const {
  if (inputs.size() != plan.inputs.size() || results != plan.results.size()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const plan::InputType& t = plan.inputs[i];
    const TensorRep* r = inputs[i].rep();
    if (!r || r->dtype != t.dtype || r->rank != t.dims.size()) return false;
    const int64_t* dims = r->dims();
    for (size_t k = 0; k < t.dims.size(); ++k) {
      if (is_known(t.dims[k]) && dims[k] != t.dims[k]) return false;
    }
  }
  return true;
}

bool PlanFacts::sizes_hold(const Plan& plan, std::span<const Tensor> inputs, int64_t* words) const {
  for (size_t i = 0; i < plan.symbols.size(); ++i) {
    if (!compute(plan.symbols[i], inputs, words, words[i])) return false;
  }
  for (size_t i = 0; symbolic && i < inputs.size(); ++i) {
    std::span<const int64_t> dims = inputs[i].dims();
    for (size_t k = 0; k < dims.size(); ++k) {
      if (dims[k] != size_of(plan.inputs[i].dims[k], words)) return false;
    }
  }
  return std::all_of(plan.guards.begin(), plan.guards.end(), [&](const plan::Guard& g) {
    int64_t a = size_of(g.a, words), b = size_of(g.b, words);
    return g.kind == plan::Guard::Kind::equal ? a == b : a >= b;
  });
}

bool PlanFacts::place_slots(const Plan& plan, const int64_t* words, SmallVec<size_t, 8>& places, size_t& bytes) const {
  bytes = arena_bytes;
  if (known_arena) return true;
  bytes = 0;
  for (Size s : plan.slots) {
    places.push_back(bytes);
    if (!aligned_end(bytes, size_of(s, words), bytes)) return false;
  }
  return true;
}

bool same_dims(const Tensor& t, const ResultPlace& r, const int64_t* words) {
  if (t.dims().size() != r.dims.size()) return false;
  for (size_t k = 0; k < r.dims.size(); ++k) {
    if (t.dim(static_cast<int>(k)) != size_of(r.dims[k], words)) return false;
  }
  return true;
}

namespace {

// A result that is an input or a constant: `from` itself, or its elements under other sizes.
bool give(Context& context, const Tensor& from, const ResultPlace& r, const int64_t* words, Tensor& to) {
  if (from.dtype() != r.dtype) return false;
  if (same_dims(from, r, words)) {
    to = from;
    return true;
  }
  Dims dims;
  for (Size s : r.dims) dims.push_back(size_of(s, words));
  Result<int64_t> n = element_count(dims);
  if (!n || *n != from.size()) return false;
  to = Tensor::view(context, from, dims, Tensor::row_major_strides(dims), 0);
  return true;
}

}  // namespace

bool give_results(Context& context, const Plan& plan, const int64_t* words, std::span<const Tensor* const> rows,
                  std::span<const Tensor> constants, std::span<Tensor> results) {
  for (size_t i = 0; i < results.size(); ++i) {
    const ResultPlace& r = plan.results[i];
    switch (r.kind) {
      case ResultPlace::Kind::memory: break;
      case ResultPlace::Kind::input:
        if (!give(context, *rows[r.index], r, words, results[i])) return false;
        break;
      case ResultPlace::Kind::constant:
        if (!give(context, constants[r.index], r, words, results[i])) return false;
        break;
      case ResultPlace::Kind::scalar: {
        Result<Tensor> made = Tensor::empty(context, r.dtype, {});
        if (!made) return false;
        std::memcpy(made->raw(), &words[plan.values[r.index].word], dtype_size(r.dtype));  // low bytes first
        results[i] = made.take();
        break;
      }
    }
  }
  return true;
}

}  // namespace tfl::codegen
