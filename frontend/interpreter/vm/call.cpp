// Calls from natives: anything callable, from C++.
#include <optional>

#include "frontend/core/attributes.h"
#include "frontend/core/frame.h"
#include "frontend/core/numpy_calls.h"
#include "frontend/core/operations.h"
#include "frontend/core/signature.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/object/class.h"

namespace tfl {

namespace {

Result<Value> call_function(Interp& interp, Function* f, CallArgs& args) {
  std::optional<Eagerly> eagerly;
  if (interp.sink && computes_arrays(f)) {
    TFL_TRY(refuse_symbolic(interp, *f->code.as<Code>(), args));
    eagerly.emplace(interp);
  }
  Frame* frame = TFL_TRY(bind_call(interp, f, args));
  if (frame->code->generator) return make_generator(interp, frame);
  frame->how = FrameHow::Native;
  frame->back = interp.frame;
  interp.frame = frame;
  ++interp.depth;
  return run_frame(interp, frame);
}

/// The same call with one more argument in front.
Result<Value> call_with(Interp& interp, const Value& callee, const Value& first, CallArgs& args) {
  constexpr uint32_t kInline = 8;
  if (args.total() < kInline) {
    Value values[kInline];
    values[0] = first;
    for (uint32_t i = 0; i < args.total(); ++i) values[i + 1] = std::move(args.values[i]);
    CallArgs more{values, args.count + 1, args.keywords};
    return interp.call(callee, more);
  }
  std::vector<Value> values;
  values.reserve(args.total() + 1);
  values.push_back(first);
  for (uint32_t i = 0; i < args.total(); ++i) values.push_back(std::move(args.values[i]));
  CallArgs more{values.data(), args.count + 1, args.keywords};
  return interp.call(callee, more);
}

}  // namespace

Result<Value> Interp::call(const Value& callee, CallArgs& args) {
  switch (callee.kind()) {
    case Kind::Function: return call_function(*this, callee.as<Function>(), args);
    case Kind::NativeFunction: return call_native(*this, callee.as<NativeFunction>(), args);
    case Kind::BoundMethod: {
      Value function = callee.as<BoundMethod>()->function;
      Value self = callee.as<BoundMethod>()->self;
      if (!function.is(Kind::Function) && !function.is(Kind::NativeFunction)) {
        Nesting nesting(*this);
        if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
        return call_with(*this, function, self, args);
      }
      return call_with(*this, function, self, args);
    }
    case Kind::Type: {
      Value keep = callee;
      return call_type(*this, callee.as<Type>(), args);
    }
    default: break;
  }
  Type* type = type_of(callee);
  if (type->script) {
    if (const Value* entry = script_lookup(*this, type, sym.__call__)) {
      Value function = *entry;
      Value self = callee;
      Nesting nesting(*this);
      if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
      bool method = function.is(Kind::Function) ||
                    (function.is(Kind::Native) && (function.object()->type->slots->binds || is_dispatcher(function)));
      if (method) return call_with(*this, function, self, args);
      function = TFL_TRY(bind_attribute(*this, function, self, type));
      return call(function, args);
    }
  }
  if (type->slots->call) {
    Nesting nesting(*this);
    if (!nesting.ok()) return fail(ErrorKind::RecursionError, "maximum recursion depth exceeded");
    return type->slots->call(*this, callee, args);
  }
  return fail(ErrorKind::TypeError, "'{}' object is not callable", type_name(callee));
}

Result<Value> Interp::call_method(const Value& self, Str* name, std::initializer_list<Value> args) {
  Value function, first;
  TFL_TRY(load_method(*this, self, name, function, first));
  Value values[8];
  uint32_t n = 0;
  if (args.size() > 7) return fail(ErrorKind::SystemError, "too many arguments of an internal call");
  if (!first.is_empty()) values[n++] = std::move(first);
  for (const Value& a : args) values[n++] = a;
  CallArgs call_args{values, n};
  return call(function, call_args);
}

}  // namespace tfl
