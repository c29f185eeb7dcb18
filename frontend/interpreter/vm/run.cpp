// The loop that runs bytecode. Fast paths are here, what they leave over is in operations.h and protocol.h. Frames of the script
// are pushed and popped in this one loop; only natives that call back enter it again.
#include <algorithm>

#include "frontend/core/advice.h"
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/numpy_calls.h"
#include "frontend/core/operations.h"
#include "frontend/core/registry.h"
#include "frontend/core/signature.h"
#include "frontend/core/tensor_operators.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/interpreter/object/numbers/number.h"
#include "frontend/interpreter/object/operator_methods.h"
#include "frontend/interpreter/vm/renewal.h"

namespace tfl {

namespace {

bool compare_ints(CompareOp op, int64_t a, int64_t b) {
  switch (op) {
    case CompareOp::Eq: return a == b;
    case CompareOp::Ne: return a != b;
    case CompareOp::Lt: return a < b;
    case CompareOp::Le: return a <= b;
    case CompareOp::Gt: return a > b;
    default: return a >= b;
  }
}

bool compare_floats(CompareOp op, double a, double b) {
  switch (op) {
    case CompareOp::Eq: return a == b;
    case CompareOp::Ne: return a != b;
    case CompareOp::Lt: return a < b;
    case CompareOp::Le: return a <= b;
    case CompareOp::Gt: return a > b;
    default: return a >= b;
  }
}

Result<Value> compare_any(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (a.is_str() && b.is_str() && a.object()->type == interp.types.str && b.object()->type == interp.types.str) {
    const std::string &x = text_of(a), &y = text_of(b);
    if (op == CompareOp::Eq) return Value::boolean(x == y);
    if (op == CompareOp::Ne) return Value::boolean(x != y);
    return Value::boolean(compare_ints(op, x.compare(y), 0));
  }
  if (a.is_tensor() || b.is_tensor()) {
    if (Value small = tensor_compare_small(interp, op, a, b); !small.is_empty()) return small;
  }
  return compare(interp, op, a, b);
}

/// s += t where nobody else sees s: the text grows in place.
bool append_in_place(Interp& interp, Value& s, const Value& t) {
  if (!s.is_str() || !t.is_str()) return false;
  Str* a = s.as<Str>();
  if (a->refs != 1 || a->interned || a->type != interp.types.str) return false;
  const Str* b = t.as<Str>();
  if (a->text.size() + b->text.size() > (size_t{1} << 20)) return false;  // large ones go through the memory guard
  a->length = a->length >= 0 && b->length >= 0 ? a->length + b->length : -1;
  a->hash = 0;
  a->text += b->text;
  return true;
}

/// `self` an instance of a class of the script without __new__: what a call of it needs to go on in this loop.
Function* plain_init(Interp& interp, Type* type) {
  if (!type->script || type->special_call || type->slots != &object_slots || script_lookup(interp, type, interp.sym.__new__))
    return nullptr;
  const Value* init = script_init(interp, type);
  return init && init->is(Kind::Function) && !init->as<Function>()->code.as<Code>()->generator ? init->as<Function>() : nullptr;
}

/// Objects whose attributes are those of their class, and of a dictionary where they are instances or have one beside them.
bool has_plain_attributes(const Value& v) {
  constexpr auto bit = [](Kind k) { return uint64_t{1} << static_cast<int>(k); };
  constexpr uint64_t kPlain = bit(Kind::Instance) | bit(Kind::List) | bit(Kind::Dict) | bit(Kind::Str) | bit(Kind::Bytes) |
                              bit(Kind::Tuple) | bit(Kind::Set) | bit(Kind::Range) | bit(Kind::DictView) | bit(Kind::Iterator) |
                              bit(Kind::ByteArray) | bit(Kind::Generator) | bit(Kind::File) | bit(Kind::Native);
  return v.is_object() && (kPlain >> static_cast<int>(v.kind()) & 1);
}

/// A native that takes the object it is called on as its first argument.
bool is_native_method(const Value& entry) {
  if (!entry.is(Kind::NativeFunction)) return false;
  const NativeFunction* f = entry.as<NativeFunction>();
  return f->owner && f->def->how != NativeDef::How::Getter;
}

/// A native called with just the arguments it has, none of which needs a look: it can have them where they lie.
[[gnu::always_inline]] inline bool takes_as_they_lie(const Interp& interp, const NativeFunction* f, const Value* first,
                                                     uint32_t count) {
  if (f->owner ? count == 0 || interp.type_of(*first) != f->owner : !f->self.is_empty()) return false;
  if (f->def->raw) return true;
  const Signature* s = f->signature;
  return s && s->simple && !s->typed && s->positional == count;
}

/// A tuple of registers, which become Empty.
Value take_tuple(Interp& interp, Value* items, uint32_t count) {
  if (count == 0) return interp.empty_tuple;
  Tuple* t = interp.allocate<Tuple>(interp.types.tuple, sizeof(Tuple) + (count - 1) * sizeof(Value));
  t->size = count;
  for (uint32_t i = 0; i < count; ++i) new (&t->items[i]) Value(std::move(items[i]));
  return Value::adopt(t);
}

const Handler* find_handler(const Code& code, uint32_t at) {
  for (const Handler& h : code.handlers) {
    if (at >= h.first && at < h.last) return &h;
  }
  return nullptr;
}

/// Whether a handler begins with an `except` that asks for a class. What such a clause catches is told to nobody.
bool is_except(const Code& code, const Handler& handler) {
  constexpr size_t kNear = 8;
  size_t end = std::min(code.instructions.size(), handler.target + kNear);
  for (size_t i = handler.target; i < end; ++i) {
    const Opcode op = code.instructions[i].op;
    if (op == Opcode::MatchException || op == Opcode::SplitGroup || op == Opcode::EndAsyncFor) return true;
  }
  return false;
}

/// Takes the frame off the chain and away.
void leave_frame(Interp& interp, Frame* f) {
  interp.frame = f->back;
  --interp.depth;
  if (Generator* g = f->generator) {
    g->running = false;
    release_generator_frame(g);
  } else {
    drop_frame(interp, f);
  }
}

Result<Value> run(Interp& interp, Frame* frame, Failure error) {
  static const void* const kLabels[] = {
#define TFL_INSTRUCTION(name, operands) &&op_##name,
#include "frontend/core/instructions.def"
#undef TFL_INSTRUCTION
  };
  const Instruction* ip;
  Value* r;
  const Value* k;
  Value callee;  // what is being called
  Value result;  // what a frame returns or yields
  CallArgs args;
  bool traced = true;  // an error gets an entry of this frame in its traceback
  Str* keyword_names[32];
  std::vector<Str*> more_keyword_names;

#define LOAD_FRAME()                   \
  do {                                 \
    ip = frame->ip;                    \
    r = frame->registers;              \
    k = frame->code->constants.data(); \
  } while (0)
#define DISPATCH() goto* kLabels[static_cast<uint8_t>(ip->op)]
#define NEXT()  \
  do {          \
    ++ip;       \
    DISPATCH(); \
  } while (0)
// The same from a block whose variables have to be destroyed: a computed jump would not do that.
#define DONE() goto next_instruction
#define TARGET(n) (frame->code->instructions.data() + (n))
#define FAIL(failure)  \
  do {                 \
    error = (failure); \
    goto raised;       \
  } while (0)
#define NAME(i) (k[i].as<Str>())
// Saves the place for whoever looks at the frame: natives, tracebacks.
#define CALLS_OUT() frame->ip = ip
#define TRY_INTO(place, expr)          \
  do {                                 \
    CALLS_OUT();                       \
    auto made_ = (expr);               \
    if (!made_) FAIL(made_.failure()); \
    (place) = made_.take();            \
    STOP_IF_INTERRUPTED();             \
  } while (0)
#define TRY_DO(expr)                   \
  do {                                 \
    CALLS_OUT();                       \
    auto done_ = (expr);               \
    if (!done_) FAIL(done_.failure()); \
    STOP_IF_INTERRUPTED();             \
  } while (0)
#define INTERRUPTED() interp.asked_to_stop()
// After what may have taken long: an interrupt comes up here and not behind the try statement that is around it.
#define STOP_IF_INTERRUPTED()                \
  do {                                       \
    if (INTERRUPTED()) [[unlikely]] {        \
      auto stop_ = interp.check_interrupt(); \
      if (!stop_) FAIL(stop_.failure());     \
    }                                        \
  } while (0)
#define JUMP_TO(n)                                 \
  do {                                             \
    const Instruction* to_ = TARGET(n);            \
    if (to_ <= ip && INTERRUPTED()) [[unlikely]] { \
      CALLS_OUT();                                 \
      auto stop_ = interp.check_interrupt();       \
      if (!stop_) FAIL(stop_.failure());           \
    }                                              \
    ip = to_;                                      \
    DISPATCH();                                    \
  } while (0)

  LOAD_FRAME();
  if (static_cast<const char*>(__builtin_frame_address(0)) < interp.stack_limit) [[unlikely]] {
    if (!error.error) error = fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
  }
  if (error.error) goto raised;
  DISPATCH();

next_instruction:
  ++ip;
dispatch:
  DISPATCH();

next_frame:
  LOAD_FRAME();
  DISPATCH();

#include "frontend/interpreter/vm/loop_calls.inc"
#include "frontend/interpreter/vm/loop_frames.inc"
#include "frontend/interpreter/vm/loop_items.inc"
#include "frontend/interpreter/vm/loop_names.inc"
#include "frontend/interpreter/vm/loop_operators.inc"

  // An error in this frame: its handler, or the frame that called.
raised:
  for (;;) {
    auto at = static_cast<uint32_t>(frame->ip - frame->code->instructions.data());
    Value exception = interp.exception_of(*error.error);
    if (traced) {
      InstructionSpan place = frame->code->span_at(at);
      ++frame->code->refs;
      exception.as<Exception>()->trace.push_back({frame->code, place.span, place.anchor});
    }
    const Handler* handler = interp.stopped ? nullptr : find_handler(*frame->code, at);
    if (traced && !(handler && is_except(*frame->code, *handler))) {
      bool raised = frame->ip->op == Opcode::Raise;  // by the script, in words of its own
      note_values(interp, frame, exception.as<Exception>(), raised ? Span{} : exception.as<Exception>()->trace.back().span);
    }
    traced = true;
    if (handler) {
      error = Failure{};
      r = frame->registers;
      k = frame->code->constants.data();
      r[handler->reg] = std::move(exception);
      ip = TARGET(handler->target);
      goto dispatch;
    }
    if (frame->generator && !interp.stopped &&
        (error_is(*error.error, ErrorKind::StopIteration) ||
         (frame->code->async_generator && error_is(*error.error, ErrorKind::StopAsyncIteration)))) {
      error = stop_inside_generator(interp, *frame->code, std::move(error));
    }
    FrameHow how = frame->how;
    leave_frame(interp, frame);
    if (how == FrameHow::Native) return error;
    frame = interp.frame;
  }
}

}  // namespace

Result<Value> run_frame(Interp& interp, Frame* frame) { return run(interp, frame, Failure{}); }

Failure stop_inside_generator(Interp& interp, const Code& code, Failure error) {
  Value stop = interp.exception_of(*error.error);
  const char* who = code.async_generator ? "async generator" : code.coroutine ? "coroutine" : "generator";
  const bool async = error_is(*error.error, ErrorKind::StopAsyncIteration);
  Value text = interp.strf("{} raised {}", who, async ? "StopAsyncIteration" : "StopIteration");
  Value e = make_exception(interp, interp.exception_type(ErrorKind::RuntimeError), {&text, 1});
  Exception* x = e.as<Exception>();
  x->cause = stop;
  x->context = stop;
  x->suppress_context = true;
  return interp.raise(std::move(e));
}

Result<Value> raise_in_frame(Interp& interp, Frame* frame, Failure error) { return run(interp, frame, std::move(error)); }

}  // namespace tfl
