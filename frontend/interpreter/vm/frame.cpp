#include "frontend/core/frame.h"

#include <algorithm>

#include "frontend/core/exception.h"

namespace tfl {

namespace {

Failure too_deep() { return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded"); }

void init_frame(Frame* f, Code* code, Value* registers) {
  f->code = code;
  f->ip = code->instructions.data();
  f->registers = registers;
  for (uint32_t i = 0; i < code->registers; ++i) new (&registers[i]) Value();
}

Frame* new_frame(Interp& interp, Code* code) {
  void* p = interp.frames.push(sizeof(Frame) + code->registers * sizeof(Value));
  Frame* f = new (p) Frame();
  init_frame(f, code, reinterpret_cast<Value*>(f + 1));
  return f;
}

// A function that refers to itself and was made by the call that ends here, like any helper that is recursive: it is held by its
// own cell alone, and the cell by it and the frame. Counted references would keep both.
bool is_only_its_own(const Cell* cell) {
  if (cell->refs != 2 || !cell->value.is(Kind::Function)) return false;
  const auto* f = cell->value.as<Function>();
  if (f->refs != 1 || f->closure.is_empty()) return false;
  auto* closure = f->closure.as<Tuple>();
  std::span<Value> cells = closure->span();
  return closure->refs == 1 && std::any_of(cells.begin(), cells.end(), [&](const Value& v) { return v.counted() == cell; });
}

void break_cycles(Frame* f) {
  // Cells are made before anything else. What the other registers hold may hold them.
  const Instruction* first = f->code->instructions.data();
  const Instruction* end = first;
  auto is_cell = [&](uint32_t i) { return std::any_of(first, end, [&](const Instruction& c) { return c.a == i; }); };
  while (end->op == Opcode::MakeCell) ++end;
  for (uint32_t i = 0; i < f->code->registers; ++i) {
    if (!is_cell(i)) f->registers[i] = Value();
  }
  for (const Instruction* i = first; i != end; ++i) {
    const Value& v = f->registers[i->a];
    if (v.is(Kind::Cell) && is_only_its_own(v.as<Cell>())) {
      Value gone = std::move(v.as<Cell>()->value);
      i = first - 1;  // what it held may have been the last to hold another
    }
  }
}

}  // namespace

void drop_frame(Interp& interp, Frame* f) {
  if (f->code->instructions[0].op == Opcode::MakeCell) [[unlikely]]
    break_cycles(f);
  const uint32_t n = f->code->registers;
  Value* r = f->registers;
  for (uint32_t i = 0; i < n; ++i) r[i].~Value();
  f->~Frame();
  interp.frames.pop(f);
}

Result<Frame*> bind_call(Interp& interp, Function* f, CallArgs& args) {
  if (interp.depth >= interp.options.max_depth) [[unlikely]]
    return too_deep();
  Code* code = f->code.as<Code>();
  TFL_TRY(complete(interp, *code));
  Frame* frame = new_frame(interp, code);
  frame->function = Value::share(f);
  frame->module = f->module.as<Module>();
  frame->globals = frame->module->dict.as<Dict>();
  const bool plain = code->keyword_only == 0 && !code->var_positional && !code->var_keyword && args.keywords.empty();
  if (plain && args.count == code->positional) [[likely]] {
    for (uint32_t i = 0; i < args.count; ++i) frame->registers[i] = std::move(args.values[i]);
  } else {
    auto bound = bind_parameters(interp, f, args, frame->registers);
    if (!bound) {
      drop_frame(interp, frame);
      return bound.failure();
    }
  }
  if (!code->free_registers.empty()) {
    Tuple* cells = f->closure.as<Tuple>();
    for (size_t i = 0; i < code->free_registers.size(); ++i) frame->registers[code->free_registers[i]] = cells->items[i];
  }
  return frame;
}

Result<Frame*> plain_frame(Interp& interp, const Value& holder, Code* code, Module* module) {
  if (interp.depth >= interp.options.max_depth) [[unlikely]]
    return too_deep();
  TFL_TRY(complete(interp, *code));
  Frame* frame = new_frame(interp, code);
  frame->function = holder;
  frame->module = module;
  frame->globals = module->dict.as<Dict>();
  return frame;
}

Value current_handling(Interp& interp) {
  for (Frame* f = interp.frame; f; f = f->back) {
    if (!f->handling.is_empty()) return f->handling;
  }
  return Value();
}

}  // namespace tfl
