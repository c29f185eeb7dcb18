// None, Ellipsis and NotImplemented.
#include "frontend/core/native.h"

namespace tfl {

namespace {

Result<Value> none_construct(Interp&, Type*, CallArgs& args) {
  if (args.total() > 0) return fail(ErrorKind::TypeError, "NoneType takes no arguments");
  return Value::none();
}
Result<Value> none_repr(Interp& interp, const Value&) { return interp.str(std::string("None")); }
Result<uint64_t> none_hash(Interp&, const Value&) { return uint64_t{0x7f8b5a3d}; }
Result<bool> none_truth(Interp&, const Value&) { return false; }

Result<Value> construct(Interp& interp, Type* type, CallArgs& args) {
  if (args.total() > 0) return fail(ErrorKind::TypeError, "{} takes no arguments", type->name->text);
  return type == interp.types.ellipsis_type ? interp.ellipsis : interp.not_implemented;
}
Result<Value> repr_slot(Interp& interp, const Value& self) {
  return interp.str(std::string(self.identical(interp.ellipsis) ? "Ellipsis" : "NotImplemented"));
}
Result<uint64_t> hash_slot(Interp&, const Value& self) { return reinterpret_cast<uintptr_t>(self.counted()) >> 4; }
Result<bool> truth_slot(Interp&, const Value&) { return true; }

}  // namespace

extern const Slots none_slots, singleton_slots;

const Slots none_slots = {.kind = Kind::Singleton,
                          .destroy = destroy_object<Object>,
                          .construct = none_construct,
                          .repr = none_repr,
                          .hash = none_hash,
                          .truth = none_truth};
const Slots singleton_slots = {.kind = Kind::Singleton,
                               .destroy = destroy_object<Object>,
                               .construct = construct,
                               .repr = repr_slot,
                               .hash = hash_slot,
                               .truth = truth_slot};

}  // namespace tfl
