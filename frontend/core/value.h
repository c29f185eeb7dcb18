// A host value: 16 bytes, a tag and a payload. None, bool, int and float are unboxed; everything else is a counted pointer to
// a heap object (object.h) or to a tensor (runtime/tensor/tensor.h), which begin with the same Counted header.
#pragma once

#include <cstdint>
#include <utility>

#include "runtime/core/heap.h"
#include "runtime/tensor/tensor.h"

namespace tfl {

enum class Tag : uint8_t { Empty, None, Bool, Int, Float, Object };

/// The layout of a heap object. A subclass of a native type keeps the kind of its base.
enum class Kind : uint8_t {
  Free = 0,
  Tensor = kTensorKind,
  Str,
  Bytes,
  List,
  Tuple,
  Dict,
  Set,
  Range,
  Slice,
  DictView,
  Iterator,
  Type,
  Function,
  NativeFunction,
  BoundMethod,
  Property,
  StaticMethod,
  ClassMethod,
  Super,
  Instance,
  Boxed,
  Exception,
  Traceback,
  Module,
  Cell,
  Code,
  Generator,
  Singleton,
  File,
  DType,
  Shape,
  Variable,
  NdArray,
  NumPyScalar,
  Symbolic,
  Native,
  Complex,
  BigInt,
  ByteArray,
  MemoryView,
};

struct Object;
struct Type;

class Value {
 public:
  Value() : i_(0), tag_(Tag::Empty) {}
  Value(const Value& v) : i_(v.i_), tag_(v.tag_) {
    if (tag_ == Tag::Object) ++o_->refs;
  }
  Value(Value&& v) noexcept : i_(v.i_), tag_(v.tag_) { v.tag_ = Tag::Empty; }
  Value& operator=(const Value& v) {
    Value copy(v);
    swap(copy);
    return *this;
  }
  Value& operator=(Value&& v) noexcept {
    if (this != &v) {
      // The old content is released last: its destructor may run code that reads this very place.
      Value old(std::move(*this));
      i_ = v.i_;
      tag_ = v.tag_;
      v.tag_ = Tag::Empty;
    }
    return *this;
  }
  ~Value() {
    if (tag_ == Tag::Object && --o_->refs == 0) destroy(o_);
  }
  void swap(Value& v) {
    std::swap(i_, v.i_);
    std::swap(tag_, v.tag_);
  }

  static Value none() { return Value(Tag::None, 0); }
  static Value boolean(bool b) { return Value(Tag::Bool, b); }
  static Value integer(int64_t i) { return Value(Tag::Int, i); }
  static Value real(double f) {
    Value v;
    v.f_ = f;
    v.tag_ = Tag::Float;
    return v;
  }
  /// A new reference to `o`.
  static Value share(Counted* o) {
    ++o->refs;
    return adopt(o);
  }
  /// Takes over a reference that the caller owns.
  static Value adopt(Counted* o) {
    Value v;
    v.o_ = o;
    v.tag_ = Tag::Object;
    return v;
  }
  static Value of(Tensor t) { return adopt(t.leak()); }

  Tag tag() const { return tag_; }
  bool is_empty() const { return tag_ == Tag::Empty; }
  bool is_none() const { return tag_ == Tag::None; }
  bool is_bool() const { return tag_ == Tag::Bool; }
  bool is_int() const { return tag_ == Tag::Int; }
  bool is_float() const { return tag_ == Tag::Float; }
  bool is_object() const { return tag_ == Tag::Object; }
  bool is(Kind k) const { return tag_ == Tag::Object && o_->kind == static_cast<uint8_t>(k); }
  bool is_tensor() const { return is(Kind::Tensor); }
  bool is_str() const { return is(Kind::Str); }
  Kind kind() const { return tag_ == Tag::Object ? static_cast<Kind>(o_->kind) : Kind::Free; }

  bool as_bool() const { return i_ != 0; }
  int64_t as_int() const { return i_; }  // Int, and Bool as 0 or 1
  double as_float() const { return f_; }
  Counted* counted() const { return o_; }
  Object* object() const { return reinterpret_cast<Object*>(o_); }
  template <class T>
  T* as() const {
    return reinterpret_cast<T*>(o_);
  }
  Tensor tensor() const { return Tensor::share(reinterpret_cast<TensorRep*>(o_)); }
  TensorRep* tensor_rep() const { return reinterpret_cast<TensorRep*>(o_); }
  /// `a is b`.
  bool identical(const Value& v) const { return tag_ == v.tag_ && i_ == v.i_; }

 private:
  Value(Tag tag, int64_t i) : i_(i), tag_(tag) {}
  static void destroy(Counted* o);

  union {
    int64_t i_;
    double f_;
    Counted* o_;
  };
  Tag tag_;
};
static_assert(sizeof(Value) == 16);

}  // namespace tfl
