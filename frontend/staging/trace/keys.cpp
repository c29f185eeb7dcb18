// What decides about a trace: tensors count by element type and shape, host values by type and value, objects by identity,
// containers by structure.
#include "frontend/staging/trace/keys.h"

#include <cstring>

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/core/scope.h"

namespace tfl {

namespace {

constexpr int kMaxDepth = 64;

template <class T>
void put(std::string& out, T v) {
  out.append(reinterpret_cast<const char*>(&v), sizeof v);
}

void put_dims(ArgumentKey& key, bool ranked, std::span<const int64_t> dims) {
  if (!key.shapes) return;
  put<uint8_t>(key.exact, ranked ? static_cast<uint8_t>(dims.size()) : 255);
  if (!ranked) return;
  for (int64_t d : dims) put<int64_t>(key.exact, d < 0 ? -1 : d);
}

void put_tensor(ArgumentKey& key, const Value& v, DType dtype, bool ranked, std::span<const int64_t> dims) {
  key.exact.push_back('T');
  key.exact.push_back(static_cast<char>(dtype));
  put_dims(key, ranked, dims);
  key.leaves.push_back(v);
}

/// A number that this object alone has, as long as it lives.
uint64_t object_id(Interp& interp, const Value& v) {
  if (uint64_t known = known_identity(interp, v)) return known;
  Object* o = v.object();
  uint64_t id = ++tracer_of(interp).next_object;
  interp.side_dict(o) = Value::integer(static_cast<int64_t>(id));
  return id;
}

void put_pinned(ArgumentKey& key, char tag, const Value& v) {
  key.exact.push_back(tag);
  put(key.exact, v.counted());
  key.pins.push_back(v);
}

Result<void> add_variable(ArgumentKey& key, const Value& v) {
  VariableObject* variable = variable_storage(v.as<VariableObject>());
  size_t at = 0;
  while (at < key.variables.size() && key.variables[at] != variable) ++at;
  key.exact.push_back('V');
  put<uint32_t>(key.exact, static_cast<uint32_t>(at));
  if (at < key.variables.size()) return {};
  key.variables.push_back(variable);
  key.exact.push_back(static_cast<char>(variable->dtype));
  key.exact.push_back(variable->trainable ? 1 : 0);
  bool shapes = key.shapes;
  key.shapes = true;
  put_dims(key, variable->shape_ranked, variable->shape);
  key.shapes = shapes;
  key.leaves.push_back(v);
  return {};
}

Result<void> add_instance(Interp& interp, ArgumentKey& key, const Value& v, int depth) {
  Type* type = v.object()->type;
  if (lookup(interp, type, interp.intern("__tf_flatten__"))) {
    Value pair = TFL_TRY(interp.call_method(v, interp.intern("__tf_flatten__"), {}));
    if (!pair.is(Kind::Tuple) || pair.as<Tuple>()->size != 2)
      return fail(ErrorKind::TypeError, "__tf_flatten__ must return (metadata, components)");
    // Classes that call themselves a family count as one: what they have in common is how they are taken apart.
    Value family = lookup(interp, type, interp.intern("__tf_family__"))
                       ? TFL_TRY(find_attr(interp, Value::share(type), interp.intern("__tf_flatten__")))
                       : Value();
    put_pinned(key, '%', family.is_object() ? family : Value::share(type));
    TFL_TRY(add_to_key(interp, key, pair.as<Tuple>()->items[0], depth + 1));
    return add_to_key(interp, key, pair.as<Tuple>()->items[1], depth + 1);
  }
  if (lookup(interp, type, interp.intern("__tf_tracing_type__"))) {
    Value tracing = TFL_TRY(interp.call_method(v, interp.intern("__tf_tracing_type__"), {Value::none()}));
    key.exact.push_back('X');
    key.typed.push_back(std::move(tracing));
    key.lasting = false;
    return {};
  }
  key.exact.push_back('O');
  put(key.exact, object_id(interp, v));
  return {};
}

struct Pair {
  const Value* key;
  const Value* value;
};

/// Items by key, as tf.nest orders them; in the order they stand when the keys are not all text.
std::vector<Pair> sorted_items(Dict* d) {
  std::vector<Pair> items;
  bool text = true, numbers = true;
  for (const Dict::Entry& e : d->entries) {
    if (e.key.is_empty()) continue;
    items.push_back({&e.key, &e.value});
    text &= e.key.is_str();
    numbers &= e.key.is_int();
  }
  if (text)
    std::sort(items.begin(), items.end(), [](const Pair& a, const Pair& b) { return text_of(*a.key) < text_of(*b.key); });
  else if (numbers)
    std::sort(items.begin(), items.end(), [](const Pair& a, const Pair& b) { return a.key->as_int() < b.key->as_int(); });
  return items;
}

}  // namespace

uint64_t known_identity(Interp& interp, const Value& v) {
  Value* side = interp.find_side_dict(v.object());
  return side && side->is_int() ? static_cast<uint64_t>(side->as_int()) : 0;
}

bool counts_by_identity(Interp& interp, Type* type) {
  return !lookup(interp, type, interp.intern("__tf_flatten__")) && !lookup(interp, type, interp.intern("__tf_tracing_type__"));
}

Result<void> add_to_key(Interp& interp, ArgumentKey& key, const Value& v, int depth) {
  if (depth > kMaxDepth)
    return fail(ErrorKind::ValueError, "the arguments of a traced function are nested deeper than {} levels", kMaxDepth);
  switch (v.tag()) {
    case Tag::Empty: key.exact.push_back('0'); return {};
    case Tag::None: key.exact.push_back('N'); return {};
    case Tag::Bool: key.exact.push_back(v.as_bool() ? 't' : 'f'); return {};
    case Tag::Int:
      key.exact.push_back('i');
      put(key.exact, v.as_int());
      return {};
    case Tag::Float:
      key.exact.push_back('d');
      put(key.exact, v.as_float());
      return {};
    case Tag::Object: break;
  }
  switch (v.kind()) {
    case Kind::BigInt:
      key.exact.push_back('I');
      key.exact.push_back(v.as<BigInt>()->negative ? '-' : '+');
      put<uint32_t>(key.exact, static_cast<uint32_t>(v.as<BigInt>()->used));
      for (int32_t i = 0; i < v.as<BigInt>()->used; ++i) put(key.exact, v.as<BigInt>()->digits[i]);
      return {};
    case Kind::Complex:
      key.exact.push_back('z');
      put(key.exact, v.as<ComplexObject>()->re);
      put(key.exact, v.as<ComplexObject>()->im);
      return {};
    case Kind::Tensor: {
      const TensorRep* t = v.tensor_rep();
      put_tensor(key, v, t->dtype, true, {t->dims(), t->rank});
      return {};
    }
    case Kind::Symbolic: {
      const ir::Type& type = symbolic(v)->ir_type();
      if (type.kind != ir::TypeKind::Tensor) key.exact.push_back(type.kind == ir::TypeKind::Array ? 'A' : 'R');
      put_tensor(key, v, type.tensor.dtype, type.tensor.ranked, type.tensor.dims);
      return {};
    }
    case Kind::NdArray: {
      const Tensor& t = v.as<NdArrayObject>()->array;
      put_tensor(key, v, t.dtype(), true, t.dims());
      return {};
    }
    case Kind::NumPyScalar: {
      const Tensor& t = v.as<NumPyScalarObject>()->value;
      put_tensor(key, v, t.dtype(), true, t.dims());
      return {};
    }
    case Kind::Variable: return add_variable(key, v);
    case Kind::Str:
      key.exact.push_back('s');
      put<uint32_t>(key.exact, static_cast<uint32_t>(text_of(v).size()));
      key.exact += text_of(v);
      return {};
    case Kind::Bytes:
      key.exact.push_back('y');
      put<uint32_t>(key.exact, static_cast<uint32_t>(v.as<Bytes>()->data.size()));
      key.exact += v.as<Bytes>()->data;
      return {};
    case Kind::Tuple: {
      auto* t = v.as<Tuple>();
      key.exact.push_back('(');
      put(key.exact, t->type);
      put<uint32_t>(key.exact, static_cast<uint32_t>(t->size));
      for (const Value& item : t->span()) TFL_TRY(add_to_key(interp, key, item, depth + 1));
      return {};
    }
    case Kind::List: {
      key.exact.push_back('[');
      put<uint32_t>(key.exact, static_cast<uint32_t>(v.as<List>()->items.size()));
      for (size_t i = 0; i < v.as<List>()->items.size(); ++i)
        TFL_TRY(add_to_key(interp, key, Value(v.as<List>()->items[i]), depth + 1));
      return {};
    }
    case Kind::Dict: {
      key.exact.push_back('{');
      put(key.exact, v.object()->type);
      put<uint32_t>(key.exact, static_cast<uint32_t>(v.as<Dict>()->live));
      Value kept = v;
      for (const Pair& p : sorted_items(v.as<Dict>())) {
        TFL_TRY(add_to_key(interp, key, *p.key, depth + 1));
        TFL_TRY(add_to_key(interp, key, Value(*p.value), depth + 1));
      }
      return {};
    }
    case Kind::Range: {
      const auto* r = v.as<Range>();
      key.exact.push_back('r');
      put(key.exact, r->start);
      put(key.exact, r->stop);
      put(key.exact, r->step);
      return {};
    }
    case Kind::Slice: {
      const auto* s = v.as<Slice>();
      key.exact.push_back(':');
      TFL_TRY(add_to_key(interp, key, s->start, depth + 1));
      TFL_TRY(add_to_key(interp, key, s->stop, depth + 1));
      return add_to_key(interp, key, s->step, depth + 1);
    }
    case Kind::Shape: {
      const auto* s = v.as<ShapeObject>();
      key.exact.push_back('S');
      bool shapes = key.shapes;
      key.shapes = true;
      put_dims(key, s->ranked, s->dims);
      key.shapes = shapes;
      return {};
    }
    case Kind::DType:
      key.exact.push_back('D');
      key.exact.push_back(static_cast<char>(v.as<DTypeObject>()->dtype));
      return {};
    case Kind::Instance: return add_instance(interp, key, v, depth);
    case Kind::Function:
    case Kind::Module:
      key.exact.push_back('O');
      put(key.exact, object_id(interp, v));
      return {};
    case Kind::BoundMethod: {
      key.exact.push_back('M');
      TFL_TRY(add_to_key(interp, key, v.as<BoundMethod>()->function, depth + 1));
      Value self = v.as<BoundMethod>()->self;
      if (self.is(Kind::Instance)) {
        key.exact.push_back('O');
        put(key.exact, object_id(interp, self));
      } else {
        put_pinned(key, 'P', self.is_object() ? self : v);
      }
      return {};
    }
    default:
      if (v.is(Kind::Set) && interp.type_of(v) == interp.types.set) {  // what may change without being seen
        std::string text = TFL_TRY(repr_text(interp, v));
        return fail(ErrorKind::TypeError,
                    "Could not generate a generic TraceType for {}.Please verify that it is immutable/hashable. Otherwise, "
                    "consider implementing the Tracing Protocol for it.",
                    text);
      }
      put_pinned(key, 'P', v);
      return {};
  }
}

namespace {

/// Variables that were seen, and what stands for them: one argument may be the same as another.
using Seen = SmallVec<std::pair<VariableObject*, Value>, 4>;

Result<Value> replaced(Interp& interp, const Value& v, std::span<const Value> with, size_t& at, Seen& seen, int depth) {
  if (!v.is_object()) return v;
  if (depth > kMaxDepth) return fail(ErrorKind::ValueError, "a structure is nested deeper than {} levels", kMaxDepth);
  switch (v.kind()) {
    case Kind::Variable: {
      VariableObject* variable = variable_storage(v.as<VariableObject>());
      for (const auto& s : seen) {
        if (s.first == variable) return s.second;
      }
      if (at >= with.size()) return fail(ErrorKind::InternalError, "a structure holds more than {} tensors", with.size());
      seen.push_back({variable, with[at]});
      return with[at++];
    }
    case Kind::Tensor:
    case Kind::Symbolic:
    case Kind::NdArray:
    case Kind::NumPyScalar:
      if (at >= with.size()) return fail(ErrorKind::InternalError, "a structure holds more than {} tensors", with.size());
      return with[at++];
    case Kind::Tuple: {
      auto* t = v.as<Tuple>();
      if (t->size == 0) return v;
      Tuple* copy = new_tuple(interp, t->type, t->size);
      Value result = Value::adopt(copy);
      for (int64_t i = 0; i < t->size; ++i) copy->items[i] = TFL_TRY(replaced(interp, t->items[i], with, at, seen, depth + 1));
      return result;
    }
    case Kind::List: {
      std::vector<Value> items;
      for (size_t i = 0; i < v.as<List>()->items.size(); ++i)
        items.push_back(TFL_TRY(replaced(interp, Value(v.as<List>()->items[i]), with, at, seen, depth + 1)));
      return interp.list(std::move(items));
    }
    case Kind::Dict: {
      Value copy;
      if (v.object()->type == interp.types.dict) {
        copy = interp.dict();
      } else {
        copy = TFL_TRY(interp.call_method(v, interp.intern("copy"), {}));
        if (!copy.is(Kind::Dict)) copy = interp.dict();
      }
      auto* d = copy.as<Dict>();
      // Keys keep their places; values come in the order of the sorted keys.
      if (d->live == 0) {
        for (const Dict::Entry& e : v.as<Dict>()->entries) {
          if (!e.key.is_empty()) TFL_TRY(dict_set(interp, d, e.key, Value::none()));
        }
      }
      for (const Pair& p : sorted_items(v.as<Dict>())) {
        Value item = TFL_TRY(replaced(interp, Value(*p.value), with, at, seen, depth + 1));
        TFL_TRY(dict_set(interp, d, *p.key, std::move(item)));
      }
      return copy;
    }
    case Kind::Instance: {
      Type* type = v.object()->type;
      if (!lookup(interp, type, interp.intern("__tf_flatten__"))) return v;
      Value pair = TFL_TRY(interp.call_method(v, interp.intern("__tf_flatten__"), {}));
      if (!pair.is(Kind::Tuple) || pair.as<Tuple>()->size != 2)
        return fail(ErrorKind::TypeError, "__tf_flatten__ must return (metadata, components)");
      Value parts = TFL_TRY(replaced(interp, pair.as<Tuple>()->items[1], with, at, seen, depth + 1));
      Value maker = TFL_TRY(get_attr(interp, Value::share(type), interp.intern("__tf_unflatten__")));
      return interp.call(maker, {pair.as<Tuple>()->items[0], parts});
    }
    default: return v;
  }
}

}  // namespace

Result<Value> replace_leaves(Interp& interp, const Value& v, std::span<const Value> with, size_t& at, int depth) {
  Seen seen;
  return replaced(interp, v, with, at, seen, depth);
}

}  // namespace tfl
