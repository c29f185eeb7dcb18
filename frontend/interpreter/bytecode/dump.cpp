// Code as text: one line an instruction, with the source line where it changes, names of registers and values of constants.
#include <fmt/format.h>

#include "frontend/core/protocol.h"
#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/operands.h"

namespace tfl {
namespace {

constexpr size_t kMaxText = 60;
constexpr int kMaxDepth = 200;

struct Dumper {
  Interp& interp;
  std::string out;

  std::string constant(const Code& code, uint32_t k) {
    if (k >= code.constants.size()) return fmt::format("k{}?", k);
    const Value& v = code.constants[k];
    if (v.is(Kind::Code)) return fmt::format("<code {}>", v.as<Code>()->name->text);
    auto text = repr_text(interp, v);
    if (!text) return fmt::format("k{}", k);
    std::string s = text.take();
    return s.size() > kMaxText ? s.substr(0, kMaxText) + "…" : s;
  }
  static std::string reg(const Code& code, uint32_t r) {
    if (r < code.register_names.size() && code.register_names[r]) return fmt::format("r{}:{}", r, code.register_names[r]->text);
    return fmt::format("r{}", r);
  }
  static std::string range(const Code& code, uint32_t first, uint32_t count) {
    if (count == 0) return "()";
    if (count == 1) return reg(code, first);
    return fmt::format("r{}..r{}", first, first + count - 1);
  }

  std::string operand(const Code& code, char kind, uint32_t v, const Instruction& i) {
    switch (kind) {
      case 'w':
      case '1': return reg(code, v);
      case '2': return range(code, v, 2);
      case '3': return range(code, v, 3);
      case '4': return range(code, v, 4);
      case 'k':
      case 'c':
      case 't': return constant(code, v);
      case 'n': return v < code.constants.size() && code.constants[v].is_str() ? code.constants[v].as<Str>()->text : "?";
      case 'g': return fmt::format("cache {}", v);
      case '#': return {};
      case 'C': return constant(code, static_cast<uint32_t>(i.bc()));
      case 'J': return fmt::format("-> {}", i.bc());
      case 'R':
      case 'D':
      case 'F':
      case 'M':
      case 'K':
      case 'U': return range(code, v, range_length(kind, i));
      default: return {};
    }
  }

  std::string special(const Code& code, const Instruction& i, const Instruction* before) {
    constexpr const char* kCompare[] = {"==", "!=", "<", "<=", ">", ">="};
    constexpr const char* kUnary[] = {"not", "~", "+", "-"};
    switch (i.op) {
      case Opcode::JumpCompare:
        return fmt::format("{} {} {} {}", (i.x & 16) ? "if" : "unless", reg(code, i.a), (i.x & 15) < 6 ? kCompare[i.x & 15] : "?",
                           (i.x & kJumpCompareConst) ? constant(code, i.b) : reg(code, i.b));
      case Opcode::Extra:
        if (before && before->op == Opcode::CallKeywords) return constant(code, static_cast<uint32_t>(i.bc()));
        return fmt::format("-> {}", i.bc());
      case Opcode::Unary: return fmt::format("{}, {}{}", reg(code, i.a), kUnary[i.x & 3], reg(code, i.b));
      case Opcode::Reraise: return (i.x & 1) ? reg(code, i.a) : "";
      case Opcode::Raise: return (i.x & 1) ? fmt::format("{} from {}", reg(code, i.a), reg(code, i.b)) : reg(code, i.a);
      case Opcode::AssertFailed: return fmt::format("{}, {}", range(code, i.a, i.b + (i.x & 1u)), constant(code, i.c));
      default: return {};
    }
  }

  void instruction(const Code& code, uint32_t number, uint32_t& line) {
    const Instruction& i = code.instructions[number];
    InstructionSpan span = code.span_at(number);
    std::string place;
    if (span.span.line != line) place = fmt::format("{}", line = span.span.line);
    const Operands& o = operands_of(i.op);
    std::string text = special(code, i, number > 0 ? &code.instructions[number - 1] : nullptr);
    if (text.empty()) {
      bool wide = o.b == 'C' || o.b == 'J';
      char c = i.op == Opcode::Format && (i.x & 4) ? '1' : o.c;
      for (auto [kind, v] : {std::pair{o.a, i.a}, std::pair{o.b, i.b}, std::pair{wide ? '-' : c, i.c}}) {
        std::string part = operand(code, kind, v, i);
        if (part.empty()) continue;
        if (!text.empty()) text += ", ";
        text += part;
      }
      bool arithmetic = i.op >= Opcode::Add && i.op <= Opcode::SubConst;
      if (arithmetic && (i.x & 1)) text += ", in place";
    }
    std::string line_text = fmt::format("{:>6} {:>5}  {:<18} {}", place, number, kOpcodeNames[static_cast<size_t>(i.op)], text);
    line_text.erase(line_text.find_last_not_of(' ') + 1);
    out += line_text + "\n";
  }

  void code(const Code& code, int depth) {
    out += fmt::format("{}: {} registers{}\n", code.qualname->text, code.registers,
                       code.async_generator ? ", async generator"
                       : code.coroutine     ? ", coroutine"
                       : code.generator     ? ", generator"
                                            : "");
    if (!code.params.empty()) {
      constexpr const char* kMarks[] = {"", "", "*", "", "**"};
      std::string list;
      bool star = code.var_positional;
      for (const Param& p : code.params) {
        if (!list.empty()) list += ", ";
        if (p.kind == ast::ParamKind::KeywordOnly && !star) list += "*, ", star = true;
        list += kMarks[static_cast<int>(p.kind)] + p.name->text;
      }
      out += "  parameters: " + list + "\n";
    }
    for (size_t i = 0; i < code.free_names.size(); ++i) out += fmt::format("  closure: {}\n", reg(code, code.free_registers[i]));
    uint32_t line = 0;
    for (uint32_t i = 0; i < code.instructions.size(); ++i) instruction(code, i, line);
    for (const Handler& h : code.handlers) {
      out += fmt::format("  errors in {}..{} -> {} with r{}\n", h.first, h.last - 1, h.target, h.reg);
    }
    for (const Decision& d : code.decisions) {
      out += fmt::format("  a tensor in {}..{} renews", d.first, d.last - 1);
      for (int32_t place : d.places) out += " " + reg(code, static_cast<uint32_t>(place < 0 ? -1 - place : place));
      out += "\n";
    }
    if (depth >= kMaxDepth) return;
    for (const Value& k : code.constants) {
      if (!k.is(Kind::Code)) continue;
      out += "\n";
      this->code(*k.as<Code>(), depth + 1);
    }
  }
};

}  // namespace

std::string dump_code(Interp& interp, const Value& code) {
  Dumper d{interp, {}};
  if (code.is(Kind::Code)) d.code(*code.as<Code>(), 0);
  return std::move(d.out);
}

}  // namespace tfl
