#include "frontend/tensors/tensor/device.h"

#include <cstdlib>

#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/core/scope.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

constexpr std::string_view kCpuName = "/job:localhost/replica:0/task:0/device:CPU:0";

std::string gpu_name(size_t ordinal) { return fmt::format("/job:localhost/replica:0/task:0/device:GPU:{}", ordinal); }

Placement* placement_of(Interp& interp) {
  for (Sink* s = interp.sink; s; s = s->next) {
    if (auto* p = dynamic_cast<Placement*>(s)) return p;
  }
  return nullptr;
}

/// A tensor of the same elements that belongs to a device; strings stay where they are.
Result<Tensor> moved(Interp& interp, Tensor t, int ordinal) {
  gpu::Devices& devices = interp.context.devices();
  if (t.dtype() == DType::String || t.size() == 0) return t;
  gpu::Device* to =
      ordinal >= 0 && static_cast<size_t>(ordinal) < devices.count() ? &devices.at(static_cast<size_t>(ordinal)) : nullptr;
  if (gpu::Devices::home_of(t) == to) return t;
  if (!to) {
    Tensor copy = TFL_TRY(Tensor::empty(interp.context, t.dtype(), t.dims()));
    copy_strided(interp.context, t.dtype(), t.dims(), copy.raw(), copy.strides(), t.raw(), t.strides());
    return copy;
  }
  Tensor rows = TFL_TRY(contiguous(interp.context, t));
  return devices.copy_to(*to, rows);
}

}  // namespace

std::string device_name(const Tensor& t) {
  if (gpu::Device* device = t ? gpu::Devices::home_of(t) : nullptr) return gpu_name(device->info().ordinal);
  return std::string(kCpuName);
}

void Placement::log(Interp& interp, std::string_view operation) const {
  if (!logs) return;
  interp.streams.err(fmt::format("Executing op {} in device {}\n", operation,
                                 ordinal >= 0 ? gpu_name(static_cast<size_t>(ordinal)) : std::string(kCpuName)));
}

Result<void> Placement::apply(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs,
                              SmallVec<Value, 2>& results) {
  if (!refused.empty()) return op_failure(ErrorKind::InvalidArgumentError, op, attrs, refused);
  log(interp, default_name(op));
  gpu::Devices& devices = interp.context.devices();
  if (ordinal >= 0 && devices.run_operation) {
    SmallVec<Tensor, 4> tensors;
    for (const Value& v : operands) {
      if (v.is_tensor()) tensors.push_back(v.tensor());
    }
    Tensors out;
    if (tensors.size() == operands.size() && devices.run_operation(interp.context, devices.at(static_cast<size_t>(ordinal)), op,
                                                                   {tensors.data(), tensors.size()}, attrs, out)) {
      for (Tensor& t : out) results.push_back(Value::of(std::move(t)));
      return {};
    }
  }
  size_t first = results.size();
  {
    Eagerly eagerly(interp);
    TFL_TRY(apply_op(interp, op, operands, attrs, results));
  }
  for (size_t i = first; i < results.size(); ++i) {
    // tf.identity brings elements back from a GPU; other results are where they were made.
    if (results[i].is_tensor() && (ordinal >= 0 || op == Op::identity))
      results[i] = Value::of(TFL_TRY(moved(interp, results[i].tensor(), ordinal)));
  }
  return {};
}

Result<Value> Placement::read_variable(Interp& interp, VariableObject* v) {
  Tensor t = variable_storage(v)->value;
  if (!t)
    return fail(ErrorKind::FailedPreconditionError,
                "Could not find variable {}. This could mean that the variable has been deleted.", v->name);
  log(interp, "ReadVariableOp");
  return Value::of(std::move(t));
}

Result<void> Placement::assign_variable(Interp&, VariableObject*, Assignment, const Value&) {
  return fail(ErrorKind::InternalError, "an eager assignment went through a device scope");
}

Result<void> Placement::call(Interp& interp, const FunctionCall& call, std::span<const Value> operands,
                             SmallVec<Value, 2>& results) {
  if (!refused.empty()) return fail(ErrorKind::InvalidArgumentError, "{} [Op:{}]", refused, call.function->name);
  log(interp, call.function->name);
  if (scope.empty()) return run_call(interp, call, operands, results);
  PlacedOn here(interp, ordinal);
  return run_call(interp, call, operands, results);
}

Result<Tensor> placed(Interp& interp, Tensor t, std::string_view made_by) {
  Placement* p = interp.sink && !interp.sink->building() ? placement_of(interp) : nullptr;
  if (!p) return t;
  if (!p->refused.empty()) return fail(ErrorKind::InvalidArgumentError, "{}", p->refused);
  if (p->logs)
    interp.streams.err(fmt::format("Executing op {} in device {}\n", made_by,
                                   p->ordinal >= 0 ? gpu_name(static_cast<size_t>(p->ordinal)) : std::string(kCpuName)));
  return p->ordinal >= 0 ? moved(interp, std::move(t), p->ordinal) : Result<Tensor>(std::move(t));
}

int where_operands_are(Interp& interp, std::span<const Value> operands) {
  for (const Value& v : operands) {
    const TensorRep* t = v.is_tensor()          ? v.tensor_rep()
                         : v.is(Kind::Variable) ? variable_storage(v.as<VariableObject>())->value.rep()
                                                : nullptr;
    if (!t || !(t->flags & kElsewhere)) [[likely]]
      continue;
    if (interp.context.devices().chosen()) return gpu::kCpu;
    Tensor operand = Tensor::share(const_cast<TensorRep*>(t));
    if (gpu::Device* device = gpu::Devices::device_of(operand)) return static_cast<int>(device->info().ordinal);
  }
  return gpu::kCpu;
}

PlacedOn::PlacedOn(Interp& interp, int ordinal)
    : devices_(interp.context.devices()), before_(devices_.placement()), chosen_before_(devices_.chosen()) {
  devices_.place(ordinal);
  devices_.set_chosen(true);
}
PlacedOn::~PlacedOn() {
  devices_.place(before_);
  devices_.set_chosen(chosen_before_);
}

namespace {

Result<gpu::Device*> gpu_at(Interp& interp, const Value& v) {
  int64_t n = TFL_TRY(to_index(interp, v));
  gpu::Devices& devices = interp.context.devices();
  if (n < 0 || static_cast<size_t>(n) >= devices.count()) return fail(ErrorKind::RuntimeError, "GPU:{} unknown device.", n);
  return &devices.at(static_cast<size_t>(n));
}

void set_int(Interp& interp, Value& dict, std::string_view name, uint64_t n) {
  dict_set_str(dict.as<Dict>(), interp.intern(name), Value::integer(static_cast<int64_t>(n)));
}

/// _gpus(): what is known of each GPU. The first call loads the driver.
Result<Value> gpus(Interp& interp, Value*) {
  gpu::Devices& devices = interp.context.devices();
  std::vector<Value> list;
  for (size_t i = 0; i < devices.count(); ++i) {
    const gpu::DeviceInfo& info = devices.at(i).info();
    Value d = interp.dict();
    dict_set_str(d.as<Dict>(), interp.intern("name"), interp.str(info.name));
    set_int(interp, d, "major", info.major);
    set_int(interp, d, "minor", info.minor);
    set_int(interp, d, "memory", info.memory_bytes);
    list.push_back(std::move(d));
  }
  return interp.list(std::move(list));
}

Result<Value> gpu_missing(Interp& interp, Value*) { return interp.str(interp.context.devices().missing()); }

Result<Value> gpu_memory(Interp& interp, Value* args) {
  gpu::MemoryInfo info = TFL_TRY(gpu_at(interp, args[0]))->memory();
  Value d = interp.dict();
  set_int(interp, d, "current", info.current);
  set_int(interp, d, "peak", info.peak);
  return d;
}

/// _gpu_synchronize(): waits for all that has been started.
Result<Value> gpu_synchronize(Interp& interp, Value*) {
  gpu::Devices& devices = interp.context.devices();
  for (size_t i = 0; i < devices.count(); ++i) TFL_TRY(devices.at(i).synchronize());
  return Value::none();
}

Result<Value> gpu_reset_memory(Interp& interp, Value* args) {
  TFL_TRY(gpu_at(interp, args[0]))->reset_peak();
  return Value::none();
}

/// _to_device(x, ordinal): the same elements on a GPU, or on the CPU (-1).
Result<Value> to_device(Interp& interp, Value* args) {
  Tensor t = TFL_TRY(to_concrete(interp, args[0]));
  int64_t n = TFL_TRY(to_index(interp, args[1]));
  if (n >= 0) TFL_TRY(gpu_at(interp, args[1]));
  return Value::of(TFL_TRY(moved(interp, std::move(t), static_cast<int>(n))));
}

}  // namespace

Result<Value> tensor_to_cpu(Interp& interp, Value* args) {
  return Value::of(TFL_TRY(moved(interp, args[0].tensor(), gpu::kCpu)));
}

Result<Value> tensor_to_gpu(Interp& interp, Value* args) {
  gpu::Device* device = TFL_TRY(gpu_at(interp, args[1]));
  return Value::of(TFL_TRY(moved(interp, args[0].tensor(), static_cast<int>(device->info().ordinal))));
}

namespace {

/// _device_scope(): what the scopes around the running code say together.
Result<Value> device_scope(Interp& interp, Value*) {
  if (interp.sink && interp.sink->building()) {
    const auto& device = tracer_of(interp).device;
    return interp.str(device ? *device : std::string());
  }
  Placement* p = placement_of(interp);
  return interp.str(p ? p->scope : std::string());
}

/// The sink of placements is in the chain exactly while it has something to do.
void change_placement(Interp& interp, const auto& change) {
  gpu::Devices& devices = interp.context.devices();
  auto* p = static_cast<Placement*>(devices.owned_by_front_end.get());
  if (!p) {
    devices.owned_by_front_end = std::make_shared<Placement>();
    p = static_cast<Placement*>(devices.owned_by_front_end.get());
  }
  change(*p);
  Sink** at = &interp.sink;
  while (*at && *at != p) at = &(*at)->next;
  bool needed = p->logs || !p->scope.empty();
  if (needed && !*at) *at = p;
  if (!needed && *at) *at = nullptr;  // it is the last
}

/// _set_device(scope, ordinal, refused): from here on operations run on that GPU (-1: the CPU), or none does.
Result<Value> set_device(Interp& interp, Value* args) {
  std::string scope = TFL_TRY(str_text(interp, args[0])), refused = TFL_TRY(str_text(interp, args[2]));
  auto ordinal = static_cast<int>(TFL_TRY(to_index(interp, args[1])));
  if (interp.sink && interp.sink->building()) {
    Tracer& tracer = tracer_of(interp);
    tracer.device = scope.empty() ? nullptr : std::make_shared<const std::string>(scope);
    if (!refused.empty()) {
      size_t at = scope.rfind(':');
      tracer.scope->root()->device = refused_device(at == scope.npos ? 0 : std::atoi(scope.c_str() + at + 1));
    } else if (ordinal >= 0) {
      tracer.scope->root()->device = ordinal;
    }
    return Value::none();
  }
  change_placement(interp, [&](Placement& p) {
    p.scope = std::move(scope);
    p.ordinal = p.scope.empty() ? gpu::kCpu : ordinal;
    p.refused = std::move(refused);
  });
  return Value::none();
}

Result<Value> log_placement(Interp& interp, Value* args) {
  bool on = TFL_TRY(truth(interp, args[0]));
  if (interp.sink && interp.sink->building()) return Value::none();
  change_placement(interp, [&](Placement& p) { p.logs = on; });
  return Value::none();
}

/// _tensor_float_32(on): whether products of f32 may be made of TF32 on GPUs; None only asks.
Result<Value> tensor_float_32(Interp& interp, Value* args) {
  bool& on = interp.context.devices().tensor_float_32;
  if (!args[0].is_none()) on = TFL_TRY(truth(interp, args[0]));
  return Value::boolean(on);
}

constexpr NativeDef kDeviceDefs[] = {
    function("_gpus", "", gpus),
    function("_gpu_missing", "", gpu_missing),
    function("_gpu_memory", "ordinal", gpu_memory),
    function("_gpu_reset_memory", "ordinal", gpu_reset_memory),
    function("_gpu_synchronize", "", gpu_synchronize),
    function("_to_device", "x, ordinal", to_device),
    function("_device_scope", "", device_scope),
    function("_set_device", "scope, ordinal, refused", set_device),
    function("_log_placement", "on", log_placement),
    function("_tensor_float_32", "on", tensor_float_32),
};

}  // namespace

std::span<const NativeDef> device_natives() { return kDeviceDefs; }

}  // namespace tfl
