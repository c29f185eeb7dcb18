#include "frontend/core/numpy_calls.h"

#include "frontend/core/code.h"
#include "frontend/core/native.h"
#include "frontend/core/protocol.h"
#include "frontend/core/scope.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl {

namespace {

/// What NumPy says of a tensor that has no elements yet.
Failure refusal(Interp& interp, const Code& code, const Value& tensor) {
  const std::string& name = code.name->text;
  if (name == "zeros" || name == "ones" || name == "empty" || name == "full") {
    if (symbolic_type(tensor).ranked && symbolic_type(tensor).dims.empty()) {
      return fail(ErrorKind::TypeError, "expected a sequence of integers or a single integer, got '{}'",
                  symbolic_repr(symbolic(tensor)));
    }
  }
  if (name == "eye" || name == "identity" || name == "linspace" || code.source->name == "<stdlib>/numpy/random.tfl")
    return fail(ErrorKind::TypeError, "'SymbolicTensor' object cannot be interpreted as an integer");
  Result<Value> refused = interp.call_method(tensor, interp.intern("__array__"), {});
  return refused ? fail(ErrorKind::NotImplementedError, "NumPy cannot take a symbolic tensor") : refused.failure();
}

}  // namespace

bool computes_arrays(Function* f) {
  const Code* code = f->code.as<Code>();
  return code->source && code->source->internal && code->source->name.starts_with("<stdlib>/numpy/");
}

Result<void> refuse_symbolic(Interp& interp, const Code& code, const CallArgs& args) {
  if (code.name->text == "shape" || code.name->text == "ndim") return {};  // these ask the tensor itself
  for (uint32_t i = 0; i < args.total(); ++i) {
    if (args.values[i].is(Kind::Symbolic)) return refusal(interp, code, args.values[i]);
  }
  return {};
}

}  // namespace tfl
