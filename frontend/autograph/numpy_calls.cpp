#include "frontend/autograph/numpy_calls.h"

#include "frontend/bytecode/code.h"
#include "frontend/object/attributes.h"
#include "frontend/object/native.h"
#include "frontend/object/protocol.h"
#include "frontend/trace/scope.h"
#include "frontend/vm/operations.h"

namespace tfl {

namespace {

const Code* library_code_of(const Value& f) {
  if (!f.is(Kind::Function)) return nullptr;
  const Code* code = f.as<Function>()->code.as<Code>();
  return is_numpys(*code) ? code : nullptr;
}

bool is_array(const Value& v) { return v.is(Kind::NdArray) || v.is(Kind::NumPyScalar); }

/// The function that a call of it runs; Empty where it is none.
Value function_of(Interp& interp, const Value& callee) {
  if (callee.is(Kind::BoundMethod)) return callee.as<BoundMethod>()->function;
  if (!callee.is(Kind::Instance)) return callee;
  const Value* call = type_lookup(callee.as<Instance>()->type, interp.intern("__call__"));
  return call ? *call : Value();
}

/// What NumPy says of a tensor that has no elements yet.
Failure refuse(Interp& interp, const Code* code, const Value& tensor) {
  std::string_view name = code ? std::string_view(code->name->text) : std::string_view();
  if (name == "zeros" || name == "ones" || name == "empty" || name == "full") {
    if (symbolic_type(tensor).ranked && symbolic_type(tensor).dims.empty()) {
      return fail(ErrorKind::TypeError, "expected a sequence of integers or a single integer, got '{}'", symbolic_repr(symbolic(tensor)));
    }
  }
  if (name == "eye" || name == "identity" || name == "linspace" || (code && code->source->name == "<stdlib>/numpy/random.tfl"))
    return fail(ErrorKind::TypeError, "'SymbolicTensor' object cannot be interpreted as an integer");
  Result<Value> refused = interp.call_method(tensor, interp.intern("__array__"), {});
  return refused ? fail(ErrorKind::NotImplementedError, "NumPy cannot take a symbolic tensor") : refused.failure();
}

}  // namespace

bool is_numpys(Interp& interp, const Value& callee) {
  if (callee.is(Kind::BoundMethod) && is_array(callee.as<BoundMethod>()->self)) return true;
  return library_code_of(function_of(interp, callee)) != nullptr;
}

Result<Value> call_numpys(Interp& interp, CallArgs& args) {
  Value callee = args.values[0];
  CallArgs inner{args.values + 1, args.count - 1, args.keywords};
  const Code* code = library_code_of(function_of(interp, callee));
  for (uint32_t i = 0; i < inner.total(); ++i) {
    if (!inner.values[i].is(Kind::Symbolic)) continue;
    // These ask the tensor itself.
    if (code && (code->name->text == "shape" || code->name->text == "ndim")) return interp.call(callee, inner);
    return refuse(interp, code, inner.values[i]);
  }
  return interp.call(callee, inner);
}

}  // namespace tfl
