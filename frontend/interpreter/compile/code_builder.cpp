#include "frontend/interpreter/compile/code_builder.h"

#include <bit>
#include <cstring>

namespace tfl::compile {

void FlowState::merge(const FlowState& other) {
  if (!other.reachable) return;
  if (!reachable) {
    *this = other;
    return;
  }
  for (size_t i = 0; i < assigned.size(); ++i) assigned[i] = assigned[i] && other.assigned[i];
}

uint32_t CodeBuilder::emit(Opcode op, Reg a, uint32_t b, uint32_t c, uint8_t x) {
  uint32_t number = here();
  if (!state.reachable) return number;
  if (a > kMaxOperand || b > kMaxOperand || c > kMaxOperand) {
    too_large = true;
    return number;
  }
  instructions.push_back({op, x, static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c)});
  spans.push_back(at);
  return number;
}

uint32_t CodeBuilder::emit_wide(Opcode op, Reg a, uint32_t bc, uint8_t x) {
  uint32_t number = emit(op, a, 0, 0, x);
  if (number < here()) instructions[number].set_bc(static_cast<int32_t>(bc));
  return number;
}

void CodeBuilder::emit_extra(uint32_t bc) { emit_wide(Opcode::Extra, 0, bc); }

void CodeBuilder::jump(Opcode op, Reg a, Label& to, uint8_t x) {
  if (!state.reachable) return;
  uint32_t number = emit_wide(op, a, to.at, x);
  if (to.at == kNowhere) {
    to.uses.push_back(number);
    if (to.used)
      to.state.merge(state);
    else
      to.state = state;
  }
  to.used = true;
  if (op == Opcode::Jump) unreachable();
}

void CodeBuilder::jump_compare(Reg a, uint32_t b, uint8_t x, Label& to) {
  if (!state.reachable) return;
  emit(Opcode::JumpCompare, a, b, 0, x);
  jump(Opcode::Extra, 0, to);
}

void CodeBuilder::bind(Label& label) {
  label.at = here();
  if (label.used) {
    label.state.reachable = true;
    if (state.reachable)
      state.merge(label.state);
    else
      state = label.state;
  }
  for (uint32_t use : label.uses) {
    if (use < here()) instructions[use].set_bc(static_cast<int32_t>(label.at));
  }
  label.uses.clear();
}

void CodeBuilder::bind_handler(Label& label, const Protected& region, const FlowState& at_start) {
  label.at = here();
  state = at_start;
  state.reachable = at_start.reachable && !region.ranges.empty();
}

void CodeBuilder::close(Protected& region) {
  if (region.open != kNowhere && region.open < here()) region.ranges.emplace_back(region.open, here());
  region.open = kNowhere;
}

void CodeBuilder::finish(const Protected& region, const Label& target, Reg reg) {
  if (reg > kMaxOperand) too_large = true;
  for (auto [first, last] : region.ranges) handlers.push_back({first, last, target.at, static_cast<uint16_t>(reg)});
}

// Equal constants share a number: 1, 1.0 and True are not equal here, nor are 0.0 and -0.0.
bool CodeBuilder::key_of(const Value& v, std::string& key) const {
  auto bits = [&](char kind, uint64_t payload) {
    key += kind;
    key.append(reinterpret_cast<const char*>(&payload), sizeof payload);
  };
  switch (v.tag()) {
    case Tag::Empty: return false;
    case Tag::None: bits('N', 0); return true;
    case Tag::Bool: bits('B', v.as_bool()); return true;
    case Tag::Int: bits('I', static_cast<uint64_t>(v.as_int())); return true;
    case Tag::Float: bits('F', std::bit_cast<uint64_t>(v.as_float())); return true;
    case Tag::Object: break;
  }
  if (v.is(Kind::Str)) {
    bits('S', v.as<Str>()->text.size());
    key += v.as<Str>()->text;
    return true;
  }
  if (v.is(Kind::Bytes)) {
    bits('Y', v.as<Bytes>()->data.size());
    key += v.as<Bytes>()->data;
    return true;
  }
  if (v.is(Kind::BigInt)) {
    const auto* b = v.as<BigInt>();
    bits(b->negative ? '-' : '+', static_cast<uint64_t>(b->used));
    for (int32_t i = 0; i < b->used; ++i) bits('I', b->digits[i]);
    return true;
  }
  if (v.is(Kind::Complex)) {
    bits('C', std::bit_cast<uint64_t>(v.as<ComplexObject>()->re));
    bits('J', std::bit_cast<uint64_t>(v.as<ComplexObject>()->im));
    return true;
  }
  if (v.is(Kind::Tuple)) {
    bits('T', static_cast<uint64_t>(v.as<tfl::Tuple>()->size));
    for (const Value& item : v.as<tfl::Tuple>()->span()) {
      if (!key_of(item, key)) return false;
    }
    return true;
  }
  if (v.identical(interp_.ellipsis)) {
    bits('E', 0);
    return true;
  }
  return false;
}

uint32_t CodeBuilder::add(Numbers& numbers, std::vector<Value>& list, const Value& v) {
  std::string key;
  auto number = static_cast<uint32_t>(list.size());
  if (key_of(v, key)) {
    auto [it, fresh] = numbers.try_emplace(std::move(key), number);
    if (!fresh) return it->second;
  }
  list.push_back(v);
  return number;
}

void CodeBuilder::join_constants() {
  auto first = static_cast<int32_t>(constants.size());
  for (Value& v : wide_constants_) constants.push_back(std::move(v));
  wide_constants_.clear();
  for (Instruction& i : instructions) {
    if (i.op == Opcode::LoadConst) i.set_bc(i.bc() + first);
  }
}

uint32_t CodeBuilder::name(std::string_view text) { return constant(interp_.str(interp_.intern(text))); }

uint32_t CodeBuilder::add_code(Value code) {
  constants.push_back(std::move(code));
  return static_cast<uint32_t>(constants.size() - 1);
}

uint32_t CodeBuilder::cache(std::string_view name, bool store) {
  auto [it, fresh] = cache_numbers_.try_emplace((store ? "=" : "?") + std::string(name), cache_count);
  if (fresh) ++cache_count;
  return it->second;
}

Reg CodeBuilder::alloc(uint32_t count) {
  Reg first = top;
  top += count;
  if (top > most) most = top;
  if (most > kMaxOperand) too_large = true;
  return first;
}

}  // namespace tfl::compile
