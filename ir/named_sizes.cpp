#include "ir/named_sizes.h"

namespace tfl::ir {

NamedSizes::NamedSizes(const Function& f) {
  std::vector<std::pair<uint32_t, uint32_t>> first(f.symbols.size(), {UINT32_MAX, 0});
  for (uint32_t i = 0; i < f.body.params.size() && !first.empty(); ++i) {
    const Type& type = f.body.params[i]->types[0];
    for (uint32_t axis = 0; type.is_tensor() && axis < type.tensor.dims.size(); ++axis) {
      size_t symbol = static_cast<size_t>(-2 - type.tensor.dims[axis]);
      if (type.tensor.dims[axis] >= -1 || symbol >= first.size()) continue;
      if (first[symbol].first == UINT32_MAX)
        first[symbol] = {i, axis};
      else
        pairs_.push_back({first[symbol].first, first[symbol].second, i, axis, symbol});
    }
  }
}

Result<void> NamedSizes::check(const Function& f, std::span<const Datum> inputs) const {
  for (const Pair& p : pairs_) {
    if (p.other_input >= inputs.size()) continue;
    const Tensor &a = inputs[p.input].tensor, &b = inputs[p.other_input].tensor;
    if (!a || !b || static_cast<int>(p.axis) >= a.rank() || static_cast<int>(p.other_axis) >= b.rank()) continue;
    if (a.dims()[p.axis] == b.dims()[p.other_axis]) continue;
    const Node& param = *f.body.params[p.other_input];
    return fail(ErrorKind::InvalidArgumentError, "the size '{}' is {} in one argument and {} in another: {}, '{}' of {}",
                f.symbols[p.symbol], a.dims()[p.axis], b.dims()[p.other_axis], type_text(param.types[0], &f.symbols), param.name,
                f.name);
  }
  return {};
}

}  // namespace tfl::ir
