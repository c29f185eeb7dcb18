// One kernel of a plan, or one product, for the threads of a GPU: a function `void name(frame, i64 block, i64 blocks)` which does the
// units of that block. An element is one thread's; what a unit is depends on the form. This header must not know steps of plans.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include <memory>
#include <string>
#include <vector>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/emit/kernel_space.h"
#include "codegen/llvm/gpu/grid.h"

namespace tfl::codegen {

class GpuKernel {
 public:
  GpuKernel(llvm::Module& module, const plan::Plan& plan, uint32_t kernel, bool emulated);
  /// For single elements, in a function that somebody else makes.
  GpuKernel(Grid& grid, const plan::Plan& plan, uint32_t kernel);
  llvm::Function* emit();
  /// In a section: what a map over rows and columns does with one element, of which `value` has been read as `v`.
  void element(llvm::Value* i, llvm::Value* j, llvm::Value* columns, plan::ValueId value, llvm::Value* v);
  /// How many units there are.
  GpuUnits units() const { return units_; }

 private:
  /// What is known at one element, or of a row: by group of axes, expression, stage.
  struct Point {
    std::vector<llvm::Value*> index, values, reduced;
    llvm::Value* kept = nullptr;  // number of the element among those that the thread keeps
  };
  /// A reduction under way: a thread's partial result, and those of whole blocks that wait for their neighbours.
  struct Partial {
    uint32_t stage = 0;
    DType element = DType::F32;
    ReduceKind kind = ReduceKind::sum;
    Grid::Variable sum, other, waiting, all;
  };
  using Partials = llvm::SmallVector<Partial, 2>;
  using Which = llvm::function_ref<bool(const plan::Stage&)>;

  // gpu_kernel.cpp
  Point point() const;
  std::vector<bool> needed_by(Which which) const;
  void compute(const std::vector<bool>& needed, Level level, Point& p);
  void compute_loop(Point& p);
  llvm::Value* value(plan::ExprId e, Point& p);
  llvm::Value* size(plan::Size s);
  llvm::Value* group_size(uint32_t group);
  llvm::Value* memory(plan::ValueId value);
  llvm::Value* address(const plan::Access& a, Point& p);
  llvm::Value* load(const plan::Expr& e, Point& p);
  void store(const plan::Stage& s, Point& p);
  void store_all(Which which, Point& p);
  void violation(llvm::Value* violated, uint32_t location);
  /// The indices of a combination of outer groups.
  void set_outer(llvm::Value* number, Point& p);
  llvm::Value* outer_count();

  // gpu_map.cpp
  void emit_map();
  int vector_width() const;
  bool is_wide(const plan::Access& a, int width) const;
  bool has_vector_stride(const plan::Access& a) const;
  void store_wide(const std::vector<bool>& needed, llvm::Value* first, int width, llvm::Value* outer);

  // gpu_reduce.cpp
  void emit_rows();
  void emit_blocks();
  void emit_tree();
  void emit_columns();
  Partial make_partial(uint32_t stage, int64_t waiting);
  Partials make_partials(Which which, int64_t waiting);
  llvm::Type* type_of(const Partial& p);
  llvm::Value* combined(const Partial& p, llvm::Value* x, llvm::Value* y);
  void take(const Partial& p, Point& at);
  void across(const Partial& p);
  void push(const Partial& p, llvm::Value* block, int64_t levels);
  llvm::Value* collapse(const Partial& p, llvm::Value* blocks, int64_t levels);
  void tree(const Partial& p, llvm::Value* memory, llvm::Value* count, int64_t places);
  llvm::Value* finished(const Partial& p, llvm::Value* partial, llvm::Value* length);
  void run_stages(Which in_pass, Point& p);
  void read_reduced(Point& p);
  void reduce_row(Partials& partials, Which in_pass, llvm::Value* unit, llvm::Value* rows, int64_t parts);
  void row_of(llvm::Value* unit, llvm::Value* thread, int64_t parts, llvm::Value*& row, llvm::Value*& part, llvm::Value*& lane);
  /// How many levels of blocks can wait when there are up to that many; of an unknown number: enough.
  static int64_t levels_of(int64_t blocks);

  const plan::Plan& plan_;
  const plan::Kernel& kernel_;
  KernelSpace space_;
  std::unique_ptr<Grid> own_;
  Grid& grid_;
  Builder& b_;
  GpuUnits units_;
  std::vector<Grid::Variable> kept_, reduced_;  // by stage
  std::vector<bool> is_reduced_;                // by stage: its result is known
};

/// A product of matrices in the order of runtime/kernels/product/matmul.h, with its epilogue where that is `fused`; `error` says why there is none.
llvm::Function* emit_gpu_product(llvm::Module& module, const plan::Plan& plan, uint32_t product, bool fused, bool emulated,
                                 GpuUnits& units, std::string& error);

}  // namespace tfl::codegen
