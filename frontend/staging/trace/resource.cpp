// Variables and callables as resources of a running graph.
#include "frontend/staging/trace/resource.h"

#include "frontend/core/concrete.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "frontend/tensors/tensor/transaction.h"
#include "runtime/tensor/borrowed.h"

namespace tfl {

namespace {

struct BoundVariable final : ir::VariableResource {
  BoundVariable(Interp& i, VariableObject* variable) : interp(i), owner(Value::share(variable)), v(variable) {}
  ir::Type type() const override {
    ir::Type t;
    t.kind = ir::TypeKind::Resource;
    t.tensor = {v->dtype, v->shape_ranked, v->shape};
    return t;
  }
  Result<Tensor> read() override {
    if (v->value) return v->value;
    return fail(ErrorKind::FailedPreconditionError,
                "Could not find variable {}. This could mean that the variable has been deleted. In TF1, it can also mean the "
                "variable is uninitialized.",
                v->name);
  }
  Result<void> assign(Tensor value) override {
    bool fits = !v->shape_ranked || v->shape.size() == value.dims().size();
    for (size_t i = 0; fits && v->shape_ranked && i < v->shape.size(); ++i)
      fits = v->shape[i] < 0 || v->shape[i] == value.dims()[i];
    if (!fits) {
      return fail(ErrorKind::InvalidArgumentError, "Cannot assign value to variable '{}': its shape is {}, the value's is {}",
                  v->shown_name(), dims_text(v->shape), dims_text(value.dims()));
    }
    value = TFL_TRY(own_elements(interp.context, std::move(value)));
    keep_for_undo(interp, v);
    v->value = std::move(value);
    return {};
  }
  bool initialized() const override { return static_cast<bool>(v->value); }
  const void* identity() const override { return v; }

  Interp& interp;
  Value owner;
  VariableObject* v;
};

/// Calls of the script from inside a running graph are eager, whatever is being built around them.
struct BoundCallable final : ir::CallableResource {
  BoundCallable(Interp& i, Value f) : interp(i), callable(std::move(f)) {}
  Result<void> call(std::span<const ir::Datum> arguments, std::vector<ir::Datum>& results) override {
    std::vector<Value> values;
    for (const ir::Datum& d : arguments) {
      ir::Datum copy = d;
      values.push_back(value_of(interp, copy));
    }
    CallArgs args{values.data(), static_cast<uint32_t>(values.size()), {}};
    auto done = [&] {
      Eagerly eagerly(interp);
      return interp.call(callable, args);
    }();
    if (!done) return done.failure();
    if (done->is(Kind::List) || done->is(Kind::Tuple)) {
      std::vector<Value> items = TFL_TRY(to_vector(interp, *done));
      for (const Value& item : items) results.push_back(TFL_TRY(datum_of(interp, item)));
    } else if (!done->is_none()) {
      results.push_back(TFL_TRY(datum_of(interp, *done)));
    }
    return {};
  }
  Interp& interp;
  Value callable;
};

}  // namespace

std::shared_ptr<ir::VariableResource> variable_resource(Interp& interp, VariableObject* v) {
  return std::make_shared<BoundVariable>(interp, v);
}

std::shared_ptr<ir::CallableResource> callable_resource(Interp& interp, const Value& callable) {
  return std::make_shared<BoundCallable>(interp, callable);
}

bool is_resource_value(Interp& interp, const Value& v) {
  switch (v.kind()) {
    case Kind::Str:
    case Kind::Bytes:
    case Kind::List:
    case Kind::Tuple:
    case Kind::Dict:
    case Kind::Set:
    case Kind::Range:
    case Kind::Shape:
    case Kind::DType: return false;
    default: return is_callable(interp, v);
  }
}

}  // namespace tfl
