// Exception objects: how errors become them, how they read. Knows nothing of frames.
#pragma once

#include "frontend/core/protocol.h"

namespace tfl {

/// The host exception an error already is.
struct HostError : ErrorPayload {
  explicit HostError(Value e) : exception(std::move(e)) {}
  Value exception;
};

struct CodecFault;

/// The failure of a codec as the exception it is, with what it is about in its arguments; other failures as they are.
Failure codec_failure(Interp& interp, Failure failure, const CodecFault& fault, Value object);
Value make_exception(Interp& interp, Type* type, std::span<const Value> args);
/// str(e).
Result<std::string> exception_text(Interp& interp, Exception* e);
/// "ValueError: message", notes included, as the last lines of a traceback.
std::string exception_headline(Interp& interp, const Value& exception);
/// Sets the exception that was being handled when `e` was raised, without making a circle.
void set_context(Exception* e, const Value& handled);
/// The StopIteration of the iterator that has just ended (Interp::ended).
Failure stop_iteration(Interp& interp);
/// What the iterator that has just ended returned: the value of its StopIteration.
Value take_end_value(Interp& interp);
/// Is the error of this class (or one derived from it)? Looks at the kind only.
bool error_is(const Error& error, ErrorKind kind);

}  // namespace tfl
