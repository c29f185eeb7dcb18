// dict_keys, dict_values, dict_items: windows on a dict. Keys and items have the operators of sets.
#include "frontend/core/native.h"
#include "frontend/interpreter/object/containers/iterators.h"
#include "frontend/interpreter/object/containers/set.h"

namespace tfl {

namespace {

Dict* dict_of(const Value& view) { return view.as<DictView>()->dict.as<Dict>(); }
DictPart part_of(Interp& interp, const Value& view) {
  const Type* type = view.object()->type;
  return type == interp.types.dict_values ? DictPart::Values : type == interp.types.dict_items ? DictPart::Items : DictPart::Keys;
}
bool is_set_view(Interp& interp, const Value& v) { return v.is(Kind::DictView) && part_of(interp, v) != DictPart::Values; }

Result<Value> repr_slot(Interp& interp, const Value& self) {
  std::vector<Value> items = TFL_TRY(to_vector(interp, self));
  std::string_view name = self.object()->type->name->text;
  std::string text = TFL_TRY(repr_items(interp, self.object(), &items, {}, std::string(name) + "([", "])", "..."));
  return interp.str(std::move(text));
}

Result<bool> truth_slot(Interp&, const Value& self) { return dict_of(self)->live != 0; }
Result<int64_t> length_slot(Interp&, const Value& self) { return dict_of(self)->live; }
Result<Value> iter_slot(Interp& interp, const Value& self) {
  return make_dict_iterator(interp, self.as<DictView>()->dict, part_of(interp, self), false);
}

Result<bool> contains_slot(Interp& interp, const Value& self, const Value& item) {
  Dict* d = dict_of(self);
  switch (part_of(interp, self)) {
    case DictPart::Keys: {
      Value found = TFL_TRY(dict_get(interp, d, item));
      return !found.is_empty();
    }
    case DictPart::Items: {
      if (!item.is(Kind::Tuple) || item.as<Tuple>()->size != 2) return false;
      Value found = TFL_TRY(dict_get(interp, d, item.as<Tuple>()->items[0]));
      if (found.is_empty()) return false;
      return equals(interp, found, item.as<Tuple>()->items[1]);
    }
    case DictPart::Values: break;
  }
  size_t at = 0;
  while (Dict::Entry* e = dict_next(d, at)) {
    Value value = e->value;
    bool same = TFL_TRY(equals(interp, value, item));
    if (same) return true;
  }
  return false;
}

Result<Value> binary_slot(Interp& interp, BinaryOp op, const Value& a, const Value& b) {
  bool supported = op == BinaryOp::BitOr || op == BinaryOp::BitAnd || op == BinaryOp::BitXor || op == BinaryOp::Sub;
  if (!supported || (!is_set_view(interp, a) && !is_set_view(interp, b))) return interp.not_implemented;
  Type* set = interp.types.set;
  Value left = new_set(interp, set);
  TFL_TRY(set_update(interp, left.as<Set>(), a));
  switch (op) {
    case BinaryOp::BitOr: TFL_TRY(set_update(interp, left.as<Set>(), b)); return left;
    case BinaryOp::Sub: TFL_TRY(set_difference_update(interp, left.as<Set>(), b)); return left;
    case BinaryOp::BitXor: return set_symmetric_difference(interp, set, left, b);
    default: return set_intersection(interp, set, left, b);
  }
}

Result<Value> compare_slot(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  auto is_setlike = [&](const Value& v) { return v.is(Kind::Set) || is_set_view(interp, v); };
  if (!is_setlike(a) || !is_setlike(b)) return interp.not_implemented;
  if (op == CompareOp::Eq || op == CompareOp::Ne) {
    // Values of items need not be hashable: each item of one is looked for in the other.
    int64_t n = TFL_TRY(length(interp, a)), m = TFL_TRY(length(interp, b));
    bool same = n == m;
    if (same) {
      TFL_TRY(for_each(interp, a, [&](Value item) -> Result<bool> {
        same = TFL_TRY(contains(interp, b, item));
        return same;
      }));
    }
    return Value::boolean(same == (op == CompareOp::Eq));
  }
  Value x = TFL_TRY(as_set(interp, a)), y = TFL_TRY(as_set(interp, b));
  return set_compare(interp, op, x.as<Set>(), y.as<Set>());
}

Result<Value> reversed(Interp& interp, Value* a) {
  return make_dict_iterator(interp, a[0].as<DictView>()->dict, part_of(interp, a[0]), true);
}
Result<Value> mapping(Interp&, Value* a) { return a[0].as<DictView>()->dict; }

Result<Value> isdisjoint(Interp& interp, Value* a) {
  bool disjoint = true;
  TFL_TRY(for_each(interp, a[1], [&](Value item) -> Result<bool> {
    bool found = TFL_TRY(contains_slot(interp, a[0], item));
    disjoint = !found;
    return disjoint;
  }));
  return Value::boolean(disjoint);
}

constexpr NativeDef kViewMethods[] = {method("__reversed__", "self, /", reversed), getter("mapping", mapping)};
constexpr NativeDef kKeysMethods[] = {method("__reversed__", "self, /", reversed), getter("mapping", mapping),
                                      method("isdisjoint", "self, other, /", isdisjoint)};

}  // namespace

extern const Slots dict_view_slots;

const Slots dict_view_slots = {.kind = Kind::DictView,
                               .destroy = destroy_object<DictView>,
                               .repr = repr_slot,
                               .truth = truth_slot,
                               .length = length_slot,
                               .contains = contains_slot,
                               .iter = iter_slot,
                               .binary = binary_slot,
                               .compare = compare_slot};

std::span<const NativeDef> dict_view_methods() { return kViewMethods; }
std::span<const NativeDef> dict_keys_methods() { return kKeysMethods; }

}  // namespace tfl
