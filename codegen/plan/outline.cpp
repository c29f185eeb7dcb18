// Nodes are given levels: a native node stands on the level of its operands, any other on the next one. What has an effect or may
// fail keeps its order by never standing below its predecessors. The native nodes of one level are a cluster, which no path
// leaves and enters again.
//
//   %a = multiply(%x, %w) : f32[n]
//   %b = add(%a, %y) : f32[n]
//   print(%text)
//   %c = exp(%b) : f32[n]
// becomes (`exp` cannot fail and needs nothing of what is printed)
//   %c = call @f.0(%x, %w, %y) : f32[n]
//   print(%text)
#include "codegen/plan/outline.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "codegen/plan/arrays.h"
#include "codegen/plan/build.h"
#include "codegen/plan/cluster_parts.h"
#include "codegen/plan/native_ops.h"
#include "codegen/plan/shapes.h"

namespace tfl::plan {

namespace {

using ir::Node;
using ir::Ref;
using IrBlock = ir::Block;

constexpr int kTries = 8;  // before all nodes of a block whose sizes do not follow stay where they are
constexpr int kLastLevel = INT32_MAX;

class Outliner {
 public:
  using Made = std::function<void(const std::shared_ptr<ir::Function>&)>;
  Outliner(Context& context, ir::Function& f, const Made& made, bool values_as_sizes)
      : context_(context), f_(f), made_(made), values_as_sizes_(values_as_sizes) {}

  void block(IrBlock& b) {
    for (auto& n : b.nodes) {
      if (n->regions.empty() || native(*n)) continue;
      for (auto& region : n->regions) block(*region);
    }
    refused_.clear();
    for (int i = 0; i <= kTries; ++i) {
      clusters_.clear();
      find(b);
      if (!build(b)) continue;
      if (!clusters_.empty()) rewrite(b);
      break;
    }
    std::unordered_set<const Node*> refused = std::move(refused_);
    for (size_t i = 0; i < b.nodes.size(); ++i) {
      if (!refused.contains(b.nodes[i].get())) continue;
      for (auto& region : b.nodes[i]->regions) block(*region);
    }
  }

 private:
  Info& info(const Node* n) { return infos_[n->id]; }

  bool native(const Node& n) {
    // Who only reads variables is better called with what they hold.
    if (op_facts(n.op).variable && !assigns_) return false;
    if (!values_as_sizes_) return is_native(context_, n);
    SizeValues values;
    bool yes = is_native(context_, n, values);
    if (yes && !values.all.empty()) sizes_of_[&n] = std::move(values);
    return yes;
  }

  // Roles and levels.

  void find(IrBlock& b) {
    infos_.assign(b.nodes.size(), {});
    assigns_ = std::any_of(b.nodes.begin(), b.nodes.end(), [](const auto& n) { return n->op == Op::assign_variable; });
    for (uint32_t i = 0; i < b.nodes.size(); ++i) b.nodes[i]->id = i;
    growing_ = growing_arrays(b);
    roles(b);
    users(b);
    drop_bare_views(b);
    levels(b);
    sink(b);
  }

  void roles(IrBlock& b) {
    std::unordered_set<const Node*> needed = needed_nodes(b);
    for (auto& n : b.nodes) {
      Info& x = info(n.get());
      ir::Effects e = ir::effects_of(*n);
      x.ordered = e.writes || (e.fails && n->op != Op::read_variable) || n->op == Op::while_loop;
      if (n->op == Op::constant)
        x.role = Role::constant;
      else if (!needed.contains(n.get()))
        x.role = Role::words;
      else if (!refused_.contains(n.get()) && !has_its_length(*n, growing_) && native(*n) &&
               (n->op != Op::check || n->operands.size() < 2 || words_fit(n->operands[1])))
        x.role = Role::inside;
    }
  }

  // A message goes along when what it shows are values that a cluster may take.
  bool words_fit(Ref r) {
    if (r.node->op == Op::constant) return true;
    if (r.node->op == Op::parameter || info(r.node).role != Role::words) return is_tensor_of_numbers(r.type());
    for (Ref o : r.node->operands) {
      if (!words_fit(o)) return false;
    }
    return true;
  }

  void users(IrBlock& b) {
    users_.assign(b.nodes.size(), {});
    given_.assign(b.nodes.size(), false);
    for (auto& n : b.nodes) {
      for (Ref r : n->operands) {
        if (r.node->op != Op::parameter) users_[r.node->id].push_back(n.get());
      }
    }
    for (Ref r : b.results) {
      if (r.node->op != Op::parameter) given_[r.node->id] = true;
    }
  }

  // A view of what no cluster computes, for nobody inside of one, is better left a view than copied.
  void drop_bare_views(IrBlock& b) {
    for (auto& n : b.nodes) {
      Info& x = info(n.get());
      if (x.role != Role::inside || !is_view(n->op)) continue;
      const Node* from = n->operands[0].node;
      x.rootless = from->op == Op::parameter || info(from).role == Role::outside || (is_view(from->op) && info(from).rootless);
    }
    for (size_t i = b.nodes.size(); i-- > 0;) {
      Info& x = infos_[i];
      if (!x.rootless) continue;
      bool needed_inside = false;
      for (const Node* u : users_[i]) needed_inside = needed_inside || info(u).role == Role::inside;
      if (!needed_inside) x.role = Role::outside;
    }
    for (Info& x : infos_) x.rootless = false;
  }

  void levels(IrBlock& b) {
    // The first level that is left to nodes in clusters and to others: to what keeps its order, behind writes of variables and
    // the like, behind their reads.
    struct First {
      int inside = 0, outside = 0;
      void behind_cluster(int level) {
        inside = std::max(inside, level);
        outside = std::max(outside, level + 1);
      }
      void behind_node(int after) {
        inside = std::max(inside, after);
        outside = std::max(outside, after);
      }
    };
    First order, written, read;
    for (auto& n : b.nodes) {
      Info& x = info(n.get());
      bool rootless = true;
      for (size_t i = 0; i < n->operands.size(); ++i) {
        const Node* from = n->operands[i].node;
        if (from->op == Op::parameter) continue;
        const Info& y = info(from);
        bool known_outside = y.role == Role::outside;
        if (y.role == Role::constant) continue;
        rootless = rootless && y.rootless;
        x.level = std::max(x.level, known_outside ? y.after : y.level);
        x.after = std::max(x.after, y.role == Role::inside ? y.level + 1 : y.after);
      }
      if (x.role == Role::inside) {
        if (auto sizes = sizes_of_.find(n.get()); sizes != sizes_of_.end()) {
          // They are inputs of the cluster.
          for (Ref r : sizes->second.given) {
            if (r.node->op == Op::parameter) continue;
            const Info& y = info(r.node);
            x.level = std::max(x.level, y.role == Role::outside ? y.after : y.level + 1);
          }
        }
        const bool variables = uses_variables(*n);
        x.rootless = rootless && !x.ordered && !variables;
        if (x.ordered) x.level = std::max(x.level, order.inside);
        if (variables) {
          bool writes = ir::effects_of(*n).writes;
          x.level = std::max({x.level, written.inside, writes ? read.inside : 0});
          if (writes) written.behind_cluster(x.level);
          read.behind_cluster(x.level);
        }
        if (x.ordered) order.behind_cluster(x.level);
      } else if (x.role == Role::outside) {
        ir::Effects e = ir::effects_of(*n);
        if (e.reads) x.after = std::max(x.after, written.outside);
        if (x.ordered && n->op != Op::read_variable) {
          x.after = std::max(x.after, order.outside);
          if (e.writes) x.after = std::max({x.after, written.outside, read.outside});
          order.behind_node(x.after);
        }
        if (e.writes) written.behind_node(x.after);
        if (e.reads) read.behind_node(x.after);
      }
    }
  }

  // What is needed on a later level alone, and could be computed on any, moves there with what it is made of.
  void sink(IrBlock& b) {
    std::vector<int> before(b.nodes.size(), kLastLevel);  // the last level at which it can be a size
    for (size_t i = b.nodes.size(); i-- > 0;) {
      Info& x = infos_[i];
      if (x.role != Role::inside) continue;
      sink(x, i, before[i]);
      auto sizes = sizes_of_.find(b.nodes[i].get());
      if (sizes == sizes_of_.end()) continue;
      for (Ref r : sizes->second.given) {
        if (r.node->op != Op::parameter) before[r.node->id] = std::min(before[r.node->id], x.level - 1);
      }
    }
  }

  void sink(Info& x, size_t i, int first) {
    if (!x.rootless || given_[i]) return;
    for (const Node* u : users_[i]) {
      const Info& y = info(u);
      first = std::min(first, y.role == Role::outside ? y.after - 1
                              : y.role == Role::words ? std::min(y.level, y.after - 1)
                                                      : y.level);
    }
    if (first != kLastLevel) x.level = std::max(x.level, first);
  }

  // Building clusters.

  bool build(IrBlock& b) {
    int last = 0;
    for (Info& x : infos_) last = std::max(last, x.level);
    std::vector<size_t> work(static_cast<size_t>(last) + 1, 0);
    bool all = &b == &f_.body;
    for (auto& n : b.nodes) {
      const Info& x = info(n.get());
      if (x.role == Role::inside)
        work[static_cast<size_t>(x.level)] += work_of(*n);
      else if (x.role == Role::outside)
        all = false;
    }
    all = all && last == 0;
    for (int level = 0; level <= last; ++level) {
      if (work[static_cast<size_t>(level)] >= (all ? 1 : 2)) begin(level);
    }
    for (auto& n : b.nodes) {
      Info& x = info(n.get());
      if (x.role != Role::inside) continue;
      if (Cluster* c = cluster_of(n.get())) copy(*c, *n);
    }
    outputs(b);
    for (Cluster& c : clusters_) {
      for (size_t i = 0; i < c.inputs.size(); ++i) {
        if (c.sizes.contains(c.inputs[i])) c.function->body.params[i]->attrs.set_bool(Attr::size, true);
      }
      drop_unused(*c.function);
      if (!check(c, b)) return false;
    }
    return true;
  }

  void begin(int level) {
    Cluster c;
    c.level = level;
    c.function = std::make_shared<ir::Function>();
    c.function->name = f_.name;
    c.function->symbols = f_.symbols;
    c.function->locations = f_.locations;
    clusters_.push_back(std::move(c));
  }

  Cluster* cluster_at(int level) {
    for (Cluster& c : clusters_) {
      if (c.level == level) return &c;
    }
    return nullptr;
  }
  Cluster* cluster_of(const Node* n) {
    const Info& x = info(n);
    return n->op != Op::parameter && x.role == Role::inside ? cluster_at(x.level) : nullptr;
  }

  // The value in the cluster's function: a copy, or a parameter.
  Ref value(Cluster& c, Ref r) {
    if (auto found = c.copies.find(r.node); found != c.copies.end()) return {found->second, r.index};
    if (r.node->op != Op::parameter) {
      const Info& x = info(r.node);
      if (x.role == Role::constant || x.role == Role::words) return {copy(c, *r.node), r.index};
      // Sizes are computed where they are used, so that they follow from those of the cluster's inputs.
      if (x.role == Role::inside && is_integer(r.type().tensor.dtype) && follows_from_sizes(context_, r))
        return {copy(c, *r.node), r.index};
    }
    return parameter(c, r);
  }

  Ref parameter(Cluster& c, Ref r) {
    for (size_t i = 0; i < c.inputs.size(); ++i) {
      if (c.inputs[i] == r) return c.function->body.param(i);
    }
    c.inputs.push_back(r);
    Ref p = c.function->body.add_param(r.type(), r.node->name);
    p.node->variable = r.node->variable;
    p.node->location = r.node->location;
    return p;
  }

  Node* copy(Cluster& c, const Node& n) {
    if (auto found = c.copies.find(&n); found != c.copies.end()) return found->second;
    auto made = std::make_unique<Node>();
    made->op = n.op;
    for (Ref r : n.operands) made->operands.push_back(value(c, r));
    made->attrs = n.attrs;
    made->types = n.types;
    made->constant = n.constant;
    made->name = n.name;
    made->variable = n.variable;
    made->location = n.location;
    made->block = &c.function->body;
    for (const auto& region : n.regions) made->regions.push_back(ir::clone_region(*region, made.get(), c.function.get()));
    Node* at = made.get();
    c.copies[&n] = at;
    c.origins[at] = &n;
    if (auto sizes = sizes_of_.find(&n); sizes != sizes_of_.end()) {
      for (Ref r : sizes->second.all) c.sizes[r] = true;
    }
    c.function->body.nodes.push_back(std::move(made));
    return at;
  }

  // Results are what others take: clusters, nodes that stay, the block.
  void outputs(IrBlock& b) {
    auto wanted = [&](Ref r) {
      if (r.node->op == Op::parameter) return;
      Cluster* c = cluster_of(r.node);
      if (c && std::find(c->outputs.begin(), c->outputs.end(), r) == c->outputs.end()) c->outputs.push_back(r);
    };
    for (Cluster& c : clusters_) {
      for (Ref r : c.inputs) wanted(r);
    }
    for (auto& n : b.nodes) {
      if (cluster_of(n.get()) || !stays(n.get())) continue;
      for (Ref r : n->operands) wanted(r);
    }
    for (Ref r : b.results) wanted(r);
    for (Cluster& c : clusters_) {
      std::stable_sort(c.outputs.begin(), c.outputs.end(),
                       [](Ref x, Ref y) { return x.node->id != y.node->id ? x.node->id < y.node->id : x.index < y.index; });
      for (Ref r : c.outputs) c.function->body.results.push_back({c.copies[r.node], r.index});
    }
  }

  // Words stay for those of their users that stay.
  bool stays(const Node* n) {
    const Info& x = info(n);
    if (x.role == Role::outside || x.role == Role::constant) return true;
    if (x.role == Role::inside) return !cluster_of(n);
    if (given_[n->id]) return true;
    for (const Node* u : users_[n->id]) {
      if (info(u).role == Role::inside ? !cluster_of(u) : stays(u)) return true;
    }
    return false;
  }

  static void drop_unused(ir::Function& f) {
    std::unordered_set<const Node*> used;
    for (Ref r : f.body.results) used.insert(r.node);
    for (size_t i = f.body.nodes.size(); i-- > 0;) {
      Node& n = *f.body.nodes[i];
      ir::Effects e = ir::effects_of(n);
      if (used.contains(&n) || e.writes || e.fails) {
        for (Ref r : n.operands) used.insert(r.node);
      } else {
        f.body.nodes[i].reset();
      }
    }
    std::erase_if(f.body.nodes, [](const auto& n) { return !n; });
  }

  // Whether all sizes follow; a node where they do not is left out the next time.
  bool check(Cluster& c, IrBlock& b) {
    Plan plan;
    const Node* culprit = nullptr;
    std::shared_ptr<const ir::Function> tensors = of_tensors(context_, *c.function, !values_as_sizes_);
    bool same = tensors.get() == c.function.get();
    if (tensors && Shapes::of(context_, *tensors, plan, same ? &culprit : nullptr)) return true;
    if (!same) {
      // Arrays and variables stay the evaluator's; arrays that grow before others.
      bool any = false;
      for (auto& n : b.nodes) {
        if (cluster_of(n.get()) != &c || !touches_growing(*n, growing_)) continue;
        refused_.insert(n.get());
        any = true;
      }
      for (auto& n : b.nodes) {
        if (!any && cluster_of(n.get()) == &c && (has_arrays(*n) || uses_variables(*n))) refused_.insert(n.get());
      }
      return false;
    }
    while (culprit && culprit->block && culprit->block->owner) culprit = culprit->block->owner;
    auto origin = c.origins.find(culprit);
    if (origin != c.origins.end() && info(origin->second).role == Role::inside) {
      refused_.insert(origin->second);
      return false;
    }
    for (auto& n : b.nodes) {
      if (cluster_of(n.get()) == &c) refused_.insert(n.get());
    }
    return false;
  }

  // The block with calls in the places of clusters.

  void rewrite(IrBlock& b) {
    std::vector<std::unique_ptr<Node>> old = std::move(b.nodes);
    b.nodes.clear();
    int last = 0;
    for (const Info& x : infos_) last = std::max({last, x.level, x.after});
    std::vector<std::vector<size_t>> standing(static_cast<size_t>(last) + 1), moving(static_cast<size_t>(last) + 1);
    for (size_t i = 0; i < old.size(); ++i) {
      const Info& x = infos_[i];
      if (x.role == Role::inside)
        moving[static_cast<size_t>(x.level)].push_back(i);
      else if (stays(old[i].get()))
        standing[static_cast<size_t>(x.role == Role::constant ? 0 : x.after)].push_back(i);
    }
    std::unordered_map<const Node*, std::vector<Ref>> now;  // results of nodes that are in clusters
    auto resolve = [&](Ref& r) {
      auto found = now.find(r.node);
      if (found != now.end()) r = found->second[r.index];
    };
    auto put = [&](std::unique_ptr<Node> n) {
      for (Ref& r : n->operands) resolve(r);
      b.nodes.push_back(std::move(n));
    };
    for (size_t level = 0; level <= static_cast<size_t>(last); ++level) {
      for (size_t i : standing[level]) put(std::move(old[i]));
      Cluster* c = cluster_at(static_cast<int>(level));
      if (!c) {
        for (size_t i : moving[level]) put(std::move(old[i]));
        continue;
      }
      std::vector<ir::Type> types;
      for (Ref r : c->outputs) types.push_back(r.type());
      auto call = std::make_unique<Node>();
      call->op = Op::call;
      for (Ref r : c->inputs) call->operands.push_back(r);
      call->types = std::move(types);
      call->callee = c->function;
      call->location = old[moving[level][0]]->location;
      call->block = &b;
      for (uint32_t i = 0; i < c->outputs.size(); ++i) {
        std::vector<Ref>& to = now[c->outputs[i].node];
        to.resize(c->outputs[i].node->types.size());
        to[c->outputs[i].index] = {call.get(), i};
      }
      put(std::move(call));
      c->function->name = fmt::format("{}.{}", f_.name, count_++);
      made_(c->function);
    }
    for (Ref& r : b.results) resolve(r);
    drop_unused_constants(b);
  }

  static void drop_unused_constants(IrBlock& b) {
    std::unordered_set<const Node*> used;
    for (Ref r : b.results) used.insert(r.node);
    for (const auto& n : b.nodes) {
      for (Ref r : n->operands) used.insert(r.node);
    }
    std::erase_if(b.nodes, [&](const auto& n) { return n->op == Op::constant && !used.contains(n.get()); });
  }

  Context& context_;
  ir::Function& f_;
  const Made& made_;
  bool values_as_sizes_;
  std::unordered_map<const Node*, SizeValues> sizes_of_;
  std::vector<Info> infos_;  // by Node::id
  std::vector<std::vector<const Node*>> users_;
  std::vector<bool> given_;  // by the block
  ir::RefSet growing_;       // arrays that grow
  bool assigns_ = false;     // the block assigns variables
  std::unordered_set<const Node*> refused_;
  std::vector<Cluster> clusters_;
  size_t count_ = 0;
};

}  // namespace

void outline(Context& context, ir::Function& f, const std::function<void(const std::shared_ptr<ir::Function>&)>& made,
             bool values_as_sizes) {
  Outliner(context, f, made, values_as_sizes).block(f.body);
}

}  // namespace tfl::plan
