// Tensors: immutable values to everyone but the one who has just made them. A Tensor is a counted reference to a TensorRep:
// header, sizes, strides and — up to kInlineBytes — the elements themselves, in one allocation; larger elements lie in a
// Buffer that views share. Strides count elements and may be 0 (broadcast) or negative (reverse).
// This header must not know about host values or operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "runtime/core/heap.h"
#include "runtime/support/result.h"
#include "runtime/support/small_vec.h"
#include "runtime/tensor/dtype.h"

namespace tfl {

class Context;
class MemoryPool;

inline constexpr int kMaxRank = 254;
inline constexpr size_t kInlineBytes = 128;

/// Element storage that several tensors may share. `bytes` were taken from `pool`, or belong to someone else (`pool` null),
/// who is told by `release` when the last reference is gone. Elements in a device's memory have no `data` until `fetch` has brought
/// them here (kElsewhere).
struct Buffer {
  uint32_t refs;
  bool strings;  // elements are std::string and must be destroyed
  size_t bytes;
  std::byte* data;
  MemoryPool* pool;
  void (*release)(Buffer*) = nullptr;
  void (*fetch)(Buffer*) = nullptr;
};

/// Bit of Counted::flags of a tensor whose elements may lie in a device's memory: TensorRep::data is then their distance from the
/// first of the buffer. Who looks at them (Tensor::raw, Tensor::data) gets them fetched first.
inline constexpr uint8_t kElsewhere = 8;

struct TensorRep : Counted {
  DType dtype;
  uint8_t rank;
  bool contiguous;    // row-major, no gaps: element i lies at data + i * size
  int64_t size;       // number of elements
  std::byte* data;    // the first element
  Buffer* buffer;     // null when the elements lie behind the strides
  void* host;         // the front end's: what it hangs on a tensor (its name, its tape); null otherwise
  int64_t layout[1];  // rank sizes, then rank strides, then inline elements

  int64_t* dims() { return layout; }
  int64_t* strides() { return layout + rank; }
  const int64_t* dims() const { return layout; }
  const int64_t* strides() const { return layout + rank; }
};

class Tensor {
 public:
  Tensor() = default;
  Tensor(const Tensor& o) : rep_(o.rep_) {
    if (rep_) ++rep_->refs;
  }
  Tensor(Tensor&& o) noexcept : rep_(std::exchange(o.rep_, nullptr)) {}
  Tensor& operator=(Tensor o) noexcept {
    std::swap(rep_, o.rep_);
    return *this;
  }
  ~Tensor() {
    if (rep_ && --rep_->refs == 0) destroy(rep_);
  }

  /// Takes over one reference / gives one away; the front end's values hold tensors by these.
  static Tensor adopt(TensorRep* rep) {
    Tensor t;
    t.rep_ = rep;
    return t;
  }
  static Tensor share(TensorRep* rep) {
    ++rep->refs;
    return adopt(rep);
  }
  TensorRep* leak() { return std::exchange(rep_, nullptr); }
  TensorRep* rep() const { return rep_; }
  /// Called when the last reference is gone.
  static void destroy(TensorRep* rep);

  /// Uninitialised row-major elements (strings are empty). ResourceExhaustedError over the memory limit,
  /// InvalidArgumentError when the sizes overflow, are negative or the rank is over kMaxRank.
  static Result<Tensor> empty(Context& context, DType dtype, std::span<const int64_t> dims);
  /// The same elements seen through other sizes and strides, `offset` elements on from the first.
  static Tensor view(Context& context, const Tensor& base, std::span<const int64_t> dims, std::span<const int64_t> strides,
                     int64_t offset);
  /// The floats that complex elements consist of: one axis more, of the real and the imaginary part.
  static Result<Tensor> parts(Context& context, const Tensor& base);
  /// Row-major elements that somebody else owns: `buffer` (its `pool` null) holds one reference, which the tensor takes over.
  static Tensor foreign(Context& context, DType dtype, std::span<const int64_t> dims, Buffer* buffer);
  /// Brings elements that lie in a device's memory here. What goes wrong is the business of the device's owner: there are zeros then.
  static void fetch(TensorRep* rep);
  /// The row-major strides of `dims`.
  static Dims row_major_strides(std::span<const int64_t> dims);

  explicit operator bool() const { return rep_ != nullptr; }
  DType dtype() const { return rep_->dtype; }
  int rank() const { return rep_->rank; }
  int64_t size() const { return rep_->size; }
  size_t bytes() const { return static_cast<size_t>(rep_->size) * dtype_size(rep_->dtype); }
  std::span<const int64_t> dims() const { return {rep_->dims(), rep_->rank}; }
  std::span<const int64_t> strides() const { return {rep_->strides(), rep_->rank}; }
  int64_t dim(int i) const { return rep_->dims()[i]; }
  bool contiguous() const { return rep_->contiguous; }
  /// True when nobody else sees the elements: they may be overwritten or taken over.
  bool unique() const { return rep_->refs == 1 && (!rep_->buffer || rep_->buffer->refs == 1); }
  /// Inlined whatever the compiler thinks of it: kernels for several instruction sets must not share a copy.
  template <class T>
  [[gnu::always_inline]] T* data() {
    return reinterpret_cast<T*>(raw());
  }
  template <class T>
  [[gnu::always_inline]] const T* data() const {
    return reinterpret_cast<const T*>(raw());
  }
  [[gnu::always_inline]] std::byte* raw() {
    if (rep_->flags & kElsewhere) [[unlikely]]
      fetch(rep_);
    return rep_->data;
  }
  [[gnu::always_inline]] const std::byte* raw() const {
    if (rep_->flags & kElsewhere) [[unlikely]]
      fetch(rep_);
    return rep_->data;
  }
  bool same_object(const Tensor& o) const { return rep_ == o.rep_; }

 private:
  static Tensor copy_to_buffer(Context& context, const Tensor& base);

  TensorRep* rep_ = nullptr;
};

/// Number of elements of `dims`, or InvalidArgumentError when it overflows or a size is negative.
Result<int64_t> element_count(std::span<const int64_t> dims);

/// A row-major tensor of the same elements: `t` itself when it is contiguous already.
Result<Tensor> contiguous(Context& context, const Tensor& t);

/// A rank-0 tensor.
template <class T>
Result<Tensor> scalar(Context& context, DType dtype, T value) {
  Tensor t = TFL_TRY(Tensor::empty(context, dtype, {}));
  *t.data<T>() = std::move(value);
  return t;
}

/// "float32[2, 3]" for messages; "[2,3]" is shape_text.
std::string describe(const Tensor& t);
std::string shape_text(std::span<const int64_t> dims);        // [2,3]   TensorFlow kernels' form
std::string shape_tuple_text(std::span<const int64_t> dims);  // (2, 3)  Python's form

}  // namespace tfl
