#include "runtime/tensor/tensor.h"

#include <cstring>
#include <new>

#include "runtime/core/context.h"
#include "runtime/tensor/copy.h"

namespace tfl {

namespace {

constexpr size_t kHeader = sizeof(TensorRep) - sizeof(TensorRep::layout);
static_assert(kHeader % 16 == 0 && kInlineBytes % 16 == 0);
// A buffer's elements follow it in one block of the pool.
constexpr size_t kBufferHeader = 64;
static_assert(sizeof(Buffer) <= kBufferHeader);

// dtype_size() without a call: most of what is done to a small tensor is making it and taking it away.
constexpr uint8_t kSizes[] = {
#define TFL_DTYPE(id, name, short_name, tf_name, size, group, type) size,
#include "runtime/tensor/dtypes.def"
#undef TFL_DTYPE
};

std::byte* inline_elements(TensorRep* rep) { return reinterpret_cast<std::byte*>(rep) + kHeader + 16 * size_t{rep->rank}; }

TensorRep* new_rep(Context& context, DType dtype, size_t rank, size_t inline_bytes) {
  auto* rep = static_cast<TensorRep*>(context.heap.allocate(kHeader + 16 * rank + inline_bytes));
  rep->refs = 1;
  rep->kind = kTensorKind;
  rep->flags = 0;
  rep->extra = 0;
  rep->dtype = dtype;
  rep->rank = static_cast<uint8_t>(rank);
  rep->contiguous = true;
  rep->buffer = nullptr;
  rep->host = nullptr;
  return rep;
}

Result<Buffer*> new_buffer(MemoryPool& pool, size_t bytes) {
  void* block = TFL_TRY(pool.allocate(bytes + kBufferHeader));
  return new (block) Buffer{1, false, bytes, static_cast<std::byte*>(block) + kBufferHeader, &pool};
}

void destroy_strings(std::byte* data, size_t bytes) {
  auto* s = reinterpret_cast<std::string*>(data);
  std::destroy(s, s + bytes / sizeof(std::string));
}

void release_buffer(Buffer* b) {
  if (--b->refs) return;
  if (b->strings) destroy_strings(b->data, b->bytes);
  if (MemoryPool* pool = b->pool) {
    pool->release(b, b->bytes + kBufferHeader);
  } else if (b->release) {
    b->release(b);
  }
}

void make_strings(std::byte* data, int64_t n) {
  auto* s = reinterpret_cast<std::string*>(data);
  for (int64_t i = 0; i < n; ++i) new (s + i) std::string();
}

bool is_row_major(std::span<const int64_t> dims, std::span<const int64_t> strides) {
  uint64_t expected = 1;  // of no elements it may overflow
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1 && static_cast<uint64_t>(strides[i]) != expected) return false;
    expected *= static_cast<uint64_t>(dims[i]);
  }
  return true;
}

// The number of elements of sizes that have been checked: of no elements, the product may overflow on its way to 0.
int64_t known_count(std::span<const int64_t> dims) {
  uint64_t n = 1;
  for (int64_t d : dims) n *= static_cast<uint64_t>(d);
  return static_cast<int64_t>(n);
}

// Sizes, and the strides of row-major elements.
void lay_out(TensorRep* rep, std::span<const int64_t> dims) {
  uint64_t step = 1;  // wraps only where there are no elements
  for (size_t rank = dims.size(), i = rank; i-- > 0;) {
    rep->layout[i] = dims[i];
    rep->layout[rank + i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i]);
  }
}

Failure too_many_elements(std::span<const int64_t> dims) {
  return fail(ErrorKind::InvalidArgumentError, "Shape {} would have more than 2**63 - 1 elements", shape_text(dims));
}

}  // namespace

Result<int64_t> element_count(std::span<const int64_t> dims) {
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0) return fail(ErrorKind::InvalidArgumentError, "Dimension {} must be >= 0", d);
    if (__builtin_mul_overflow(n, d, &n)) return too_many_elements(dims);
  }
  return n;
}

Dims Tensor::row_major_strides(std::span<const int64_t> dims) {
  Dims strides(dims.size());
  uint64_t step = 1;  // wraps only where a size of 0 means that no element is ever looked at
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(step);
    step *= static_cast<uint64_t>(dims[i]);
  }
  return strides;
}

Result<Tensor> Tensor::empty(Context& context, DType dtype, std::span<const int64_t> dims) {
  size_t rank = dims.size();
  if (rank > kMaxRank) [[unlikely]] {
    return fail(ErrorKind::InvalidArgumentError, "Shape has {} dimensions, more than the {} a tensor may have", rank, kMaxRank);
  }
  int64_t n = 1;
  for (int64_t d : dims) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) [[unlikely]]
      return element_count(dims).failure();
  }
  size_t bytes;
  if (__builtin_mul_overflow(static_cast<size_t>(n), size_t{kSizes[static_cast<int>(dtype)]}, &bytes)) [[unlikely]]
    return too_many_elements(dims);

  TensorRep* rep;
  if (bytes <= kInlineBytes) [[likely]] {
    rep = new_rep(context, dtype, rank, bytes);
    rep->data = inline_elements(rep);
  } else {
    auto buffer = new_buffer(context.memory, bytes);
    if (!buffer) [[unlikely]] {
      return fail(ErrorKind::ResourceExhaustedError,
                  "OOM when allocating tensor with shape{} and type {}: {} of {} bytes are in use", shape_text(dims),
                  dtype_tf_name(dtype), context.memory.live_bytes(), context.memory.limit())
          .with_hint(fmt::format("this tensor takes {} bytes{}; --max-memory raises the limit", bytes,
                                 bytes >> 30 ? fmt::format(" ({} GiB)", bytes >> 30) : std::string()));
    }
    rep = new_rep(context, dtype, rank, 0);
    rep->buffer = *buffer;
    rep->data = (*buffer)->data;
  }
  rep->size = n;
  if (dtype == DType::String) [[unlikely]] {
    make_strings(rep->data, n);
    if (rep->buffer) rep->buffer->strings = true;
  }
  lay_out(rep, dims);
  return adopt(rep);
}

Tensor Tensor::view(Context& context, const Tensor& base, std::span<const int64_t> dims, std::span<const int64_t> strides,
                    int64_t offset) {
  TensorRep* from = base.rep();
  size_t element = dtype_size(from->dtype);
  int64_t n = known_count(dims);
  bool row_major = is_row_major(dims, strides);
  // Of elements elsewhere this is a distance, and no pointer yet.
  auto* data = reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(from->data) +
                                            static_cast<uintptr_t>((n ? offset : 0) * static_cast<int64_t>(element)));

  if (!from->buffer) {
    // The elements lie inside `base`. A small view of them gets its own; a large one (a broadcast) shares a copy.
    if (static_cast<size_t>(n) <= kInlineBytes / element) {
      const size_t bytes = static_cast<size_t>(n) * element;
      TensorRep* rep = new_rep(context, from->dtype, dims.size(), bytes);
      rep->extra = from->extra;
      rep->data = inline_elements(rep);
      rep->size = n;
      lay_out(rep, dims);
      if (row_major && from->dtype != DType::String) {
        std::memcpy(rep->data, data, bytes);
        return adopt(rep);
      }
      if (from->dtype == DType::String) make_strings(rep->data, n);
      copy_strided(context, from->dtype, dims, rep->data, {rep->strides(), dims.size()}, data, strides);
      return adopt(rep);
    }
    Tensor shared = copy_to_buffer(context, base);
    return view(context, shared, dims, strides, offset);
  }

  TensorRep* rep = new_rep(context, from->dtype, dims.size(), 0);
  rep->buffer = from->buffer;
  ++from->buffer->refs;
  rep->flags = from->flags & kElsewhere;
  rep->extra = from->extra;
  rep->data = data;
  rep->size = n;
  rep->contiguous = row_major;
  std::copy(dims.begin(), dims.end(), rep->dims());
  std::copy(strides.begin(), strides.end(), rep->strides());
  return adopt(rep);
}

Result<Tensor> Tensor::parts(Context& context, const Tensor& base) {
  TensorRep* from = base.rep();
  Dims dims(base.dims()), strides;
  for (int64_t s : base.strides()) strides.push_back(2 * s);
  dims.push_back(2);
  strides.push_back(1);
  if (!from->buffer) {  // such elements are row-major, and cannot be shared
    Tensor copy = TFL_TRY(empty(context, part_dtype(from->dtype), dims));
    std::memcpy(copy.raw(), from->data, base.bytes());
    return copy;
  }
  TensorRep* rep = new_rep(context, part_dtype(from->dtype), dims.size(), 0);
  rep->buffer = from->buffer;
  ++from->buffer->refs;
  rep->flags = from->flags & kElsewhere;
  rep->data = from->data;
  rep->size = 2 * from->size;
  rep->contiguous = from->contiguous;
  std::copy(dims.begin(), dims.end(), rep->dims());
  std::copy(strides.begin(), strides.end(), rep->strides());
  return adopt(rep);
}

// At most kInlineBytes, so the pool's limit is not asked again: a limit that is reached must not make views fail.
Tensor Tensor::copy_to_buffer(Context& context, const Tensor& base) {
  TensorRep* from = base.rep();
  size_t bytes = static_cast<size_t>(from->size) * dtype_size(from->dtype);
  size_t limit = context.memory.limit();
  context.memory.set_limit(SIZE_MAX);
  Buffer* buffer = new_buffer(context.memory, bytes).take();
  context.memory.set_limit(limit);
  TensorRep* rep = new_rep(context, from->dtype, from->rank, 0);
  rep->extra = from->extra;
  rep->buffer = buffer;
  rep->data = buffer->data;
  rep->size = from->size;
  std::memcpy(rep->layout, from->layout, 16 * size_t{from->rank});
  if (from->dtype == DType::String) {
    make_strings(rep->data, rep->size);
    buffer->strings = true;
    for (int64_t i = 0; i < rep->size; ++i) {
      reinterpret_cast<std::string*>(rep->data)[i] = reinterpret_cast<const std::string*>(from->data)[i];
    }
  } else {
    std::memcpy(rep->data, from->data, bytes);
  }
  return adopt(rep);
}

Tensor Tensor::foreign(Context& context, DType dtype, std::span<const int64_t> dims, Buffer* buffer) {
  TensorRep* rep = new_rep(context, dtype, dims.size(), 0);
  rep->buffer = buffer;
  rep->data = buffer->data;
  if (!buffer->data && buffer->fetch) rep->flags = kElsewhere;
  rep->size = known_count(dims);
  std::copy(dims.begin(), dims.end(), rep->dims());
  Dims strides = row_major_strides(dims);
  std::copy(strides.begin(), strides.end(), rep->strides());
  return adopt(rep);
}

void Tensor::fetch(TensorRep* rep) {
  Buffer* buffer = rep->buffer;
  if (!buffer->data) buffer->fetch(buffer);
  rep->data = buffer->data + reinterpret_cast<uintptr_t>(rep->data);
  rep->flags &= static_cast<uint8_t>(~kElsewhere);
}

void Tensor::destroy(TensorRep* rep) {
  if (rep->host) [[unlikely]] {
    auto& context = *static_cast<Context*>(Heap::of(rep).owner);
    if (context.release_host) context.release_host(context, std::exchange(rep->host, nullptr));
  }
  size_t bytes = kHeader + 16 * size_t{rep->rank};
  if (rep->buffer) {
    release_buffer(rep->buffer);
  } else {
    size_t elements = static_cast<size_t>(rep->size) * kSizes[static_cast<int>(rep->dtype)];
    if (rep->dtype == DType::String) [[unlikely]]
      destroy_strings(rep->data, elements);
    bytes += elements;
  }
  Heap::release(rep, bytes);
}

Result<Tensor> contiguous(Context& context, const Tensor& t) {
  if (t.contiguous()) return t;
  Tensor copy = TFL_TRY(Tensor::empty(context, t.dtype(), t.dims()));
  copy.rep()->extra = t.rep()->extra;
  copy_strided(context, t.dtype(), t.dims(), copy.raw(), copy.strides(), t.raw(), t.strides());
  return copy;
}

namespace {
std::string join(std::span<const int64_t> dims, const char* separator) {
  std::string out;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i) out += separator;
    out += dims[i] < 0 ? "?" : std::to_string(dims[i]);
  }
  return out;
}
}  // namespace

std::string describe(const Tensor& t) { return std::string(dtype_name(t.dtype())) + '[' + join(t.dims(), ", ") + ']'; }
std::string shape_text(std::span<const int64_t> dims) { return '[' + join(dims, ",") + ']'; }
std::string shape_tuple_text(std::span<const int64_t> dims) {
  std::string text = join(dims, ", ");
  return '(' + text + (dims.size() == 1 ? ",)" : ")");
}

}  // namespace tfl
