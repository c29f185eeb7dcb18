#include "runtime/gpu/cublaslt.h"

#include <dlfcn.h>

#include <cstdlib>

namespace tfl::gpu::cublas {

Result<Library> load_library() {
  const char* chosen = std::getenv("TFL_CUBLASLT_LIBRARY");
  void* library = nullptr;
  if (chosen && *chosen) {
    library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
  } else {
    for (const char* name : {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11", "libcublasLt.so"}) {
      if ((library = dlopen(name, RTLD_NOW | RTLD_LOCAL))) break;
    }
  }
  if (!library) return fail(ErrorKind::RuntimeError, "there is no libcublasLt.so, which comes with the CUDA Toolkit");
  Library found;
  const char* missing = nullptr;
#define TFL_CUBLAS_FUNCTION(member, symbol, parameters)             \
  if (void* at = dlsym(library, symbol)) {                          \
    found.member = reinterpret_cast<decltype(Library::member)>(at); \
  } else {                                                          \
    missing = symbol;                                               \
  }
  TFL_CUBLAS_FUNCTIONS(TFL_CUBLAS_FUNCTION)
#undef TFL_CUBLAS_FUNCTION
  if (missing) return fail(ErrorKind::RuntimeError, "libcublasLt.so has no {}", missing);
  return found;
}

namespace {

// Descriptions that live for one call.
struct Descriptions {
  const Library& library;
  ProductHandle* product = nullptr;
  LayoutHandle* layouts[3] = {};
  ~Descriptions() {
    for (LayoutHandle* l : layouts) {
      if (l) library.destroy_layout(l);
    }
    if (product) library.destroy_product(product);
  }
};

}  // namespace

// Matrices of the library lie column after column, ours row after row: it is given them transposed, and the second one first.
Result<void> Products::multiply(const Matrices& p, cuda::Pointer workspace, size_t workspace_bytes,
                                cuda::StreamHandle* stream) const {
  Descriptions d{library_};
  int status = library_.create_product(&d.product, kComputeTf32, kFloat);
  auto then = [&](auto&& call) {
    if (status == kSuccess) status = call();
  };
  auto transposed = [&](int which, bool yes) {
    if (yes) then([&] { return library_.set_product(d.product, which, &kTransposed, sizeof kTransposed); });
  };
  transposed(kTransposeA, p.transpose_b);
  transposed(kTransposeB, p.transpose_a);
  auto layout = [&](int i, int64_t rows, int64_t columns, int64_t distance) {  // as we see them
    then([&] {
      return library_.create_layout(&d.layouts[i], kFloat, static_cast<uint64_t>(columns), static_cast<uint64_t>(rows), columns);
    });
    if (p.batch == 1) return;
    auto count = static_cast<int32_t>(p.batch);
    then([&] { return library_.set_layout(d.layouts[i], kBatchCount, &count, sizeof count); });
    then([&] { return library_.set_layout(d.layouts[i], kBatchDistance, &distance, sizeof distance); });
  };
  layout(0, p.transpose_b ? p.n : p.k, p.transpose_b ? p.k : p.n, p.b_batch);
  layout(1, p.transpose_a ? p.k : p.m, p.transpose_a ? p.m : p.k, p.a_batch);
  layout(2, p.m, p.n, p.m * p.n);
  auto pointer = [](cuda::Pointer at) { return reinterpret_cast<void*>(static_cast<uintptr_t>(at)); };
  const float one = 1, zero = 0;
  then([&] {
    return library_.multiply(handle_, d.product, &one, pointer(p.b), d.layouts[0], pointer(p.a), d.layouts[1], &zero,
                             pointer(p.result), d.layouts[2], pointer(p.result), d.layouts[2], nullptr, pointer(workspace),
                             workspace_bytes, stream);
  });
  if (status == kSuccess) return {};
  return fail(ErrorKind::RuntimeError, "a product of {} by {} by {} failed in cuBLASLt with status {}", p.m, p.n, p.k, status);
}

}  // namespace tfl::gpu::cublas
