// Element types as objects: tf.float32 and np.dtype('float32') are one layout, told apart by a flag.
#include <array>
#include <limits>

#include "frontend/core/hashing.h"
#include "frontend/core/native_module.h"
#include "frontend/core/tensor_api.h"
#include "runtime/tensor/element.h"

namespace tfl {

namespace {

DTypeObject* self_dtype(const Value& v) { return v.as<DTypeObject>(); }
DType dtype_arg(Value* args) { return self_dtype(args[0])->dtype; }

void destroy_dtype(Object* o) { Heap::release(o, sizeof(DTypeObject)); }

/// What str() shows: "float32"; of NumPy's strings "object", "<U5" or "|S2".
std::string shown_name(const DTypeObject* d) {
  return d->numpy && d->dtype == DType::String ? text_type_name(d->text) : std::string(dtype_name(d->dtype));
}
int64_t item_size(const DTypeObject* d) {
  if (d->dtype != DType::String) return static_cast<int64_t>(dtype_size(d->dtype));
  if (!d->numpy) return 0;
  return !d->text.fixed() ? 8 : (d->text.kind == TextKind::text ? 4 : 1) * int64_t{d->text.width};
}

Result<Value> dtype_repr(Interp& interp, const Value& self) {
  const DTypeObject* d = self_dtype(self);
  if (!d->numpy) return interp.strf("tf.{}", dtype_name(d->dtype));
  if (d->dtype == DType::String)
    return interp.strf("dtype('{}')", !d->text.fixed() ? "O" : text_type_name(d->text).substr(d->text.kind == TextKind::bytes));
  if (d->dtype == DType::BF16) return interp.str("dtype(bfloat16)");
  return interp.strf("dtype('{}')", dtype_name(d->dtype));
}

Result<Value> dtype_str(Interp& interp, const Value& self) {
  const DTypeObject* d = self_dtype(self);
  if (!d->numpy) return interp.strf("<dtype: '{}'>", dtype_name(d->dtype));
  return interp.str(shown_name(d));
}

Result<uint64_t> dtype_hash(Interp&, const Value& self) { return hash_int(static_cast<int64_t>(self_dtype(self)->dtype) + 7919); }

Result<Value> dtype_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (op != CompareOp::Eq && op != CompareOp::Ne) return interp.not_implemented;
  const Value& self = a.is(Kind::DType) ? a : b;
  const Value& other = a.is(Kind::DType) ? b : a;
  bool equal = false;
  if (!other.is_none()) {
    auto d = to_dtype(interp, other);
    equal = d && *d == self_dtype(self)->dtype;
    if (self_dtype(self)->numpy && self_dtype(self)->dtype == DType::String) {
      TextType mine = self_dtype(self)->text;
      auto text = wanted_text_type(interp, other);
      equal = text && (mine.fixed() ? mine == *text : !text->fixed());
    }
    // NumPy reads "float" and int as 64 bits wide.
    if (self_dtype(self)->numpy &&
        (other.identical(Value::share(interp.types.float_)) || (other.is_str() && other.as<Str>()->text == "float"))) {
      equal = self_dtype(self)->dtype == DType::F64;
    }
    if (self_dtype(self)->numpy && other.identical(Value::share(interp.types.int_)))
      equal = self_dtype(self)->dtype == DType::I64;
    if (self_dtype(self)->numpy &&
        (other.identical(Value::share(interp.types.complex)) || (other.is_str() && other.as<Str>()->text == "complex")))
      equal = self_dtype(self)->dtype == DType::C128;
  }
  return Value::boolean(equal == (op == CompareOp::Eq));
}

Result<Value> get_name(Interp& interp, Value* args) {
  const DTypeObject* d = self_dtype(args[0]);
  if (d->numpy && d->text.fixed())
    return interp.strf("{}{}", d->text.kind == TextKind::text ? "str" : "bytes",
                       d->text.width ? std::to_string(8 * item_size(d)) : "");
  return interp.str(shown_name(d));
}
Result<Value> get_size(Interp&, Value* args) { return Value::integer(item_size(self_dtype(args[0]))); }
Result<Value> get_is_floating(Interp&, Value* args) { return Value::boolean(is_floating(dtype_arg(args))); }
Result<Value> get_is_integer(Interp&, Value* args) { return Value::boolean(is_integer(dtype_arg(args))); }
Result<Value> get_is_unsigned(Interp&, Value* args) { return Value::boolean(is_unsigned(dtype_arg(args))); }
Result<Value> get_is_bool(Interp&, Value* args) { return Value::boolean(dtype_arg(args) == DType::Bool); }
Result<Value> get_is_numeric(Interp&, Value* args) {
  return Value::boolean(is_numeric(dtype_arg(args)) || is_complex(dtype_arg(args)));
}
Result<Value> get_is_complex(Interp&, Value* args) { return Value::boolean(is_complex(dtype_arg(args))); }
Result<Value> get_real_dtype(Interp& interp, Value* args) {
  const DTypeObject* d = self_dtype(args[0]);
  return d->numpy || !is_complex(d->dtype) ? args[0] : dtype_value(interp, part_dtype(d->dtype));
}
Result<Value> get_false(Interp&, Value*) { return Value::boolean(false); }
Result<Value> get_true(Interp&, Value*) { return Value::boolean(true); }
Result<Value> get_self(Interp&, Value* args) { return args[0]; }

Result<Value> get_enum(Interp&, Value* args) {
  // TensorFlow's DataType numbers, in the order of dtypes.def.
  constexpr std::array<int, kDTypeCount> kNumbers = {19, 14, 1, 2, 6, 5, 3, 9, 4, 17, 22, 23, 10, 8, 18, 7};
  return Value::integer(kNumbers[static_cast<size_t>(dtype_arg(args))]);
}

Result<Value> get_numpy_type(Interp& interp, Value* args) {
  const DTypeObject* d = self_dtype(args[0]);
  if (d->numpy && d->text.fixed()) {
    Value module = TFL_TRY(interp.import_module("numpy"));
    return dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern(d->text.kind == TextKind::text ? "str_" : "bytes_"));
  }
  Type* t = interp.tensors->numpy_scalars[static_cast<size_t>(dtype_arg(args))];
  return Value::share(t ? t : interp.types.object);
}

Result<Value> get_kind(Interp& interp, Value* args) {
  switch (dtype_group(dtype_arg(args))) {
    case DTypeGroup::Float: return interp.str(dtype_arg(args) == DType::BF16 ? "V" : "f");
    case DTypeGroup::Signed: return interp.str("i");
    case DTypeGroup::Unsigned: return interp.str("u");
    case DTypeGroup::Bool: return interp.str("b");
    case DTypeGroup::Complex: return interp.str("c");
    case DTypeGroup::String: break;
  }
  const DTypeObject* d = self_dtype(args[0]);
  return interp.str(!d->text.fixed() ? "O" : d->text.kind == TextKind::text ? "U" : "S");
}

Result<Value> get_char(Interp& interp, Value* args) {
  if (dtype_arg(args) == DType::String) return get_kind(interp, args);
  constexpr std::array<const char*, kDTypeCount> kChars = {"e", "E", "f", "d", "b", "h", "i", "l",
                                                           "B", "H", "I", "L", "?", "F", "D", "O"};
  return interp.str(kChars[static_cast<size_t>(dtype_arg(args))]);
}

Result<Value> get_typestr(Interp& interp, Value* args) {
  DType d = dtype_arg(args);
  if (d == DType::String) return interp.str(self_dtype(args[0])->text.fixed() ? text_type_name(self_dtype(args[0])->text) : "|O");
  Value kind = TFL_TRY(get_kind(interp, args));
  return interp.strf("{}{}{}", dtype_size(d) == 1 ? '|' : '<', kind.as<Str>()->text, dtype_size(d));
}

double largest_finite(DType d) {
  switch (d) {
    case DType::F16: return 65504;
    case DType::BF16: return 3.38953138925153547590470800371487867e38;
    case DType::F32: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

Result<Value> numpy_real(Interp& interp, DType d, double v) {
  Tensor t = TFL_TRY(Tensor::empty(interp.context, d, {}));
  store_double(d, v, t.raw());
  return numpy_scalar_value(interp, t);
}

Result<Value> limit(Interp& interp, Value* args, bool high) {
  DType d = dtype_arg(args);
  if (is_floating(d)) return numpy_real(interp, d, high ? largest_finite(d) : -largest_finite(d));
  if (!is_integer(d))
    return fail(ErrorKind::TypeError, "Cannot find {} value of <dtype: '{}'>{}.", high ? "maximum" : "minimum", dtype_name(d),
                is_complex(d) ? fmt::format(" with type <dtype: '{}'>", dtype_name(d)) : "");
  int bits = static_cast<int>(dtype_size(d)) * 8;
  if (is_unsigned(d)) {
    if (!high) return Value::integer(0);
    if (bits == 64) {
      return fail(ErrorKind::OverflowError, "tf.uint64.max (18446744073709551615) does not fit the 64-bit int of the language");
    }
    return Value::integer((int64_t{1} << bits) - 1);
  }
  return Value::integer(high ? INT64_MAX >> (64 - bits) : INT64_MIN >> (64 - bits));
}
Result<Value> get_min(Interp& interp, Value* args) { return limit(interp, args, false); }
Result<Value> get_max(Interp& interp, Value* args) { return limit(interp, args, true); }

Result<Value> get_limits(Interp& interp, Value* args) {
  DType d = dtype_arg(args);
  if (is_complex(d)) return fail(ErrorKind::ValueError, "<dtype: '{}'> does not have defined limits.", dtype_name(d));
  if (is_floating(d) || d == DType::Bool) return interp.tuple({Value::integer(0), Value::integer(1)});
  Value high = TFL_TRY(limit(interp, args, true));
  return interp.tuple({Value::integer(0), std::move(high)});
}

Result<Value> is_compatible_with(Interp& interp, Value* args) {
  auto d = to_dtype(interp, args[1]);
  return Value::boolean(d && *d == dtype_arg(args));
}

Result<Value> get_none(Interp&, Value*) { return Value::none(); }
Result<Value> get_byteorder(Interp& interp, Value* args) {
  Value kind = TFL_TRY(get_kind(interp, args));
  char letter = kind.as<Str>()->text[0];
  return interp.str(letter == 'O' || letter == 'S' || (letter != 'U' && item_size(self_dtype(args[0])) == 1) ? "|" : "=");
}
Result<Value> get_has_objects(Interp&, Value* args) {
  return Value::boolean(dtype_arg(args) == DType::String && !self_dtype(args[0])->text.fixed());
}
Result<Value> with_byteorder(Interp& interp, Value* args) {
  Value module = TFL_TRY(interp.import_module("numpy"));
  Value swapped = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_swapped"));
  return interp.call(swapped, {args[0], args[1]});
}

using How = NativeDef::How;
constexpr NativeDef kDtypeMethods[] = {
    {"name", "self", get_name, nullptr, How::Getter},
    {"size", "self", get_size, nullptr, How::Getter},
    {"itemsize", "self", get_size, nullptr, How::Getter},
    {"is_floating", "self", get_is_floating, nullptr, How::Getter},
    {"is_integer", "self", get_is_integer, nullptr, How::Getter},
    {"is_unsigned", "self", get_is_unsigned, nullptr, How::Getter},
    {"is_bool", "self", get_is_bool, nullptr, How::Getter},
    {"is_numeric", "self", get_is_numeric, nullptr, How::Getter},
    {"is_complex", "self", get_is_complex, nullptr, How::Getter},
    {"is_quantized", "self", get_false, nullptr, How::Getter},
    {"is_numpy_compatible", "self", get_true, nullptr, How::Getter},
    {"base_dtype", "self", get_self, nullptr, How::Getter},
    {"real_dtype", "self", get_real_dtype, nullptr, How::Getter},
    {"as_numpy_dtype", "self", get_numpy_type, nullptr, How::Getter},
    {"as_datatype_enum", "self", get_enum, nullptr, How::Getter},
    {"type", "self", get_numpy_type, nullptr, How::Getter},
    {"kind", "self", get_kind, nullptr, How::Getter},
    {"char", "self", get_char, nullptr, How::Getter},
    {"str", "self", get_typestr, nullptr, How::Getter},
    {"names", "self", get_none, nullptr, How::Getter},
    {"fields", "self", get_none, nullptr, How::Getter},
    {"subdtype", "self", get_none, nullptr, How::Getter},
    {"metadata", "self", get_none, nullptr, How::Getter},
    {"base", "self", get_self, nullptr, How::Getter},
    {"byteorder", "self", get_byteorder, nullptr, How::Getter},
    {"isnative", "self", get_true, nullptr, How::Getter},
    {"hasobject", "self", get_has_objects, nullptr, How::Getter},
    {"newbyteorder", "self, new_order='S'", with_byteorder, nullptr, How::Method},
    {"min", "self", get_min, nullptr, How::Getter},
    {"max", "self", get_max, nullptr, How::Getter},
    {"limits", "self", get_limits, nullptr, How::Getter},
    {"is_compatible_with", "self, other", is_compatible_with, nullptr, How::Method},
};

}  // namespace

extern const Slots dtype_slots;
const Slots dtype_slots = {
    .kind = Kind::DType,
    .destroy = destroy_dtype,
    .repr = dtype_repr,
    .str = dtype_str,
    .hash = dtype_hash,
    .compare = dtype_compare,
};

std::span<const NativeDef> dtype_methods() { return kDtypeMethods; }

Result<DType> to_dtype(Interp& interp, const Value& v) {
  if (v.is(Kind::DType)) return self_dtype(v)->dtype;
  if (v.is_str()) {
    if (auto d = dtype_from_name(v.as<Str>()->text)) return *d;
  } else if (v.is(Kind::Type)) {
    const Type* t = v.as<Type>();
    if (t == interp.types.float_) return DType::F32;
    if (t == interp.types.bool_) return DType::Bool;
    if (t == interp.types.str || t == interp.types.bytes || t == interp.types.object) return DType::String;
    for (size_t i = 0; i < kDTypeCount; ++i) {
      if (interp.tensors && interp.tensors->numpy_scalars[i] == t) return static_cast<DType>(i);
    }
  }
  auto text = repr_text(interp, v);
  if (!text) return text.failure();
  Failure failure = fail(ErrorKind::TypeError, "Cannot convert the argument `type_value`: {} to a TensorFlow DType.", *text);
  if (v.is(Kind::Type) && v.as<Type>() == interp.types.int_) return std::move(failure).with_hint("write tf.int32 or tf.int64");
  return failure;
}

Value dtype_value(Interp& interp, DType dtype) { return interp.tensors->dtypes[static_cast<size_t>(dtype)]; }
Value numpy_dtype_value(Interp& interp, DType dtype) { return interp.tensors->numpy_dtypes[static_cast<size_t>(dtype)]; }

}  // namespace tfl
