#include "frontend/core/value.h"

#include "frontend/core/attributes.h"
#include "frontend/interpreter/object/weak.h"

namespace tfl {

namespace {

/// Nested destructors run directly up to this depth; what lies deeper waits in the heap's queue.
constexpr int kDirectDepth = 64;

/// Runs __del__. True: somebody took a new reference, the object lives on.
bool finalize(Interp& interp, Object* o) {
  o->flags |= kFinalized;
  // While the method runs the object must look alive: its references come and go.
  constexpr uint32_t kGuard = 1u << 24;
  o->refs = kGuard;
  {
    Value self = Value::share(o);
    auto done = call_special(interp, self, interp.sym.__del__, {});
    if (!done && (interp.stopped || done.error().kind == ErrorKind::KeyboardInterrupt)) {
      // Whoever stops the script means the whole of it: it comes up again where the script goes on.
      const uint32_t bit = interp.stopped ? kInterruptTimeout : kInterruptKeyboard;
      interp.context.interrupt_request.fetch_or(bit);
      interp.context.interrupt.fetch_or(bit);
    } else if (!done) {
      interp.streams.err(interp.strf("Exception ignored in __del__: {}\n", done.error().message).as<Str>()->text);
    }
  }
  o->refs -= kGuard;
  return o->refs != 0;
}

void destroy_now(Counted* c) {
  if (c->kind == kTensorKind) {
    Tensor::destroy(static_cast<TensorRep*>(c));
    return;
  }
  Object* o = static_cast<Object*>(c);
  if (o->type->has_del && !(o->flags & kFinalized)) [[unlikely]] {
    Interp& interp = Interp::of(o);
    if (!interp.context.heap.tearing_down && finalize(interp, o)) return;
  }
  if (o->flags & kWatched) [[unlikely]] {
    Interp& interp = Interp::of(o);
    if (!interp.context.heap.tearing_down) watched_object_dies(interp, o);
  }
  if (o->flags & kHasSideDict) [[unlikely]]
    Interp::of(o).drop_side_dict(o);
  o->type->slots->destroy(o);
}

}  // namespace

void Value::destroy(Counted* c) {
  // A tensor on which nothing hangs refers to no other object.
  if (c->kind == kTensorKind && !static_cast<TensorRep*>(c)->host) [[likely]]
    return Tensor::destroy(static_cast<TensorRep*>(c));
  Heap& heap = Heap::of(c);
  if (heap.destroying >= kDirectDepth) [[unlikely]] {
    heap.deferred.push_back(c);
    return;
  }
  ++heap.destroying;
  destroy_now(c);
  if (heap.destroying == 1) {
    while (!heap.deferred.empty()) {
      Counted* next = heap.deferred.back();
      heap.deferred.pop_back();
      destroy_now(next);
    }
  }
  --heap.destroying;
}

}  // namespace tfl
