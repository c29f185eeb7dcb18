// Frames: the registers and the state of one call in progress. Calls between functions of the script push a frame and go on in
// the same loop; natives that call back enter a new loop. This header must not know about what instructions mean.
#pragma once

#include "frontend/core/code.h"
#include "frontend/core/interp.h"

namespace tfl {

struct Generator;

/// Who gets what a frame returns or yields.
enum class FrameHow : uint8_t {
  Native,       // the loop was entered for this frame: it ends when the frame does
  Call,         // the caller's instruction is a call: the value goes into its r[a]
  Constructor,  // as Call, and the value is `held`; what __init__ returns must be None
  ForIter,      // the caller's instruction is a ForIter over this generator
  YieldFrom,    // the caller's instruction delegates to this generator
};

struct Frame {
  Frame* back = nullptr;
  const Instruction* ip = nullptr;  // the instruction in progress; of a generator that yielded, the Yield
  Code* code = nullptr;
  Module* module = nullptr;
  Dict* globals = nullptr;
  Value* registers = nullptr;
  Generator* generator = nullptr;  // null for ordinary calls
  Value function;                  // what keeps `code` alive: the Function, or the Code of a module
  Value handling;                  // the exception being handled in this frame, or Empty
  Value held;                      // a constructor's instance; the namespace of a class body
  FrameHow how = FrameHow::Native;
};

struct Generator : Object {
  Frame* frame;  // null once it has ended
  Value name, qualname, code;
  bool started;
  bool running;
  bool stepping = false;  // an asynchronous generator: a step of it has begun and not ended
};

/// Runs `frame`, which is on top of interp.frame already, until it returns or yields. A generator that ends gives Empty and
/// leaves its result in Interp::ended.
Result<Value> run_frame(Interp& interp, Frame* frame);

/// A frame for a call of `f`, arguments bound, parameters in place. Not on the chain yet.
Result<Frame*> bind_call(Interp& interp, Function* f, CallArgs& args);
/// A frame without arguments for a module's or a class body's code.
Result<Frame*> plain_frame(Interp& interp, const Value& holder, Code* code, Module* module);
/// Destroys registers and gives the storage back. The frame is off the chain.
void drop_frame(Interp& interp, Frame* frame);
/// The generator object that owns a copy of `frame` (which is dropped).
Value make_generator(Interp& interp, Frame* frame);

/// Binds a call to the parameters of a script function. `out` are its first registers, all Empty.
Result<void> bind_parameters(Interp& interp, Function* f, CallArgs& args, Value* out);

/// Resumes a generator with `sent` as the value of its yield. Empty: it has ended.
Result<Value> generator_send(Interp& interp, Generator* g, Value sent);
/// Raises `exception` in it. Empty: it has ended.
Result<Value> generator_throw(Interp& interp, Generator* g, Value exception);
Result<void> generator_close(Interp& interp, Generator* g);
/// Pushes the frame of a generator that is about to run on with `sent` (its Yield's value), or that is about to fail at the
/// instruction where it stands (`raising`). Checks that it may.
Result<Frame*> generator_resume(Interp& interp, Generator* g, Value sent, FrameHow how, bool raising = false);

/// The exception that throw(typ, val) raises: `typ` a class or an exception, `val` Empty, an argument or an exception.
Result<Value> exception_to_throw(Interp& interp, const Value& type, const Value& value);
/// What `await v` delegates to; v.__aiter__(); what awaiting v.__anext__() delegates to. TypeErrors as CPython's (coroutine.cpp).
/// `from`: the method of an `async with` that gave v, for the error; else empty.
Result<Value> awaitable_iterator(Interp& interp, const Value& v, std::string_view from = {});
Value coroutine_await(Interp& interp, const Value& coroutine);  // what its __await__() gives
Result<Value> async_iterator(Interp& interp, const Value& v);
Result<Value> async_next_awaitable(Interp& interp, const Value& iterator);

/// A StopIteration that leaves a generator's code would look like its end: the RuntimeError in place of it.
Failure stop_inside_generator(Interp& interp, const Code& code, Failure error);
/// Goes on in `frame`, which is on top, as if its instruction had failed with this error.
Result<Value> raise_in_frame(Interp& interp, Frame* frame, Failure error);
/// The iterator behind a generator's YieldFrom has ended with `value`: the generator goes on behind it.
Result<Value> finish_delegation(Interp& interp, Generator* g, Value value);
Result<void> close_iterator(Interp& interp, const Value& iterator);
/// Destroys the frame of a generator that has ended.
void release_generator_frame(Generator* g);

/// The exception being handled by this or an outer frame, or Empty.
Value current_handling(Interp& interp);

}  // namespace tfl
