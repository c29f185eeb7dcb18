#include "codegen/plan/native_ops.h"

#include <algorithm>
#include <utility>

#include "codegen/plan/arrays.h"
#include "codegen/plan/outline.h"
#include "ir/infer.h"
#include "ir/regions.h"
#include "ir/state.h"
#include "runtime/ops/facts.h"
#include "runtime/shapes/rules.h"

namespace tfl::plan {

using ir::Node;
using ir::Ref;

namespace {

constexpr int kNodes = 64;      // that are looked at to see where a size comes from
constexpr int64_t kGiven = 64;  // elements of a value that gives sizes

bool has_numbers(DType t) { return t != DType::String; }

bool all_known(const ir::Type& t) { return t.tensor.ranked && shape_rules::all_known(t.tensor.dims); }

class Question {
 public:
  Question(Context& context, const ir::Block* home, SizeValues* values = nullptr, bool growing = false)
      : context_(context), home_(home), values_(values), growing_(growing) {}

  // Empty: it is native.
  std::string_view node(const Node& n) {
    const OpInfo& info = op_info(n.op);
    const OpFacts& facts = op_facts(n.op);
    if (n.op == Op::parameter) return "";
    if (n.op == Op::constant) return type(n.types[0]);
    if (n.op == Op::check) return has_rank_0(n.operands[0]) ? "" : "a check of several elements";
    if (facts.regions) return control(n);
    if (info.kind == OpKind::Effect) {
      if (!facts.variable) return "an effect";
      return n.block == home_ ? variable(n.operands[0].type()) : "";
    }
    if (is_control(n.op)) {
      if (n.op == Op::call) return "a call";
      bool grows = n.op == Op::array_push || n.op == Op::array_pop || (n.op == Op::array_new && n.attrs.get_bool(Attr::grows));
      if (!is_array_of_rows(n) || (grows && !growing_)) return "an array";
      for (const ir::Type& t : n.types) {  // ranks follow from what is written
        if (!has_numbers(t.tensor.dtype)) return "text";
        if (is_complex(t.tensor.dtype)) return "complex numbers";
      }
      return "";
    }
    for (Ref r : n.operands) {
      if (n.op == Op::ensure_shape && is_control(r.node->op) && is_array_of_rows(*r.node)) continue;
      if (std::string_view why = type(r.type()); !why.empty()) return why;
    }
    for (const ir::Type& t : n.types) {
      if (std::string_view why = type(t); !why.empty()) return why;
    }
    if (info.kind == OpKind::Elementwise) return "";
    return structural(n);
  }

  bool follows(Ref r) {
    int budget = kNodes;
    return follows(r, budget);
  }

 private:
  // In regions variables become values that branches give and loops carry.
  static std::string_view variable(const ir::Type& t) {
    if (t.opaque) return "no tensor";
    return type(ir::Type::of(t.tensor));
  }

  static std::string_view type(const ir::Type& t) {
    if (t.kind == ir::TypeKind::Array)
      return is_complex(t.tensor.dtype) ? "complex numbers" : has_numbers(t.tensor.dtype) ? "" : "text";
    if (!t.is_tensor()) return "no tensor";
    if (!t.tensor.ranked) return "a rank that only the run knows";
    if (is_complex(t.tensor.dtype)) return "complex numbers";
    return has_numbers(t.tensor.dtype) ? "" : "text";
  }

  // A branch that is not taken would copy it.
  static bool assigns_large_variable(const Node& n) {
    constexpr int64_t kLarge = 1 << 14;  // elements
    for (size_t i = 0; i < n.operands.size(); ++i) {
      const ir::Type& t = n.operands[i].type();
      if (t.kind != ir::TypeKind::Resource) continue;
      int64_t elements = 1;
      for (int64_t d : t.tensor.dims) {
        if (d >= 0 && __builtin_mul_overflow(elements, d, &elements)) return true;
      }
      if (elements > kLarge && ir::assigns_variable(n, i)) return true;
    }
    return false;
  }

  static constexpr std::string_view kSizes = "sizes that only the run knows";
  static std::string_view unless(bool fine, std::string_view why) { return fine ? std::string_view() : why; }

  std::string_view structural(const Node& n) {
    const OpFacts& facts = op_facts(n.op);
    DType dtype = n.operands.empty() ? DType::F32 : n.operands[0].type().tensor.dtype;
    switch (facts.form) {
      case PlanForm::none: return "a library operation";
      case PlanForm::window: return window(n);
      case PlanForm::product:
        return unless(dtype == DType::F32 || dtype == DType::F64 || dtype == DType::I32 || dtype == DType::I64,
                      "a product of this type");
      case PlanForm::routine: return routine(n, facts.routine);
      case PlanForm::reduction:
      case PlanForm::ordered_view:
      case PlanForm::view:
      case PlanForm::deferred:
      case PlanForm::write:
        if (auto own = kRules[n.op]) return (this->*own)(n);
        return "";
      case PlanForm::control:
      case PlanForm::elementwise: break;
    }
    return "";
  }

  std::string_view routine(const Node& n, Routine routine) {
    DType dtype = n.operands[0].type().tensor.dtype;
    auto sizes = [&](size_t operand) { return all_known(n.types[0]) || follows(n.operands[operand]); };
    switch (routine) {
      case Routine::scan: return unless(dtype != DType::Bool, "booleans");
      case Routine::arg: return unless(is_index(n.types[0].tensor.dtype), "an index of this type");
      case Routine::sort:
        if (n.op != Op::top_k) return unless(dtype != DType::Bool, "booleans");
        return unless(dtype != DType::Bool && is_index(n.types[1].tensor.dtype) && sizes(1), kSizes);
      case Routine::scatter:
        if (n.op == Op::scatter_nd) return unless(known_depth(n.operands[0]) && (is_fixed(n) || follows(n.operands[2])), kSizes);
        return unless(known_depth(n.operands[1]), kSizes);
      case Routine::segment:
        return unless(dtype != DType::Bool && is_index(n.operands[1].type().tensor.dtype) && sizes(2), kSizes);
      case Routine::random:
      case Routine::sample: {
        const TensorType& seed = n.operands[1].type().tensor;
        bool words = is_integer(seed.dtype) && seed.dims.size() == 1 && (seed.dims[0] == 2 || seed.dims[0] == 3);
        return unless(words && sizes(0), kSizes);
      }
      case Routine::fourier: return unless(n.operands.size() < 2 || sizes(1), kSizes);
      case Routine::solve:
      case Routine::factor: return unless(dtype == DType::F32 || dtype == DType::F64, "matrices of this type");
    }
    return "";
  }

  // Of operations that want more than their types.

  static bool is_fixed(const Node& n) {
    return all_known(n.types[0]) && std::all_of(n.operands.begin(), n.operands.end(), [](Ref r) { return all_known(r.type()); });
  }
  bool is_known(Ref r) {
    Dims integers;
    return known_integers(context_, r, integers);
  }
  std::string_view split_v(const Node& n) { return unless(is_known(n.operands[1]), kSizes); }
  std::string_view band(const Node& n) {
    return unless(is_known(n.operands[1]) && is_known(n.operands[2]), "a band that only the run knows");
  }
  std::string_view diagonal(const Node& n) {
    return unless(n.operands.size() == 1 && is_main_diagonal(n), "other diagonals than the main one");
  }
  std::string_view bitcast(const Node& n) {
    return unless(dtype_size(n.operands[0].type().tensor.dtype) == dtype_size(n.types[0].tensor.dtype),
                  "elements of another size");
  }
  std::string_view squeeze(const Node& n) { return unless(is_fixed(n) || n.attrs.get_ints(Attr::axes), kSizes); }
  std::string_view resized(const Node& n) { return unless(is_fixed(n) || follows(n.operands[1]), kSizes); }
  std::string_view made(const Node& n) { return unless(follows(n.operands[0]), kSizes); }
  std::string_view one_hot(const Node& n) { return unless(follows(n.operands[1]), kSizes); }
  std::string_view counted(const Node& n) { return unless(range(n), kSizes); }
  std::string_view transpose(const Node& n) {
    return unless(n.operands.size() == 1 || is_known(n.operands[1]), "an order of axes that only the run knows");
  }
  std::string_view pad(const Node& n) {
    if (std::string_view mode = n.attrs.get_text(Attr::mode); !mode.empty() && mode != "CONSTANT") return "reflected padding";
    return unless(is_known(n.operands[1]), kSizes);
  }
  std::string_view slice(const Node& n) { return unless(follows(n.operands[1]) && follows(n.operands[2]), kSizes); }
  std::string_view strided_slice(const Node& n) {
    return unless(strided(n, n.operands[0].type().tensor.dims.size(), all_known(n.operands[0].type())), kSizes);
  }
  std::string_view strided_slice_grad(const Node& n) {
    const Dims& sizes = n.operands[0].type().tensor.dims;
    Dims known;
    return unless(follows(n.operands[0]) && sizes.size() == 1 && sizes[0] >= 0 &&
                      strided(n, static_cast<size_t>(sizes[0]), known_integers(context_, n.operands[0], known)),
                  kSizes);
  }
  std::string_view of_numbers(const Node& n) {
    return unless(n.operands[0].type().tensor.dtype != DType::Bool, "a reduction of booleans");
  }
  std::string_view of_booleans(const Node& n) {
    return unless(n.operands[0].type().tensor.dtype == DType::Bool, "a reduction of numbers");
  }
  std::string_view gather_nd(const Node& n) {
    return unless(n.attrs.get_int(Attr::batch_dims) == 0 && known_depth(n.operands[1]), "tuples of indices in batches");
  }
  std::string_view roll(const Node& n) {
    return unless(is_known(n.operands[1]) && n.attrs.get_ints(Attr::axes), "a shift that only the run knows");
  }

  std::string_view window(const Node& n) {
    WindowKind kind;
    Convolution shape;
    window_kind(n.op, kind);
    const DType t = n.types[0].tensor.dtype;
    const bool pool = kind >= WindowKind::max_pool;
    if (!(t == DType::F32 || t == DType::F64 || (t == DType::I32 && kind != WindowKind::depthwise) || (t == DType::I64 && pool)))
      return "windows of this type";
    if (!window_shape(n, kind, shape)) return "windows over sizes that only the run knows";
    const bool sized =
        kind == WindowKind::convolution_input || kind == WindowKind::depthwise_input || kind == WindowKind::avg_pool_grad;
    return !sized || all_known(n.types[0]) || follows(n.operands[0]) ? "" : "sizes that only the run knows";
  }

  static bool is_index(DType t) { return t == DType::I32 || t == DType::I64; }

  // Tuples of indices, of a known length.
  static bool known_depth(Ref indices) {
    const Dims& dims = indices.type().tensor.dims;
    return is_index(indices.type().tensor.dtype) && !dims.empty() && dims.back() > 0 && dims.back() <= kScatterDepth;
  }

  std::string_view gather(const Node& n) {
    int64_t rank = static_cast<int64_t>(n.operands[0].type().tensor.dims.size());
    int64_t own = static_cast<int64_t>(n.operands[1].type().tensor.dims.size());
    int64_t batch = n.attrs.get_int(Attr::batch_dims);
    if (batch < 0) batch += own;
    int64_t axis = shape_rules::front_axis(n.attrs.get_int(Attr::axis, batch), rank);
    return axis >= 0 && batch >= 0 && batch <= axis && batch <= own ? "" : "a gather along an axis of its batches";
  }

  // From sizes to sizes in constant steps; or of constants.
  bool range(const Node& n) {
    Dims step;
    if (all_known(n.types[0])) return true;
    if (!is_integer(n.types[0].tensor.dtype) || !known_integers(context_, n.operands[2], step)) return false;
    return step.size() == 1 && step[0] > 0 && follows(n.operands[0]) && follows(n.operands[1]);
  }

  // Of strided_slice and its gradient, over sizes that are `known` or not. An index may be a scalar that is computed while it runs.
  bool strided(const Node& n, size_t rank, bool known) {
    Ref begin = n.operands[1], end = n.operands[2];
    Dims strides;
    if (!known_integers(context_, n.operands[3], strides)) return false;
    SliceForm form;
    if (!slice_form(n.attrs, rank, strides.size(), form)) return false;
    for (const SliceAxis& a : form.axes) {
      if (a.written < 0) continue;
      size_t at = static_cast<size_t>(a.written);
      if (a.shrink) {
        SizeValues* values = std::exchange(values_, nullptr);  // an index may be any scalar
        bool fine = element_follows(begin, at) || scalar_behind(begin, at);
        values_ = values;
        if (!fine && !element_follows(begin, at)) return false;
      } else {
        if (!a.no_begin && !element_follows(begin, at)) return false;
        if (!a.no_end && !element_follows(end, at)) return false;
        if (strides[at] < 0 && !(a.no_begin && a.no_end) && !known) return false;
      }
    }
    return true;
  }

  bool element_follows(Ref vector, size_t i) {
    Ref scalar = scalar_behind(vector, i);
    return scalar ? follows(scalar) : follows(vector);
  }

  // Whether the integers of `r` come from sizes and constants alone, or are given.
  bool follows(Ref r, int& budget) {
    if (!values_) return comes_from_sizes(r, budget);
    if (!comes_from_sizes(r, budget)) {
      if (!may_be_given(r)) return false;
      values_->given.push_back(r);
    }
    values_->all.push_back(r);
    return true;
  }

  bool may_be_given(Ref r) const {
    const ir::Type& t = r.type();
    if (r.node->block != home_ || r.node->op == Op::constant || !t.is_tensor() || !t.tensor.ranked || !is_index(t.tensor.dtype))
      return false;
    return t.tensor.dims.empty() || (t.tensor.dims.size() == 1 && t.tensor.dims[0] >= 0 && t.tensor.dims[0] <= kGiven);
  }

  bool comes_from_sizes(Ref r, int& budget) {
    const ir::Type& t = r.type();
    if (--budget < 0 || r.index != 0 || !t.is_tensor() || !t.tensor.ranked || t.tensor.dims.size() > 1 || !all_known(t))
      return false;
    const Node& n = *r.node;
    auto operands = [&](size_t count) {
      for (size_t i = 0; i < count && i < n.operands.size(); ++i) {
        if (!follows(n.operands[i], budget)) return false;
      }
      return true;
    };
    auto constants = [&] {
      for (size_t i = 1; i < n.operands.size(); ++i) {
        Dims integers;
        if (!known_integers(context_, n.operands[i], integers)) return false;
      }
      return true;
    };
    if (n.op == Op::constant) return is_integer(t.tensor.dtype);
    if (n.op == Op::parameter) {
      if (n.block == home_) return false;
      Ref given = outside(r);
      return given && follows(given, budget);
    }
    const Follows from = op_facts(n.op).follows;
    if (from != Follows::types && t.tensor.dtype != DType::I32 && t.tensor.dtype != DType::I64) return false;
    switch (from) {
      case Follows::none: return false;
      case Follows::types: return is_tensor_of_numbers(n.operands[0].type());
      case Follows::first: return (n.op != Op::cast || is_integer(n.operands[0].type().tensor.dtype)) && operands(1);
      case Follows::second: return follows(n.operands[1], budget);
      case Follows::all: return operands(n.operands.size());
      case Follows::picked: return operands(1) && constants();
    }
    return false;
  }

  std::string_view control(const Node& n) {
    // Whoever asks for a region's node has asked for those around it.
    if (n.block == home_) {
      if (!ir::carries_variables(n)) return "variables that are used in other ways than to read and assign them";
      if (n.op != Op::while_loop && assigns_large_variable(n)) return "a large variable that a branch assigns";
    }
    for (const ir::Type& t : n.types) {
      if (std::string_view why = type(t); !why.empty()) return why;
    }
    if (n.op == Op::cond && !(has_rank_0(n.operands[0]) && n.operands[0].type().tensor.dtype == DType::Bool))
      return "a condition that is no boolean scalar";
    if (n.op == Op::switch_case && !has_rank_0(n.operands[0])) return "an index that is no scalar";
    for (const auto& region : n.regions) {
      std::unordered_set<const Node*> needed = needed_nodes(*region);
      for (size_t i = 0; i < region->params.size(); ++i) {
        const Node& p = *region->params[i];
        if (p.types[0].kind == ir::TypeKind::Resource) {
          if (std::string_view why = variable(p.types[0]); !why.empty()) return why;
          continue;
        }
        if (std::string_view why = type(n.operands[ir::inputs_from(n) + i].type()); !why.empty()) return why;
        if (!needed.contains(&p) && !(n.op == Op::while_loop && i < n.types.size())) continue;
        if (std::string_view why = type(p.types[0]); !why.empty()) return why;
      }
      for (const auto& inner : region->nodes) {
        if (!needed.contains(inner.get())) continue;
        if (std::string_view why = node(*inner); !why.empty()) return why;
      }
    }
    if (n.op == Op::while_loop) {
      Ref test = n.regions[0]->results[0];
      if (!has_rank_0(test) || test.type().tensor.dtype != DType::Bool) return "a condition that is no boolean scalar";
      for (size_t i = 0; i < n.types.size(); ++i) {
        if (!ir::may_overlap(n.operands[i].type(), n.regions[1]->results[i].type())) return "a variable that changes its size";
      }
      return "";
    }
    for (size_t b = 1; b < n.regions.size(); ++b) {
      for (size_t i = 0; i < n.types.size(); ++i) {
        if (!ir::may_overlap(n.regions[0]->results[i].type(), n.regions[b]->results[i].type()))
          return "branches that give different sizes";
      }
    }
    return "";
  }

  using Rule = std::string_view (Question::*)(const Node&);
  static const OpTable<Rule> kRules;

  Context& context_;
  const ir::Block* home_;
  SizeValues* values_;  // null: there are none
  const bool growing_;  // arrays may grow
};

// Every operand and type will do for those that do not stand here.
constexpr OpTable<Question::Rule> Question::kRules{{
    {Op::split_v, &Question::split_v},
    {Op::matrix_band_part, &Question::band},
    {Op::matrix_diag_part, &Question::diagonal},
    {Op::bitcast, &Question::bitcast},
    {Op::squeeze, &Question::squeeze},
    {Op::reshape, &Question::resized},
    {Op::broadcast_to, &Question::resized},
    {Op::tile, &Question::resized},
    {Op::sum_to_shape, &Question::resized},
    {Op::fill, &Question::made},
    {Op::eye, &Question::made},
    {Op::one_hot, &Question::one_hot},
    {Op::range, &Question::counted},
    {Op::transpose, &Question::transpose},
    {Op::pad, &Question::pad},
    {Op::slice, &Question::slice},
    {Op::strided_slice, &Question::strided_slice},
    {Op::strided_slice_grad, &Question::strided_slice_grad},
    {Op::gather, &Question::gather},
    {Op::gather_nd, &Question::gather_nd},
    {Op::roll, &Question::roll},
    {Op::reduce_sum, &Question::of_numbers},
    {Op::reduce_prod, &Question::of_numbers},
    {Op::reduce_mean, &Question::of_numbers},
    {Op::reduce_max, &Question::of_numbers},
    {Op::reduce_min, &Question::of_numbers},
    {Op::reduce_any, &Question::of_booleans},
    {Op::reduce_all, &Question::of_booleans},
}};

}  // namespace

bool is_native(Context& context, const Node& node) { return Question(context, node.block, nullptr, true).node(node).empty(); }

bool is_native(Context& context, const Node& node, SizeValues& values) {
  SizeValues own;
  if (!Question(context, node.block, &own).node(node).empty()) return false;
  values.given.insert(values.given.end(), own.given.begin(), own.given.end());
  values.all.insert(values.all.end(), own.all.begin(), own.all.end());
  return true;
}

std::string why_not_native(Context& context, const Node& node, bool growing) {
  return std::string(Question(context, node.block, nullptr, growing).node(node));
}

bool uses_variables(const Node& n) {
  return std::any_of(n.operands.begin(), n.operands.end(), [](Ref r) { return r.type().kind == ir::TypeKind::Resource; });
}

bool follows_from_sizes(Context& context, Ref r) {
  return r.index == 0 && r.node->op != Op::parameter && Question(context, r.node->block).follows(r);
}

bool is_view(Op op) { return op_info(op).kind == OpKind::View || op_info(op).kind == OpKind::Check; }

}  // namespace tfl::plan
