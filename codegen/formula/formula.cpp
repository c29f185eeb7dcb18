#include "codegen/formula/formula.h"

#include <algorithm>
#include <iterator>

namespace tfl::formula {

namespace {

constexpr const char* kElemNames[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "mask"};
constexpr const char* kPrimNames[] = {
    "argument",  "constant",   "add",         "subtract", "multiply",      "divide",   "bit_and",   "bit_or",
    "bit_xor",   "shift_left", "shift_right", "minimum",  "maximum",       "copysign", "neg",       "abs",
    "sqrt",      "floor",      "ceil",        "trunc",    "rint",          "fma",      "round_f16", "equal",
    "not_equal", "less",       "less_equal",  "greater",  "greater_equal", "select",   "convert",   "bitcast",
    "table",     "rarely",     "iterate",     "result",   "parameter",
};
static_assert(std::size(kPrimNames) == static_cast<size_t>(Prim::parameter) + 1);

struct Liveness {
  Formula& f;
  std::vector<bool> live;

  void mark(Id id) {
    if (id != kNoId) live[id] = true;
  }
  void mark_all(const std::vector<Id>& ids) {
    for (Id id : ids) mark(id);
  }
  // What a region uses of the outside has been recorded, and therefore stands, before it.
  void region(uint32_t number) {
    Region& r = f.regions[number];
    for (auto it = r.body.rbegin(); it != r.body.rend(); ++it) {
      if (!live[*it]) continue;
      const Inst& i = f.at(*it);
      mark(i.a);
      mark(i.b);
      mark(i.c);
      if (i.prim != Prim::rarely && i.prim != Prim::iterate) continue;
      auto inner = static_cast<uint32_t>(i.extra);
      mark_all(f.regions[inner].inputs);
      mark_all(f.regions[inner].params);
      mark_all(f.regions[inner].results);
      mark(f.regions[inner].go_on);
      region(inner);
    }
    std::erase_if(r.body, [&](Id id) { return !live[id]; });
  }
};

void print_region(const Formula& f, uint32_t number, int depth, std::string& out) {
  const Region& r = f.regions[number];
  std::string space(static_cast<size_t>(2 * depth), ' ');
  for (Id id : r.body) {
    const Inst& i = f.at(id);
    out += space + "%" + std::to_string(id) + ": " + kElemNames[static_cast<int>(i.type)];
    out += std::string(" = ") + kPrimNames[static_cast<int>(i.prim)];
    for (Id operand : {i.a, i.b, i.c}) {
      if (operand != kNoId) out += " %" + std::to_string(operand);
    }
    switch (i.prim) {
      case Prim::argument:
      case Prim::table:
      case Prim::result:
      case Prim::constant:
      case Prim::parameter: out += " #" + std::to_string(i.extra); break;
      case Prim::rarely:
      case Prim::iterate:
        out += " {\n";
        print_region(f, static_cast<uint32_t>(i.extra), depth + 1, out);
        out += space + "}";
        break;
      default: break;
    }
    out += "\n";
  }
  auto list = [&](const char* name, const std::vector<Id>& ids) {
    if (ids.empty()) return;
    out += space + name;
    for (Id id : ids) out += " %" + std::to_string(id);
    out += "\n";
  };
  list("inputs", r.inputs);
  list("results", r.results);
  if (r.go_on != kNoId) out += space + "while %" + std::to_string(r.go_on) + ", at most " + std::to_string(r.limit) + "\n";
}

}  // namespace

void prune(Formula& f) {
  Liveness l{f, std::vector<bool>(f.insts.size())};
  l.mark_all(f.regions[0].results);
  l.region(0);
}

std::string formula_text(const Formula& f) {
  std::string out;
  print_region(f, 0, 0, out);
  return out;
}

}  // namespace tfl::formula
