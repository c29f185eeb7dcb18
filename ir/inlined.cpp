#include "ir/inlined.h"

#include <unordered_map>

namespace tfl::ir {

namespace {

class Places {
 public:
  Places(Locations& locations, uint32_t call) : locations_(locations), call_(call) {}

  void set(Block& block, size_t first, size_t end) {
    for (size_t i = first; i < end; ++i) {
      Node& n = *block.nodes[i];
      n.location = at(n.location);
      for (auto& region : n.regions) set(*region, 0, region->nodes.size());
    }
  }

 private:
  uint32_t at(uint32_t location) {
    if (location == 0 || location >= locations_.size()) return call_;
    auto [found, fresh] = known_.try_emplace(location, 0);
    if (!fresh) return found->second;
    Location l = locations_[location];
    l.caller = l.caller < location ? at(l.caller) : call_;
    return known_[location] = locations_.add(std::move(l));
  }

  Locations& locations_;
  uint32_t call_;
  std::unordered_map<uint32_t, uint32_t> known_;
};

}  // namespace

SmallVec<int64_t, 8> sizes_at_call(const Function& callee, std::span<const Ref> operands) {
  SmallVec<int64_t, 8> sizes(callee.symbols.size(), -1);
  for (size_t i = 0; i < operands.size() && i < callee.body.params.size() && !sizes.empty(); ++i) {
    const TensorType& taken = callee.body.params[i]->types[0].tensor;
    const TensorType& given = operands[i].type().tensor;
    if (!taken.ranked || !given.ranked || taken.dims.size() != given.dims.size()) continue;
    for (size_t d = 0; d < taken.dims.size(); ++d) {
      size_t symbol = static_cast<size_t>(-2 - taken.dims[d]);
      if (taken.dims[d] < -1 && symbol < sizes.size() && sizes[symbol] == -1) sizes[symbol] = given.dims[d];
    }
  }
  return sizes;
}

void set_sizes(Type& type, std::span<const int64_t> sizes) {
  for (int64_t& d : type.tensor.dims) {
    if (d < -1) d = static_cast<size_t>(-2 - d) < sizes.size() ? sizes[static_cast<size_t>(-2 - d)] : -1;
  }
}

void set_sizes(Block& block, size_t first, size_t end, std::span<const int64_t> sizes) {
  for (size_t i = first; i < end; ++i) {
    for (Type& t : block.nodes[i]->types) set_sizes(t, sizes);
    for (auto& region : block.nodes[i]->regions) {
      for (auto& p : region->params) set_sizes(p->types[0], sizes);
      set_sizes(*region, 0, region->nodes.size(), sizes);
    }
  }
}

void set_call_place(Block& block, size_t first, size_t end, uint32_t call) {
  if (call != 0) Places(*block.function->locations, call).set(block, first, end);
}

}  // namespace tfl::ir
