// NVIDIA's library of matrix products as far as TFL uses it, by our own declarations: loaded when a script asks for TF32, and needed by nothing
// else. The names and numbers are those of its reference. This header must not know devices of TFL.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/gpu/cuda_driver.h"

namespace tfl::gpu::cublas {

struct LibraryHandle;
struct ProductHandle;
struct LayoutHandle;

inline constexpr int kSuccess = 0, kFloat = 0,
                     kComputeTf32 = 77;                    // CUBLAS_STATUS_SUCCESS, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32
inline constexpr int kTransposeA = 3, kTransposeB = 4;     // CUBLASLT_MATMUL_DESC_TRANSA, _TRANSB
inline constexpr int32_t kTransposed = 1;                  // CUBLAS_OP_T
inline constexpr int kBatchCount = 5, kBatchDistance = 6;  // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, _STRIDED_BATCH_OFFSET

#define TFL_CUBLAS_FUNCTIONS(F)                                                                                        \
  F(create, "cublasLtCreate", (LibraryHandle**))                                                                       \
  F(destroy, "cublasLtDestroy", (LibraryHandle*))                                                                      \
  F(create_product, "cublasLtMatmulDescCreate", (ProductHandle**, int, int))                                           \
  F(set_product, "cublasLtMatmulDescSetAttribute", (ProductHandle*, int, const void*, size_t))                         \
  F(destroy_product, "cublasLtMatmulDescDestroy", (ProductHandle*))                                                    \
  F(create_layout, "cublasLtMatrixLayoutCreate", (LayoutHandle**, int, uint64_t, uint64_t, int64_t))                   \
  F(set_layout, "cublasLtMatrixLayoutSetAttribute", (LayoutHandle*, int, const void*, size_t))                         \
  F(destroy_layout, "cublasLtMatrixLayoutDestroy", (LayoutHandle*))                                                    \
  F(multiply, "cublasLtMatmul",                                                                                        \
    (LibraryHandle*, ProductHandle*, const void*, const void*, LayoutHandle*, const void*, LayoutHandle*, const void*, \
     const void*, LayoutHandle*, void*, LayoutHandle*, const void*, void*, size_t, cuda::StreamHandle*))

struct Library {
#define TFL_CUBLAS_FUNCTION(member, symbol, parameters) int(*member) parameters = nullptr;
  TFL_CUBLAS_FUNCTIONS(TFL_CUBLAS_FUNCTION)
#undef TFL_CUBLAS_FUNCTION
};

/// Loads libcublasLt.so, or the library that TFL_CUBLASLT_LIBRARY names; the failure is one sentence that says what is missing.
Result<Library> load_library();

/// result[i] = a[i] b[i], by a library on one device.
class Products {
 public:
  Products(const Library& library, LibraryHandle* handle) : library_(library), handle_(handle) {}
  ~Products() { library_.destroy(handle_); }
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  struct Matrices {
    cuda::Pointer a, b, result;
    bool transpose_a, transpose_b;
    int64_t batch, m, n, k, a_batch, b_batch;
  };
  /// The device's context must be current.
  Result<void> multiply(const Matrices& p, cuda::Pointer workspace, size_t workspace_bytes, cuda::StreamHandle* stream) const;

 private:
  Library library_;
  LibraryHandle* handle_;
};

}  // namespace tfl::gpu::cublas
