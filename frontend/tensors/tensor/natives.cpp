// What natives share: arguments, operand lists.
#include <algorithm>

#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/natives.h"

namespace tfl {

Result<int64_t> static_int(Interp& interp, const Value& v, std::string_view argument) {
  if (!v.is(Kind::Symbolic)) return to_index(interp, v);
  if (Tensor known = known_value(interp, v)) return to_index(interp, Value::of(std::move(known)));
  return not_static(v, argument);
}

Failure not_static(const Value& v, std::string_view argument) {
  return fail(ErrorKind::TypeError, "the argument `{}` must be known when the function is traced; {} is computed when it runs",
              argument, symbolic_repr(symbolic(v)))
      .with_hint("pass a Python number or a constant");
}

Result<int64_t> optional_int(Interp& interp, const Value& v, int64_t otherwise, std::string_view argument) {
  if (v.is_int()) return v.as_int();
  if (v.is_none() || v.is_empty()) return otherwise;
  return static_int(interp, v, argument);
}

Result<DType> optional_dtype(Interp& interp, const Value& v, DType otherwise) {
  if (v.is_none() || v.is_empty()) return otherwise;
  return to_dtype(interp, v);
}

Result<Value> index_operand(Interp& interp, const Value& v) {
  if (v.is_tensor()) return v;
  ToTensor wanted;
  wanted.preferred = DType::I32;
  if (v.is_int() && v.as_int() != static_cast<int32_t>(v.as_int())) wanted.preferred = DType::I64;
  Value t = TFL_TRY(to_tensor(interp, v, wanted));
  return t;
}

bool needs_int64(Interp& interp, const Value& v) {
  auto wide = [&](const Value& item) {
    return item.is_int() ? item.as_int() != static_cast<int32_t>(item.as_int())
                         : is_tensor_like(item) && dtype_of(interp, item) == DType::I64;
  };
  if (v.is(Kind::List)) return std::any_of(v.as<List>()->items.begin(), v.as<List>()->items.end(), wide);
  if (v.is(Kind::Tuple)) return std::any_of(v.as<Tuple>()->span().begin(), v.as<Tuple>()->span().end(), wide);
  return wide(v);
}

Result<Value> shape_operand(Interp& interp, const Value& v) {
  if (v.is_tensor() || v.is(Kind::Symbolic)) return v;
  if (v.is(Kind::Shape)) {
    Dims dims = TFL_TRY(to_dims(interp, v));
    bool wide = false;
    for (int64_t d : dims) wide |= d != static_cast<int32_t>(d);
    Tensor t = TFL_TRY(Tensor::empty(interp.context, wide ? DType::I64 : DType::I32,
                                     std::initializer_list<int64_t>{static_cast<int64_t>(dims.size())}));
    for (size_t i = 0; i < dims.size(); ++i) {
      if (wide)
        t.data<int64_t>()[i] = dims[i];
      else
        t.data<int32_t>()[i] = static_cast<int32_t>(dims[i]);
    }
    return Value::of(std::move(t));
  }
  ToTensor wanted;
  wanted.preferred = needs_int64(interp, v) ? DType::I64 : DType::I32;
  return to_tensor(interp, v, wanted);
}

Result<std::vector<Value>> convert_list(Interp& interp, const Value& values) {
  std::vector<Value> items;
  if (values.is(Kind::Symbolic)) {
    Value parts = TFL_TRY(apply_many(interp, Op::unstack, std::span<const Value>(&values, 1), Attrs().set_int(Attr::axis, 0)));
    items = parts.as<List>()->items;
  } else if (values.is_tensor() || values.is(Kind::Variable)) {
    items = TFL_TRY(to_vector(interp, values));
  } else if (values.is(Kind::List)) {
    items = values.as<List>()->items;
  } else {
    items = TFL_TRY(to_vector(interp, values));
  }
  TFL_TRY(unify_operands(interp, items));
  return items;
}

Result<Value> apply_list(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs) {
  SmallVec<Value, 2> results;
  TFL_TRY(apply_op(interp, op, operands, attrs, results));
  return std::move(results[0]);
}

Result<Value> apply_many(Interp& interp, Op op, std::span<const Value> operands, const Attrs& attrs) {
  SmallVec<Value, 2> results;
  TFL_TRY(apply_op(interp, op, operands, attrs, results));
  std::vector<Value> items;
  for (Value& v : results) items.push_back(std::move(v));
  return interp.list(std::move(items));
}

}  // namespace tfl
