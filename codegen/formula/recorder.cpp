#include "codegen/formula/recorder.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace tfl::formula {

namespace {

int operand_count(Prim prim) {
  switch (prim) {
    case Prim::neg:
    case Prim::abs:
    case Prim::sqrt:
    case Prim::floor:
    case Prim::ceil:
    case Prim::trunc:
    case Prim::rint:
    case Prim::round_f16:
    case Prim::convert:
    case Prim::bitcast: return 1;
    case Prim::fma:
    case Prim::select: return 3;
    default: return 2;
  }
}

uint64_t ones_of(Elem type) { return bits_of(type) == 64 ? ~uint64_t{0} : (uint64_t{1} << bits_of(type)) - 1; }

uint64_t one_of(Elem type) {
  if (type == Elem::f32) return 0x3f800000u;
  return type == Elem::f64 ? 0x3ff0000000000000u : 1;
}

// What a constant operand decides.
std::optional<Term> simplified(Prim prim, Elem type, const Term& a, const Term& b, const Term& c) {
  if (prim == Prim::select) {
    if (a.known()) return a.bits ? b : c;
    if (b == c) return b;
    return {};
  }
  const Term& k = a.known() ? a : b;
  const Term& other = a.known() ? b : a;
  if (!k.known()) return {};
  switch (prim) {
    case Prim::bit_and:
      if (k.bits == 0) return k;
      if (k.bits == ones_of(type)) return other;
      return {};
    case Prim::bit_or:
      if (k.bits == 0) return other;
      if (k.bits == ones_of(type)) return k;
      return {};
    case Prim::bit_xor:
      if (k.bits == 0) return other;
      return {};
    case Prim::multiply:
      if (k.bits == one_of(type)) return other;
      if (k.bits == 0 && !is_float(type)) return k;
      return {};
    case Prim::divide:
      if (b.known() && b.bits == one_of(type)) return a;
      return {};
    case Prim::add:
      if (k.bits == 0 && !is_float(type)) return other;
      return {};
    case Prim::subtract:
    case Prim::shift_left:
    case Prim::shift_right:
      if (b.known() && b.bits == 0) return a;  // x - 0 is x for -0, too
      return {};
    default: return {};
  }
}

}  // namespace

Term Recorder::append(const Inst& inst) {
  Id id = static_cast<Id>(formula_.insts.size());
  formula_.insts.push_back(inst);
  formula_.regions[open_.back()].body.push_back(id);
  return {this, id, 0};
}

Term Recorder::argument(int number, Elem type) {
  formula_.arguments = std::max(formula_.arguments, number + 1);
  return append({Prim::argument, type, kNoId, kNoId, kNoId, static_cast<uint64_t>(number)});
}

Id Recorder::id_of(const Term& t, Elem type) {
  if (!t.known()) return t.id;
  return append({Prim::constant, type, kNoId, kNoId, kNoId, t.bits}).id;
}

uint64_t Recorder::table_of(Table table) {
  for (size_t i = 0; i < formula_.tables.size(); ++i) {
    if (formula_.tables[i].type == table.type && formula_.tables[i].values == table.values) return i;
  }
  formula_.tables.push_back(std::move(table));
  return formula_.tables.size() - 1;
}

uint32_t Recorder::open() {
  auto number = static_cast<uint32_t>(formula_.regions.size());
  formula_.regions.emplace_back();
  open_.push_back(number);
  return number;
}

Term record(Prim prim, Elem type, Elem from, const Term& a, const Term& b, const Term& c) {
  int count = operand_count(prim);
  Recorder* r = a.recorder;
  if (!r && count > 1) r = b.recorder;
  if (!r && count > 2) r = c.recorder;
  if (!r) return known_term(evaluate(prim, type, from, a.bits, b.bits, c.bits));
  if (count > 1) {
    if (auto t = simplified(prim, type, a, b, c)) return *t;
  }
  Inst inst{prim, type, kNoId, kNoId, kNoId, 0};
  inst.a = r->id_of(a, prim == Prim::select ? Elem::mask : from);
  if (count > 1) inst.b = r->id_of(b, from);
  if (count > 2) inst.c = r->id_of(c, from);
  return r->append(inst);
}

Term record_table(const Term& index, Elem index_type, Table table) {
  if (index.known()) return known_term(table.values[index.bits]);
  Recorder& r = *index.recorder;
  Elem type = table.type;
  return r.append({Prim::table, type, r.id_of(index, index_type), kNoId, kNoId, r.table_of(std::move(table))});
}

}  // namespace tfl::formula
