// The making of a plan, inside: a block of the graph becomes units (kernels, products, steps of the driver), units with one iteration
// space are fused, and what is left becomes the steps of the plan's block. This header must not know LLVM or a processor.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/plan/plan.h"
#include "codegen/plan/shapes.h"
#include "ir/graph.h"
#include "ir/ref_map.h"

namespace tfl::plan {

using ir::RefMap;

/// An index along one axis of a value: offset + sum of strides[k] * (index along kernel axis k) + sum of factor * expression.
struct Index {
  Size offset = 0;
  Sizes strides;
  SmallVec<Access::Indexed, 2> indexed;
};
/// Where an element of a value is: one index for each axis.
using Place = SmallVec<Index, 4>;

/// A kernel before its neighbouring axes are merged. Sizes of 1 are no axes. A map has `outer` axes only; the reduced axes follow
/// those, and the columns follow them.
struct Loop {
  Kernel kernel;
  size_t outer = 0, reduced = 0, columns = 0;
};

struct Unit {
  enum class Kind : uint8_t { kernel, product, step };
  Kind kind = Kind::kernel;
  Loop loop;              // a kernel, or the epilogue of a product
  bool epilogue = false;  // of a product: `loop` is one
  Product product;
  Step step;
  std::vector<ValueId> reads, writes;
  std::vector<ValueId> tokens;  // of checks that must have been passed; in `reads`, too
  std::vector<ValueId>
      changes;                 // memory of which it writes a part, or which steps inside of it do: whoever reads it comes before
  std::vector<ValueId> marks;  // what tells that it has been read; in `writes`, too
  bool dead = false;
};

/// What belongs to a plan as a whole.
struct Builder {
  Builder(Context& c, const ir::Function& f, Plan& p, Shapes s) : context(c), cluster(f), plan(p), shapes(std::move(s)) {}

  Context& context;
  const ir::Function& cluster;
  Plan& plan;
  Shapes shapes;
  bool failed = false;                                         // there will be no plan
  RefMap<ir::Ref> aliases;                                     // parameters of regions that stand for a value outside
  RefMap<ValueId> memory;                                      // the row-major memory that holds a value
  RefMap<ValueId> scalars;                                     // the driver's register that holds it
  RefMap<Tensor> statics;                                      // what is known of operands that only rules look at
  std::unordered_map<ValueId, SmallVec<ValueId, 2>> pointees;  // of a pointer: the memory it may point to
  // Values of loops that lie where the older ones lie which they change a part of (in_place.cpp): what a write gives, or a loop or branch
  // that has such writes inside; of branches, which operand is changed.
  RefMap<size_t> in_place;
  RefMap<bool> sums;                                     // those that only add
  std::unordered_set<const ir::Node*> absorbed;          // operands of such writes that nobody else has
  std::vector<std::pair<ValueId, ValueId>> same_places;  // a value, and an older one in the same memory

  void fail() { failed = true; }
  ir::Ref resolve(ir::Ref r) const;
  const Sizes& dims(ir::Ref r) const { return shapes.dims(resolve(r)); }
  DType dtype(ir::Ref r) const { return r.type().tensor.dtype; }
  Tensor known(ir::Ref r);  // static_value, kept
  ValueId add_value(DType dtype, Sizes dims, Home home, uint32_t index = 0);
  ValueId add_scalar(DType dtype);
  /// What the memory of `older` holds after a change.
  ValueId add_changed(ValueId older);
  void word_of(ValueId v);  // kernels or the caller read this scalar
  /// Memory that holds `r` already, maybe as another shape; kNone where there is none.
  ValueId memory_of(ir::Ref r);
  ValueId constant(const Tensor& t);

  Size add(Size a, Size b) { return a == 0 ? b : b == 0 ? a : shapes.add(a, b); }
  Size subtract(Size a, Size b) { return b == 0 ? a : shapes.subtract(a, b); }
  Size multiply(Size a, Size b) { return a == 1 ? b : b == 1 ? a : a == 0 || b == 0 ? 0 : shapes.multiply(a, b); }
  Size divide(Size a, Size b) { return b == 1 ? a : shapes.divide(a, b); }
  Size count(const Sizes& dims);
  /// A number that may be below zero, as a Size.
  Size integer(int64_t v);
  Size negative(Size s) { return subtract(0, s); }
  bool same(Size a, Size b) const;
  bool same(const Sizes& a, const Sizes& b) const;
  void at_least(Size a, Size b);  // a guard, unless it is known to hold
  Sizes row_major(const Sizes& dims);

  // Arithmetic of indices.
  Index plus(const Index& a, const Index& b);
  Index times(const Index& a, Size factor);
  /// `at` of a value of sizes `from` that was broadcast to `to`.
  Place broadcast(const Sizes& from, const Sizes& to, const Place& at);
  /// `at` of a value of sizes `from` that was reshaped to `to`; false where that takes a division.
  bool reshape(const Sizes& from, const Sizes& to, const Place& at, Place& out);
  /// Whether a reshape never takes a division.
  bool splits_only(const Sizes& from, const Sizes& to) const;
  /// For the operations that only choose among elements: the operand and its place. False for others, and where none is found.
  bool view(ir::Ref r, const Place& at, ir::Ref& operand, Place& out);
};

inline bool is_one(Size s) { return s == 1; }
/// The sizes that are not 1.
Sizes without_ones(const Sizes& dims);

bool is_reduction(Op op);
/// A convolution, pooling, or a gradient of these.
bool is_window(Op op);
/// Run by a routine of the program (runtime/kernels/routine.h).
bool is_routine(Op op);
/// Reads its first operand and changes no element.
bool is_view(const ir::Node& n);
/// A slice, or zeros with elements where a slice is.
bool is_strided(Op op);
/// A view whose elements stand in the same order.
bool keeps_order(const ir::Node& n);
/// Can be computed element by element inside its users' kernels.
bool is_deferrable(const ir::Node& n);
/// Operand `i` is read by its elements, and not for a size.
bool reads_elements(const ir::Node& n, size_t i);
bool may_raise(Builder& b, const ir::Node& n);
/// Whether a row with checks refuses this integer as its second operand.
bool refuses(Op op, DType dtype, int64_t y);
/// May raise for some elements of its operands, or for those of what its regions compute.
bool may_refuse(Builder& b, const ir::Node& n);
/// Of one element, in cheap operations.
int64_t cost_of(Op op);
/// All elements have the same bytes: those.
bool splat_bits(const Tensor& t, uint64_t& bits);

/// Kinds of reductions as plans see them.
struct ReductionSpec {
  ReduceKind kind = ReduceKind::sum;
  bool mean = false;
  SmallVec<bool, 8> reduced;  // of the operand's axes
};
ReductionSpec reduction_spec(Builder& b, const ir::Node& n);
/// What elements are combined as.
DType partial_dtype(ReduceKind kind, DType dtype);

/// What one block of the graph becomes.
class BlockBuilder {
 public:
  /// `inner`: code of a region, which may run many times or never.
  BlockBuilder(Builder& b, const ir::Block& block) : b(b), block_(block) {}

  /// What a result shall be: a scalar, or memory it is written to.
  struct Wanted {
    ir::Ref ref;
    ValueId target = kNone;  // kNone: a scalar
    bool in_place = false;   // neither: it lies where it is wanted
  };
  /// Fills `out.steps`, and `out.results` with the wanted scalars, in order.
  void build(std::vector<Wanted> wanted, plan::Block& out);

  ValueId scalar_of(ir::Ref r);
  void scalars_before(ir::Ref r);
  bool is_scalar(ir::Ref r);
  /// Units that check integers against [0, size), or [-size, size) (of several sizes: tuples, each along the last axis); gives the token that their users read, kNone where none is needed.
  ValueId checked(ir::Ref indices, const Sizes& sizes, bool wrap, uint32_t location);
  /// A scalar step; gives the register.
  ValueId emit_scalar(Expr e);

  Builder& b;

 private:
  friend class Expressions;
  void analyse(const std::vector<Wanted>& wanted);
  void find_live(const std::vector<Wanted>& wanted);
  void need_memory(ir::Ref r);
  void pin(ir::Ref r);
  bool rows_scalar(ir::Ref r);
  void make_units(const std::vector<Wanted>& wanted);
  void make_node(const ir::Node& n);
  /// A kernel over all elements of `r` that stores them; `compute`: from its operands, though there is memory that will hold it.
  void make_map(ir::Ref r, ValueId target, bool compute);
  Place whole(const Loop& loop, const Sizes& dims) const;
  void add_kernel(Loop loop, std::vector<ValueId> tokens);
  void reduce(ir::Ref x, std::span<const bool> reduced, Stage stage, ValueId target);
  bool reduce_directly(ir::Ref x, const Sizes& dims, std::span<const bool> reduced, const Stage& stage, ValueId target,
                       ValueId from);
  bool reduce_columns_in_blocks(ir::Ref x, const Sizes& dims, std::span<const bool> reduced, const Stage& stage, ValueId target,
                                ValueId from);
  void add_blocks(Loop loop, std::vector<ValueId> tokens, Size length, ValueId target);
  void make_parts(const ir::Node& n, ValueId target);
  void make_tile(const ir::Node& n, ValueId target);
  void make_reduction(const ir::Node& n, ValueId target);
  void make_product(const ir::Node& n, ValueId target);
  void make_window(const ir::Node& n, ValueId target);
  void make_check(const ir::Node& n);
  void make_routine(const ir::Node& n);
  void add_routine(RoutineStep r, std::vector<ValueId> tokens);
  ValueId routine_operand(ir::Ref r);
  ValueId rotated(ir::Ref r, ValueId from, size_t axis, bool back, ValueId target);
  /// `adds_zeros`: it has to begin with what make_first_sum makes.
  bool stays_in_place(const ir::Node& loop, size_t variable, bool& adds_zeros);
  bool begins_simply(const ir::Node& loop);
  void make_first_sum(const ir::Node& loop, size_t variable, ValueId target);
  void change_part(const ir::Node& n);
  void order_changes();
  ir::Ref scalar_index(ir::Ref r);
  void make_cond(const ir::Node& n);
  void make_loop(const ir::Node& n);
  bool make_interchanged(const ir::Node& n, const std::vector<bool>& fixed);
  void outside_scalars(const ir::Node& n, size_t first);
  bool is_used(ir::Ref r) const;
  Unit& add_unit(Unit u);
  void add_product(const Product& p, uint32_t location);
  void fuse();
  void attach_epilogues();
  void drop_dead_stores();
  void emit(plan::Block& out);
  bool is_ready(const Unit& u, const std::unordered_map<ValueId, uint32_t>& missing) const;
  void emit_unit(Unit& u, plan::Block& out);
  void run_beside(plan::Block& out, size_t begin);
  void find_ancestors();
  bool depends(size_t user, size_t on) const { return ancestors_[user][on / 64] >> (on % 64) & 1; }
  bool can_join(size_t x, size_t y) const;
  void join_ancestors(size_t gone, size_t into);
  void refresh(Unit& u);

  const ir::Block& block_;
  std::vector<Unit> units_;
  std::unordered_set<ValueId> kept_;  // memory that somebody outside the units reads
  RefMap<uint32_t> uses_;
  RefMap<int64_t> costs_;
  std::unordered_set<const ir::Node*> live_;
  std::unordered_set<const ir::Node*> refusing_;  // live for this alone
  RefMap<bool> pinned_;
  RefMap<bool> needs_scalar_;
  RefMap<bool> rows_scalar_;
  std::unordered_map<std::string, ValueId> driver_exprs_;
  std::unordered_map<std::string, ValueId> tokens_;
  std::vector<ir::Ref> scoped_scalars_;
  RefMap<ValueId> targets_;
  std::vector<std::vector<uint64_t>> ancestors_;
};

/// Elements of values as expressions of a kernel, or (without one) as scalars of the driver.
class Expressions {
 public:
  Expressions(BlockBuilder& block, Kernel* kernel) : block_(block), b(block.b), kernel_(kernel) {}

  /// The element of `r` at `at`; read from memory where there is any.
  ExprId element(ir::Ref r, const Place& at, ExprId mask = kNone);
  /// The same, but `r` itself is computed from its operands.
  ExprId compute(ir::Ref r, const Place& at, ExprId mask = kNone);
  ExprId integer(const Index& i);  // as i64
  ExprId load(ValueId v, const Sizes& dims, const Place& at, ExprId mask);
  /// The element at `at` of memory with these sizes.
  Access access(ValueId v, const Sizes& dims, const Place& at, ExprId mask);
  /// Where a slice of a value of these sizes has its element `at`; false where that is not known.
  bool sliced(const ir::Node& n, const Sizes& dims, const Place& at, Place& out);
  ExprId apply(Op op, DType dtype, std::initializer_list<ExprId> operands);
  ExprId cast(ExprId x, DType to);
  ExprId constant(DType dtype, uint64_t bits);
  ExprId number(DType dtype, int64_t v);  // an integer as any dtype
  ExprId size(Size s);                    // as i64
  ExprId add(Expr e);
  DType dtype(ExprId e) const;

  std::vector<ValueId> tokens;           // of checks that must have been passed
  RefMap<ExprId> given;                  // variables of an interchanged loop
  SmallVec<const ir::Block*, 2> inside;  // its regions: their scalars are computed in the kernel
  bool displaced = false;                // an element of a variable was wanted elsewhere than at its own place

 private:
  ExprId create(const ir::Node& n, ir::Ref r, const Place& at, ExprId mask);
  ExprId sliced_index(const ir::Node& n, const Slice::Axis& axis, Size size);
  ExprId slice_gradient(const ir::Node& n, const Place& at, ExprId mask);
  ExprId gather(const ir::Node& n, const Place& at, ExprId mask);
  ExprId gather_nd(const ir::Node& n, const Place& at, ExprId mask);
  ExprId roll(const ir::Node& n, const Place& at, ExprId mask);
  ExprId pad(const ir::Node& n, const Place& at, ExprId mask);
  ExprId band(const ir::Node& n, const Place& at, ExprId mask);

  BlockBuilder& block_;
  Builder& b;
  Kernel* kernel_;
  uint32_t location_ = 0;
  std::unordered_map<std::string, ExprId> known_;     // expressions by what they say
  std::unordered_map<std::string, ExprId> elements_;  // elements by value and place
};

/// The bytes that tell one expression from another; `location` is left out.
std::string expr_key(const Expr& e);
/// The values that a kernel's expressions read, and that its stages write.
void kernel_values(const Kernel& k, std::vector<ValueId>& reads, std::vector<ValueId>& writes);
bool equal_access(const Access& a, const Access& b);

/// Puts `second` into `first`, which it follows; false (and nothing changed) where their axes or what they hand on do not fit.
bool merge_loops(Builder& b, Loop& first, const Loop& second);
/// Whether the neighbouring axes of each role can become one where the form has one.
bool axes_fit(Builder& b, const Loop& loop);
/// Passes, kept values, dead expressions, merged axes, cost, name.
void finish_kernel(Builder& b, Loop& loop, bool epilogue);
/// Passes of the stages; false where the form has none for them.
bool assign_passes(Builder& b, Loop& loop);

/// The values that a routine reads and writes.
void routine_values(const RoutineStep& r, std::vector<ValueId>& reads, std::vector<ValueId>& writes);
/// What the blocks of a branch or loop read from outside.
void step_reads(const Plan& plan, const Step& step, std::vector<ValueId>& out);
/// Whether stage `i` of `k` may overwrite what it reads of `v`: it is read at the same place only, and by no stage behind it.
bool writes_in_place(const Kernel& k, size_t i, ValueId v);
/// The expressions that these stages use, and the stages whose reductions they use, which are added.
std::vector<bool> used_exprs(const Kernel& k, std::vector<bool>& stages);
/// Keeps only the stages that are needed, and the reductions that those use.
void remove_stages(Kernel& k, const std::vector<bool>& needed);

/// Slots, results and donations, once all steps stand.
void place_values(Builder& b);

inline constexpr int64_t kRecomputeCost = 8;   // more than this is not computed twice
inline constexpr int64_t kLongestRow = 16384;  // that is kept in scratch memory, and never cut into blocks
inline constexpr int64_t kManyRows = 16;       // of which longer ones need not be cut, either
inline constexpr int64_t kFewUnits = 8;        // reductions of fewer outer indices and strips of columns are cut into blocks
inline constexpr int64_t kShortTotal = 4096;   // of a reduction of everything that needs no blocks
inline constexpr size_t kMostExprs = 400;
inline constexpr size_t kMostStores = 8;

}  // namespace tfl::plan
