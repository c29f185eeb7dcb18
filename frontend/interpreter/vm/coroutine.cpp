// Coroutines and asynchronous generators: frames like a generator's, asked in other ways. What `await` delegates to, and the steps of an
// asynchronous generator, each of which is awaited.
#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/core/native.h"
#include "frontend/core/operations.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

bool is_coroutine(Interp& interp, const Value& v) { return v.is(Kind::Generator) && v.object()->type == interp.types.coroutine; }

/// The method `name` of the type of `v`, bound; Empty: there is none.
Result<Value> special_of(Interp& interp, const Value& v, Str* name) {
  const Value* entry = type_lookup(interp.type_of(v), name);
  if (!entry) return Value();
  return bind_attribute(interp, *entry, v, interp.type_of(v));
}

// ---------------------------------------------------------------------------------------------- steps of an async generator

enum class StepKind : uint8_t { Send, Throw, Close, Await };

/// What __anext__(), asend(), athrow() and aclose() give; and what __await__() of a coroutine gives, which hands all on.
struct AsyncStep : Object {
  Value generator;
  Value argument;  // sent, or the exception to raise
  StepKind what = StepKind::Send;
  bool begun = false, ended = false;
};

Value make_step(Interp& interp, const Value& generator, StepKind what, Value argument) {
  auto* step = interp.allocate<AsyncStep>(interp.types.async_step);
  Value made = Value::adopt(step);
  step->generator = generator;
  step->argument = std::move(argument);
  step->what = what;
  return made;
}

Failure step_end(Interp& interp, ErrorKind kind, Value value = {}) {
  const bool nothing = value.is_empty() || value.is_none();
  return interp.raise(make_exception(interp, interp.exception_type(kind), {&value, nothing ? 0u : 1u}));
}

std::string_view step_name(StepKind what) {
  return what == StepKind::Send ? "anext" : what == StepKind::Throw ? "athrow" : "aclose";
}

/// Goes on with `sent`, or with `thrown` raised where the generator waits. A value that it yields ends the step; what it awaits does not.
Result<Value> go_on(Interp& interp, AsyncStep* step, Value sent, Value thrown) {
  if (step->what == StepKind::Await) {
    Value coroutine = step->generator;
    interp.ended.forget();
    if (!coroutine.as<Generator>()->frame) return fail(ErrorKind::RuntimeError, "cannot reuse already awaited coroutine");
    auto r = thrown.is_empty() ? generator_send(interp, coroutine.as<Generator>(), std::move(sent))
                               : generator_throw(interp, coroutine.as<Generator>(), std::move(thrown));
    if (r && r->is_empty()) return stop_iteration(interp);
    return r;
  }
  if (step->ended)
    return fail(ErrorKind::RuntimeError, "cannot reuse already awaited {}()",
                step->what == StepKind::Send ? "__anext__()/asend" : "aclose()/athrow");
  Value keep = Value::share(step);
  Generator* g = step->generator.as<Generator>();
  const bool first = !step->begun;
  if (first) {
    if (g->stepping) {
      step->ended = true;
      return fail(ErrorKind::RuntimeError, "{}(): asynchronous generator is already running", step_name(step->what));
    }
    step->begun = true;
    if (!g->frame) {
      step->ended = true;
      if (step->what == StepKind::Close) return step_end(interp, ErrorKind::StopIteration);
      return step_end(interp, ErrorKind::StopAsyncIteration);
    }
    if (step->what == StepKind::Send) {
      if (sent.is_none()) sent = std::move(step->argument);
    } else if (thrown.is_empty()) {
      if (!sent.is_none()) return fail(ErrorKind::RuntimeError, "can't send non-None value to a just-started coroutine");
      if (step->what == StepKind::Close && !g->started) {
        step->ended = true;
        release_generator_frame(g);
        return step_end(interp, ErrorKind::StopIteration);
      }
      thrown = std::move(step->argument);
    }
    g->stepping = true;
  }
  auto result = thrown.is_empty() ? generator_send(interp, g, std::move(sent)) : generator_throw(interp, g, std::move(thrown));
  if (result && !result->is_empty() && g->frame->ip->op == Opcode::YieldFrom) return result;  // it waits
  g->stepping = false;
  step->ended = true;
  if (!result) {
    if (step->what == StepKind::Close &&
        (error_is(result.error(), ErrorKind::GeneratorExit) || error_is(result.error(), ErrorKind::StopAsyncIteration))) {
      return step_end(interp, ErrorKind::StopIteration);
    }
    return result;
  }
  if (result->is_empty()) {
    interp.ended.forget();
    return step_end(interp, step->what == StepKind::Close ? ErrorKind::StopIteration : ErrorKind::StopAsyncIteration);
  }
  if (step->what == StepKind::Close) return fail(ErrorKind::RuntimeError, "async generator ignored GeneratorExit");
  return step_end(interp, ErrorKind::StopIteration, result.take());
}

Result<Value> next_step(Interp& interp, const Value& self) {
  auto result = go_on(interp, self.as<AsyncStep>(), Value::none(), {});
  if (!result && error_is(result.error(), ErrorKind::StopIteration)) {
    interp.ended = {Value(), std::move(result.failure().error)};
    return Value();
  }
  return result;
}

Result<Value> send_step(Interp& interp, Value* args) { return go_on(interp, args[0].as<AsyncStep>(), args[1], {}); }

Result<Value> throw_step(Interp& interp, Value* args) {
  Value e = TFL_TRY(exception_to_throw(interp, args[1], args[2]));
  return go_on(interp, args[0].as<AsyncStep>(), Value::none(), std::move(e));
}

Result<Value> close_step(Interp& interp, Value* args) {
  Value self = args[0];
  if (self.as<AsyncStep>()->what == StepKind::Await)
    TFL_TRY(generator_close(interp, self.as<AsyncStep>()->generator.as<Generator>()));
  self.as<AsyncStep>()->ended = true;
  return Value::none();
}

Result<Value> step_itself(Interp&, const Value& self) { return self; }
Result<Value> await_step(Interp&, Value* args) { return args[0]; }

constexpr NativeDef kStepMethods[] = {
    method("send", "self, value, /", send_step),
    method("throw", "self, typ, val=..., tb=..., /", throw_step),
    method("close", "self, /", close_step),
    method("__await__", "self, /", await_step),
};

// ------------------------------------------------------------------------------------------------------ async generators

Result<Value> async_itself(Interp&, Value* args) { return args[0]; }
Result<Value> anext_method(Interp& interp, Value* args) { return make_step(interp, args[0], StepKind::Send, Value::none()); }
Result<Value> asend_method(Interp& interp, Value* args) { return make_step(interp, args[0], StepKind::Send, args[1]); }
Result<Value> athrow_method(Interp& interp, Value* args) {
  Value e = TFL_TRY(exception_to_throw(interp, args[1], args[2]));
  return make_step(interp, args[0], StepKind::Throw, std::move(e));
}
Result<Value> aclose_method(Interp& interp, Value* args) {
  Value e = make_exception(interp, interp.exception_type(ErrorKind::GeneratorExit), {});
  return make_step(interp, args[0], StepKind::Close, std::move(e));
}

constexpr NativeDef kAsyncGeneratorMethods[] = {
    method("__aiter__", "self, /", async_itself),    method("__anext__", "self, /", anext_method),
    method("asend", "self, value, /", asend_method), method("athrow", "self, typ, val=..., tb=..., /", athrow_method),
    method("aclose", "self, /", aclose_method),
};

}  // namespace

extern const Slots async_step_slots;
const Slots async_step_slots = {
    .kind = Kind::Native, .destroy = destroy_object<AsyncStep>, .hash = identity_hash, .iter = step_itself, .next = next_step};

std::span<const NativeDef> async_step_methods() { return kStepMethods; }
std::span<const NativeDef> async_generator_methods() { return kAsyncGeneratorMethods; }

Value coroutine_await(Interp& interp, const Value& coroutine) {
  return make_step(interp, coroutine, StepKind::Await, Value::none());
}

Result<Value> awaitable_iterator(Interp& interp, const Value& v, std::string_view from) {
  if (is_coroutine(interp, v)) {
    Generator* g = v.as<Generator>();
    if (!g->frame) return fail(ErrorKind::RuntimeError, "cannot reuse already awaited coroutine");
    if (g->started && g->frame->ip->op == Opcode::YieldFrom) {
      return fail(ErrorKind::RuntimeError, "coroutine is being awaited already");
    }
    return v;
  }
  Value method = TFL_TRY(special_of(interp, v, interp.sym.__await__));
  if (method.is_empty() && !from.empty()) {
    return fail(ErrorKind::TypeError, "'async with' received an object from {} that does not implement __await__: {}", from,
                interp.type_name(v));
  }
  if (method.is_empty()) return fail(ErrorKind::TypeError, "object {} can't be used in 'await' expression", interp.type_name(v));
  Value iterator = TFL_TRY(interp.call(method, {}));
  if (is_coroutine(interp, iterator)) return fail(ErrorKind::TypeError, "__await__() returned a coroutine");
  const Type* type = interp.type_of(iterator);
  if (!type->slots->next && !type_lookup(type, interp.sym.__next__)) {
    return fail(ErrorKind::TypeError, "__await__() returned non-iterator of type '{}'", interp.type_name(iterator));
  }
  return iterator;
}

Result<Value> async_iterator(Interp& interp, const Value& v) {
  Value method = TFL_TRY(special_of(interp, v, interp.sym.__aiter__));
  if (method.is_empty()) {
    return fail(ErrorKind::TypeError, "'async for' requires an object with __aiter__ method, got {}", interp.type_name(v));
  }
  Value iterator = TFL_TRY(interp.call(method, {}));
  if (!type_lookup(interp.type_of(iterator), interp.sym.__anext__)) {
    return fail(ErrorKind::TypeError, "'async for' received an object from __aiter__ that does not implement __anext__: {}",
                interp.type_name(iterator));
  }
  return iterator;
}

Result<Value> async_next_awaitable(Interp& interp, const Value& iterator) {
  Value method = TFL_TRY(special_of(interp, iterator, interp.sym.__anext__));
  if (method.is_empty()) {
    return fail(ErrorKind::TypeError, "'async for' requires an iterator with __anext__ method, got {}",
                interp.type_name(iterator));
  }
  Value asked = TFL_TRY(interp.call(method, {}));
  auto awaited = awaitable_iterator(interp, asked);
  if (awaited || awaited.error().kind != ErrorKind::TypeError || awaited.error().payload) return awaited;
  return fail(ErrorKind::TypeError, "'async for' received an invalid object from __anext__: {}", interp.type_name(asked));
}

}  // namespace tfl
