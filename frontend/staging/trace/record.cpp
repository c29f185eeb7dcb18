// Records of what calls of traced functions give, staged or run eagerly, and their comparison bit by bit.
#include "frontend/staging/trace/record.h"

#include "frontend/core/scope.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// record(on): begins a record of the results of calls; record(False) ends it and gives it: [(name, [tensor, ...]), ...]
Result<Value> record(Interp& interp, Value* args) {
  Tracer& tracer = tracer_of(interp);
  std::vector<Value> found = std::move(tracer.recorded);
  tracer.recorded.clear();
  tracer.recorded_depth = 0;
  tracer.recording = TFL_TRY(truth(interp, args[0]));
  return interp.list(std::move(found));
}

/// record_enter() -> bool: an eager run of a function begins; true when its results are wanted. record_leave(name, tensors or None).
Result<Value> record_enter(Interp& interp, Value*) {
  Tracer& tracer = tracer_of(interp);
  if (!tracer.recording) return Value::boolean(false);
  return Value::boolean(tracer.recorded_depth++ == 0 && !tracer.scope);
}
Result<Value> record_leave(Interp& interp, Value* args) {
  Tracer& tracer = tracer_of(interp);
  if (tracer.recording && tracer.recorded_depth > 0) --tracer.recorded_depth;
  if (tracer.recording && !args[1].is_none()) tracer.recorded.push_back(interp.tuple({args[0], args[1]}));
  return Value::none();
}

/// same_bits(a, b): two tensors of one type, sizes and bits; NaN is NaN.
Result<Value> same_bits(Interp& interp, Value* args) {
  if (!args[0].is_tensor() || !args[1].is_tensor()) return Value::boolean(args[0].identical(args[1]));
  Tensor a = args[0].tensor(), b = args[1].tensor();
  if (a.dtype() != b.dtype() || !std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end()))
    return Value::boolean(false);
  a = TFL_TRY(contiguous(interp.context, a));
  b = TFL_TRY(contiguous(interp.context, b));
  size_t size = dtype_size(a.dtype());
  for (int64_t i = 0; i < a.size(); ++i) {
    const std::byte *p = a.raw() + static_cast<size_t>(i) * size, *q = b.raw() + static_cast<size_t>(i) * size;
    bool same = a.dtype() == DType::String ? *reinterpret_cast<const std::string*>(p) == *reinterpret_cast<const std::string*>(q)
                                           : std::equal(p, p + size, q);
    if (!same && is_floating(a.dtype())) {
      double x = load_double(a.dtype(), p), y = load_double(b.dtype(), q);
      same = x != x && y != y;
    }
    if (!same) return Value::boolean(false);
  }
  return Value::boolean(true);
}

constexpr NativeDef kRecordNatives[] = {
    function("record", "on", record),
    function("record_enter", "", record_enter),
    function("record_leave", "name, tensors", record_leave),
    function("same_bits", "a, b", same_bits),
};

}  // namespace

std::span<const NativeDef> record_natives() { return kRecordNatives; }

}  // namespace tfl
