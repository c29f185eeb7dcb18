#include "codegen/formula/parts.h"

#include <algorithm>

namespace tfl::formula {

namespace {

bool has_region(const Inst& i) { return i.prim == Prim::rarely || i.prim == Prim::iterate; }

// f(id, instruction) for every instruction of a region, in order, those of an inner region before the one that holds it.
template <class F>
void for_each(const Formula& f, uint32_t region, F&& visit) {
  for (Id id : f.regions[region].body) {
    const Inst& i = f.at(id);
    if (has_region(i)) for_each(f, static_cast<uint32_t>(i.extra), visit);
    visit(id, i);
  }
}

// Everything an instruction uses, what its region is given and gives included.
template <class F>
void for_each_use(const Formula& f, const Inst& i, F&& visit) {
  for (Id id : {i.a, i.b, i.c}) {
    if (id != kNoId) visit(id);
  }
  if (!has_region(i)) return;
  const Region& r = f.regions[i.extra];
  for (const auto* list : {&r.inputs, &r.params, &r.results}) {
    for (Id id : *list) visit(id);
  }
  if (r.go_on != kNoId) visit(r.go_on);
}

struct Mixer {
  Digest d{0x9ae16a3b2f90404full, 0xc949d7c7509e6557ull};

  void add(uint64_t x) {
    d.high = (d.high ^ x) * 0x9fb21c651e98df25ull;
    d.high ^= d.high >> 32;
    d.low = (d.low ^ (x + (d.low << 7))) * 0xd6e8feb86659fd93ull;
    d.low ^= d.low >> 29;
  }
};

}  // namespace

int weight(const Formula& f, uint32_t region, int rare) {
  int n = 0;
  for (Id id : f.regions[region].body) {
    const Inst& i = f.at(id);
    n += i.prim != Prim::constant && i.prim != Prim::argument && i.prim != Prim::parameter && i.prim != Prim::result;
    if (!has_region(i)) continue;
    int inner = weight(f, static_cast<uint32_t>(i.extra), rare);
    if (i.prim == Prim::iterate || inner < rare) n += inner;
  }
  return n;
}

std::vector<Id> captures(const Formula& f, uint32_t region) {
  std::vector<bool> inside(f.insts.size());
  for_each(f, region, [&](Id id, const Inst& i) { inside[id] = i.prim != Prim::argument; });
  std::vector<Id> out;
  auto use = [&](Id id) {
    if (!inside[id] && std::find(out.begin(), out.end(), id) == out.end()) out.push_back(id);
  };
  for_each(f, region, [&](Id, const Inst& i) { for_each_use(f, i, use); });
  for (Id id : f.regions[region].results) use(id);
  return out;
}

Digest digest(const Formula& f, uint32_t region, const std::vector<Id>& captured) {
  std::vector<uint64_t> number(f.insts.size());
  uint64_t next = 0;
  Mixer m;
  for (Id id : captured) {
    number[id] = ++next;
    m.add(static_cast<uint64_t>(f.at(id).type));
  }
  for_each(f, region, [&](Id id, const Inst& i) {
    if (i.prim == Prim::argument) return;
    number[id] = ++next;
  });
  for_each(f, region, [&](Id, const Inst& i) {
    if (i.prim == Prim::argument) return;
    m.add(static_cast<uint64_t>(i.prim) << 8 | static_cast<uint64_t>(i.type));
    for_each_use(f, i, [&](Id id) { m.add(number[id]); });
    if (i.prim == Prim::table) {
      for (uint64_t v : f.tables[i.extra].values) m.add(v);
    } else if (has_region(i)) {
      const Region& r = f.regions[i.extra];
      m.add(r.body.size() << 16 | r.results.size());
      m.add(static_cast<uint64_t>(r.limit));
    } else {
      m.add(i.extra);
    }
  });
  for (Id id : f.regions[region].results) m.add(number[id]);
  return m.d;
}

bool has_wide(const Formula& f, uint32_t region) {
  bool wide = false;
  for_each(f, region, [&](Id, const Inst& i) { wide |= bits_of(i.type) == 64; });
  return wide;
}

}  // namespace tfl::formula
