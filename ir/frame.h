// The values of a function while the evaluator runs it. For evaluate.cpp alone.
#pragma once

#include <new>

#include "ir/array.h"
#include "ir/program.h"

namespace tfl::ir::program {

struct Object {
  Array array;
  std::shared_ptr<Resource> resource;
};

constexpr size_t kInlineFrame = 1024;

// The slots of one running function.
class Frame {
 public:
  // `room` is a piece of memory that serves when it is large enough.
  Frame(const Code& code, void* room, size_t room_bytes) : code(code) {
    size_t bytes = code.object_slots * sizeof(Object) + code.tensor_slots * sizeof(Tensor) + code.counters * sizeof(int64_t);
    owned_ = bytes > room_bytes;
    base_ = owned_ ? ::operator new(bytes) : room;
    objects = static_cast<Object*>(base_);
    tensors = reinterpret_cast<Tensor*>(objects + code.object_slots);
    counters = reinterpret_cast<int64_t*>(tensors + code.tensor_slots);
    for (uint32_t i = 0; i < code.object_slots; ++i) new (objects + i) Object();
    for (uint32_t i = 0; i < code.tensor_slots; ++i) new (tensors + i) Tensor();
  }
  ~Frame() {
    for (uint32_t i = 0; i < code.object_slots; ++i) objects[i].~Object();
    for (uint32_t i = 0; i < code.tensor_slots; ++i) tensors[i].~Tensor();
    if (owned_) ::operator delete(base_);
  }
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  const Code& code;
  Object* objects;
  Tensor* tensors;
  int64_t* counters;
  const Instruction* next = nullptr;

 private:
  bool owned_;
  void* base_;
};

inline Tensor take(Frame& f, Place p) {
  if (p & kConstant) return f.code.constants[p & kIndex];
  Tensor& slot = f.tensors[p & kIndex];
  if (p & kMove) return std::move(slot);
  return slot;
}
inline Object take_object(Frame& f, Place p) {
  Object& slot = f.objects[p & kIndex];
  if (p & kMove) return std::move(slot);
  return slot;
}
inline Datum take_datum(Frame& f, Place p) {
  if (!(p & kObject)) return {take(f, p), {}, {}};
  Object o = take_object(f, p);
  return {{}, std::move(o.array), std::move(o.resource)};
}
inline void leave(Frame& f, Place p, Datum d) {
  if (p == kDiscard) return;
  if (p & kObject)
    f.objects[p & kIndex] = {std::move(d.array), std::move(d.resource)};
  else
    f.tensors[p & kIndex] = std::move(d.tensor);
}
inline void leave(Frame& f, Place p, Tensor t) {
  if (p != kDiscard) f.tensors[p & kIndex] = std::move(t);
}

}  // namespace tfl::ir::program
