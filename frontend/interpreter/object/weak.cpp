#include "frontend/interpreter/object/weak.h"

#include "frontend/core/attributes.h"
#include "frontend/core/native.h"

namespace tfl {

namespace {

/// The watched objects that live, by number. No script can reach it, because a number leads to an object.
Dict* registry(Interp& interp, bool create) {
  if (interp.watched.is_empty() && create) interp.watched = interp.dict();
  return interp.watched.is_empty() ? nullptr : interp.watched.as<Dict>();
}

Value number_of(const Object* o) { return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(o) >> 4)); }

bool can_be_watched(const Value& v) {
  if (!v.is_object() || v.is_tensor()) return false;
  const Type* type = v.object()->type;
  if (type->script) return !type->unwatched;
  switch (v.kind()) {
    case Kind::Set:
    case Kind::Function:
    case Kind::NativeFunction:
    case Kind::BoundMethod:
    case Kind::Type:
    case Kind::Module:
    case Kind::Generator:
    case Kind::MemoryView:
    case Kind::Variable:
    case Kind::NdArray:
    case Kind::File: return true;
    default: return false;
  }
}

/// watch(object): its number. From now on _dead(number) is called when it goes.
Result<Value> watch(Interp& interp, Value* args) {
  if (!can_be_watched(args[0]))
    return fail(ErrorKind::TypeError, "cannot create weak reference to '{}' object", interp.type_name(args[0]));
  Dict* known = registry(interp, true);
  if (!known) return fail(ErrorKind::RuntimeError, "the module weakref is not loaded");
  Object* o = args[0].object();
  Value number = number_of(o);
  TFL_TRY(dict_set(interp, known, number, Value::boolean(true)));
  o->flags |= kWatched;
  return number;
}

/// watched(number): the object, or None once it is gone.
Result<Value> watched(Interp& interp, Value* args) {
  Dict* known = registry(interp, false);
  if (!known || !args[0].is_int()) return Value::none();
  Value found = TFL_TRY(dict_get(interp, known, args[0]));
  if (found.is_empty()) return Value::none();
  auto* o = reinterpret_cast<Object*>(static_cast<uintptr_t>(args[0].as_int()) << 4);
  // One that waits for its turn to be destroyed has no references.
  return o->refs > 0 ? Value::share(o) : Value::none();
}

constexpr NativeDef kWatching[] = {
    function("watch", "object, /", watch),
    function("watched", "number, /", watched),
};

}  // namespace

void watched_object_dies(Interp& interp, Object* o) {
  o->flags &= static_cast<uint8_t>(~kWatched);
  Dict* known = registry(interp, false);
  Value number = number_of(o);
  if (!known) return;
  auto removed = dict_pop(interp, known, number);
  if (!removed || removed->is_empty()) return;
  Value module = dict_get_str(interp.modules.as<Dict>(), interp.intern("weakref"));
  auto dead = find_attr(interp, module, interp.intern("_dead"));
  if (!dead || dead->is_empty()) return;
  auto told = interp.call(*dead, {number});
  if (!told)
    interp.streams.err(interp.strf("Exception ignored in a callback of weakref: {}\n", told.error().message).as<Str>()->text);
}

std::span<const NativeDef> watching_natives() { return kWatching; }

}  // namespace tfl
