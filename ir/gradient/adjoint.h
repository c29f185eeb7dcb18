// Reverse-mode differentiation, told apart from where it happens. A rule (rules.h) says for one operation what the gradients of its
// operands are; it reads forward values and puts the operations it needs through an Adjoint. The gradient tape has one
// (frontend/staging/gradient), and so have regions and functions of a graph (block_adjoint.h): the rules are the same, hence the bits.
// This header must not know about tapes, blocks or host values.
#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "ir/graph.h"

namespace tfl::gradient {

/// A value on the gradient's side, numbered by its Adjoint.
using V = uint32_t;
inline constexpr V kNone = ~V{0};
/// Of a stack that no recursion goes through.
inline constexpr int kUnnumbered = -1;

/// What the gradient of a function that calls itself has to know wherever the function does so; see recursion.h.
struct Recursion;

class X;
class Presence;

class Adjoint {
 public:
  virtual ~Adjoint() = default;
  virtual Context& context() = 0;

  // The gradient's side. A failed emission makes everything after it do nothing; see failed().
  virtual Result<void> apply(Op op, std::span<const V> operands, const Attrs& attrs, SmallVec<V, 2>& results) = 0;
  /// Control flow with closed regions over `operands`.
  virtual Result<void> apply_node(Op op, std::span<const V> operands, const Attrs& attrs,
                                  std::vector<std::unique_ptr<ir::Block>> regions, std::shared_ptr<ir::Function> callee,
                                  std::vector<V>& results) = 0;
  /// A call of the function that the gradient's side is a part of; only where `recursion` is set.
  virtual std::vector<V> call_recursive(ir::Function&, std::span<const V>, std::vector<ir::Type>) { return {}; }
  virtual V constant(Tensor value) = 0;
  virtual const ir::Type& type(V v) = 0;

  // The forward side.
  /// A forward value, readable on the gradient's side: kept, passed in, or computed again.
  virtual Result<V> forward(ir::Ref value) = 0;
  /// `op` (shape, array_size) of a forward value, as a value of the forward side.
  virtual Result<ir::Ref> derive(Op op, ir::Ref value) = 0;

  // Stacks: what an iteration pushes, the gradient of that iteration pops; nested regions thread them through. For each one that the
  // gradient of `node` needs: open it (the stack as it is before `node`), extend the node, tell which of its results is the stack
  // after it and get the stack as the node's gradient finds it, and at last tell what that gradient left of it.
  // Stacks of a function that calls itself go through each of its calls and so have a number; nodes of one block share them.
  virtual Result<ir::Ref> open_stack(const ir::Type& stack, ir::Node& node, int number = kUnnumbered) = 0;
  virtual Result<V> enter_stack(ir::Ref before, ir::Ref after) = 0;
  virtual void leave_stack(ir::Ref before, V rest) = 0;

  /// Set inside functions that call themselves.
  Recursion* recursion = nullptr;
  /// Boolean scalars of this side that are x and y, or x or y, and what they are (presence.h).
  struct Condition {
    Op op;
    V x, y;
    bool operator<(const Condition& c) const { return std::tie(op, x, y) < std::tie(c.op, c.x, c.y); }
  };
  std::map<Condition, V> conditions;
  std::unordered_map<V, Condition> made_of;
  /// Inside a region: a scalar that says whether what runs means anything; kNone: it always does.
  V runs = kNone;
  /// A condition as it is, or what it has come to where operations run as they are put.
  virtual Presence known(const X& condition);
  /// What the sum of a value's gradients begins with.
  virtual V first_of_sum(V g);

  bool failed() const { return failure_ != nullptr; }
  Failure take_failure() { return Failure{std::move(failure_)}; }
  void fail_with(Failure f) {
    if (!failure_) failure_ = std::move(f.error);
  }

 private:
  std::unique_ptr<Error> failure_;
};

/// A value in a formula: `g * x`, `exp(x)`. A literal becomes a constant of the type of what it meets. An empty one (not present, or
/// after a failure) makes every operation on it empty.
class X {
 public:
  X() = default;
  X(double literal) : literal_(literal), is_literal_(true) {}  // NOLINT: formulas mix both
  X(Adjoint* a, V v) : a_(a), v_(v) {}

  V id() const { return v_; }
  Adjoint* adjoint() const { return a_; }
  bool is_literal() const { return is_literal_; }
  double literal() const { return literal_; }
  explicit operator bool() const { return v_ != kNone; }
  const TensorType& type() const { return a_->type(v_).tensor; }
  DType dtype() const { return type().dtype; }

 private:
  Adjoint* a_ = nullptr;
  V v_ = kNone;
  double literal_ = 0;
  bool is_literal_ = false;
};

/// Whether a gradient is there: in every run, in none, or where a boolean scalar of the gradient's side is true (see presence.h).
class Presence {
 public:
  static Presence always() { return Presence(Kind::Always, {}); }
  static Presence never() { return Presence(Kind::Never, {}); }
  static Presence when(X condition) { return Presence(Kind::When, condition); }
  bool is_always() const { return kind_ == Kind::Always; }
  bool is_never() const { return kind_ == Kind::Never; }
  const X& condition() const { return condition_; }

 private:
  enum class Kind : uint8_t { Always, Never, When };
  Presence(Kind kind, X condition) : kind_(kind), condition_(condition) {}
  Kind kind_;
  X condition_;
};

/// What is known of a value where there is no gradient: nothing, 0, or kEmptySum.
enum class Fill : uint8_t { Unknown, Zero, EmptySum };

/// What the gradients of a value have added up to so far.
struct Sum {
  X value;  // empty: nothing was added
  Presence present = Presence::always();
  Fill fill = Fill::Unknown;
  /// Arrays are always there. An array of booleans says which of their elements are; empty: all, zeros where nothing was written.
  X elements;
};

/// One operation; operands that are literals take the element type of the others. Empty when any operand is.
X emit(Op op, std::initializer_list<X> operands, const Attrs& attrs = {});
std::vector<X> emit_many(Op op, std::span<const X> operands, const Attrs& attrs = {});
/// An int32 or int64 vector, or a scalar.
X int_vector(Adjoint& a, std::span<const int64_t> values);
X int_scalar(Adjoint& a, int64_t value);
/// A constant of rank 0, of an element type or of `like`'s.
X literal(Adjoint& a, DType dtype, double value);
X literal_like(const X& like, double value);
/// Zeros of a type: of its own sizes where they are known, else of those of `like`.
X zeros_of_type(Adjoint& a, const ir::Type& type, const X& like, double zero = 0.0);
/// What a sum begins with that may get nothing: x + -0.0 is x for every x, where x + 0.0 is not for -0.0.
inline constexpr double kEmptySum = -0.0;

inline X operator+(X a, X b) { return emit(Op::add, {a, b}); }
inline X operator-(X a, X b) { return emit(Op::subtract, {a, b}); }
inline X operator*(X a, X b) { return emit(Op::multiply, {a, b}); }
inline X operator/(X a, X b) { return emit(Op::divide, {a, b}); }
inline X neg(X a) { return emit(Op::negative, {a}); }

/// The call that a rule differentiates: `op` with operands and results of the forward side, the results' gradients, and where the
/// operands' gradients go.
class RuleCall {
 public:
  virtual ~RuleCall() = default;
  RuleCall(Adjoint& a, Op op, const Attrs& attrs) : a(a), op(op), attrs(attrs) {}

  Adjoint& a;
  Op op;
  const Attrs& attrs;

  virtual size_t operand_count() const = 0;
  virtual size_t result_count() const = 0;
  virtual const ir::Type& operand_type(size_t i) const = 0;
  virtual const ir::Type& result_type(size_t i) const = 0;
  /// Whether operands i and j are one value.
  virtual bool same_operand(size_t i, size_t j) const = 0;
  /// Whether operand i stands among those from `first` on before it.
  bool repeated(size_t i, size_t first = 0) const {
    for (size_t j = first; j < i; ++j) {
      if (same_operand(i, j)) return true;
    }
    return false;
  }
  /// The sum that operand i's gradients are added to one by one (see kEmptySum), and putting back what it became. A value that is an
  /// operand twice has one such sum; what its other places get is added at the end.
  X sum_so_far(size_t i, size_t first = 0);
  void put_sum(size_t i, const Sum& sum, size_t first = 0);
  /// Whether anybody asks for this operand's gradient.
  virtual bool wanted(size_t i) const = 0;
  /// What has been added up for result i.
  virtual const Sum& flowing(size_t i) const = 0;
  /// Whether any result has a gradient. Only there what a rule gives means anything.
  const Presence& own() const { return own_; }
  /// The gradient of result i where any has one; empty: nothing flows into it.
  X g(size_t i) const;
  X g() const { return g(0); }

  // Forward values. Each one read may have to be kept until now: read only what the formula needs.
  virtual X x(size_t i) = 0;
  virtual X r(size_t i) = 0;
  X x() { return x(0); }
  X r() { return r(0); }
  /// The sizes of an operand or result as an int32 vector: a constant where they are known, never the whole value.
  virtual X x_shape(size_t i) = 0;
  virtual X r_shape(size_t i) = 0;

  /// Adds to the gradient of operand i; where not always, then where `present` holds, too.
  void give(size_t i, X gradient, const Presence& present = Presence::always());
  /// The gradient of operand i that is an array, of which `elements` says which of its elements are there; empty: those of all results.
  void give_array(size_t i, X gradient, X elements);
  /// What has been added up for operand i so far, and putting something else in its place.
  virtual Sum gathered(size_t i) const = 0;
  virtual void put(size_t i, Sum sum) = 0;
  /// The same where any result has a gradient; elsewhere it stays as it was.
  void replace(size_t i, const Sum& sum);
  /// The number of elements of an operand or result that is an array.
  virtual X x_size(size_t i) = 0;
  virtual X r_size(size_t i) = 0;
  /// The same as rows `values` at `indices` of axis 0, zero elsewhere.
  virtual void give_rows(size_t i, X values, X indices) = 0;
  /// A gradient of the result's shape for an operand that was broadcast to it.
  void give_unbroadcast(size_t i, X gradient);
  /// The node of an operation with regions or a callee; null otherwise.
  virtual ir::Node* node() const { return nullptr; }

  /// `p`, and the region around runs for a purpose.
  Presence running(const Presence& p) const;

 protected:
  /// To be called when flowing() can be.
  void find_own();

 private:
  bool adds_to_array() const;
  Sum with_elements(size_t i, Sum array) const;
  Presence own_ = Presence::always();
};

/// An array of `size` elements of this type of which none is written.
X zero_array(const TensorType& element, const X& size);
/// Zeros with the sizes of operand i or result i; of an array: one with no element written.
X zeros_of_x(RuleCall& c, size_t i, double zero = 0.0);
X zeros_of_r(RuleCall& c, size_t i, double zero = 0.0);
/// g(i), or zeros when nothing flows into result i.
X g_or_zeros(RuleCall& c, size_t i);
inline bool known(const TensorType& t) {
  if (!t.ranked) return false;
  for (int64_t d : t.dims) {
    if (d < 0) return false;
  }
  return true;
}

}  // namespace tfl::gradient
