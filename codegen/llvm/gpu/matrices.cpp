#include "codegen/llvm/gpu/matrices.h"

#include "codegen/llvm/emit/kernel_space.h"

namespace tfl::codegen {

using namespace plan;

namespace {

/// Matrices in memory, transposed or not.
class PlainMatrices final : public GpuMatrices {
 public:
  PlainMatrices(Grid& grid, const Plan& plan, const Product& product)
      : grid_(grid), b_(grid.b), plan_(plan), p_(product), type_(memory_type(b_, plan.values[product.a].dtype)) {
    products = size(p_.batch);
    rows = most_rows = size(p_.m);
    columns = size(p_.n);
    k = size(p_.k);
    known_rows = known_size(plan_, p_.m).value_or(-1);
    known_columns = known_size(plan_, p_.n).value_or(-1);
    product_sizes = {p_.batch};
    row_sizes = {p_.m};
    column_size = p_.n;
    a_by_k = !p_.transpose_a;
    b_by_k = p_.transpose_b;
    a_ = matrix_of(grid, plan, p_.a);
    second_ = matrix_of(grid, plan, p_.b);
    to_ = matrix_of(grid, plan, p_.result);
  }

  void enter(llvm::Value* product) override { product_ = product; }
  Element a(llvm::Value* i, llvm::Value* p) override {
    return {element(a_, p_.a_batch, i, p_.transpose_a ? grid_.word(1) : k, p, p_.transpose_a ? rows : grid_.word(1))};
  }
  Element b(llvm::Value* p, llvm::Value* j) override {
    return {element(second_, p_.b_batch, p, p_.transpose_b ? grid_.word(1) : columns, j, p_.transpose_b ? k : grid_.word(1))};
  }
  llvm::Value* result(llvm::Value* i, llvm::Value* j) override {
    llvm::Value* row = b_.CreateAdd(b_.CreateMul(product_, rows), i);
    return b_.CreateGEP(type_, to_, b_.CreateAdd(b_.CreateMul(row, columns), j));
  }

 private:
  llvm::Value* size(Size s) {
    std::optional<int64_t> known = known_size(plan_, s);
    return known ? grid_.word(*known) : grid_.number(symbol_of(s));
  }
  llvm::Value* element(llvm::Value* from, Size of_batch, llvm::Value* x, llvm::Value* of_x, llvm::Value* y, llvm::Value* of_y) {
    llvm::Value* offset = b_.CreateAdd(b_.CreateMul(x, of_x), b_.CreateMul(y, of_y));
    if (of_batch != 0) offset = b_.CreateAdd(offset, b_.CreateMul(product_, size(of_batch)));
    return b_.CreateGEP(type_, from, offset);
  }

  Grid& grid_;
  Builder& b_;
  const Plan& plan_;
  const Product& p_;
  llvm::Type* type_;
  llvm::Value *a_, *second_, *to_, *product_ = nullptr;
};

}  // namespace

std::unique_ptr<GpuMatrices> gpu_matrices(Grid& grid, const Plan& plan, const Product& product, std::string& error) {
  switch (plan.values[product.a].dtype) {
    case DType::F32:
    case DType::F64:
    case DType::I32:
    case DType::U32:
    case DType::I64:
    case DType::U64: break;
    default: error = "products of this type are not made for GPUs"; return nullptr;
  }
  if (product.window != kNone) return gpu_window_matrices(grid, plan, product);
  return std::make_unique<PlainMatrices>(grid, plan, product);
}

}  // namespace tfl::codegen
