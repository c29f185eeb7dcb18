#include "frontend/interpreter/bytecode/operands.h"

namespace tfl {
namespace {

struct Verifier {
  const Code& code;
  uint32_t at = 0;

  Failure bad(const char* what) const {
    return fail(ErrorKind::ValueError, "bytecode: {} in {} at {}", what, code.name->text, at);
  }

  bool registers(uint32_t first, uint32_t count) const { return uint64_t{first} + count <= code.registers; }
  bool constant(uint32_t k) const { return k < code.constants.size(); }
  bool constant(uint32_t k, Kind kind) const { return constant(k) && code.constants[k].is(kind); }
  bool names(uint32_t k) const {
    if (!constant(k, Kind::Tuple)) return false;
    for (const Value& v : code.constants[k].as<Tuple>()->span()) {
      if (!v.is_str()) return false;
    }
    return true;
  }
  bool target(int32_t to) const {
    return to >= 0 && static_cast<size_t>(to) < code.instructions.size() &&
           code.instructions[static_cast<size_t>(to)].op != Opcode::Extra;
  }

  bool operand(char kind, uint32_t v, const Instruction& i) const {
    switch (kind) {
      case '-':
      case '#': return true;
      case 'w':
      case '1': return registers(v, 1);
      case '2': return registers(v, 2);
      case '3': return registers(v, 3);
      case '4': return registers(v, 4);
      case 'k': return constant(v);
      case 'n': return constant(v, Kind::Str);
      case 'c': return constant(v, Kind::Code);
      case 't': return names(v);
      case 'g': return v < code.caches.size();
      case 'C': return i.bc() >= 0 && constant(static_cast<uint32_t>(i.bc()));
      case 'J': return target(i.bc());
      default: return registers(v, range_length(kind, i));
    }
  }

  /// Operands whose meaning depends on x, and the Extra behind an instruction.
  bool special(const Instruction& i) const {
    const Instruction* next = at + 1 < code.instructions.size() ? &code.instructions[at + 1] : nullptr;
    bool extra = next && next->op == Opcode::Extra;
    switch (i.op) {
      case Opcode::Reraise: return i.x == 0 || registers(i.a, 1);
      case Opcode::Raise: return !(i.x & 1) || registers(i.b, 1);
      case Opcode::Format: return !(i.x & 4) || registers(i.c, 1);
      case Opcode::AssertFailed:
        return i.b > 0 && registers(i.a, i.b + (i.x & 1u)) && code.constants[i.c].as<Tuple>()->size == 2 + i.b + (i.x >> 1 & 1u);
      case Opcode::Unary: return i.x == 1 || i.x == 2 || i.x == 3;
      case Opcode::Renew: return i.bc() >= 0 && static_cast<size_t>(i.bc()) < code.decisions.size();
      case Opcode::JumpCompare:
        if ((i.x & 15) > static_cast<int>(CompareOp::Ge) || !extra || !target(next->bc())) return false;
        return i.x & kJumpCompareConst ? constant(i.b) : registers(i.b, 1);
      case Opcode::CallKeywords:
        return extra && next->bc() >= 0 && names(static_cast<uint32_t>(next->bc())) &&
               code.constants[static_cast<size_t>(next->bc())].as<Tuple>()->size <= i.c;
      case Opcode::Extra:
        return at > 0 &&
               (code.instructions[at - 1].op == Opcode::JumpCompare || code.instructions[at - 1].op == Opcode::CallKeywords);
      default: return true;
    }
  }

  Result<void> instructions() {
    if (code.instructions.empty() || !ends_flow(code.instructions.back().op)) {
      // The target of JumpCompare's Extra may be the end of the flow as well, but then something follows.
      return bad("no end");
    }
    for (at = 0; at < code.instructions.size(); ++at) {
      const Instruction& i = code.instructions[at];
      if (static_cast<size_t>(i.op) >= kOpcodeCount) return bad("unknown instruction");
      const Operands& o = operands_of(i.op);
      bool wide = o.b == 'C' || o.b == 'J' || o.b == 'E';
      auto fine = [&](char kind, uint32_t v) { return kind == 'o' || kind == 'E' || operand(kind, v, i); };
      if (!fine(o.a, i.a) || !fine(o.b, i.b) || (!wide && !fine(o.c, i.c)) || !special(i)) return bad("wrong operand");
    }
    return {};
  }

  Result<void> tables() {
    if (code.registers > 65536) return bad("too many registers");
    size_t parameters = size_t{code.positional} + code.keyword_only + code.var_positional + code.var_keyword;
    if (code.params.size() != parameters || code.positional_only > code.positional || parameters > code.registers)
      return bad("wrong parameters");
    if (code.register_names.size() > code.registers) return bad("wrong register names");
    if (code.free_names.size() != code.free_registers.size()) return bad("wrong closure");
    for (uint16_t r : code.free_registers) {
      if (r >= code.registers) return bad("wrong closure");
    }
    for (const Handler& h : code.handlers) {
      if (h.first > h.last || h.last > code.instructions.size() || !target(static_cast<int32_t>(h.target)) ||
          !registers(h.reg, 1)) {
        return bad("wrong handler");
      }
    }
    for (const Decision& d : code.decisions) {
      for (const std::vector<int32_t>* list : {&d.places, &d.reads}) {
        for (int32_t place : *list) {
          if (!registers(static_cast<uint32_t>(place < 0 ? -1 - place : place), 1)) return bad("wrong decision");
        }
      }
    }
    return {};
  }

  /// A register read as a cell must be one: it came with the closure, or a MakeCell at the very beginning made it, and nothing
  /// else writes it.
  Result<void> cells() {
    std::vector<bool> cell(code.registers);
    for (uint16_t r : code.free_registers) cell[r] = true;
    size_t begin = 0;
    for (; begin < code.instructions.size() && code.instructions[begin].op == Opcode::MakeCell; ++begin)
      cell[code.instructions[begin].a] = true;
    for (const Decision& d : code.decisions) {
      for (const std::vector<int32_t>* list : {&d.places, &d.reads}) {
        for (int32_t place : *list) {
          if (cell[static_cast<size_t>(place < 0 ? -1 - place : place)] != (place < 0)) return bad("no cell");
        }
      }
    }
    for (at = static_cast<uint32_t>(begin); at < code.instructions.size(); ++at) {
      const Instruction& i = code.instructions[at];
      const Operands& o = operands_of(i.op);
      if (i.op == Opcode::MakeCell) return bad("late cell");
      if (o.a == 'w' && cell[i.a]) return bad("cell overwritten");
      if (i.op == Opcode::DeleteLocal && cell[i.a]) return bad("cell overwritten");
      if (i.op == Opcode::LoadNameOrCell && !cell[i.c]) return bad("no cell");
      if ((i.op == Opcode::LoadCell || i.op == Opcode::StoreCell || i.op == Opcode::DeleteCell) && !cell[i.b])
        return bad("no cell");
      if (i.op == Opcode::MoveTemp && cell[i.b]) return bad("cell moved");
    }
    return {};
  }
};

}  // namespace

Result<void> verify_code(const Code& code) {
  Verifier v{code};
  TFL_TRY(v.instructions());
  TFL_TRY(v.tables());
  TFL_TRY(v.cells());
  return {};
}

}  // namespace tfl
