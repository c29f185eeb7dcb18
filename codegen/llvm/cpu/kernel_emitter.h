// Emits one kernel: shared parts of all forms. A context holds what is uniform for one combination of outer indices; a tile is
// a few vectors of elements whose expressions are computed side by side. This header must not know steps of the driver.
#pragma once

#include <llvm/ADT/SmallVector.h>

#include "codegen/llvm/cpu/kernel.h"
#include "codegen/llvm/emit/kernel_space.h"

namespace tfl::codegen {

class KernelEmitter {
 public:
  KernelEmitter(llvm::Module& module, const plan::Plan& plan, uint32_t kernel, Cpu cpu, Locate locate);
  llvm::Function* emit();

 private:
  using Values = llvm::SmallVector<llvm::Value*, 4>;
  using Body = llvm::function_ref<void(llvm::Value* index)>;

  /// What one unit (a row, an outer index) knows. Entries are null until they are computed.
  struct Context {
    std::vector<llvm::Value*> uniform;  // by expression: a scalar
    std::vector<llvm::Value*> bases;    // by access (expression, or expressions + stage): address without the vector index
    std::vector<llvm::Value*> index;    // by group
    std::vector<llvm::Value*> reduced;  // by stage: a scalar; of a columns kernel: where its vectors lie
    std::vector<llvm::Value*> scratch;  // by stage
  };
  /// Vectors of elements that are computed together.
  struct Tile {
    int lanes = 1;
    Values start;                         // index along the vector group of each vector's first element
    Values row;                           // of a square: what each vector adds to the index of the turned group
    Values strip;                         // of a columns kernel: each vector's first column in its strip
    llvm::Value* mask = nullptr;          // of one vector: lanes that are elements
    std::vector<Values> values;           // by expression, then vector
    Values splats;                        // by expression: uniform values as vectors
    llvm::SmallVector<Values, 4> digits;  // by vector, then group; see kernel_digits.cpp
  };
  /// The memory of one vector of an access.
  struct Place {
    enum class Kind : uint8_t { row, same, reversed, scattered } kind = Kind::row;
    llvm::Value* address = nullptr;
    llvm::Value* offsets = nullptr;
    llvm::Value* mask = nullptr;
  };
  /// A reduction that is under way: accumulators, and partial results of blocks that wait for their neighbours.
  struct Partial {
    uint32_t stage = 0;
    DType element = DType::F32;
    ReduceKind kind = ReduceKind::sum;
    int64_t columns = 1;  // of a strip; else one
    llvm::SmallVector<llvm::Value*, 4> accumulators;
    llvm::Value* result = nullptr;   // memory of the block's partial result
    llvm::Value* waiting = nullptr;  // memory of kWaiting of them, or null
  };
  using Partials = llvm::SmallVector<Partial, 2>;
  static constexpr int kWaiting = 52;  // 2^52 blocks of 4,096 elements are more than there are addresses

  // kernel.cpp
  void prepare();
  void finish();
  llvm::Value* size(plan::Size s);
  llvm::Value* group_size(uint32_t group);
  llvm::Value* allocate(llvm::Type* type, int64_t count = 1);
  llvm::Value* word(int64_t v) { return b_.getInt64(static_cast<uint64_t>(v)); }
  void note_violation(llvm::Value* violated, llvm::Value* mask, uint32_t location);
  /// body(i) for i = first, first + step, ... while i + step <= last (`whole`) or i < last. Gives the i at which it ended.
  llvm::Value* loop(llvm::Value* first, llvm::Value* last, int64_t step, bool whole, Body body);
  void when(llvm::Value* condition, llvm::function_ref<void()> then);
  llvm::Value* lane_mask(int lanes, llvm::Value* count);  // lanes below count

  // kernel_outer.cpp: combinations of outer indices, and maybe one number more within each, counted as one
  void start_outer(llvm::Value* first, llvm::Value* inner = nullptr);
  llvm::Value* read_outer(Context& context);  // gives the number within
  void next_outer();

  // kernel_values.cpp
  void locate(uint32_t location);
  std::vector<bool> needed_by(llvm::function_ref<bool(const plan::Stage&)> which);
  /// Computes the needed expressions up to `level` that are not known yet, into the current context.
  void compute_uniform(const std::vector<bool>& needed, Level level);
  /// Addresses of the accesses of needed loads and of stages, as far as they do not change with the vector index.
  void compute_bases(const std::vector<bool>& needed, llvm::function_ref<bool(const plan::Stage&)> which);
  void compute_tile(const std::vector<bool>& needed, Tile& tile);
  void compute_loop(const std::vector<bool>& needed, Tile& tile);
  llvm::Value* uniform(plan::ExprId e);
  llvm::Value* vector(plan::ExprId e, Tile& tile, size_t v);
  llvm::Value* value_of(const plan::Expr& e, llvm::ArrayRef<llvm::Value*> operands, int lanes, llvm::Value* mask);
  void compute_varying(plan::ExprId e, Tile& tile);
  bool is_uniform(plan::ExprId e) const { return space_.levels[e] != Level::vector; }
  // kernel_access.cpp
  llvm::Value* memory_of(plan::ValueId value);
  bool has_base(const plan::Access& a) const;
  llvm::Value* base_of(const plan::Access& a);
  Place place(const plan::Access& a, size_t key, Tile& tile, size_t v);
  llvm::Value* uniform_load(plan::ExprId e);
  llvm::Value* load(plan::ExprId e, Tile& tile, size_t v);
  void store(uint32_t stage, llvm::Value* value, Tile& tile, size_t v);
  void store_uniform(uint32_t stage);
  void fetch_next_row(const plan::Access& a, const Place& p, bool stores);

  // Tiles over [first, last) of the vector group: `unroll` vectors at a time, then one by one, the last with a mask. `unroll` 0:
  // all with masks.
  using TileBody = llvm::function_ref<void(Tile& tile)>;
  void for_tiles(llvm::Value* first, llvm::Value* last, int64_t known, int lanes, int unroll, bool masked, TileBody body);
  Tile make_tile(int lanes, llvm::ArrayRef<llvm::Value*> start, llvm::Value* mask = nullptr);

  // kernel_reduce.cpp
  Partial make_partial(uint32_t stage, int64_t columns, bool blocks);
  void add_accumulators(Partial& p, int count, int lanes);
  llvm::Value* at(const Partial& p, llvm::Value* memory, llvm::Value* element);
  void each_column(const Partial& p, llvm::function_ref<void(int lanes, llvm::Value* column)> f);
  void reset(Partial& p, int lanes);
  void accumulate(const Partial& p, llvm::Value* memory, Tile& tile, size_t v);
  llvm::Value* across(const Partial& p, llvm::Value* lanes);
  void wait_for_neighbours(llvm::ArrayRef<Partial*> partials, llvm::Value* top, llvm::Value* block);
  template <class F>
  llvm::Value* take_waiting(llvm::ArrayRef<Partial*> partials, llvm::Value* top, const F& visit);
  void combine_top(llvm::ArrayRef<Partial*> partials, llvm::Value* top);
  void combine_waiting(llvm::ArrayRef<Partial*> partials, llvm::Value* top);
  llvm::Value* finished(const Partial& p, llvm::Value* partial, int lanes, llvm::Value* length);
  DType partial_of(const Partial& p) const { return partial_type(p.kind, p.element); }

  /// Whether a tail of some lanes is best done with masks; else one element at a time.
  bool masks_tails() const;

  void emit_map();  // kernel_map.cpp
  bool streams() const;
  void emit_stream(const std::vector<bool>& needed);
  void emit_turned(const std::vector<bool>& needed);  // kernel_turn.cpp
  bool is_turned(const plan::Access& a) const;
  Values turned_load(const plan::Access& a, size_t key, Tile& tile);
  void emit_digits(const std::vector<bool>& needed);  // kernel_digits.cpp
  int64_t digit_rows() const;
  int64_t digit_elements() const;
  bool is_flat(const plan::Access& a) const;
  llvm::Value* digit(uint32_t group, Tile& tile, size_t v);
  llvm::Value* digit_index(const plan::Expr& e, Tile& tile, size_t v);
  llvm::Value* digit_offsets(const plan::Access& a, Tile& tile, size_t v);
  void emit_rows();  // kernel_rows.cpp
  void emit_row_passes(llvm::MutableArrayRef<Context> rows);
  void emit_pass(llvm::MutableArrayRef<Context> rows, uint32_t pass);
  void reduce_block(llvm::MutableArrayRef<Context> rows, llvm::MutableArrayRef<Partials> partials,
                    const std::vector<bool>& needed, uint32_t pass, llvm::Value* first, llvm::Value* last, int64_t known);
  void run_stages(uint32_t pass, Tile& tile);
  void emit_columns();  // kernel_columns.cpp
  void emit_strip(llvm::Value* first, llvm::Value* last);
  bool columns_lie_in_row(const std::vector<bool>& needed);
  void emit_blocks();  // kernel_blocks.cpp
  void emit_tree();

  llvm::Module& module_;
  const plan::Plan& plan_;
  const plan::Kernel& kernel_;
  Cpu cpu_;
  Locate locate_;
  KernelSpace space_;
  Builder b_;
  llvm::Function* function_ = nullptr;
  llvm::Value* frame_ = nullptr;
  llvm::Value* first_ = nullptr;  // units
  llvm::Value* last_ = nullptr;
  Builder entry_;                      // stands in the block that runs first
  std::vector<llvm::Value*> symbols_;  // by number
  std::vector<llvm::Value*> memory_;   // by value
  llvm::Value* violated_ = nullptr;    // memory of an i64: 1 + the location of what would raise; 0: nothing
  bool streaming_ = false;             // stores of whole vectors pass by the caches
  bool ahead_ = false;                 // loads and stores fetch what the next row needs
  Values digits_;                      // memory of the outer indices
  Values digit_sizes_;
  Context base_;  // what every unit knows
  Context* context_ = nullptr;
  Values group_sizes_;
  llvm::SmallVector<Partial*, 4> strip_;  // what a columns kernel has reduced
};

}  // namespace tfl::codegen
