// Routines of a plan (runtime/kernels/routine.h) for the threads of a GPU: each some launches (gpu_launches.h), which give the bits of the
// CPU's loops. No element is added to atomically: what one element gets, one thread does, in the order of the language. This header
// must not know steps of plans.
#pragma once

#include <string>

#include "codegen/llvm/compile.h"
#include "codegen/llvm/gpu/grid.h"

namespace tfl::codegen {

class GpuRoutine {
 public:
  GpuRoutine(llvm::Module& module, const plan::Plan& plan, uint32_t number, int phase, bool emulated);
  /// The function of this phase: `void name(frame, i64 block, i64 blocks)`.
  llvm::Function* emit();
  GpuUnits units() const { return units_; }

 private:
  using ThreadLoop = llvm::function_ref<void(llvm::Value* i)>;

  // gpu_routine.cpp: what they share.
  llvm::Value* size(size_t i);
  int64_t known(size_t i) const;
  bool has(size_t pointer) const { return r_.at[pointer] != plan::kNone; }
  llvm::Value* memory(size_t pointer);
  llvm::Value* at(size_t pointer, DType dtype, llvm::Value* i);
  llvm::Value* load(size_t pointer, DType dtype, llvm::Value* i);
  void store(size_t pointer, DType dtype, llvm::Value* value, llvm::Value* i);
  /// As bits, whatever they mean.
  void copy(size_t to, llvm::Value* i, size_t from, llvm::Value* j);
  void clear(size_t pointer, llvm::Value* i);
  llvm::Value* index_at(size_t pointer, llvm::Value* i);
  /// The address of a word of the memory that a routine has which is spread.
  llvm::Value* own_word(llvm::Value* i);
  void fail_if(llvm::Value* condition);
  /// body(i) for all i < n, a thread each, over all blocks; and over the threads of this block.
  void each(llvm::Value* n, ThreadLoop body);
  void each_of_block(llvm::Value* n, ThreadLoop body);
  void count_units(std::initializer_list<size_t> sizes, int64_t per);
  llvm::Value* number(double v, llvm::Type* type);
  llvm::Value* lowest(DType dtype, bool highest);
  llvm::Value* less(DType dtype, llvm::Value* x, llvm::Value* y);

  // gpu_scan.cpp
  struct Scan;
  void scan();

  // gpu_arg.cpp
  void arg();
  void arg_by_thread(llvm::Value* rows);
  void arg_by_block(llvm::Value* rows);
  llvm::Value* start_of_row(llvm::Value* row);

  // gpu_writes.cpp
  void scatter();
  void segment();
  llvm::Value* row_of_tuple(llvm::Value* tuple, llvm::Value*& outside);
  llvm::Value* updated(DType dtype, llvm::Value* old, llvm::Value* update);
  llvm::Value* folded(DType dtype, llvm::Value* sum, llvm::Value* x);
  using IndexOf = llvm::function_ref<llvm::Value*(llvm::Value* update)>;  // the row that an update goes to
  using Update = llvm::function_ref<void(llvm::Value* row, llvm::Value* column, llvm::Value* update)>;
  using AfterRow = llvm::function_ref<void(llvm::Value* row, llvm::Value* column)>;
  /// body for all updates of rows [0, rows), in order for each row; `after` when a thread has done its rows.
  void in_order(llvm::Value* rows, llvm::Value* columns, llvm::Value* updates, IndexOf row_of, Update body, AfterRow after);

  // gpu_lists.cpp: the same over many blocks, in the phases that follow the first; and what the first does for them.
  void by_lists(llvm::Value* rows, llvm::Value* columns, llvm::Value* updates, IndexOf row_of, Update body, AfterRow after);
  void clear_lists(llvm::Value* rows);

  // gpu_sort.cpp
  void sort();
  void sort_spread();
  void sort_part(llvm::Value* entries, llvm::Value* start, llvm::Value* first, llvm::Value* count);
  llvm::Value* key_of(llvm::Value* x);
  /// Sorts [0, length) by a block: exchange(i, j) puts the smaller one of two first.
  void network(llvm::Value* length, llvm::function_ref<void(llvm::Value* i, llvm::Value* j)> exchange);
  bool narrow_entries() const { return sort_entry_bytes(static_cast<int64_t>(dtype_size(dtype_))) == 8; }
  llvm::Value* entry_word(llvm::Value* entries, llvm::Value* entry, int64_t part);
  void put_entry(llvm::Value* entries, llvm::Value* entry, llvm::Value* x, llvm::Value* number);
  llvm::Value* entry_less(llvm::Value* entries, llvm::Value* i, llvm::Value* others, llvm::Value* j);
  void give_entry(llvm::Value* entries, llvm::Value* row, llvm::Value* i);

  // gpu_random.cpp
  struct Words {
    llvm::Value* w[4];
  };
  void random();
  Words philox(Words counter, llvm::Value* key0, llvm::Value* key1);
  Words words_of_group(llvm::Value* group);
  llvm::Value* unit_float(llvm::Value* word);
  llvm::Value* unit_double(llvm::Value* high, llvm::Value* low);
  void normal_floats(llvm::Value* w0, llvm::Value* w1, llvm::Value*& a, llvm::Value*& b);
  void normal_doubles(const Words& w, llvm::Value*& a, llvm::Value*& b);

  const plan::Plan& plan_;
  const plan::RoutineStep& r_;
  int phase_;
  Grid grid_;
  Builder& b_;
  DType dtype_;
  GpuUnits units_;
};

}  // namespace tfl::codegen
