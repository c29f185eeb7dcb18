// What clusters are made of while they are found: what is known of each node of a block, and the functions under construction. For
// outline.cpp alone.
#pragma once

#include <unordered_map>
#include <vector>

#include "codegen/plan/native_ops.h"
#include "ir/ref_map.h"
#include "runtime/ops/facts.h"

namespace tfl::plan {

enum class Role : uint8_t {
  outside,   // stays a node
  inside,    // belongs to the cluster of its level
  constant,  // is copied where it is used
  words,     // words what a failed check says: is copied into the clusters of checks, and stays where others use it
};

struct Info {
  Role role = Role::outside;
  bool ordered = false;   // may fail, or has an effect
  bool rootless = false;  // computed from parameters and constants alone, and free to move
  int level = 0;          // inside: of its cluster
  int after = 0;          // outside: it stands behind the cluster of the level before
};

inline size_t work_of(const ir::Node& n) {
  const OpFacts& facts = op_facts(n.op);
  if (is_view(n.op) || facts.follows == Follows::types || facts.variable || n.op == Op::constant) return 0;
  size_t work = 1;
  for (const auto& region : n.regions) {
    for (const auto& inner : region->nodes) work += work_of(*inner);
  }
  return n.op == Op::while_loop ? work + 1 : work;
}

// A cluster under construction: a function that copies of nodes are put into.
struct Cluster {
  int level = 0;
  std::shared_ptr<ir::Function> function;
  std::unordered_map<const ir::Node*, ir::Node*> copies;
  std::vector<ir::Ref> inputs;                                   // what its parameters stand for
  std::vector<ir::Ref> outputs;                                  // whose copies are its results
  ir::RefMap<bool> sizes;                                        // values that its nodes take as sizes
  std::unordered_map<const ir::Node*, const ir::Node*> origins;  // of copies, not of what lies in their regions
};

}  // namespace tfl::plan
