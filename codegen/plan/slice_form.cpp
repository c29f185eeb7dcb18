// The index expression of a slice, axis by axis.
#include "codegen/plan/native_ops.h"

namespace tfl::plan {

bool slice_form(const Attrs& attrs, size_t rank, size_t written, SliceForm& out) {
  int64_t ellipsis = attrs.get_int(Attr::ellipsis_mask), fresh = attrs.get_int(Attr::new_axis_mask);
  int64_t begin = attrs.get_int(Attr::begin_mask), end = attrs.get_int(Attr::end_mask),
          shrink = attrs.get_int(Attr::shrink_axis_mask);
  if (written > 62) return false;
  auto bit = [](int64_t mask, size_t i) { return (mask >> i & 1) != 0; };
  bool seen = false;
  for (size_t i = 0; i <= written; ++i) {
    bool implicit = i == written;  // what is not written is taken whole, as if by an ellipsis at the end
    if (implicit && seen) break;
    if (implicit || bit(ellipsis, i)) {
      size_t rest = 0;
      for (size_t j = i + 1; j < written; ++j) rest += !bit(fresh, j);
      if (rest > rank) return false;
      while (out.axes.size() < rank - rest) {
        out.results.push_back(static_cast<int>(out.axes.size()));
        out.axes.push_back({});
      }
      seen = true;
    } else if (bit(fresh, i)) {
      out.results.push_back(-1);
    } else {
      if (out.axes.size() >= rank) return false;
      if (!bit(shrink, i)) out.results.push_back(static_cast<int>(out.axes.size()));
      out.axes.push_back({static_cast<int>(i), bit(begin, i), bit(end, i), bit(shrink, i)});
    }
  }
  return out.axes.size() == rank;
}

}  // namespace tfl::plan
