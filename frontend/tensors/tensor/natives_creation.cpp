// Natives that make tensors: constant, convert_to_tensor, zeros, ones, fill, range, eye, cast.
#include <cmath>
#include <cstring>

#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/tensors/tensor/device.h"
#include "frontend/tensors/tensor/natives.h"
#include "frontend/tensors/tensor/tensor_text.h"
#include "runtime/kernels/elementwise/elementwise.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

/// What a script sees of a value that a native made of its arguments: inside a graph, a value of the graph.
Result<Value> shown(Interp& interp, Value v, const Value& name, std::string_view otherwise) {
  if (!v.is_tensor() || !current_scope(interp)) return v;
  if (v.tensor_rep()->flags & kLiteral)
    return symbolic_constant(interp, v.tensor(), name.is_str() ? std::string_view(name.as<Str>()->text) : otherwise);
  ir::Ref ref = TFL_TRY(import_value(interp, v));
  return symbolic_value(interp, tracer_of(interp).scope, ref);
}

/// A tensor made of a host value, where tf.device scopes want it.
Result<Value> made_of(Interp& interp, const Value& given, Value v) {
  if (!interp.sink || interp.sink->building() || !v.is_tensor() || given.is_tensor() || given.is(Kind::Variable)) [[likely]]
    return v;
  return Value::of(TFL_TRY(placed(interp, v.tensor(), "_EagerConst")));
}

Result<Value> constant_now(Interp& interp, Value* args);
Result<Value> constant(Interp& interp, Value* args) {
  Value v = TFL_TRY(constant_now(interp, args));
  if (!v.is_tensor() || !current_scope(interp)) return made_of(interp, args[0], std::move(v));
  return symbolic_constant(interp, v.tensor(), args[3].is_str() ? std::string_view(args[3].as<Str>()->text) : "Const");
}

Result<Value> constant_now(Interp& interp, Value* args) {
  ToTensor wanted;
  wanted.cast_items = false;
  if (!args[1].is_none()) wanted.dtype = TFL_TRY(to_dtype(interp, args[1]));
  if (args[0].is_tensor() && wanted.dtype && *wanted.dtype != args[0].tensor_rep()->dtype) {
    std::string text = elements_str(interp, args[0].tensor());
    return fail(ErrorKind::TypeError, "Expected tensor {} with dtype tf.{}, but got dtype tf.{}.", text,
                dtype_name(*wanted.dtype), dtype_name(args[0].tensor_rep()->dtype));
  }
  Value value = TFL_TRY(to_tensor(interp, args[0], wanted));
  bool zero = args[0].is_float() && args[0].as_float() == 0 && !wanted.dtype;
  std::optional<bool>& zero_sign = interp.tensors->zero_sign;
  if (zero && !zero_sign) zero_sign = std::signbit(args[0].as_float());
  if (args[2].is_none()) return value;
  // TensorFlow fills with the scalar it has kept from before, of which the sign may differ.
  if (zero && std::signbit(args[0].as_float()) != *zero_sign)
    value = Value::of(TFL_TRY(apply1(interp.context, Op::negative, {value.tensor()})));
  Dims dims = TFL_TRY(to_dims(interp, args[2]));
  if (!value.is_tensor()) return apply_op(interp, Op::reshape, {value, TFL_TRY(shape_operand(interp, args[2]))});
  Tensor t = value.tensor();
  int64_t n = TFL_TRY(element_count(dims));
  Value shape = shape_value(interp, dims);
  Tensor sizes = TFL_TRY(shape_operand(interp, shape)).tensor();
  if (t.size() == n) return Value::of(TFL_TRY(apply1(interp.context, Op::reshape, {t, sizes})));
  if (t.size() == 1) {
    if (t.rank() != 0)
      t = TFL_TRY(apply1(interp.context, Op::reshape, {t, TFL_TRY(shape_operand(interp, shape_value(interp, {}))).tensor()}));
    return Value::of(TFL_TRY(apply1(interp.context, Op::fill, {sizes, t})));
  }
  std::string source = TFL_TRY(repr_text(interp, args[0]));
  return fail(ErrorKind::TypeError,
              "Eager execution of tf.constant with unsupported shape. Tensor {} (converted from {}) has {} elements, but got "
              "`shape` {} with {} elements).",
              elements_str(interp, t), source, t.size(), dims_text(dims), n);
}

Result<Value> convert_to_tensor(Interp& interp, Value* args) {
  ToTensor wanted;
  if (!args[1].is_none()) wanted.dtype = TFL_TRY(to_dtype(interp, args[1]));
  if (!args[2].is_none()) wanted.preferred = TFL_TRY(to_dtype(interp, args[2]));
  Value v = TFL_TRY(made_of(interp, args[0], TFL_TRY(to_tensor(interp, args[0], wanted))));
  return shown(interp, std::move(v), args[3], "Const");
}

/// Sizes for tf.zeros and tf.ones: int32, a scalar stands for one axis.
Result<Value> sizes_operand(Interp& interp, const Value& v) {
  Value sizes;
  if (is_tensor_like(v) || v.is(Kind::Shape)) {
    sizes = TFL_TRY(shape_operand(interp, v));
  } else {
    ToTensor wanted;
    wanted.dtype = needs_int64(interp, v) ? DType::I64 : DType::I32;
    sizes = TFL_TRY(to_tensor(interp, v, wanted));
  }
  if (is_scalar(sizes)) sizes = TFL_TRY(apply_op(interp, Op::expand_dims, {sizes}, Attrs().set_int(Attr::axis, 0)));
  return sizes;
}

Result<Value> scalar_value(Interp& interp, DType dtype, int one) {
  Tensor t = TFL_TRY(Tensor::empty(interp.context, dtype, {}));
  if (dtype != DType::String) {
    if (is_floating(dtype) || is_complex(dtype))
      store_double(dtype, one, t.raw());
    else
      store_int(dtype, one, t.raw());
  }
  return Value::of(literal(interp, std::move(t)));
}

/// A few zeros or ones as Op::fill makes them. Empty when they are many, when a sink has to see it, or when the sizes are none.
Value few(Interp& interp, DType dtype, std::span<const int64_t> dims, int one) {
  if (interp.sink || dtype == DType::String) return Value();
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || d > kSmallElements || (n *= d) > kSmallElements) return Value();
  }
  auto t = Tensor::empty(interp.context, dtype, dims);
  if (!t) return Value();
  size_t size = dtype_size(dtype), bytes = t->bytes();
  std::byte element[16] = {};
  if (is_floating(dtype) || is_complex(dtype))
    store_double(dtype, one, element);
  else
    store_int(dtype, one, element);
  for (size_t at = 0; at < bytes; at += size) std::memcpy(t->raw() + at, element, size);
  return Value::of(t.take());
}

/// The same for sizes that are host ints, or one.
Value few(Interp& interp, DType dtype, const Value& shape, int one) {
  if (shape.is_int()) {
    int64_t n = shape.as_int();
    return few(interp, dtype, {&n, 1}, one);
  }
  if (!shape.is(Kind::List) && !shape.is(Kind::Tuple)) return Value();
  std::span<const Value> items =
      shape.is(Kind::List) ? std::span<const Value>(shape.as<List>()->items) : shape.as<Tuple>()->span();
  Dims dims;
  for (const Value& v : items) {
    if (!v.is_int()) return Value();
    dims.push_back(v.as_int());
  }
  return few(interp, dtype, dims, one);
}

Result<Value> filled(Interp& interp, const Value& shape, const Value& dtype_argument, int one) {
  DType dtype = TFL_TRY(optional_dtype(interp, dtype_argument, DType::F32));
  if (Value made = few(interp, dtype, shape, one); !made.is_empty()) return made;
  Value value = TFL_TRY(scalar_value(interp, dtype, one));
  Value sizes = TFL_TRY(sizes_operand(interp, shape));
  if (interp.sink) interp.tensors->node_name = one ? "ones" : "zeros";
  return apply_op(interp, Op::fill, {sizes, value});
}
Result<Value> zeros(Interp& interp, Value* args) { return filled(interp, args[0], args[1], 0); }
Result<Value> ones(Interp& interp, Value* args) { return filled(interp, args[0], args[1], 1); }

Result<Value> filled_like(Interp& interp, const Value& like, const Value& dtype_argument, int one) {
  Value x = TFL_TRY(to_tensor(interp, like));
  DType dtype = TFL_TRY(optional_dtype(interp, dtype_argument, *dtype_of(interp, x)));
  if (x.is_tensor()) {
    if (Value made = few(interp, dtype, x.tensor().dims(), one); !made.is_empty()) return made;
  }
  Value value = TFL_TRY(scalar_value(interp, dtype, one));
  Value sizes;
  const TensorType* type = x.is(Kind::Symbolic) ? &symbolic_type(x) : nullptr;
  bool fixed = type && type->ranked;
  for (size_t i = 0; fixed && i < type->dims.size(); ++i) fixed = type->dims[i] >= 0;
  if (x.is_tensor())
    sizes = TFL_TRY(shape_operand(interp, shape_value(interp, x.tensor().dims())));
  else if (fixed)
    sizes = TFL_TRY(shape_operand(interp, shape_value(interp, type->dims)));
  else
    sizes = TFL_TRY(apply_op(interp, Op::shape, {x}, Attrs().set_dtype(Attr::dtype, DType::I32)));
  if (interp.sink) interp.tensors->node_name = one ? "ones_like" : "zeros_like";
  return apply_op(interp, Op::fill, {sizes, value});
}
Result<Value> zeros_like(Interp& interp, Value* args) { return filled_like(interp, args[0], args[1], 0); }
Result<Value> ones_like(Interp& interp, Value* args) {
  if (dtype_of(interp, args[0]) == DType::String && (args[1].is_none() || args[1].is_empty())) {
    return fail(ErrorKind::InvalidArgumentError, "tf.ones_like: there is no string that is one [Op:OnesLike]")
        .with_hint("tf.fill, or tf.zeros_like for empty strings");
  }
  return filled_like(interp, args[0], args[1], 1);
}

Result<Value> fill(Interp& interp, Value* args) {
  Value sizes = TFL_TRY(sizes_operand(interp, args[0]));
  Value value = TFL_TRY(to_tensor(interp, args[1]));
  if (value.is_tensor() && value.tensor_rep()->rank == 1 && value.tensor_rep()->size == 1) {
    Value none = shape_value(interp, {});
    value = TFL_TRY(apply_op(interp, Op::reshape, {value, TFL_TRY(shape_operand(interp, none))}));
  }
  return apply_op(interp, Op::fill, {sizes, value});
}

Result<Value> range(Interp& interp, Value* args) {
  if (args[0].is_none()) return fail(ErrorKind::TypeError, "Missing required positional argument");
  if (args[1].is_none()) {
    args[1] = args[0];
    args[0] = Value::integer(0);
  }
  ToTensor wanted;
  if (!args[3].is_none()) wanted.dtype = TFL_TRY(to_dtype(interp, args[3]));
  constexpr DType kOrder[] = {DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64};
  size_t highest = 0;
  for (int i = 0; i < 3; ++i) {
    bool tensor = is_tensor_like(args[i]);
    args[i] = TFL_TRY(to_tensor(interp, args[i], tensor ? ToTensor{} : wanted));
    if (wanted.dtype) continue;
    DType d = *dtype_of(interp, args[i]);
    size_t place = 0;
    while (place < std::size(kOrder) && kOrder[place] != d) ++place;
    if (place == std::size(kOrder)) {
      return fail(ErrorKind::TypeError, "tf.range takes int32, int64 and floats, not {}", dtype_name(d))
          .with_hint("give dtype=, or cast the arguments");
    }
    highest = std::max(highest, place);
  }
  DType dtype = wanted.dtype ? *wanted.dtype : kOrder[highest];
  for (int i = 0; i < 3; ++i) args[i] = TFL_TRY(cast_value(interp, args[i], dtype));
  return apply_op(interp, Op::range, {args[0], args[1], args[2]});
}

Result<Value> eye(Interp& interp, Value* args) {
  Dims dims;
  if ((args[0].is(Kind::Symbolic) && !known_value(interp, args[0])) ||
      (args[1].is(Kind::Symbolic) && !known_value(interp, args[1]))) {
    // Sizes that the graph computes.
    DType dtype = TFL_TRY(optional_dtype(interp, args[3], DType::F32));
    std::vector<Value> parts;
    if (!args[2].is_none()) {
      for (int64_t d : TFL_TRY(to_dims(interp, args[2]))) parts.push_back(Value::integer(d));
    }
    parts.push_back(args[0]);
    parts.push_back(args[1].is_none() ? args[0] : args[1]);
    Value sizes = TFL_TRY(to_tensor(interp, interp.list(std::move(parts))));
    return apply_op(interp, Op::eye, {sizes}, Attrs().set_dtype(Attr::dtype, dtype));
  }
  if (!args[2].is_none()) dims = TFL_TRY(to_dims(interp, args[2]));
  int64_t rows = TFL_TRY(static_int(interp, args[0], "num_rows"));
  dims.push_back(rows);
  dims.push_back(TFL_TRY(optional_int(interp, args[1], rows)));
  DType dtype = TFL_TRY(optional_dtype(interp, args[3], DType::F32));
  for (int64_t d : dims) {
    if (d < 0) return fail(ErrorKind::InvalidArgumentError, "Dimension {} must be >= 0 [Op:Fill] name: ", d);
  }
  Value sizes = TFL_TRY(shape_operand(interp, shape_value(interp, dims)));
  return apply_op(interp, Op::eye, {sizes}, Attrs().set_dtype(Attr::dtype, dtype));
}

Result<Value> cast(Interp& interp, Value* args) {
  DType dtype = TFL_TRY(to_dtype(interp, args[1]));
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  Value y = TFL_TRY(cast_value(interp, x, dtype));
  return shown(interp, std::move(y), args[2], "Cast/x");
}

Result<Value> bitcast(Interp& interp, Value* args) {
  DType dtype = TFL_TRY(to_dtype(interp, args[1]));
  Value x = TFL_TRY(to_tensor(interp, args[0]));
  return apply_op(interp, Op::bitcast, {x}, Attrs().set_dtype(Attr::dtype, dtype));
}

constexpr NativeDef kCreationNatives[] = {
    function("constant", "value, dtype=None, shape=None, name='Const'", constant),
    function("convert_to_tensor", "value, dtype=None, dtype_hint=None, name=None", convert_to_tensor),
    function("zeros", "shape, dtype=None, name=None, layout=None", zeros),
    function("ones", "shape, dtype=None, name=None, layout=None", ones),
    function("zeros_like", "input, dtype=None, name=None, layout=None", zeros_like),
    function("ones_like", "input, dtype=None, name=None, layout=None", ones_like),
    function("fill", "dims, value, name=None, layout=None", fill),
    function("range", "start=None, limit=None, delta=1, dtype=None, name='range'", range),
    function("eye", "num_rows, num_columns=None, batch_shape=None, dtype=None, name=None", eye),
    function("cast", "x, dtype, name=None", cast),
    function("bitcast", "input, type, name=None", bitcast),
};

}  // namespace

bool is_scalar(const Value& v) {
  return v.is_tensor() ? v.tensor_rep()->rank == 0
                       : v.is(Kind::Symbolic) && symbolic_type(v).ranked && symbolic_type(v).dims.empty();
}

std::span<const NativeDef> creation_natives() { return kCreationNatives; }

}  // namespace tfl
