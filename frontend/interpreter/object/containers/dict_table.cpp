// The table behind dict: entries in order of insertion, and an index of entry numbers once there are more than a few.
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/keys.h"

namespace tfl {

namespace {

constexpr size_t kInline = 8;  // this many entries are searched one by one
constexpr uint32_t kDeleted = ~uint32_t{0};
constexpr size_t kMaxEntries = size_t{1} << 31;

size_t first_slot(const Dict* d, uint64_t hash) {
  // The high bits of the product: ints that differ by a power of two spread too.
  return static_cast<size_t>((hash * 0x9E3779B97F4A7C15u) >> 20) & (d->index.size() - 1);
}

struct Found {
  int64_t entry = -1;
  size_t slot = 0;  // in the index, when there is one
};

/// `test(entry)` says whether the entry's key is the one looked for; the hashes are equal.
template <class Test>
Found search(const Dict* d, uint64_t hash, Test&& test) {
  if (d->index.empty()) {
    for (size_t i = 0; i < d->entries.size(); ++i) {
      const Dict::Entry& e = d->entries[i];
      if (e.hash == hash && !e.key.is_empty() && test(e)) return {static_cast<int64_t>(i), 0};
    }
    return {};
  }
  size_t mask = d->index.size() - 1;
  for (size_t slot = first_slot(d, hash);; slot = (slot + 1) & mask) {
    uint32_t n = d->index[slot];
    if (n == 0) return {};
    if (n == kDeleted) continue;
    const Dict::Entry& e = d->entries[n - 1];
    if (e.hash == hash && test(e)) return {static_cast<int64_t>(n - 1), slot};
  }
}

Found find_str(const Dict* d, Str* key, uint64_t hash) {
  return search(d, hash, [key](const Dict::Entry& e) {
    if (e.key.counted() == key && e.key.is_object()) return true;
    if (!e.key.is_str()) return false;
    const Str* s = e.key.as<Str>();
    return !(s->interned && key->interned) && s->text == key->text;
  });
}

Result<Found> find(Interp& interp, Dict* d, const Value& key, uint64_t hash) {
  for (;;) {
    bool ask = false;
    Found f = search(d, hash, [&](const Dict::Entry& e) {
      SameKey same = same_key(e.key, key);
      if (same == SameKey::Ask) ask = true;
      return same == SameKey::Yes || same == SameKey::Ask;
    });
    if (!ask || f.entry < 0) return f;
    // Some candidate needs __eq__: walk again, asking each. That code may change the dict; then everything begins anew.
    uint32_t version = d->keys_version;
    Found last;
    std::unique_ptr<Error> error;
    bool changed = false;
    last = search(d, hash, [&](const Dict::Entry& e) {
      SameKey same = same_key(e.key, key);
      if (same != SameKey::Ask) return same == SameKey::Yes;
      Value candidate = e.key;
      auto r = equals(interp, candidate, key);
      if (!r) {
        error = std::move(r.failure().error);
        return true;
      }
      changed = d->keys_version != version;
      return changed || *r;
    });
    if (error) return Failure{std::move(error)};
    if (!changed) return last;
  }
}

void rebuild_index(Dict* d, size_t slots) {
  d->index.assign(slots, 0);
  size_t mask = slots - 1;
  for (size_t i = 0; i < d->entries.size(); ++i) {
    if (d->entries[i].key.is_empty()) continue;
    size_t slot = first_slot(d, d->entries[i].hash);
    while (d->index[slot] != 0) slot = (slot + 1) & mask;
    d->index[slot] = static_cast<uint32_t>(i + 1);
  }
}

/// Takes the gaps of deleted entries out.
void compact(Dict* d) {
  size_t to = 0;
  for (size_t i = 0; i < d->entries.size(); ++i) {
    if (d->entries[i].key.is_empty()) continue;
    if (to != i) d->entries[to] = std::move(d->entries[i]);
    ++to;
  }
  d->entries.resize(to);
  d->head = 0;
}

size_t slots_for(size_t entries) {
  size_t n = 16;
  while (n < entries * 2) n *= 2;
  return n;
}

void append(Dict* d, Value key, Value value, uint64_t hash) {
  size_t n = d->entries.size();
  if (n >= kInline && d->index.empty() && static_cast<size_t>(d->live) < n) {
    compact(d);
    n = d->entries.size();
  }
  d->entries.push_back({std::move(key), std::move(value), hash});
  ++d->live;
  ++d->keys_version;
  if (d->index.empty()) {
    if (n + 1 > kInline) rebuild_index(d, slots_for(n + 1));
    return;
  }
  if ((n + 1) * 3 > d->index.size() * 2) {
    if (static_cast<size_t>(d->live) * 4 < d->entries.size() * 3) compact(d);
    rebuild_index(d, slots_for(d->entries.size() + d->entries.size() / 2));
    return;
  }
  size_t mask = d->index.size() - 1;
  size_t slot = first_slot(d, hash);
  while (d->index[slot] != 0 && d->index[slot] != kDeleted) slot = (slot + 1) & mask;
  d->index[slot] = static_cast<uint32_t>(n + 1);
}

Value remove(Dict* d, Found f) {
  auto& e = d->entries[static_cast<size_t>(f.entry)];
  Value key = std::move(e.key);  // dropped last: its destructor may run code
  Value value = std::move(e.value);
  e.key = Value();
  if (!d->index.empty()) d->index[f.slot] = kDeleted;
  --d->live;
  ++d->keys_version;
  while (!d->entries.empty() && d->entries.back().key.is_empty()) d->entries.pop_back();
  while (d->head < d->entries.size() && d->entries[d->head].key.is_empty()) ++d->head;
  if (d->entries.empty()) {
    d->index.clear();
    d->head = 0;
  } else if (d->entries.size() > 32 && static_cast<size_t>(d->live) * 2 < d->entries.size()) {
    compact(d);
    rebuild_index(d, slots_for(d->entries.size()));
  }
  return value;
}

}  // namespace

Result<Value> dict_get(Interp& interp, Dict* d, const Value& key) {
  if (d->live == 0) {
    // The key must be hashable all the same.
    if (!is_plain_str(key) && !key.is_int()) TFL_TRY(hash_value(interp, key));
    return Value();
  }
  if (is_plain_str(key)) {
    Str* s = key.as<Str>();
    Found f = find_str(d, s, str_hash(s));
    if (f.entry >= 0) return d->entries[static_cast<size_t>(f.entry)].value;
    if (s->interned) return Value();
  }
  uint64_t hash = TFL_TRY(hash_key(interp, key));
  Found f = TFL_TRY(find(interp, d, key, hash));
  if (f.entry < 0) return Value();
  return d->entries[static_cast<size_t>(f.entry)].value;
}

Result<Value*> dict_place(Interp& interp, Dict* d, const Value& key) {
  Found f;
  if (is_plain_str(key)) {
    f = find_str(d, key.as<Str>(), str_hash(key.as<Str>()));
    if (f.entry >= 0) return &d->entries[static_cast<size_t>(f.entry)].value;
  }
  uint64_t hash = TFL_TRY(hash_key(interp, key));
  f = TFL_TRY(find(interp, d, key, hash));
  return f.entry < 0 ? nullptr : &d->entries[static_cast<size_t>(f.entry)].value;
}

int64_t dict_find_str(Dict* d, Str* key) {
  if (d->live == 0) return -1;
  uint64_t hash = str_hash(key);
  if (!d->index.empty()) {  // most keys lie where they are looked for first
    uint32_t n = d->index[first_slot(d, hash)];
    if (n != 0 && n != kDeleted && d->entries[n - 1].key.is_object() && d->entries[n - 1].key.counted() == key) return n - 1;
  }
  return find_str(d, key, hash).entry;
}

Value dict_get_str(Dict* d, Str* key) {
  int64_t i = dict_find_str(d, key);
  return i < 0 ? Value() : d->entries[static_cast<size_t>(i)].value;
}

Result<void> dict_set(Interp& interp, Dict* d, const Value& key, Value value) {
  uint64_t hash = TFL_TRY(hash_key(interp, key));
  Found f = TFL_TRY(find(interp, d, key, hash));
  if (f.entry >= 0) {
    d->entries[static_cast<size_t>(f.entry)].value = std::move(value);
    return {};
  }
  if (d->entries.size() == d->entries.capacity()) {
    if (d->entries.size() >= kMaxEntries) return fail(ErrorKind::MemoryError, "");
    TFL_TRY(guard_memory(interp, d->entries.size() * 2 * (sizeof(Dict::Entry) + 2 * sizeof(uint32_t))));
  }
  append(d, key, std::move(value), hash);
  return {};
}

void dict_set_str(Dict* d, Str* key, Value value) {
  uint64_t hash = str_hash(key);
  Found f = find_str(d, key, hash);
  if (f.entry >= 0)
    d->entries[static_cast<size_t>(f.entry)].value = std::move(value);
  else
    append(d, Value::share(key), std::move(value), hash);
}

Result<Value> dict_pop(Interp& interp, Dict* d, const Value& key) {
  uint64_t hash = TFL_TRY(hash_key(interp, key));
  Found f = TFL_TRY(find(interp, d, key, hash));
  if (f.entry < 0) return Value();
  return remove(d, f);
}

bool dict_remove_str(Dict* d, Str* key) {
  Found f = find_str(d, key, str_hash(key));
  if (f.entry < 0) return false;
  Value dropped = remove(d, f);
  return true;
}

Result<bool> dict_move(Interp& interp, Dict* d, const Value& key, bool last) {
  uint64_t hash = TFL_TRY(hash_key(interp, key));
  Found f = TFL_TRY(find(interp, d, key, hash));
  if (f.entry < 0) return false;
  auto at = static_cast<size_t>(f.entry);
  if (at == (last ? d->entries.size() - 1 : d->head)) return true;
  if (!last && d->head == 0) {
    // Room in front for half as many as there are, so that each of many moves costs the same.
    compact(d);
    size_t room = d->entries.size() / 2 + 4;
    TFL_TRY(guard_memory(interp, (d->entries.size() + room) * sizeof(Dict::Entry)));
    std::vector<Dict::Entry> wider(room);
    wider.reserve(d->entries.size() + room);
    for (Dict::Entry& e : d->entries) wider.push_back(std::move(e));
    d->entries.swap(wider);
    d->head = room;
    rebuild_index(d, slots_for(d->entries.size() + d->entries.size() / 2));
    f = TFL_TRY(find(interp, d, key, hash));
    if (f.entry < 0) return false;
    at = static_cast<size_t>(f.entry);
  }
  Dict::Entry moved = std::move(d->entries[at]);
  d->entries[at].key = Value();
  if (!d->index.empty()) d->index[f.slot] = kDeleted;
  --d->live;
  if (last) {
    while (d->head < d->entries.size() && d->entries[d->head].key.is_empty()) ++d->head;
    if (d->head > 32 && d->head * 2 > d->entries.size()) {
      compact(d);
      rebuild_index(d, slots_for(d->entries.size() + d->entries.size() / 2));
    }
    append(d, std::move(moved.key), std::move(moved.value), hash);
    return true;
  }
  while (!d->entries.empty() && d->entries.back().key.is_empty()) d->entries.pop_back();
  --d->head;
  d->entries[d->head] = std::move(moved);
  ++d->live;
  ++d->keys_version;
  if (!d->index.empty()) {
    size_t mask = d->index.size() - 1;
    size_t slot = first_slot(d, hash);
    while (d->index[slot] != 0 && d->index[slot] != kDeleted) slot = (slot + 1) & mask;
    d->index[slot] = static_cast<uint32_t>(d->head + 1);
  }
  return true;
}

void dict_clear(Dict* d) {
  std::vector<Dict::Entry> old;
  old.swap(d->entries);
  d->index.clear();
  d->head = 0;
  d->live = 0;
  ++d->keys_version;
}

}  // namespace tfl
