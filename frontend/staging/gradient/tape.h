// The gradient tape: a sink that hands operations on and records those that depend on what is watched. It stands in the chain of
// sinks (Interp::sink) while it records; under it is another tape, the tracer, or nothing, which is eager execution.
// What is recorded is differentiated by the rules of ir/gradient.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "frontend/core/concrete.h"
#include "frontend/core/tensor_api.h"
#include "ir/gradient/function.h"

namespace tfl {

/// What a gradient is asked of: a tensor by its representation, a symbolic value by its node, a variable by where its value is kept.
struct TapeKey {
  const void* object = nullptr;
  uint32_t index = 0;
  bool operator==(const TapeKey&) const = default;
};
struct TapeKeyHash {
  size_t operator()(const TapeKey& k) const { return std::hash<const void*>()(k.object) * 31 + k.index; }
};
TapeKey tape_key(const Value& v);

/// A traced function as it runs under a tape: made once for each set of operands that are watched.
struct DerivedCall {
  std::vector<bool> wanted;
  std::vector<size_t> first_of;  // operands that are one value
  bool closed = false;           // what is kept stands once among the results, and may be one of the function's own
  size_t results = 0;            // those that a gradient may flow into; the others are what the backward function reads
  std::shared_ptr<const gradient::Derivative> derivative;
  FunctionCall forward, backward;
};

/// One recorded step, in order.
struct TapeRecord {
  enum class Kind : uint8_t {
    Operation,  // op and attrs
    Node,       // control flow in a graph: node
    Call,       // a traced function that ran: derived; results and then what it kept
    Read,       // a variable's value
    Custom,     // tf.custom_gradient: backward
  };
  Kind kind;
  Op op = Op::identity;
  Attrs attrs;
  ir::Node* node = nullptr;
  std::shared_ptr<const DerivedCall> derived;
  Value backward;
  std::vector<Value> operands, results;
  std::vector<ir::Ref> refs;  // of a node: its operands when it was recorded; a gradient may have given it more since
};

struct Tape final : Sink {
  bool persistent = false;
  bool watch_variables = true;
  bool recording = false;  // in the chain and not stopped
  bool in_chain = false;
  bool used = false;  // a tape that is not persistent gives one gradient
  std::vector<TapeRecord> records;
  struct Mark {
    const void* owner;
    uint32_t number;
    size_t place;  // in records
    std::vector<Value> values;
  };
  std::vector<Mark> marks;
  std::unordered_set<TapeKey, TapeKeyHash> tracked;
  std::unordered_set<const void*> nodes;  // those recorded: a gradient may give them more results, which are tracked, too
  std::vector<Value> watched;             // tensors, kept so that their keys stay theirs
  std::vector<Value> watched_variables;   // in the order they were met

  Result<void> apply(Interp&, Op op, std::span<const Value> operands, const Attrs& attrs, SmallVec<Value, 2>& results) override;
  void mark(const void* owner, uint32_t number) override;
  std::vector<Value>* marked(const void* owner, uint32_t number) override;
  bool older(const Value& v, const void* owner, uint32_t number) const override;
  void forget(const void* owner, uint32_t number) override;
  Result<Value> read_variable(Interp&, VariableObject* v) override;
  Result<void> assign_variable(Interp&, VariableObject* v, Assignment how, const Value& value) override;
  void node_made(Interp&, std::span<const Value> operands, ir::Node* node, std::span<const Value> results) override;
  Result<void> call(Interp&, const FunctionCall& call, std::span<const Value> operands, SmallVec<Value, 2>& results) override;

  bool is_tracked(const Value& v) const;
  bool any_tracked(std::span<const Value> values) const;
  void watch(const Value& v);
  /// A trainable variable was used: it is watched from now on, if this tape watches variables by itself.
  void meet_variable(VariableObject* v);
  void record(TapeRecord record);
  void reset();
};

/// The next tape of the chain that records, from `sink` on; null: none.
Tape* recording_tape(Sink* sink);

struct GradientQuery {
  std::vector<Value> targets, sources, seeds;  // seeds: one a target, None for ones
  bool only_watched =
      false;  // sources that the tape was not told of have none, though they stand beside others in what was recorded
};
/// One gradient a source: a tensor, an instance of IndexedSlices made by `make_slices(values, indices, shape)`, or None.
Result<std::vector<Value>> tape_gradient(Interp&, Tape& tape, const GradientQuery& query, const Value& make_slices);

}  // namespace tfl
