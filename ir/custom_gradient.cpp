#include "ir/custom_gradient.h"

namespace tfl::ir {

namespace {

constexpr std::string_view kMode = "custom_gradient";

}  // namespace

size_t custom_input(const Node& node, size_t j) {
  const Block& first = *node.regions[0];
  Ref value = first.results[j];
  if (value.node->op == Op::read_variable) value = value.node->operands[0];
  for (size_t i = 0; i < first.params.size(); ++i) {
    if (first.param(i) == value) return i + 1;
  }
  return 0;
}

void mark_custom(Node& node, size_t outputs) {
  node.attrs.set_text(Attr::mode, std::string(kMode)).set_int(Attr::num, static_cast<int64_t>(outputs));
}

bool is_custom(const Node& node) { return node.op == Op::cond && node.attrs.get_text(Attr::mode) == kMode; }

bool custom_fits(const Node& node) {
  int64_t outputs = node.attrs.get_int(Attr::num, -1);
  if (node.regions.size() != 2 || outputs < 0 || static_cast<size_t>(outputs) > node.types.size()) return false;
  for (const auto& region : node.regions) {
    if (region->results.size() != node.types.size()) return false;
  }
  for (size_t j = static_cast<size_t>(outputs); j < node.types.size(); ++j) {
    if (custom_input(node, j) == 0) return false;
  }
  return true;
}

bool flows_to(const Node& node, size_t i) {
  if (!is_custom(node)) return true;
  for (size_t j = static_cast<size_t>(node.attrs.get_int(Attr::num)); j < node.types.size(); ++j) {
    if (custom_input(node, j) == i) return true;
  }
  return false;
}

}  // namespace tfl::ir
