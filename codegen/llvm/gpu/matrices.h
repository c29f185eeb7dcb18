// What a product on a GPU multiplies: matrices in memory, or, in convolutions and their gradients, what windows see. This header
// must not know how the threads go through them.
#pragma once

#include <memory>
#include <string>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/gpu/grid.h"

namespace tfl::codegen {

class GpuMatrices {
 public:
  /// An element that is zero where it does not exist.
  struct Element {
    llvm::Value* address = nullptr;
    llvm::Value* exists = nullptr;  // null: it does
  };
  virtual ~GpuMatrices() = default;

  /// What follows is about this product; rows and k are set, which may differ from one to the next.
  virtual void enter(llvm::Value* product) = 0;
  virtual Element a(llvm::Value* i, llvm::Value* p) = 0;
  virtual Element b(llvm::Value* p, llvm::Value* j) = 0;
  virtual llvm::Value* result(llvm::Value* i, llvm::Value* j) = 0;
  /// The row and the column of an element in the whole result of Product::m by n; false where it is not told so.
  virtual bool place(llvm::Value*& i, llvm::Value*& j) const { return static_cast<void>(i), static_cast<void>(j), true; }

  llvm::Value *products = nullptr, *most_rows = nullptr, *columns = nullptr;  // known before a product is entered
  llvm::Value *rows = nullptr, *k = nullptr;
  int64_t known_rows = -1, known_columns = -1;       // -1: not known
  std::vector<plan::Size> product_sizes, row_sizes;  // their number is at most the product of these
  plan::Size column_size = 1;
  bool products_inside = false;        // elements of neighbouring products are neighbours
  bool a_by_k = true, b_by_k = false;  // values of k are neighbours
};

/// Of this product of the plan; null with the reason in `error`.
std::unique_ptr<GpuMatrices> gpu_matrices(Grid& grid, const plan::Plan& plan, const plan::Product& product, std::string& error);
/// Those of a convolution or a gradient of one.
std::unique_ptr<GpuMatrices> gpu_window_matrices(Grid& grid, const plan::Plan& plan, const plan::Product& product);

/// Pooling and its gradients, an element a thread.
void emit_gpu_pool(Grid& grid, const plan::Plan& plan, const plan::Product& product, GpuUnits& units);

/// Where a value's elements lie.
inline llvm::Value* matrix_of(Grid& grid, const plan::Plan& plan, plan::ValueId value) {
  return grid.pointer(plan.values[value].word);
}

}  // namespace tfl::codegen
