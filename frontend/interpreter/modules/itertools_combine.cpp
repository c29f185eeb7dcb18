// product, permutations and combinations of the module `_itertools`.
#include <numeric>

#include "frontend/interpreter/modules/itertools.h"

namespace tfl::itertools {

namespace {

/// The row as `indices` say, of one pool.
Value chosen(Interp& interp, Step& it, size_t n) {
  Value row = row_of(interp, it, n);
  for (size_t i = 0; i < n; ++i)
    Value old = std::exchange(row.as<Tuple>()->items[i], it.pool[static_cast<size_t>(it.indices[i])]);
  return n == 0 ? interp.empty_tuple : row;
}

Result<Value> product_new(Interp& interp, Type* type, CallArgs& args) {
  int64_t times = 1;
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (args.keywords[k]->text != "repeat") {
      return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for product()", args.keywords[k]->text);
    }
    times = TFL_TRY(to_index(interp, args.values[args.count + k]));
  }
  if (times < 0) return fail(ErrorKind::ValueError, "repeat argument cannot be negative");
  TFL_TRY(guard_repeat(interp, args.count, times, 2 * sizeof(int64_t)));
  auto* it = interp.allocate<Step>(type);
  Value self = Value::adopt(it);
  // All pools one after the other; `cycles` says where each place's begins and ends.
  std::vector<int64_t> ends;
  for (uint32_t i = 0; i < args.count; ++i) {
    std::vector<Value> items = TFL_TRY(to_vector(interp, args.values[i]));
    ends.push_back(static_cast<int64_t>(it->pool.size()));
    it->pool.insert(it->pool.end(), items.begin(), items.end());
    ends.push_back(static_cast<int64_t>(it->pool.size()));
  }
  for (int64_t k = 0; k < times && !ends.empty(); ++k) it->cycles.insert(it->cycles.end(), ends.begin(), ends.end());
  for (size_t i = 0; i < it->cycles.size(); i += 2) {
    it->indices.push_back(it->cycles[i]);
    it->done |= it->cycles[i] == it->cycles[i + 1];
  }
  return self;
}

Result<Value> product_next(Interp& interp, const Value& self) {
  Step& it = *self.as<Step>();
  if (it.done) return Value();
  size_t n = it.indices.size();
  if (it.started) {
    size_t k = n;
    for (; k-- > 0;) {
      if (++it.indices[k] < it.cycles[2 * k + 1]) break;
      it.indices[k] = it.cycles[2 * k];
    }
    it.done = k == static_cast<size_t>(-1);
    if (it.done) return Value();
  }
  it.started = true;
  return chosen(interp, it, n);
}

/// iterable and r of the others.
Result<Value> with_pool(Interp& interp, Type* type, const Value& iterable) {
  auto* it = interp.allocate<Step>(type);
  Value self = Value::adopt(it);
  it->pool = TFL_TRY(to_vector(interp, iterable));
  return self;
}

Result<void> check_length(Interp& interp, Step& it, int64_t r) {
  if (r < 0) return fail(ErrorKind::ValueError, "r must be non-negative");
  TFL_TRY(guard_repeat(interp, 1, r, 2 * sizeof(int64_t)));
  it.wanted = r;
  return {};
}

Result<Value> permutations_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "permutations", args, {"iterable", "r"}, 1, 0, out));
  Value self = TFL_TRY(with_pool(interp, type, out[0]));
  Step& it = *self.as<Step>();
  auto n = static_cast<int64_t>(it.pool.size());
  Value r = unboxed(out[1]);
  if (r.is_empty() || r.is_none()) r = Value::integer(n);
  if (!r.is_int() && !r.is_bool()) return fail(ErrorKind::TypeError, "Expected int as r");
  TFL_TRY(check_length(interp, it, r.as_int()));
  it.done = it.wanted > n;
  if (it.done) return self;
  it.indices.resize(static_cast<size_t>(n));
  std::iota(it.indices.begin(), it.indices.end(), 0);
  for (int64_t i = 0; i < it.wanted; ++i) it.cycles.push_back(n - i);
  return self;
}

Result<Value> permutations_next(Interp& interp, const Value& self) {
  Step& it = *self.as<Step>();
  if (it.done) return Value();
  auto r = static_cast<size_t>(it.wanted), n = it.pool.size();
  if (it.started) {
    it.done = true;
    for (size_t i = r; i-- > 0;) {
      if (--it.cycles[i] == 0) {
        std::rotate(it.indices.begin() + static_cast<ptrdiff_t>(i), it.indices.begin() + static_cast<ptrdiff_t>(i) + 1,
                    it.indices.end());
        it.cycles[i] = static_cast<int64_t>(n - i);
        continue;
      }
      std::swap(it.indices[i], it.indices[n - static_cast<size_t>(it.cycles[i])]);
      it.done = false;
      break;
    }
    if (it.done) return Value();
  }
  it.started = true;
  return chosen(interp, it, r);
}

Result<Value> choose_new(Interp& interp, Type* type, const char* name, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, name, args, {"iterable", "r"}, 2, 0, out));
  Value self = TFL_TRY(with_pool(interp, type, out[0]));
  int64_t r = TFL_TRY(to_index(interp, out[1]));
  TFL_TRY(check_length(interp, *self.as<Step>(), r));
  return self;
}

Result<Value> combinations_new(Interp& interp, Type* type, CallArgs& args) {
  Value self = TFL_TRY(choose_new(interp, type, "combinations", args));
  Step& it = *self.as<Step>();
  it.done = it.wanted > static_cast<int64_t>(it.pool.size());
  if (it.done) return self;
  it.indices.resize(static_cast<size_t>(it.wanted));
  std::iota(it.indices.begin(), it.indices.end(), 0);
  return self;
}

Result<Value> combinations_next(Interp& interp, const Value& self) {
  Step& it = *self.as<Step>();
  if (it.done) return Value();
  auto n = static_cast<int64_t>(it.pool.size()), r = it.wanted;
  if (it.started) {
    int64_t i = r - 1;
    while (i >= 0 && it.indices[static_cast<size_t>(i)] == i + n - r) --i;
    it.done = i < 0;
    if (it.done) return Value();
    int64_t at = ++it.indices[static_cast<size_t>(i)];
    for (++i; i < r; ++i) it.indices[static_cast<size_t>(i)] = ++at;
  }
  it.started = true;
  return chosen(interp, it, static_cast<size_t>(r));
}

Result<Value> replacement_new(Interp& interp, Type* type, CallArgs& args) {
  Value self = TFL_TRY(choose_new(interp, type, "combinations_with_replacement", args));
  Step& it = *self.as<Step>();
  it.done = it.pool.empty() && it.wanted > 0;
  if (!it.done) it.indices.assign(static_cast<size_t>(it.wanted), 0);
  return self;
}

Result<Value> replacement_next(Interp& interp, const Value& self) {
  Step& it = *self.as<Step>();
  if (it.done) return Value();
  auto n = static_cast<int64_t>(it.pool.size());
  auto r = static_cast<size_t>(it.wanted);
  if (it.started) {
    size_t i = r;
    while (i > 0 && it.indices[i - 1] == n - 1) --i;
    it.done = i == 0;
    if (it.done) return Value();
    int64_t at = it.indices[i - 1] + 1;
    for (size_t k = i - 1; k < r; ++k) it.indices[k] = at;
  }
  it.started = true;
  return chosen(interp, it, r);
}

}  // namespace

const Slots kProduct = slots_of(product_new, product_next);
const Slots kPermutations = slots_of(permutations_new, permutations_next);
const Slots kCombinations = slots_of(combinations_new, combinations_next);
const Slots kReplacement = slots_of(replacement_new, replacement_next);

}  // namespace tfl::itertools
