#include "ir/graph.h"

#include <unordered_map>

#include "runtime/support/check.h"

namespace tfl::ir {

uint32_t Locations::add(Location l) {
  // Operations of one line come one after the other: the newest entries are where an equal one stands.
  size_t look = items_.size() > 16 ? items_.size() - 16 : 1;
  for (size_t i = items_.size(); i-- > look;) {
    if (items_[i] == l) return static_cast<uint32_t>(i);
  }
  items_.push_back(std::move(l));
  return static_cast<uint32_t>(items_.size() - 1);
}

Ref Block::add_param(Type type, std::string name) {
  auto node = std::make_unique<Node>();
  node->op = Op::parameter;
  node->types.push_back(std::move(type));
  node->name = std::move(name);
  node->block = this;
  params.push_back(std::move(node));
  return {params.back().get(), 0};
}

Node* Block::add(Op op, std::vector<Ref> operands, Attrs attrs, std::vector<Type> types) {
  auto node = std::make_unique<Node>();
  node->op = op;
  node->operands = SmallVec<Ref, 2>(operands.begin(), operands.end());
  node->attrs = std::move(attrs);
  node->types = std::move(types);
  node->block = this;
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

namespace {

Attrs without(const Attrs& attrs, Attr name) {
  Attrs out;
  for (const AttrValue& v : attrs.items()) {
    if (v.name == name) continue;
    switch (v.kind) {
      case AttrValue::Kind::Int: out.set_int(v.name, v.integer); break;
      case AttrValue::Kind::Bool: out.set_bool(v.name, v.integer != 0); break;
      case AttrValue::Kind::Float: out.set_float(v.name, v.real); break;
      case AttrValue::Kind::Type: out.set_dtype(v.name, v.dtype); break;
      case AttrValue::Kind::Text: out.set_text(v.name, v.text); break;
      case AttrValue::Kind::Ints: out.set_ints(v.name, v.ints); break;
    }
  }
  return out;
}

}  // namespace

Attrs with_int(const Attrs& attrs, Attr name, int64_t value) { return without(attrs, name).set_int(name, value); }
Attrs with_ints(const Attrs& attrs, Attr name, Dims values) { return without(attrs, name).set_ints(name, std::move(values)); }

void walk(Block& block, const std::function<void(Node&)>& visit) {
  for (size_t i = 0; i < block.nodes.size(); ++i) {
    Node& node = *block.nodes[i];
    visit(node);
    for (auto& region : node.regions) walk(*region, visit);
  }
}

void walk(const Block& block, const std::function<void(const Node&)>& visit) {
  for (const auto& node : block.nodes) {
    visit(*node);
    for (const auto& region : node->regions) walk(static_cast<const Block&>(*region), visit);
  }
}

size_t node_count(const Function& f) {
  size_t n = 0;
  walk(f.body, [&n](const Node&) { ++n; });
  return n;
}

void replace_uses(Block& block, Ref from, Ref to) {
  for (auto& node : block.nodes) {
    for (Ref& r : node->operands) {
      if (r == from) r = to;
    }
  }
  for (Ref& r : block.results) {
    if (r == from) r = to;
  }
}

namespace {

// Copies blocks of one function into another. Node::id of the source is not touched: sources may be shared.
class Copier {
 public:
  Copier(const Function* from, Function* to) : from_(from), to_(to) {}

  void map(const Node* param, Ref value) { values_[param] = value; }
  Ref operator()(Ref r) const {
    const auto found = values_.find(r.node);
    TFL_CHECK(found != values_.end(), "what a copied node uses has been copied before it");
    Ref base = found->second;
    return r.node->op == Op::parameter ? base : Ref{base.node, r.index};
  }

  void block(const Block& source, Block& into) {
    into.function = to_;
    for (const auto& p : source.params) {
      Ref copy = into.add_param(p->types[0], p->name);
      copy.node->variable = p->variable;
      copy.node->location = location(p->location);
      copy.node->attrs = p->attrs;
      map(p.get(), copy);
    }
    nodes(source, into);
    into.results.reserve(source.results.size());
    for (Ref r : source.results) into.results.push_back((*this)(r));
  }

  void nodes(const Block& source, Block& into) {
    into.nodes.reserve(into.nodes.size() + source.nodes.size());
    for (const auto& n : source.nodes) {
      auto copy = std::make_unique<Node>();
      copy->op = n->op;
      for (Ref r : n->operands) copy->operands.push_back((*this)(r));
      copy->attrs = n->attrs;
      copy->types = n->types;
      copy->callee = n->callee;
      copy->recursive = n->recursive == from_ && whole_ ? to_ : n->recursive;
      copy->constant = n->constant;
      copy->name = n->name;
      copy->variable = n->variable;
      copy->location = location(n->location);
      copy->block = &into;
      for (const auto& region : n->regions) {
        copy->regions.push_back(std::make_unique<Block>());
        copy->regions.back()->owner = copy.get();
        block(*region, *copy->regions.back());
      }
      values_[n.get()] = {copy.get(), 0};
      into.nodes.push_back(std::move(copy));
    }
  }

  void copies_whole_function() { whole_ = true; }

 private:
  // Another function's locations get numbers of this one's table, with the calls that led to them.
  uint32_t location(uint32_t number) {
    if (number == 0 || !from_ || from_->locations == to_->locations) return number;
    if (number >= from_->locations->size()) return 0;
    auto [at, fresh] = locations_.try_emplace(number, 0);
    if (!fresh) return at->second;
    Location l = (*from_->locations)[number];
    l.caller = l.caller < number ? location(l.caller) : 0;
    return locations_[number] = to_->locations->add(std::move(l));
  }

  const Function* from_;
  Function* to_;
  bool whole_ = false;
  std::unordered_map<const Node*, Ref> values_;
  std::unordered_map<uint32_t, uint32_t> locations_;
};

}  // namespace

std::shared_ptr<Function> clone(const Function& f) {
  auto copy = std::make_shared<Function>();
  copy->name = f.name;
  copy->symbols = f.symbols;
  copy->result_names = f.result_names;
  copy->locations = f.locations;
  copy->dropped = f.dropped;
  copy->strict = f.strict;
  Copier copier(&f, copy.get());
  copier.copies_whole_function();
  copier.block(f.body, copy->body);
  return copy;
}

std::unique_ptr<Block> clone_region(const Block& from, Node* owner, Function* function) {
  auto copy = std::make_unique<Block>();
  copy->owner = owner;
  Copier copier(from.function, function);
  copier.block(from, *copy);
  return copy;
}

std::vector<Ref> inline_block(const Block& from, Block& to, std::vector<Ref> arguments) {
  Copier copier(from.function, to.function);
  for (size_t i = 0; i < from.params.size(); ++i) copier.map(from.params[i].get(), arguments[i]);
  copier.nodes(from, to);
  std::vector<Ref> results;
  results.reserve(from.results.size());
  for (Ref r : from.results) results.push_back(copier(r));
  return results;
}

}  // namespace tfl::ir
