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

void set_call_place(Block& block, size_t first, size_t end, uint32_t call) {
  if (call != 0) Places(*block.function->locations, call).set(block, first, end);
}

}  // namespace tfl::ir
