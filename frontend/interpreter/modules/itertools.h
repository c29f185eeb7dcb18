// What the iterators of the module `_itertools` share: one layout for all of them.
#pragma once

#include <algorithm>
#include <vector>

#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"

namespace tfl::itertools {

/// An iterator in progress. Each kind uses what it needs.
struct Step : Object {
  std::vector<Value> sources;    // iterators that it takes items from
  std::vector<Value> pool;       // items kept
  std::vector<int64_t> indices;  // into the pool
  std::vector<int64_t> cycles;   // permutations: how far each place has come
  Value function, current;
  Value last;             // the tuple given last, made again in place when nobody else has it
  Type* inner = nullptr;  // groupby: the type of groups
  int64_t position = 0, wanted = 0, stop = 0, stride = 1;
  bool started = false, done = false;
};

/// iter() of itself.
Result<Value> itself(Interp& interp, const Value& self);
/// A new one over these iterables.
Result<Value> made(Interp& interp, Type* type, std::initializer_list<Value> iterables);
/// The next item of a source; Empty at its end.
Result<Value> pulled(Interp& interp, const Step& it, size_t source);
/// The tuple of `n` items to fill in and give.
Value row_of(Interp& interp, Step& it, size_t n);

constexpr Slots slots_of(Result<Value> (*construct)(Interp&, Type*, CallArgs&), Result<Value> (*next)(Interp&, const Value&),
                         Result<Value> (*repr)(Interp&, const Value&) = nullptr) {
  Slots slots{};
  slots.kind = Kind::Native;
  slots.destroy = destroy_object<Step>;
  slots.construct = construct;
  slots.repr = repr;
  slots.iter = itself;
  slots.next = next;
  return slots;
}

extern const Slots kGroupby, kGroup;                                      // itertools_group.cpp
extern const Slots kProduct, kPermutations, kCombinations, kReplacement;  // itertools_combine.cpp

}  // namespace tfl::itertools
