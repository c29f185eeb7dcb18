// Objects that stand for several tensors (ragged ones) bring operations of their own: a class has them by the natives' names in the dictionary
// `_tf_operations`. Only natives that some class has named are asked, so that others cost what they did.
#include "frontend/core/attributes.h"
#include "frontend/core/signature.h"

namespace tfl {

namespace {

/// What the class of `v` has for calls of `name`, or null.
const Value* operation_of(Interp& interp, const Value& v, Str* name) {
  if (!v.is(Kind::Instance)) return nullptr;
  const Value* table = lookup(interp, interp.type_of(v), interp.intern("_tf_operations"));
  return table && table->is(Kind::Dict) ? dict_entry(table->as<Dict>(), name) : nullptr;
}

/// The same of an argument, which may be a sequence of them.
const Value* operation_among(Interp& interp, const Value& v, Str* name) {
  if (const Value* found = operation_of(interp, v, name)) return found;
  std::span<const Value> items;
  if (v.is(Kind::List)) items = v.as<List>()->items;
  if (v.is(Kind::Tuple)) items = v.as<Tuple>()->span();
  for (const Value& item : items) {
    if (const Value* found = operation_of(interp, item, name)) return found;
  }
  return nullptr;
}

}  // namespace

Result<Value> call_instead(Interp& interp, const NativeFunction* f, const CallArgs& args) {
  Str* name = interp.intern(f->def->name);
  for (uint32_t i = 0; i < args.total(); ++i) {
    const Value* found = operation_among(interp, args.values[i], name);
    if (!found) continue;
    // The native may still be called with these arguments.
    std::vector<Value> values(args.values, args.values + args.total());
    CallArgs same{values.data(), args.count, args.keywords};
    Value function = *found;
    Value result = TFL_TRY(interp.call(function, same));
    return is_not_implemented(interp, result) ? Value() : result;
  }
  return Value();
}

}  // namespace tfl
