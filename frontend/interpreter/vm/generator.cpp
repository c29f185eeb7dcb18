// Generators: a frame that is left and entered again.
#include <new>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

void free_generator_frame(Frame* f) {
  const uint32_t n = f->code->registers;
  for (uint32_t i = 0; i < n; ++i) f->registers[i].~Value();
  f->~Frame();
  ::operator delete(f);
}

/// A generator nobody refers to any more: `finally` blocks and context managers it is inside of run now.
bool needs_close(Generator* g) {
  if (!g->frame || !g->started || g->running) return false;
  if (Heap::of(g).tearing_down) return false;
  auto at = static_cast<uint32_t>(g->frame->ip - g->frame->code->instructions.data());
  for (const Handler& h : g->frame->code->handlers) {
    if (at >= h.first && at < h.last) return true;
  }
  return false;
}

/// "generator", "coroutine" or "async generator": what messages call it.
std::string_view kind_of(Interp& interp, const Generator* g) {
  return g->type == interp.types.coroutine         ? "coroutine"
         : g->type == interp.types.async_generator ? "async generator"
                                                   : "generator";
}

/// A coroutine that nobody has waited for: its caller has forgotten the `await`.
void warn_unawaited(Generator* g) {
  Interp& interp = Interp::of(g);
  if (g->started || !g->frame || g->type != interp.types.coroutine || Heap::of(g).tearing_down || interp.stopped) return;
  interp.streams.err("RuntimeWarning: coroutine '" + g->qualname.as<Str>()->text + "' was never awaited\n");
}

void destroy_generator(Object* o) {
  auto* g = static_cast<Generator*>(o);
  warn_unawaited(g);
  if (needs_close(g)) {
    constexpr uint32_t kGuard = 1u << 24;
    g->refs = kGuard;
    Interp& interp = Interp::of(g);
    auto closed = generator_close(interp, g);
    if (!closed && !interp.stopped) {
      Value e = interp.exception_of(closed.error());
      interp.streams.err("Exception ignored in a generator: " + exception_headline(interp, e) + "\n");
    }
    g->refs -= kGuard;
    if (g->refs != 0) return;
  }
  release_generator_frame(g);
  g->~Generator();
  Heap::release(g, sizeof(Generator));
}

Result<Value> repr_generator(Interp& interp, const Value& self) {
  return interp.strf("<{} object {} at {:#x}>", self.object()->type->name->text, self.as<Generator>()->qualname.as<Str>()->text,
                     reinterpret_cast<uintptr_t>(self.counted()));
}

Result<Value> iter_self(Interp&, const Value& self) { return self; }

Result<Value> next_generator(Interp& interp, const Value& self) {
  return generator_send(interp, self.as<Generator>(), Value::none());
}

/// The iterator a suspended generator delegates to, or Empty.
Value delegate_of(Generator* g) {
  if (!g->started || g->frame->ip->op != Opcode::YieldFrom) return Value();
  return g->frame->registers[g->frame->ip->b];
}

Result<Value> get_generator(Interp& interp, const Value& self, Str* name) {
  Generator* g = self.as<Generator>();
  if (name == interp.sym.__name__) return g->name;
  if (name == interp.sym.__qualname__) return g->qualname;
  std::string_view n = name->text;
  const std::string_view begins = g->type == interp.types.coroutine         ? "cr_"
                                  : g->type == interp.types.async_generator ? "ag_"
                                                                            : "gi_";
  if (!n.starts_with(begins)) return Value();
  n.remove_prefix(3);
  if (n == "running") return Value::boolean(g->running || g->stepping);
  if (n == "frame") return g->frame ? Value::boolean(true) : Value::none();
  if (n == "code") return g->code;
  if (n == "suspended") return Value::boolean(g->frame && g->started && !g->running);
  if (n == "await" || n == "yieldfrom") {
    Value delegate = g->frame && !g->running ? delegate_of(g) : Value();
    return delegate.is_empty() ? Value::none() : delegate;
  }
  if (n == "origin" && begins == "cr_") return Value::none();
  return Value();
}

/// A coroutine that has ended is not asked again.
Result<void> check_reuse(Interp& interp, const Value& self) {
  const Generator* g = self.as<Generator>();
  if (g->frame || g->type != interp.types.coroutine) return {};
  return fail(ErrorKind::RuntimeError, "cannot reuse already awaited coroutine");
}

Result<Value> or_stop(Interp& interp, Result<Value> r) {
  if (r && r->is_empty()) return stop_iteration(interp);
  return r;
}

Result<Value> send_method(Interp& interp, Value* args) {
  Value self = args[0];
  TFL_TRY(check_reuse(interp, self));
  interp.ended.forget();
  return or_stop(interp, generator_send(interp, self.as<Generator>(), args[1]));
}

Result<Value> throw_method(Interp& interp, Value* args) {
  Value self = args[0];
  Value e = TFL_TRY(exception_to_throw(interp, args[1], args[2]));
  TFL_TRY(check_reuse(interp, self));
  interp.ended.forget();
  return or_stop(interp, generator_throw(interp, self.as<Generator>(), e));
}

Result<Value> close_method(Interp& interp, Value* args) {
  Value self = args[0];
  TFL_TRY(generator_close(interp, self.as<Generator>()));
  return Value::none();
}

constexpr NativeDef kMethods[] = {
    method("send", "self, value, /", send_method),
    method("throw", "self, typ, val=..., tb=..., /", throw_method),
    method("close", "self, /", close_method),
};

Result<Value> await_method(Interp& interp, Value* args) { return coroutine_await(interp, args[0]); }

constexpr NativeDef kCoroutineMethods[] = {
    method("send", "self, value, /", send_method),
    method("throw", "self, typ, val=..., tb=..., /", throw_method),
    method("close", "self, /", close_method),
    method("__await__", "self, /", await_method),
};

/// Raises `exception` in the frame itself.
Result<Value> throw_here(Interp& interp, Generator* g, Value exception) {
  Frame* f = TFL_TRY(generator_resume(interp, g, Value(), FrameHow::Native, true));
  return raise_in_frame(interp, f, interp.raise(std::move(exception)));
}

}  // namespace

Result<Value> exception_to_throw(Interp& interp, const Value& type, const Value& value) {
  Value e = type;
  if (e.is(Kind::Type) && e.as<Type>()->is_subtype_of(interp.exception_type(ErrorKind::BaseException))) {
    // throw(type, value): the older form.
    Value argument = value;
    CallArgs made{&argument, argument.is_empty() || argument.is_none() ? 0u : 1u};
    e = argument.is(Kind::Exception) ? argument : TFL_TRY(call_type(interp, e.as<Type>(), made));
  }
  if (e.is(Kind::Exception)) return e;
  return fail(ErrorKind::TypeError, "exceptions must be classes or instances deriving from BaseException, not {}",
              interp.type_name(e));
}

void release_generator_frame(Generator* g) {
  if (!g->frame) return;
  Frame* f = g->frame;
  g->frame = nullptr;
  free_generator_frame(f);
}

Value make_generator(Interp& interp, Frame* frame) {
  Function* f = frame->function.as<Function>();
  const Code& code = *frame->code;
  Generator* g = interp.allocate<Generator>(code.coroutine         ? interp.types.coroutine
                                            : code.async_generator ? interp.types.async_generator
                                                                   : interp.types.generator);
  Value result = Value::adopt(g);
  g->name = f->name;
  g->qualname = f->qualname;
  g->code = f->code;
  const uint32_t n = frame->code->registers;
  Frame* own = new (::operator new(sizeof(Frame) + n * sizeof(Value))) Frame();
  own->code = frame->code;
  own->ip = frame->ip;
  own->module = frame->module;
  own->globals = frame->globals;
  own->function = std::move(frame->function);
  own->generator = g;
  own->registers = reinterpret_cast<Value*>(own + 1);
  for (uint32_t i = 0; i < n; ++i) new (&own->registers[i]) Value(std::move(frame->registers[i]));
  g->frame = own;
  drop_frame(interp, frame);
  return result;
}

Result<Frame*> generator_resume(Interp& interp, Generator* g, Value sent, FrameHow how, bool raising) {
  if (g->running) return fail(ErrorKind::ValueError, "{} already executing", kind_of(interp, g));
  if (interp.depth >= interp.options.max_depth) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
  Frame* f = g->frame;
  if (!g->started) {
    if (!sent.is_empty() && !sent.is_none()) {
      return fail(ErrorKind::TypeError, "can't send non-None value to a just-started {}", kind_of(interp, g));
    }
    g->started = true;
  } else if (raising) {
    f->held = Value();
  } else if (f->ip->op == Opcode::Yield) {
    f->registers[f->ip->a] = std::move(sent);
    ++f->ip;
  } else {
    f->held = std::move(sent);  // for the YieldFrom, which runs again
  }
  g->running = true;
  f->how = how;
  f->back = interp.frame;
  interp.frame = f;
  ++interp.depth;
  return f;
}

Result<Value> generator_send(Interp& interp, Generator* g, Value sent) {
  if (!g->frame) return Value();
  Value keep = Value::share(g);
  Frame* f = TFL_TRY(generator_resume(interp, g, std::move(sent), FrameHow::Native));
  return run_frame(interp, f);
}

Result<Value> generator_throw(Interp& interp, Generator* g, Value exception) {
  Value keep = Value::share(g);
  Nesting nesting(interp);
  if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
  if (g->running) return fail(ErrorKind::ValueError, "{} already executing", kind_of(interp, g));
  if (!g->frame) return interp.raise(std::move(exception));
  if (!g->started) {
    // It never ran, so nothing in it can handle the exception.
    Value code = Value::share(g->frame->code);
    const uint32_t line = code.as<Code>()->span.line;
    exception.as<Exception>()->trace.push_back({code.as<Code>(), {.line = line, .end_line = line}, {}});  // the whole line
    ++code.as<Code>()->refs;
    release_generator_frame(g);
    Failure raised = interp.raise(std::move(exception));
    if (error_is(*raised.error, ErrorKind::StopIteration))
      return stop_inside_generator(interp, *code.as<Code>(), std::move(raised));
    return raised;
  }
  Value inner = delegate_of(g);
  if (inner.is_empty()) return throw_here(interp, g, std::move(exception));

  bool closing = exception.as<Exception>()->type->is_subtype_of(interp.exception_type(ErrorKind::GeneratorExit));
  Result<Value> r = Value();
  g->running = true;
  if (closing) {
    auto closed = close_iterator(interp, inner);
    g->running = false;
    if (!closed)
      return raise_in_frame(interp, TFL_TRY(generator_resume(interp, g, Value(), FrameHow::Native, true)), closed.failure());
    return throw_here(interp, g, std::move(exception));
  }
  if (inner.is(Kind::Generator)) {
    r = generator_throw(interp, inner.as<Generator>(), exception);
  } else {
    auto method = find_attr(interp, inner, interp.intern("throw"));
    if (!method) {
      r = method.failure();
    } else if (method->is_empty()) {
      g->running = false;
      return throw_here(interp, g, std::move(exception));
    } else {
      r = interp.call(*method, {exception});
      if (!r && error_is(r.error(), ErrorKind::StopIteration)) {
        interp.ended = {Value(), std::move(r.failure().error)};
        g->running = false;
        return finish_delegation(interp, g, take_end_value(interp));
      }
    }
  }
  g->running = false;
  if (!r) return raise_in_frame(interp, TFL_TRY(generator_resume(interp, g, Value(), FrameHow::Native, true)), r.failure());
  if (!r->is_empty()) return r;
  return finish_delegation(interp, g, take_end_value(interp));
}

Result<Value> finish_delegation(Interp& interp, Generator* g, Value value) {
  Frame* f = TFL_TRY(generator_resume(interp, g, Value(), FrameHow::Native));
  f->held = Value();
  f->registers[f->ip->a] = std::move(value);
  ++f->ip;
  return run_frame(interp, f);
}

Result<void> close_iterator(Interp& interp, const Value& iterator) {
  if (iterator.is(Kind::Generator)) return generator_close(interp, iterator.as<Generator>());
  Value method = TFL_TRY(find_attr(interp, iterator, interp.sym.close));
  if (method.is_empty()) return {};
  TFL_TRY(interp.call(method, {}));
  return {};
}

Result<void> generator_close(Interp& interp, Generator* g) {
  if (!g->frame) return {};
  if (!g->started) {
    release_generator_frame(g);
    return {};
  }
  Value keep = Value::share(g);
  Value exit = make_exception(interp, interp.exception_type(ErrorKind::GeneratorExit), {});
  auto r = generator_throw(interp, g, exit);
  if (r) {
    if (!r->is_empty()) return fail(ErrorKind::RuntimeError, "{} ignored GeneratorExit", kind_of(interp, g));
    interp.ended.forget();
    return {};
  }
  if (interp.stopped) return r.failure();
  if (error_is(r.error(), ErrorKind::GeneratorExit) || error_is(r.error(), ErrorKind::StopIteration)) return {};
  return r.failure();
}

extern const Slots generator_slots;
const Slots generator_slots = {.kind = Kind::Generator,
                               .destroy = destroy_generator,
                               .repr = repr_generator,
                               .hash = identity_hash,
                               .iter = iter_self,
                               .next = next_generator,
                               .get_attr = get_generator};

std::span<const NativeDef> generator_methods() { return kMethods; }

constexpr Slots kUniterableSlots = {.kind = Kind::Generator,
                                    .destroy = destroy_generator,
                                    .repr = repr_generator,
                                    .hash = identity_hash,
                                    .get_attr = get_generator};
extern const Slots coroutine_slots, async_generator_slots;
const Slots coroutine_slots = kUniterableSlots;
const Slots async_generator_slots = kUniterableSlots;

std::span<const NativeDef> coroutine_methods() { return kCoroutineMethods; }

}  // namespace tfl
