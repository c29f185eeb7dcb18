// groupby of the module `_itertools`, and the groups that it gives.
#include "frontend/interpreter/modules/itertools.h"

namespace tfl::itertools {

namespace {

struct Group : Object {
  Value parent;  // a groupby
  Value key;
  int64_t number = 0;  // which of its groups
};

Result<Value> groupby_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "groupby", args, {"iterable", "key"}, 1, 0, out));
  Value self = TFL_TRY(made(interp, type, {out[0]}));
  (*self.as<Step>()).function = std::move(out[1]);
  (*self.as<Step>()).pool.resize(3);
  (*self.as<Step>()).inner = TFL_TRY(module_type(interp, "_itertools", "_grouper", kGroup));
  return self;
}

// pool[0], pool[1]: the item at hand and its key, Empty where it has been given; pool[2]: the key of the group in progress. `position` counts
// the groups, so that only the last one gives items.
Result<bool> groupby_step(Interp& interp, Step& it) {
  Value item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty()) return false;
  Value key = item;
  if (!it.function.is_empty() && !it.function.is_none()) key = TFL_TRY(interp.call(Value(it.function), {item}));
  it.pool[0] = std::move(item);
  it.pool[1] = std::move(key);
  return true;
}

Result<Value> groupby_next(Interp& interp, const Value& self) {
  Step& it = (*self.as<Step>());
  ++it.position;
  for (;;) {
    if (!it.pool[1].is_empty()) {
      if (it.pool[2].is_empty()) break;
      Value before = it.pool[2], now = it.pool[1];
      bool same = TFL_TRY(equals(interp, before, now));
      if (!same) break;
    }
    bool more = TFL_TRY(groupby_step(interp, it));
    if (!more) return Value();
  }
  it.pool[2] = it.pool[1];
  auto* group = interp.allocate<Group>(it.inner);
  Value given = Value::adopt(group);
  group->parent = self;
  group->key = it.pool[2];
  group->number = it.position;
  return interp.tuple({it.pool[2], given});
}

Result<Value> group_next(Interp& interp, const Value& self) {
  auto* group = self.as<Group>();
  Value parent = group->parent, key = group->key;
  Step& it = *parent.as<Step>();
  if (group->number != it.position) return Value();
  if (it.pool[0].is_empty()) {
    bool more = TFL_TRY(groupby_step(interp, it));
    if (!more) return Value();
  }
  Value now = it.pool[1];
  bool same = TFL_TRY(equals(interp, key, now));
  if (!same) return Value();
  it.pool[1] = Value();
  return std::exchange(it.pool[0], Value());
}

Result<Value> no_group(Interp&, Type*, CallArgs&) {
  return fail(ErrorKind::TypeError, "cannot create 'itertools._grouper' instances");
}

}  // namespace

const Slots kGroupby = slots_of(groupby_new, groupby_next);
const Slots kGroup = {
    .kind = Kind::Native, .destroy = destroy_object<Group>, .construct = no_group, .iter = itself, .next = group_next};

}  // namespace tfl::itertools
