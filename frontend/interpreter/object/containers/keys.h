// Keys of dicts and sets: their hash and their equality, fast for text and ints. This header must not know about tables.
#pragma once

#include "frontend/core/hashing.h"
#include "frontend/core/protocol.h"

namespace tfl {

inline bool is_plain_str(const Value& v) { return v.is_str() && !v.object()->type->script; }

inline Result<uint64_t> hash_key(Interp& interp, const Value& key) {
  if (is_plain_str(key)) return str_hash(key.as<Str>());
  if (key.is_int()) return hash_int(key.as_int());
  return hash_value(interp, key);
}

enum class SameKey : uint8_t { No, Yes, Ask };
/// Equality of two keys of equal hash as far as it can be told without running code.
inline SameKey same_key(const Value& a, const Value& b) {
  if (a.identical(b)) return SameKey::Yes;
  if (a.is_int() && b.is_int()) return SameKey::No;
  if (is_plain_str(a) && is_plain_str(b)) {
    const Str *x = a.as<Str>(), *y = b.as<Str>();
    if (x->interned && y->interned) return SameKey::No;
    return x->text == y->text ? SameKey::Yes : SameKey::No;
  }
  return SameKey::Ask;
}

}  // namespace tfl
