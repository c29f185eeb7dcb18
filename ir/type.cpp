#include "ir/type.h"

namespace tfl::ir {

namespace {

bool same_kind(const Type& a, const Type& b) {
  return a.kind == b.kind && a.opaque == b.opaque && (a.opaque || a.tensor.dtype == b.tensor.dtype);
}

}  // namespace

bool is_subtype(const Type& inner, const Type& outer) {
  if (!same_kind(inner, outer)) return false;
  if (inner.opaque || !outer.tensor.ranked) return true;
  if (!inner.tensor.ranked || inner.tensor.dims.size() != outer.tensor.dims.size()) return false;
  for (size_t i = 0; i < inner.tensor.dims.size(); ++i) {
    if (outer.tensor.dims[i] != -1 && outer.tensor.dims[i] != inner.tensor.dims[i]) return false;
  }
  return true;
}

bool may_overlap(const Type& a, const Type& b) {
  if (!same_kind(a, b)) return false;
  if (a.opaque || !a.tensor.ranked || !b.tensor.ranked) return true;
  if (a.tensor.dims.size() != b.tensor.dims.size()) return false;
  for (size_t i = 0; i < a.tensor.dims.size(); ++i) {
    int64_t x = a.tensor.dims[i], y = b.tensor.dims[i];
    if (x >= 0 && y >= 0 && x != y) return false;
  }
  return true;
}

bool join(const Type& a, const Type& b, Type& out) {
  if (!same_kind(a, b)) return false;
  Type joined = a;
  if (!a.tensor.ranked || !b.tensor.ranked || a.tensor.dims.size() != b.tensor.dims.size()) {
    joined.tensor.ranked = a.opaque;
    joined.tensor.dims.clear();
  } else {
    for (size_t i = 0; i < a.tensor.dims.size(); ++i) {
      if (a.tensor.dims[i] != b.tensor.dims[i]) joined.tensor.dims[i] = -1;
    }
  }
  out = std::move(joined);
  return true;
}

std::string type_text(const Type& t, const std::vector<std::string>* symbols) {
  if (t.opaque) return "resource";
  std::string out = t.kind == TypeKind::Array ? "array " : t.kind == TypeKind::Resource ? "variable " : "";
  out += dtype_short_name(t.tensor.dtype);
  if (!t.tensor.ranked) return out + "[...]";
  if (t.tensor.dims.empty()) return out;
  out += '[';
  for (size_t i = 0; i < t.tensor.dims.size(); ++i) {
    int64_t d = t.tensor.dims[i];
    if (i) out += ',';
    if (d >= 0) {
      out += std::to_string(d);
    } else if (d == -1) {
      out += '?';
    } else {
      size_t symbol = static_cast<size_t>(-2 - d);
      out += symbols && symbol < symbols->size() ? (*symbols)[symbol] : "s" + std::to_string(symbol);
    }
  }
  return out + "]";
}

}  // namespace tfl::ir
