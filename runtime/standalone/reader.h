// What reads the compiler's descriptions: 64-bit little-endian integers; strings as their length, their bytes and zeros up to a multiple of 8
// (at least one); elements as their length and where they are, from the beginning: 0 for those that follow, at the next multiple of 64.
#pragma once

#include "runtime/standalone/standalone.h"

typedef struct {
  const unsigned char *begin, *at, *end;
  char *memory, *memory_end;
  bool ok;
} reader;

static inline int64_t integer(reader* r) {
  int64_t v = 0;
  if (r->end - r->at < 8) r->ok = false;
  if (!r->ok) return 0;
  memcpy(&v, r->at, 8);
  r->at += 8;
  return v;
}
static inline uint32_t count(reader* r) {
  int64_t v = integer(r);
  if (v < 0 || v > r->end - r->at) r->ok = false;
  return r->ok ? (uint32_t)v : 0;
}
static inline const char* string(reader* r) {
  int64_t n = integer(r);
  if (n < 0 || r->end - r->at <= n) r->ok = false;
  if (!r->ok) return "";
  const char* s = (const char*)r->at;
  int64_t whole = (n + 8) / 8 * 8;
  if (whole > r->end - r->at || s[n] != 0) {
    r->ok = false;
    return "";
  }
  r->at += whole;
  return s;
}
/* `bytes` may be NULL. */
static inline const void* elements(reader* r, size_t* bytes) {
  int64_t n = integer(r), place = integer(r);
  if (place != 0) {
    if (place < 0 || place % 64 || n < 0 || place > r->end - r->begin || n > r->end - r->begin - place) r->ok = false;
    if (bytes) *bytes = r->ok ? (size_t)n : 0;
    return r->ok ? r->begin + place : NULL;
  }
  size_t past = (size_t)(r->at - r->begin) % 64;
  int64_t padding = past ? (int64_t)(64 - past) : 0;
  if (n < 0 || r->end - r->at < padding || r->end - r->at - padding < n) r->ok = false;
  if (!r->ok) return NULL;
  if (bytes) *bytes = (size_t)n;
  const void* p = r->at + padding;
  r->at += padding + (n + 7) / 8 * 8;
  return p;
}
static inline void* table(reader* r, size_t n, size_t size) {
  size_t bytes = (n * size + 15) / 16 * 16;
  if (bytes > (size_t)(r->memory_end - r->memory)) r->ok = false;
  if (!r->ok) return NULL;
  void* p = r->memory;
  r->memory += bytes;
  return p;
}
