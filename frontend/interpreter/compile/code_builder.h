// One code object while it is made: instructions, constants, labels, temporaries and what is known about bound locals.
// Must not know about syntax trees or scopes (function_compiler.h does).
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/core/code.h"
#include "frontend/core/interp.h"

namespace tfl::compile {

using Reg = uint32_t;
inline constexpr uint32_t kNowhere = 0xFFFFFFFF;
inline constexpr uint32_t kMaxOperand = 0xFFFF;

// Bits of Instruction::x that say that an operand is a temporary read for the last time.
inline constexpr uint8_t kReleaseA = 8, kReleaseB = 2, kReleaseC = 4;
// Bits of JumpCompare's x.
inline constexpr uint8_t kCompareJumpTrue = 16, kCompareConst = 32, kCompareReleaseA = 64, kCompareReleaseB = 128;

/// What holds on a path: which locals are certainly bound, and whether the path exists at all.
struct FlowState {
  std::vector<bool> assigned;
  bool reachable = true;
  /// What holds when one of two paths was taken.
  void merge(const FlowState& other);
};

struct Label {
  uint32_t at = kNowhere;
  std::vector<uint32_t> uses;  // instructions whose bc is to become `at`
  FlowState state;             // of all jumps to it
  bool used = false;
};

/// A stretch of code, perhaps with holes, whose errors go to one place.
struct Protected {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  uint32_t open = kNowhere;
};

class CodeBuilder {
 public:
  explicit CodeBuilder(Interp& interp) : interp_(interp) {}

  // ---------------------------------------------------------------------------------------------------- instructions
  /// Nothing is emitted where execution cannot come.
  uint32_t emit(Opcode op, Reg a, uint32_t b = 0, uint32_t c = 0, uint8_t x = 0);
  uint32_t emit_wide(Opcode op, Reg a, uint32_t bc, uint8_t x = 0);
  /// The Extra of the instruction before it.
  void emit_extra(uint32_t bc);
  void jump(Label& to) { jump(Opcode::Jump, 0, to); }
  void jump(Opcode op, Reg a, Label& to, uint8_t x = 0);
  /// `if (r[a] op r[b]) is (not) true go to`; b is a constant's number with kCompareConst.
  void jump_compare(Reg a, uint32_t b, uint8_t x, Label& to);
  void bind(Label& label);
  /// Binds the target of errors raised where `state` held; its code exists when something is protected.
  void bind_handler(Label& label, const Protected& region, const FlowState& state);
  void unreachable() { state.reachable = false; }
  uint32_t here() const { return static_cast<uint32_t>(instructions.size()); }

  void open(Protected& region) { region.open = here(); }
  void close(Protected& region);
  /// Writes the region's entries of the handler table. Inner regions are finished before outer ones.
  void finish(const Protected& region, const Label& target, Reg reg);

  // ------------------------------------------------------------------------------------------------------ constants
  /// For operands of 16 bits. What LoadConst loads is kept apart, so that any number of literals leaves room for names.
  uint32_t constant(const Value& v) { return add(narrow_, constants, v); }
  void load_constant(Reg a, const Value& v) { emit_wide(Opcode::LoadConst, a, add(wide_, wide_constants_, v)); }
  /// Once all is emitted: one list of constants, those of LoadConst last.
  void join_constants();
  uint32_t name(std::string_view text);
  uint32_t add_code(Value code);
  uint32_t cache(std::string_view name, bool store);

  // ------------------------------------------------------------------------------------------------------ registers
  Reg alloc(uint32_t count = 1);
  bool is_temp(Reg r) const { return r >= first_temp; }
  uint8_t release_a(Reg r) const { return is_temp(r) ? kReleaseA : 0; }
  uint8_t release_b(Reg r) const { return is_temp(r) ? kReleaseB : 0; }
  uint8_t release_c(Reg r) const { return is_temp(r) ? kReleaseC : 0; }

  Interp& interp_;
  std::vector<Instruction> instructions;
  std::vector<InstructionSpan> spans;
  std::vector<Handler> handlers;
  std::vector<Decision> decisions;
  std::vector<Value> constants;
  FlowState state;
  InstructionSpan at;  // what the next instructions belong to
  Reg first_temp = 0, top = 0, most = 0;
  uint32_t cache_count = 0;
  bool too_large = false;

 private:
  using Numbers = std::unordered_map<std::string, uint32_t>;
  bool key_of(const Value& v, std::string& key) const;
  uint32_t add(Numbers& numbers, std::vector<Value>& list, const Value& v);
  Numbers narrow_, wide_;
  std::vector<Value> wide_constants_;
  std::unordered_map<std::string, uint32_t> cache_numbers_;
};

/// Sets what the next instructions belong to, and puts it back.
class Here {
 public:
  Here(CodeBuilder& code, const Span& span, const Span& anchor = {}) : code_(code), saved_(code.at) { code.at = {span, anchor}; }
  ~Here() { code_.at = saved_; }
  Here(const Here&) = delete;
  Here& operator=(const Here&) = delete;

 private:
  CodeBuilder& code_;
  InstructionSpan saved_;
};

/// Gives back the temporaries taken since.
class Temps {
 public:
  explicit Temps(CodeBuilder& code) : code_(code), saved_(code.top) {}
  ~Temps() { code_.top = saved_; }
  Temps(const Temps&) = delete;
  Temps& operator=(const Temps&) = delete;

 private:
  CodeBuilder& code_;
  Reg saved_;
};

}  // namespace tfl::compile
