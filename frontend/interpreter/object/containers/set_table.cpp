// The table behind set and frozenset: CPython's probing and growth, so that the order of iteration is CPython's.
#include "frontend/interpreter/object/containers/set_table.h"

#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/keys.h"

namespace tfl {

namespace {

constexpr size_t kLinearProbes = 9;
constexpr int kPerturbShift = 5;
constexpr size_t kMinSize = 8;

bool is_free(const Set::Entry& e) { return e.key.is_empty() && e.hash == 0; }

/// Puts a key that is not there into a table without deleted entries.
void insert_clean(std::vector<Set::Entry>& table, Value key, uint64_t hash) {
  size_t mask = table.size() - 1;
  uint64_t perturb = hash;
  size_t i = hash & mask;
  for (;;) {
    size_t probes = i + kLinearProbes <= mask ? kLinearProbes : 0;
    for (size_t k = 0; k <= probes; ++k) {
      Set::Entry& e = table[i + k];
      if (e.key.is_empty()) {
        e.key = std::move(key);
        e.hash = hash;
        return;
      }
    }
    perturb >>= kPerturbShift;
    i = (i * 5 + 1 + perturb) & mask;
  }
}

Result<void> resize(Interp& interp, Set* s, size_t minimum) {
  size_t size = kMinSize;
  while (size <= minimum) size <<= 1;
  TFL_TRY(guard_memory(interp, size * sizeof(Set::Entry)));
  std::vector<Set::Entry> table(size);
  for (Set::Entry& e : s->table) {
    if (!e.key.is_empty()) insert_clean(table, std::move(e.key), e.hash);
  }
  s->table = std::move(table);
  s->fill = s->used;
  return {};
}

/// Where the key is, or the place where it would go (`found` false): a deleted entry on the way, else the free one at its end.
struct Place {
  size_t at = 0;
  bool found = false;
  bool reused = false;
};

/// The table is not empty.
Result<Place> find(Interp& interp, const Set* s, const Value& key, uint64_t hash) {
restart:
  size_t mask = s->table.size() - 1;
  uint64_t perturb = hash;
  size_t i = hash & mask;
  constexpr size_t kNone = ~size_t{0};
  size_t deleted = kNone;
  for (;;) {
    size_t probes = i + kLinearProbes <= mask ? kLinearProbes : 0;
    for (size_t k = 0; k <= probes; ++k) {
      const Set::Entry& e = s->table[i + k];
      if (is_free(e)) return deleted == kNone ? Place{i + k, false, false} : Place{deleted, false, true};
      if (e.key.is_empty()) deleted = i + k;
      if (e.hash != hash || e.key.is_empty()) continue;
      SameKey same = same_key(e.key, key);
      if (same == SameKey::Yes) return Place{i + k, true, false};
      if (same == SameKey::No) continue;
      Value candidate = e.key;
      const Set::Entry* table = s->table.data();
      bool equal = TFL_TRY(equals(interp, candidate, key));
      if (s->table.data() != table || !s->table[i + k].key.identical(candidate)) goto restart;  // __eq__ changed the set
      if (equal) return Place{i + k, true, false};
    }
    perturb >>= kPerturbShift;
    i = (i * 5 + 1 + perturb) & mask;
  }
}

}  // namespace

void set_clear(Set* s) {
  std::vector<Set::Entry> old(kMinSize);
  old.swap(s->table);
  s->used = s->fill = 0;
  s->finger = 0;
}

Result<bool> set_add_hashed(Interp& interp, Set* s, const Value& key, uint64_t hash) {
  if (s->table.empty()) s->table.resize(kMinSize);
  // Most keys lie, or go, where they are looked for first.
  Place p{hash & (s->table.size() - 1), false, false};
  if (const Set::Entry& first = s->table[p.at]; !is_free(first)) {
    if (first.hash == hash && !first.key.is_empty() && same_key(first.key, key) == SameKey::Yes) return false;
    p = TFL_TRY(find(interp, s, key, hash));
  }
  if (p.found) return false;
  s->table[p.at].key = key;
  s->table[p.at].hash = hash;
  ++s->used;
  if (p.reused) return true;
  ++s->fill;
  if (static_cast<size_t>(s->fill) * 5 < (s->table.size() - 1) * 3) return true;
  TFL_TRY(resize(interp, s, static_cast<size_t>(s->used > 50000 ? s->used * 2 : s->used * 4)));
  return true;
}

Result<bool> set_add(Interp& interp, const Value& set, const Value& item) {
  uint64_t hash = TFL_TRY(hash_key(interp, item));
  return set_add_hashed(interp, set.as<Set>(), item, hash);
}

Result<bool> set_contains_hashed(Interp& interp, const Set* s, const Value& key, uint64_t hash) {
  if (s->used == 0) return false;
  const Set::Entry& first = s->table[hash & (s->table.size() - 1)];
  if (is_free(first)) return false;
  if (first.hash == hash && !first.key.is_empty() && same_key(first.key, key) == SameKey::Yes) return true;
  Place p = TFL_TRY(find(interp, s, key, hash));
  return p.found;
}

Result<bool> set_contains(Interp& interp, const Set* s, const Value& item) {
  uint64_t hash = TFL_TRY(hash_key(interp, item));
  return set_contains_hashed(interp, s, item, hash);
}

Result<bool> set_remove_hashed(Interp& interp, Set* s, const Value& key, uint64_t hash) {
  if (s->used == 0) return false;
  Place p = TFL_TRY(find(interp, s, key, hash));
  if (!p.found) return false;
  Value dropped = std::move(s->table[p.at].key);
  s->table[p.at].key = Value();
  s->table[p.at].hash = kDeletedKey;
  --s->used;
  return true;
}

Result<bool> set_remove(Interp& interp, Set* s, const Value& item) {
  uint64_t hash = TFL_TRY(hash_key(interp, item));
  return set_remove_hashed(interp, s, item, hash);
}

Result<void> set_merge(Interp& interp, Set* s, const Set* other) {
  if (other == s || other->used == 0) return {};
  if (s->table.empty()) s->table.resize(kMinSize);
  if (static_cast<size_t>(s->fill + other->used) * 5 >= (s->table.size() - 1) * 3) {
    TFL_TRY(resize(interp, s, static_cast<size_t>(s->used + other->used) * 2));
  }
  if (s->fill == 0 && s->table.size() == other->table.size() && other->fill == other->used) {
    s->table = other->table;
    s->fill = s->used = other->used;
    return {};
  }
  if (s->fill == 0) {
    size_t at = 0;
    while (const Set::Entry* e = set_next(other, at)) insert_clean(s->table, e->key, e->hash);
    s->fill = s->used = other->used;
    return {};
  }
  for (size_t i = 0; i < other->table.size(); ++i) {
    if (other->table[i].key.is_empty()) continue;
    Value key = other->table[i].key;
    TFL_TRY(set_add_hashed(interp, s, key, other->table[i].hash));
  }
  return {};
}

Result<void> set_sweep(Interp& interp, Set* s) {
  if (s->table.empty() || static_cast<size_t>(s->fill - s->used) <= (s->table.size() - 1) / 4) return {};
  return resize(interp, s, static_cast<size_t>(s->used > 50000 ? s->used * 2 : s->used * 4));
}

Value set_pop_any(Set* s) {
  if (s->used == 0) return Value();
  size_t mask = s->table.size() - 1;
  size_t i = s->finger & mask;
  while (s->table[i].key.is_empty()) i = (i + 1) & mask;
  Value key = std::move(s->table[i].key);
  s->table[i].key = Value();
  s->table[i].hash = kDeletedKey;
  --s->used;
  s->finger = i + 1;
  return key;
}

}  // namespace tfl
