// What follows of a tensor's elements from constants and static sizes: evaluation at inference time, of few and small nodes.
#include "ir/infer.h"
#include "ir/partial.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"
#include "runtime/shapes/strided_slice.h"
#include "runtime/tensor/element.h"

namespace tfl::ir {

namespace {

constexpr int kNodes = 64;
constexpr int64_t kMostElements = 1024;  // of a value that is computed here

// The number of elements of a tensor of rank 0 or 1 by its type; -1 when unknown or too many.
int64_t short_length(const Type& t) {
  if (!t.is_tensor() || !t.tensor.ranked || t.tensor.dims.size() > 1) return -1;
  int64_t n = t.tensor.dims.empty() ? 1 : t.tensor.dims[0];
  return n <= 256 ? n : -1;
}

int64_t element_of_size(int64_t dim) { return dim >= 0 ? dim : dim == -1 ? kUnknownElement : kFirstSymbol + (-2 - dim); }

bool fits(DType dtype, int64_t v) {
  switch (dtype) {
    case DType::I8: return v >= INT8_MIN && v <= INT8_MAX;
    case DType::I16: return v >= INT16_MIN && v <= INT16_MAX;
    case DType::I32: return v >= INT32_MIN && v <= INT32_MAX;
    case DType::I64: return true;
    case DType::U8: return v >= 0 && v <= UINT8_MAX;
    case DType::U16: return v >= 0 && v <= UINT16_MAX;
    case DType::U32: return v >= 0 && v <= UINT32_MAX;
    default: return false;
  }
}

// One element of an arithmetic operation; named sizes survive neutral operands. `neutral`: what the result is although an operand is
// unknown; `number`: of known ones, false where it does not fit.
struct Arithmetic {
  std::optional<int64_t> (*neutral)(int64_t a, int64_t b);
  bool (*number)(int64_t a, int64_t b, int64_t& out);
};
using Known = std::optional<int64_t>;

bool floor_divide(int64_t a, int64_t b, int64_t& quotient, int64_t& rest) {
  if (b == 0 || b == -1) return false;
  quotient = a / b;
  rest = a % b;
  if (rest != 0 && (rest < 0) != (b < 0)) {
    --quotient;
    rest += b;
  }
  return true;
}
Known same_of(int64_t a, int64_t b) { return a == b ? Known(a) : Known(); }

constexpr Arithmetic kAdd{[](int64_t a, int64_t b) { return a == 0   ? Known(b)
                                                            : b == 0 ? Known(a)
                                                                     : Known(); },
                          [](int64_t a, int64_t b, int64_t& out) { return !__builtin_add_overflow(a, b, &out); }};
constexpr Arithmetic kSubtract{[](int64_t a, int64_t b) { return b == 0 ? Known(a) : Known(); },
                               [](int64_t a, int64_t b, int64_t& out) { return !__builtin_sub_overflow(a, b, &out); }};
constexpr Arithmetic kMultiply{[](int64_t a, int64_t b) {
                                 return a == 1 || b == 0 ? Known(b) : b == 1 || a == 0 ? Known(a) : Known();
                               },
                               [](int64_t a, int64_t b, int64_t& out) { return !__builtin_mul_overflow(a, b, &out); }};
constexpr Arithmetic kFloordiv{[](int64_t a, int64_t b) { return b == 1 ? Known(a) : Known(); },
                               [](int64_t a, int64_t b, int64_t& out) {
                                 int64_t rest;
                                 return floor_divide(a, b, out, rest);
                               }};
constexpr Arithmetic kMod{[](int64_t, int64_t) { return Known(); },
                          [](int64_t a, int64_t b, int64_t& out) {
                            int64_t quotient;
                            return floor_divide(a, b, quotient, out);
                          }};
constexpr Arithmetic kMaximum{same_of, [](int64_t a, int64_t b, int64_t& out) {
                                out = std::max(a, b);
                                return true;
                              }};
constexpr Arithmetic kMinimum{same_of, [](int64_t a, int64_t b, int64_t& out) {
                                out = std::min(a, b);
                                return true;
                              }};
constexpr OpTable<const Arithmetic*> kArithmetic{{{Op::add, &kAdd},
                                                  {Op::subtract, &kSubtract},
                                                  {Op::multiply, &kMultiply},
                                                  {Op::floordiv, &kFloordiv},
                                                  {Op::mod, &kMod},
                                                  {Op::maximum, &kMaximum},
                                                  {Op::minimum, &kMinimum}}};

int64_t combine(const Arithmetic& how, int64_t a, int64_t b) {
  if (Known known = how.neutral(a, b)) return *known;
  int64_t out = 0;
  if (!element_known(a) || !element_known(b) || !how.number(a, b, out) || !element_known(out)) return kUnknownElement;
  return out;
}

Tensor computed(Context& context, Ref r, int& budget);

struct Partial {
  Context& context;
  int& budget;

  bool operator()(Ref r, Dims& out) {
    const Type& type = r.type();
    int64_t length = short_length(type);
    if (length < 0 || !is_integer(type.tensor.dtype) || type.tensor.dtype == DType::U64) return false;
    Dims found;
    if (--budget < 0 || !follow(r, found) || static_cast<int64_t>(found.size()) != length) {
      found.clear();
      found.resize(static_cast<size_t>(length), kUnknownElement);
    }
    for (int64_t& v : found) {
      if (element_known(v) && !fits(type.tensor.dtype, v)) v = kUnknownElement;
    }
    out = std::move(found);
    return true;
  }

 private:
  bool follow(Ref r, Dims& out) {
    const Node& n = *r.node;
    if (n.op == Op::constant) {
      out = shape_rules::integers(n.constant);
      return true;
    }
    if (const Own own = kOwn[n.op]) return (this->*own)(r, out);
    switch (op_facts(n.op).follows) {
      case Follows::types: return from_type(n, out);
      case Follows::first:
        if (n.op == Op::cast && !is_integer(n.operands[0].type().tensor.dtype)) break;
        return (*this)(n.operands[0], out);
      case Follows::all: return op_facts(n.op).form == PlanForm::elementwise ? arithmetic(n, out) : join(n, out);
      case Follows::none:
      case Follows::second:
      case Follows::picked: break;
    }
    if (is_control(n.op)) return false;
    Tensor value = computed(context, r, budget);
    if (!value || value.rank() > 1) return false;
    out = shape_rules::integers(value);
    return true;
  }

  bool unstack(Ref r, Dims& out) {
    Dims x;
    if (!(*this)(r.node->operands[0], x) || r.index >= x.size()) return false;
    out.push_back(x[r.index]);
    return true;
  }

  bool split(Ref r, Dims& out) {
    Dims x;
    if (!(*this)(r.node->operands[0], x)) return false;
    size_t each = x.size() / r.node->types.size();
    out.append(x.begin() + r.index * each, x.begin() + (r.index + 1) * each);
    return true;
  }

  bool product(Ref r, Dims& out) {
    Dims x;
    if (!(*this)(r.node->operands[0], x)) return false;
    int64_t total = 1;
    for (int64_t v : x) total = combine(kMultiply, total, v);
    out.push_back(total);
    return true;
  }

  bool fill(Ref r, Dims& out) {
    Dims x;
    int64_t length = short_length(r.node->types[0]);
    if (length < 0 || !(*this)(r.node->operands[1], x) || x.size() != 1) return false;
    out.resize(static_cast<size_t>(length), x[0]);
    return true;
  }

  static bool from_type(const Node& n, Dims& out) {
    const TensorType& x = n.operands[0].type().tensor;
    if (!x.ranked) return false;
    if (n.op == Op::rank) {
      out.push_back(static_cast<int64_t>(x.dims.size()));
      return true;
    }
    int64_t product = 1;
    for (int64_t d : x.dims) {
      int64_t v = element_of_size(d);
      if (n.op == Op::shape) out.push_back(v);
      product = combine(kMultiply, product, v);
    }
    if (n.op == Op::size) out.push_back(product);
    return true;
  }

  bool join(const Node& n, Dims& out) {
    for (Ref operand : n.operands) {
      Dims part;
      if (!(*this)(operand, part)) return false;
      out.append(part.begin(), part.end());
    }
    return true;
  }

  bool slice(Ref r, Dims& out) {
    const Node& n = *r.node;
    Dims x;
    if (!(*this)(n.operands[0], x)) return false;
    SliceSpec spec;
    Dims* parts[] = {&spec.begin, &spec.end, &spec.strides};
    for (size_t i = 0; i < 3; ++i) {
      if (!(*this)(n.operands[i + 1], *parts[i])) return false;
      for (int64_t v : *parts[i]) {
        if (!element_known(v)) return false;
      }
    }
    if (spec.begin.size() != 1 || n.operands[0].type().tensor.dims.empty()) return false;
    spec.begin_mask = n.attrs.get_int(Attr::begin_mask);
    spec.end_mask = n.attrs.get_int(Attr::end_mask);
    spec.ellipsis_mask = n.attrs.get_int(Attr::ellipsis_mask);
    spec.new_axis_mask = n.attrs.get_int(Attr::new_axis_mask);
    spec.shrink_axis_mask = n.attrs.get_int(Attr::shrink_axis_mask);
    if (spec.new_axis_mask || spec.ellipsis_mask) return false;
    SlicePlan plan;
    int64_t length[] = {static_cast<int64_t>(x.size())};
    if (!plan_slice(length, spec, plan)) return false;
    int64_t count = plan.dims.empty() ? 1 : plan.dims[0];
    for (int64_t i = 0; i < count; ++i) {
      int64_t at = plan.begin[0] + i * plan.strides[0];
      if (at < 0 || at >= length[0]) return false;
      out.push_back(x[static_cast<size_t>(at)]);
    }
    return true;
  }

  bool plain_slice(Ref r, Dims& out) {
    const Node& n = *r.node;
    Dims x, begin, size;
    if (!(*this)(n.operands[0], x) || !(*this)(n.operands[1], begin) || !(*this)(n.operands[2], size)) return false;
    if (begin.size() != 1 || size.size() != 1 || !element_known(begin[0]) || !element_known(size[0])) return false;
    int64_t have = static_cast<int64_t>(x.size());
    if (begin[0] < 0 || begin[0] > have) return false;
    int64_t count = size[0] == -1 ? have - begin[0] : size[0];
    if (count < 0 || count > have - begin[0]) return false;
    out.append(x.begin() + begin[0], x.begin() + begin[0] + count);
    return true;
  }

  bool gather(Ref r, Dims& out) {
    const Node& n = *r.node;
    Dims x, indices;
    if (!(*this)(n.operands[0], x) || !(*this)(n.operands[1], indices)) return false;
    if (n.operands[0].type().tensor.dims.empty()) return false;
    for (int64_t i : indices) {
      if (!element_known(i)) {
        out.push_back(kUnknownElement);
      } else if (i < 0 || i >= static_cast<int64_t>(x.size())) {
        return false;
      } else {
        out.push_back(x[static_cast<size_t>(i)]);
      }
    }
    return true;
  }

  bool arithmetic(const Node& n, Dims& out) {
    Dims a, b;
    if (!(*this)(n.operands[0], a) || !(*this)(n.operands[1], b)) return false;
    size_t length = a.size() == 1 ? b.size() : a.size();
    if (b.size() != 1 && b.size() != length) return false;
    for (size_t i = 0; i < length; ++i)
      out.push_back(combine(*kArithmetic[n.op], a[a.size() == 1 ? 0 : i], b[b.size() == 1 ? 0 : i]));
    return true;
  }

  using Own = bool (Partial::*)(Ref, Dims&);
  static const OpTable<Own> kOwn;
};

constexpr OpTable<Partial::Own> Partial::kOwn{{{Op::unstack, &Partial::unstack},
                                               {Op::split, &Partial::split},
                                               {Op::reduce_prod, &Partial::product},
                                               {Op::fill, &Partial::fill},
                                               {Op::strided_slice, &Partial::slice},
                                               {Op::slice, &Partial::plain_slice},
                                               {Op::gather, &Partial::gather}}};

// Operations that may be computed while the graph is made: no effect, no region, not too large.
Tensor computed(Context& context, Ref r, int& budget) {
  const Node& n = *r.node;
  const OpInfo& info = op_info(n.op);
  if (is_control(n.op) || info.kind == OpKind::Random || n.operands.empty()) return {};
  const TensorType& type = r.type().tensor;
  int64_t size = 1;
  for (int64_t d : type.dims) {
    if (d < 0) break;
    if (__builtin_mul_overflow(size, d, &size) || size > kMostElements) return {};
  }
  Tensors operands;
  for (Ref o : n.operands) {
    Tensor t = known_value(context, o, budget);
    if (!t) return {};
    operands.push_back(std::move(t));
  }
  if (n.op == Op::range) {
    SmallVec<OperandInfo, 4> infos;
    for (const Tensor& t : operands) infos.push_back({{t.dtype(), true, Dims(t.dims())}, t});
    SmallVec<TensorType, 2> types;
    if (!infer(context, n.op, infos, n.attrs, types) || types[0].dims.size() != 1 || types[0].dims[0] > kMostElements) return {};
  } else if (!type.ranked || !shape_rules::all_known(type.dims)) {
    return {};
  }
  Tensors results;
  if (!apply(context, n.op, operands, n.attrs, results)) return {};
  return r.index < results.size() ? std::move(results[r.index]) : Tensor();
}

}  // namespace

bool partial_elements(Context& context, Ref r, Dims& out, int& budget) { return Partial{context, budget}(r, out); }

Tensor known_value(Context& context, Ref r, int& budget) {
  if (r.node->op == Op::constant) return r.node->constant;
  if (r.node->op == Op::parameter || !r.type().is_tensor() || --budget < 0) return {};
  Dims elements;
  const TensorType& type = r.type().tensor;
  if (short_length(r.type()) >= 0 && is_integer(type.dtype) && Partial{context, budget}(r, elements)) {
    for (int64_t v : elements) {
      if (!element_known(v)) return {};
    }
    Result<Tensor> t = Tensor::empty(context, type.dtype, type.dims);
    if (!t) return {};
    for (size_t i = 0; i < elements.size(); ++i) store_int(type.dtype, elements[i], t->raw() + i * dtype_size(type.dtype));
    return t.take();
  }
  return computed(context, r, budget);
}

Tensor static_value(Context& context, Ref r) {
  int budget = kNodes;
  return known_value(context, r, budget);
}

bool static_sizes(Context& context, Ref r, Dims& sizes) {
  int budget = kNodes;
  if (!partial_elements(context, r, sizes, budget)) return false;
  for (int64_t& v : sizes) {
    if (v == kUnknownElement)
      v = -1;
    else if (!element_known(v))
      v = -2 - (v - kFirstSymbol);
    else if (v < -1)
      v = -1;
  }
  return true;
}

}  // namespace tfl::ir
