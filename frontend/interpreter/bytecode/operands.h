// What each instruction's operands are, for the dump and for the verification of code that was read from a file.
// Must not know what instructions do.
#pragma once

#include <array>
#include <cstdint>

#include "frontend/core/code.h"

namespace tfl {

inline constexpr size_t kOpcodeCount = 0
#define TFL_INSTRUCTION(name, operands) +1
#include "frontend/core/instructions.def"
#undef TFL_INSTRUCTION
    ;

/// One letter for each of a, b and c; two where b and c are one number.
/// Registers: '1' to '4' so many from this one, 'w' one that is written, 'R' c of them from b, 'D' 2c, 'F' c + 1, 'M' c + 2,
/// 'K' by x c + 1 or c + 2, 'U' x + c + 1; 'o' a register unless x says otherwise. Constants: 'k' any, 'n' a Str, 'c' a Code,
/// 't' a Tuple of Str. 'C' a constant's number, 'J' a jump target, 'E' what the instruction before says (both for bc).
/// 'g' a cache, '#' a number, '-' nothing.
struct Operands {
  char a = '-', b = '-', c = '-';
};

constexpr std::array<Operands, kOpcodeCount> make_operand_table() {
  std::array<Operands, kOpcodeCount> t{};
  auto set = [&t](const char* text, std::initializer_list<Opcode> ops) {
    for (Opcode op : ops) t[static_cast<size_t>(op)] = {text[0], text[1], text[2]};
  };
  using enum Opcode;
  set("---", {Nop});
  set("-#-", {Renew});
  set("w--", {RenewResult});
  set("w1-", {Move, MoveTemp, Unary, Not, GetIter, Yield, YieldFrom, ListToTuple});
  set("wC-", {LoadConst});
  set("w1-", {GetAwaitable});
  set("1--", {EndAsyncFor});
  set("w11", {SplitGroup, JoinGroup});
  set("1--", {CheckLocal, DeleteLocal, Return, ImportStar, ShowResult});
  set("w--", {Clear, LoadAssertionError});
  set("o--", {Reraise});
  set("wng", {LoadGlobal});
  set("1ng", {StoreGlobal});
  set("-n-", {DeleteGlobal, DeleteName});
  set("wn-", {LoadName, Import});
  set("1n-", {StoreName});
  set("wn1", {LoadNameOrCell});
  set("w--", {MakeCell});
  set("w1-", {LoadCell});
  set("11-", {StoreCell, ListAppend, SetAdd, SetUpdate, DictUpdate, DelItem});
  set("-1-", {DeleteCell});
  set("w11", {Add, Sub, Mul, Div, FloorDiv, Mod, Pow, MatMul, LShift, RShift, BitAnd,  BitOr,          BitXor,
              Eq,  Ne,  Lt,  Le,  Gt,       Ge,  Is,  IsNot,  In,     NotIn,  GetItem, MatchException, WithExit});
  set("w1k", {AddConst, SubConst});
  set("-J-", {Jump});
  set("1J-", {JumpIfTrue, JumpIfFalse, JumpIfEmpty});
  set("1o-", {JumpCompare});
  set("w1n", {GetAttr, ImportFrom});
  set("11n", {SetAttr});
  set("1-n", {DelAttr});
  set("21n", {LoadMethod});
  set("111", {SetItem, DictSet, DictMerge, ListExtend});
  set("wR#", {BuildTuple, BuildList, BuildSet, BuildString});
  set("wD#", {BuildDict});
  set("w3-", {BuildSlice, CallSpread});
  set("w1o", {Format});
  set("wF#", {Call});
  set("wM#", {CallMethod});
  set("wK#", {CallKeywords});
  set("-E-", {Extra});
  set("w4c", {MakeFunction});
  set("w3n", {BuildClass});
  set("2J-", {ForIter});
  set("1R#", {Unpack});
  set("1U#", {UnpackRest});
  set("1o-", {Raise});
  set("2--", {EnterHandler, LeaveHandler});
  set("21-", {WithEnter});
  set("o#t", {AssertFailed});
  return t;
}

inline constexpr std::array<Operands, kOpcodeCount> kOperands = make_operand_table();
inline const Operands& operands_of(Opcode op) { return kOperands[static_cast<size_t>(op)]; }
inline constexpr const char* kOpcodeNames[] = {
#define TFL_INSTRUCTION(name, operands) #name,
#include "frontend/core/instructions.def"
#undef TFL_INSTRUCTION
};

/// How many registers from `first` an operand that names a range covers.
inline uint32_t range_length(char kind, const Instruction& i) {
  switch (kind) {
    case 'R': return i.c;
    case 'D': return 2u * i.c;
    case 'F': return i.c + 1u;
    case 'M': return i.c + 2u;
    case 'K': return i.c + (i.x ? 2u : 1u);
    case 'U': return i.x + i.c + 1u;
    default: return 0;
  }
}

inline constexpr uint8_t kJumpCompareConst = 32;  // bit of JumpCompare's x: b is a constant

/// An instruction that never goes on with the next one.
inline bool ends_flow(Opcode op) {
  return op == Opcode::Jump || op == Opcode::Return || op == Opcode::Raise || op == Opcode::Reraise || op == Opcode::AssertFailed;
}

/// Everything a VM takes for granted: registers, constants and their kinds, jump targets, handlers, parameters. Nested code too.
Result<void> verify_code(const Code& code);

}  // namespace tfl
