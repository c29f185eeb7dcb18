// The dataflow graph: functions made of blocks made of nodes. Program order in a block is dominance order and the order of
// effects. Regions (the blocks of cond, switch_case and while_loop) are closed: what they use comes in as operands of their node.
// This header must not know how a graph is made from a script, nor how it is run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ir/type.h"

namespace tfl::ir {

struct Node;
struct Block;
struct Function;
struct Native;

/// Result `index` of `node`; a block's parameters are nodes of Op::parameter.
struct Ref {
  Node* node = nullptr;
  uint32_t index = 0;
  bool operator==(const Ref&) const = default;
  explicit operator bool() const { return node != nullptr; }
  const Type& type() const;
};

/// Where an operation stands in the user's script. Line and end_line count from 1, columns from 0.
struct Location {
  std::string file;
  std::string function;  // the qualified name of the function it stands in
  uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
  uint32_t caller = 0;                 // location of the call that led here while tracing; 0: none
  std::shared_ptr<const void> source;  // the front end's source text, for tracebacks; may be null
  bool operator==(const Location&) const = default;
};

/// Locations by number; 0 is "unknown". One table serves a function and everything traced inside it.
class Locations {
 public:
  uint32_t add(Location l);  // equal ones get one number
  const Location& operator[](uint32_t i) const { return items_[i]; }
  size_t size() const { return items_.size(); }

 private:
  std::vector<Location> items_ = {Location{}};
};

struct Node {
  Op op;
  SmallVec<Ref, 2> operands;
  Attrs attrs;
  std::vector<Type> types;  // of the results
  std::vector<std::unique_ptr<Block>> regions;
  std::shared_ptr<Function> callee;  // of a call; a function that calls itself: `recursive` instead
  Function* recursive = nullptr;     // not owned: a function around or above this node
  Tensor constant;                   // of a constant
  std::string name;                  // as TensorFlow names it: "add", "MatMul_1", "while"; unique in its block
  std::string variable;              // the user's name for the first result, where there is one: "total"
  uint32_t location = 0;             // in Function::locations
  Block* block = nullptr;            // where it stands
  uint32_t id = 0;                   // scratch for passes; no meaning between them

  Function* target() const { return callee ? callee.get() : recursive; }
};

inline const Type& Ref::type() const { return node->types[index]; }

/// Parameters, then nodes in program order, then the values it gives.
struct Block {
  std::vector<std::unique_ptr<Node>> params;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<Ref> results;
  Function* function = nullptr;
  Node* owner = nullptr;  // the node this is a region of; null: the body of `function`

  Ref param(size_t i) const { return {params[i].get(), 0}; }
  Ref add_param(Type type, std::string name);
  /// Appends a node; `operands` must be values of this block.
  Node* add(Op op, std::vector<Ref> operands, Attrs attrs, std::vector<Type> types);
};

struct Function {
  std::string name;
  Block body;
  std::vector<std::string> symbols;       // names of symbolic dimensions
  std::vector<std::string> result_names;  // optional
  std::shared_ptr<Locations> locations = std::make_shared<Locations>();
  /// Written by prune(): what non-strict execution left out, for `tfl explain`; and whether it was asked to leave nothing out.
  std::vector<std::string> dropped;
  bool strict = false;
  /// Machine code that the evaluator asks for where the function is called; null: there will be none.
  std::shared_ptr<Native> native;

  Function() { body.function = this; }
  Function(const Function&) = delete;
  Function& operator=(const Function&) = delete;
};

/// What running a node may do besides giving its results. Of a node with regions or a callee: what anything inside may do.
struct Effects {
  bool reads = false;   // looks at something that another node may change (a variable, a random stream)
  bool writes = false;  // changes it, prints, or calls the host: must stay, in order
  bool fails = false;   // may raise; dropped when nothing needs its results, unless it is a check
  bool removable() const { return !writes; }
};
Effects effects_of(const Node& node);

/// The same attributes with another value of one.
Attrs with_int(const Attrs& attrs, Attr name, int64_t value);
Attrs with_ints(const Attrs& attrs, Attr name, Dims values);
/// Every node of a block, regions included, in program order.
void walk(Block& block, const std::function<void(Node&)>& visit);
void walk(const Block& block, const std::function<void(const Node&)>& visit);
size_t node_count(const Function& f);  // constants, nodes and nodes of regions; parameters not
/// Replaces each use of `from` in `block` (operands and results; regions are closed and need no look).
void replace_uses(Block& block, Ref from, Ref to);
/// Removes what neither results nor effects need (architecture, decision 6). `strict` keeps everything that may fail.
void prune(Function& f, bool strict = false);
/// A copy that shares nothing but constants, callees and locations.
std::shared_ptr<Function> clone(const Function& f);
/// A copy of a region for another owner, maybe in another function.
std::unique_ptr<Block> clone_region(const Block& from, Node* owner, Function* function);
/// Copies the nodes of `from` to the end of `to`; `arguments` take the place of from's parameters; gives from's results.
std::vector<Ref> inline_block(const Block& from, Block& to, std::vector<Ref> arguments);

}  // namespace tfl::ir
