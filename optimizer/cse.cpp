// Equal operations on equal operands become one: in a block, and from a region to the block around it (the value comes in as one
// more input). Reads of a variable are equal as long as nothing may have written between them; what was just assigned is read back.
//
//   %a = exp(%x) : f32
//   %b = exp(%x) : f32
//   %c = cond(%p, %x) : f32 then (%y: f32) { %d = exp(%y) : f32 yield %d } else ...
// becomes
//   %a = exp(%x) : f32
//   %c = cond(%p, %x, %a) : f32 then (%y: f32, %d: f32) { yield %d } else ...
#include <cstring>
#include <unordered_map>

#include "optimizer/pass.h"
#include "optimizer/rewrite.h"
#include "runtime/ops/facts.h"

namespace tfl::optimizer {

namespace {

constexpr size_t kMostConstantBytes = 4096;  // larger constants are equal only when they are the same tensor

size_t mix(size_t h, size_t v) { return (h ^ v) * 0x9e3779b97f4a7c15u + (h >> 29); }

size_t hash_constant(const Tensor& t) {
  size_t h = mix(static_cast<size_t>(t.dtype()), static_cast<size_t>(t.size()));
  if (t.dtype() == DType::String || !t.contiguous() || t.bytes() > kMostConstantBytes) return h;
  for (size_t i = 0; i < t.bytes() && i < 64; ++i) h = mix(h, static_cast<size_t>(t.raw()[i]));
  return h;
}

bool equal_constants(const Tensor& a, const Tensor& b) {
  if (a.same_object(b)) return true;
  if (a.dtype() != b.dtype() || !std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(), b.dims().end())) return false;
  if (!a.contiguous() || !b.contiguous()) return false;
  if (a.dtype() == DType::String) {
    for (int64_t i = 0; i < a.size(); ++i) {
      if (a.data<std::string>()[i] != b.data<std::string>()[i]) return false;
    }
    return a.size() < 64;
  }
  return a.bytes() <= kMostConstantBytes && (a.bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

bool depends_on_operands(const Node& n) { return op_facts(n.op).by_operands || (is_pure(n) && !n.types.empty()); }

class Table {
 public:
  // What a block knows of the one around it: null outside of regions.
  Table(Table* outer, Node* owner, size_t which, Block& block) : outer_(outer), owner_(owner), which_(which), block_(block) {}

  Node* find(const Node& n, std::span<const Ref> operands) const {
    auto [from, to] = nodes_.equal_range(hash(n, operands));
    for (auto it = from; it != to; ++it) {
      const Node& m = *it->second;
      if (m.op != n.op || m.operands.size() != operands.size() ||
          !std::equal(operands.begin(), operands.end(), m.operands.begin()))
        continue;
      if (n.op == Op::constant ? equal_constants(n.constant, m.constant) : n.attrs == m.attrs) return it->second;
    }
    return nullptr;
  }
  void add(Node& n) { nodes_.emplace(hash(n, n.operands), &n); }

  // The node around this block that computes what `n` computes: result 0, as a value of this block.
  Ref find_outside(const Node& n) {
    if (!outer_ || n.op == Op::constant || n.types.size() != 1 || n.operands.empty()) return {};
    SmallVec<Ref, 4> operands;
    for (Ref r : n.operands) {
      Ref outside = outside_of(r);
      if (!outside) return {};
      operands.push_back(outside);
    }
    Node* found = outer_->find(n, operands);
    return found ? bring_in({found, 0}) : Ref();
  }

  // Reads of variables, between two writes.
  Ref known_read(Ref variable) const {
    for (const auto& [v, value] : reads_) {
      if (v == variable) return value;
    }
    return {};
  }
  void note_read(Ref variable, Ref value) { reads_.emplace_back(variable, value); }
  void forget_reads() { reads_.clear(); }

 private:
  static size_t hash(const Node& n, std::span<const Ref> operands) {
    size_t h = static_cast<size_t>(n.op);
    for (Ref r : operands) h = mix(h, reinterpret_cast<size_t>(r.node) + r.index);
    for (const AttrValue& v : n.attrs.items()) h = mix(h, static_cast<size_t>(v.name) * 31 + static_cast<size_t>(v.integer));
    return n.op == Op::constant ? mix(h, hash_constant(n.constant)) : h;
  }

  Ref outside_of(Ref r) const {
    if (r.node->op == Op::constant) {
      Node* same = outer_->find(*r.node, {});
      return same ? Ref{same, 0} : Ref();
    }
    for (size_t i = variable_count(*owner_); i < block_.params.size(); ++i) {
      if (block_.params[i].get() == r.node) return owner_->operands[inputs_from(*owner_) + i];
    }
    return {};
  }

  Ref bring_in(Ref value) {
    for (size_t i = variable_count(*owner_); i < block_.params.size(); ++i) {
      if (owner_->operands[inputs_from(*owner_) + i] == value) return block_.param(i);
    }
    return add_region_input(*owner_, value, which_);
  }

  Table* outer_;
  Node* owner_;
  size_t which_;
  Block& block_;
  std::unordered_multimap<size_t, Node*> nodes_;
  std::vector<std::pair<Ref, Ref>> reads_;
};

class Cse {
 public:
  explicit Cse(PassCall& call) : call_(call) {}

  void block(Block& b, Table* outer, Node* owner, size_t which) {
    Table table(outer, owner, which, b);
    Rewriter rewriter(b);
    rewriter.run([&](Node& n) { return visit(n, table, rewriter); });
    call_.changed |= rewriter.changed();
  }

 private:
  bool visit(Node& n, Table& table, Rewriter& rewriter) {
    if (n.op == Op::read_variable) {
      if (Ref known = table.known_read(n.operands[0])) {
        rewriter.replace({&n, 0}, known);
        return false;
      }
      table.note_read(n.operands[0], {&n, 0});
      return true;
    }
    if (!depends_on_operands(n)) {
      for (size_t i = 0; i < n.regions.size(); ++i) block(*n.regions[i], &table, &n, i);
      if (n.op != Op::print && n.op != Op::check && effects_of(n).writes) table.forget_reads();
      if (n.op == Op::assign_variable && n.operands[1].type().is_tensor()) table.note_read(n.operands[0], n.operands[1]);
      return true;
    }
    if (Node* same = table.find(n, n.operands)) {
      for (uint32_t i = 0; i < n.types.size(); ++i) rewriter.replace({&n, i}, {same, i});
      return false;
    }
    if (Ref outside = table.find_outside(n)) {
      rewriter.replace({&n, 0}, outside);
      return false;
    }
    table.add(n);
    return true;
  }

  PassCall& call_;
};

}  // namespace

void run_cse(PassCall& call) { Cse(call).block(call.function.body, nullptr, nullptr, 0); }

}  // namespace tfl::optimizer
