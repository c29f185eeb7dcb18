// tf.TensorShape: sizes of which some, or the rank, may be unknown.
#include "frontend/tensors/tensor/shape.h"
#include "frontend/core/hashing.h"
#include "frontend/tensors/tensor/tensor_text.h"

namespace tfl {

namespace {

ShapeObject* self_shape(const Value& v) { return v.as<ShapeObject>(); }

void destroy_shape(Object* o) {
  static_cast<ShapeObject*>(o)->~ShapeObject();
  Heap::release(o, sizeof(ShapeObject));
}

Value dim_value(int64_t d) { return d < 0 ? Value::none() : Value::integer(d); }

Failure unknown_rank(std::string_view what) { return fail(ErrorKind::ValueError, "Cannot {} shape with unknown rank.", what); }

Result<Value> shape_repr(Interp& interp, const Value& self) {
  const ShapeObject* s = self_shape(self);
  if (!s->ranked) return interp.str("TensorShape(None)");
  std::string out = "TensorShape([";
  for (size_t i = 0; i < s->dims.size(); ++i) {
    if (i) out += ", ";
    out += s->dims[i] < 0 ? std::string("None") : fmt::format("{}", s->dims[i]);
  }
  return interp.str(out + "])");
}

Result<Value> shape_str(Interp& interp, const Value& self) { return interp.str(shape_object_text(self_shape(self))); }

Result<uint64_t> shape_hash(Interp&, const Value& self) {
  const ShapeObject* s = self_shape(self);
  if (!s->ranked) return hash_int(-2);
  TupleHash h;
  for (int64_t d : s->dims) h.add(hash_int(d));
  return h.finish();
}

Result<bool> shape_truth(Interp&, const Value& self) { return self_shape(self)->ranked; }

Result<int64_t> shape_length(Interp&, const Value& self) {
  if (!self_shape(self)->ranked) return fail(ErrorKind::ValueError, "Cannot take the length of shape with unknown rank.");
  return static_cast<int64_t>(self_shape(self)->dims.size());
}

Result<Value> shape_get_item(Interp& interp, const Value& self, const Value& key) {
  const ShapeObject* s = self_shape(self);
  if (key.is(Kind::Slice)) {
    if (!s->ranked) return unknown_shape_value(interp);
    int64_t start, stop, step;
    TFL_TRY(slice_bounds(interp, *key.as<Slice>(), static_cast<int64_t>(s->dims.size()), start, stop, step));
    Dims out;
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) out.push_back(s->dims[static_cast<size_t>(i)]);
    return shape_value(interp, out);
  }
  int64_t i = TFL_TRY(to_index(interp, key));
  if (!s->ranked) return Value::none();
  int64_t n = static_cast<int64_t>(s->dims.size());
  if (i < -n || i >= n) return fail(ErrorKind::IndexError, "tuple index out of range");
  return dim_value(s->dims[static_cast<size_t>(i < 0 ? i + n : i)]);
}

Result<Value> next_dim(Interp&, Value& state, int64_t& position) {
  const ShapeObject* s = self_shape(state);
  if (position >= static_cast<int64_t>(s->dims.size())) return Value();
  return dim_value(s->dims[static_cast<size_t>(position++)]);
}

Result<Value> shape_iter(Interp& interp, const Value& self) {
  if (!self_shape(self)->ranked) return unknown_rank("iterate over a");
  return make_iterator(interp, interp.types.tuple_iterator, next_dim, self);
}

Value concatenated(Interp& interp, const ShapeObject* a, const ShapeObject* b) {
  if (!a->ranked || !b->ranked) return unknown_shape_value(interp);
  Dims dims = a->dims;
  dims.append(b->dims.begin(), b->dims.end());
  return shape_value(interp, dims);
}

Result<Value> shape_binary(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  if (op != BinaryOp::Add) return interp.not_implemented;
  Value x = TFL_TRY(as_shape(interp, a)), y = TFL_TRY(as_shape(interp, b));
  return concatenated(interp, self_shape(x), self_shape(y));
}

Result<Value> shape_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (op != CompareOp::Eq && op != CompareOp::Ne) return interp.not_implemented;
  auto x = as_shape(interp, a), y = as_shape(interp, b);
  if (!x || !y) return interp.not_implemented;
  const ShapeObject *s = self_shape(*x), *t = self_shape(*y);
  bool equal = s->ranked == t->ranked && s->dims == t->dims;
  return Value::boolean(equal == (op == CompareOp::Eq));
}

Result<Value> construct_shape(Interp& interp, Type*, CallArgs& args) {
  if (args.total() != 1)
    return fail(ErrorKind::TypeError, "TensorShape.__init__() takes exactly one argument, `dims` ({} given)", args.total());
  return as_shape(interp, args.values[0]);
}

Result<Value> get_rank(Interp&, Value* args) {
  const ShapeObject* s = self_shape(args[0]);
  return s->ranked ? Value::integer(static_cast<int64_t>(s->dims.size())) : Value::none();
}

Result<Value> get_dims(Interp& interp, Value* args) {
  const ShapeObject* s = self_shape(args[0]);
  if (!s->ranked) return Value::none();
  std::vector<Value> items;
  for (int64_t d : s->dims) items.push_back(dim_value(d));
  return interp.list(std::move(items));
}

Result<Value> as_list(Interp& interp, Value* args) {
  if (!self_shape(args[0])->ranked) return fail(ErrorKind::ValueError, "as_list() is not defined on an unknown TensorShape.");
  return get_dims(interp, args);
}

bool fully_defined(const ShapeObject* s) {
  bool all = s->ranked;
  for (int64_t d : s->dims) all &= d >= 0;
  return all;
}

Result<Value> num_elements(Interp&, Value* args) {
  const ShapeObject* s = self_shape(args[0]);
  if (!fully_defined(s)) return Value::none();
  return Value::integer(TFL_TRY(element_count(s->dims)));
}

Result<Value> is_fully_defined(Interp&, Value* args) { return Value::boolean(fully_defined(self_shape(args[0]))); }

Result<Value> assert_fully_defined(Interp&, Value* args) {
  if (!fully_defined(self_shape(args[0])))
    return fail(ErrorKind::ValueError, "Shape {} is not fully defined", shape_object_text(self_shape(args[0])));
  return Value::none();
}

Result<Value> is_compatible_with(Interp& interp, Value* args) {
  Value other = TFL_TRY(as_shape(interp, args[1]));
  return Value::boolean(shapes_compatible(self_shape(args[0]), self_shape(other)));
}

Result<Value> assert_is_compatible_with(Interp& interp, Value* args) {
  Value other = TFL_TRY(as_shape(interp, args[1]));
  if (!shapes_compatible(self_shape(args[0]), self_shape(other))) {
    return fail(ErrorKind::ValueError, "Shapes {} and {} are incompatible", shape_object_text(self_shape(args[0])),
                shape_object_text(self_shape(other)));
  }
  return Value::none();
}

Result<Value> merge_with(Interp& interp, Value* args) {
  Value v = TFL_TRY(as_shape(interp, args[1]));
  const ShapeObject *s = self_shape(args[0]), *o = self_shape(v);
  if (!s->ranked) return v;
  if (!o->ranked) return args[0];
  if (!shapes_compatible(s, o)) {
    return fail(ErrorKind::ValueError, "Shapes {} and {} are not compatible", shape_object_text(s), shape_object_text(o));
  }
  Dims dims = s->dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = dims[i] < 0 ? o->dims[i] : dims[i];
  return shape_value(interp, dims);
}

Result<Value> most_specific(Interp& interp, Value* args) {
  Value v = TFL_TRY(as_shape(interp, args[1]));
  const ShapeObject *s = self_shape(args[0]), *o = self_shape(v);
  if (!s->ranked || !o->ranked || s->dims.size() != o->dims.size()) return unknown_shape_value(interp);
  Dims dims = s->dims;
  for (size_t i = 0; i < dims.size(); ++i) dims[i] = dims[i] == o->dims[i] ? dims[i] : -1;
  return shape_value(interp, dims);
}

Result<Value> is_subtype_of(Interp&, Value* args) {
  if (!args[1].is(Kind::Shape)) return Value::boolean(false);
  const ShapeObject *s = self_shape(args[0]), *o = self_shape(args[1]);
  if (!o->ranked) return Value::boolean(true);
  bool fits = s->ranked && s->dims.size() == o->dims.size();
  for (size_t i = 0; fits && i < s->dims.size(); ++i) fits = o->dims[i] < 0 || o->dims[i] == s->dims[i];
  return Value::boolean(fits);
}

Result<Value> concatenate(Interp& interp, Value* args) {
  Value other = TFL_TRY(as_shape(interp, args[1]));
  return concatenated(interp, self_shape(args[0]), self_shape(other));
}

/// 0: with_rank, 1: at least, 2: at most; the shape itself, or one of unknown sizes where the rank was unknown.
Result<Value> with_rank_rule(Interp& interp, Value* args, int rule) {
  int64_t rank = TFL_TRY(to_index(interp, args[1]));
  const ShapeObject* s = self_shape(args[0]);
  int64_t n = static_cast<int64_t>(s->dims.size());
  if (!s->ranked) {
    if (rule != 0) return args[0];
    if (rank < 0 || rank > kMaxRank) return fail(ErrorKind::ValueError, "Shape <unknown> must have rank {}", rank);
    return shape_value(interp, Dims(static_cast<size_t>(rank), -1));
  }
  if (rule == 0 ? n == rank : rule == 1 ? n >= rank : n <= rank) return args[0];
  return fail(ErrorKind::ValueError, "Shape {} must have rank {}{}", shape_object_text(s),
              rule == 0   ? ""
              : rule == 1 ? "at least "
                          : "at most ",
              rank);
}
Result<Value> with_rank(Interp& interp, Value* args) { return with_rank_rule(interp, args, 0); }
Result<Value> with_rank_at_least(Interp& interp, Value* args) { return with_rank_rule(interp, args, 1); }
Result<Value> with_rank_at_most(Interp& interp, Value* args) { return with_rank_rule(interp, args, 2); }
Result<Value> assert_has_rank(Interp& interp, Value* args) {
  TFL_TRY(with_rank_rule(interp, args, 0));
  return Value::none();
}
Result<Value> assert_same_rank(Interp& interp, Value* args) {
  Value other = TFL_TRY(as_shape(interp, args[1]));
  const ShapeObject *s = self_shape(args[0]), *o = self_shape(other);
  if (s->ranked && o->ranked && s->dims.size() != o->dims.size()) {
    return fail(ErrorKind::ValueError, "Shapes {} and {} must have the same rank", shape_object_text(s), shape_object_text(o));
  }
  return Value::none();
}

using How = NativeDef::How;
constexpr NativeDef kShapeMethods[] = {
    {"rank", "self", get_rank, nullptr, How::Getter},
    {"ndims", "self", get_rank, nullptr, How::Getter},
    {"dims", "self", get_dims, nullptr, How::Getter},
    {"as_list", "self", as_list, nullptr, How::Method},
    {"num_elements", "self", num_elements, nullptr, How::Method},
    {"is_fully_defined", "self", is_fully_defined, nullptr, How::Method},
    {"assert_is_fully_defined", "self", assert_fully_defined, nullptr, How::Method},
    {"is_compatible_with", "self, other", is_compatible_with, nullptr, How::Method},
    {"assert_is_compatible_with", "self, other", assert_is_compatible_with, nullptr, How::Method},
    {"merge_with", "self, other", merge_with, nullptr, How::Method},
    {"most_specific_compatible_shape", "self, other", most_specific, nullptr, How::Method},
    {"is_subtype_of", "self, other", is_subtype_of, nullptr, How::Method},
    {"concatenate", "self, other", concatenate, nullptr, How::Method},
    {"with_rank", "self, rank", with_rank, nullptr, How::Method},
    {"with_rank_at_least", "self, rank", with_rank_at_least, nullptr, How::Method},
    {"with_rank_at_most", "self, rank", with_rank_at_most, nullptr, How::Method},
    {"assert_has_rank", "self, rank", assert_has_rank, nullptr, How::Method},
    {"assert_same_rank", "self, other", assert_same_rank, nullptr, How::Method},
};

}  // namespace

extern const Slots shape_slots;
const Slots shape_slots = {
    .kind = Kind::Shape,
    .destroy = destroy_shape,
    .construct = construct_shape,
    .repr = shape_repr,
    .str = shape_str,
    .hash = shape_hash,
    .truth = shape_truth,
    .length = shape_length,
    .get_item = shape_get_item,
    .iter = shape_iter,
    .binary = shape_binary,
    .compare = shape_compare,
};

std::span<const NativeDef> shape_methods() { return kShapeMethods; }

bool shapes_compatible(const ShapeObject* a, const ShapeObject* b) {
  if (!a->ranked || !b->ranked) return true;
  bool fits = a->dims.size() == b->dims.size();
  for (size_t i = 0; fits && i < a->dims.size(); ++i) fits = a->dims[i] < 0 || b->dims[i] < 0 || a->dims[i] == b->dims[i];
  return fits;
}

std::string shape_object_text(const ShapeObject* s) { return s->ranked ? dims_text(s->dims) : "<unknown>"; }

std::string dims_text(std::span<const int64_t> dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += ", ";
    out += dims[i] < 0 ? std::string("None") : fmt::format("{}", dims[i]);
  }
  return out + (dims.size() == 1 ? ",)" : ")");
}

Value shape_value(Interp& interp, std::span<const int64_t> dims) {
  ShapeObject* s = interp.allocate<ShapeObject>(interp.types.shape);
  s->ranked = true;
  s->dims = Dims(dims);
  return Value::adopt(s);
}

Value unknown_shape_value(Interp& interp) {
  ShapeObject* s = interp.allocate<ShapeObject>(interp.types.shape);
  s->ranked = false;
  return Value::adopt(s);
}

Result<Value> as_shape(Interp& interp, const Value& v) {
  if (v.is(Kind::Shape)) return v;
  if (v.is_none()) return unknown_shape_value(interp);
  Dims dims = TFL_TRY(to_dims(interp, v, true));
  return shape_value(interp, dims);
}

}  // namespace tfl
