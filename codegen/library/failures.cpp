#include "codegen/library/failures.h"

#include <fmt/core.h>

#include <algorithm>

#include "codegen/plan/native_ops.h"
#include "runtime/kernels/elementwise/elementwise_checks.h"
#include "runtime/shapes/rules.h"
#include "runtime/text/print_tensor.h"

namespace tfl::codegen {

namespace {

using ir::Node;
using ir::Ref;
using Piece = FailureText::Piece;

constexpr int kDeepest = 32;  // operations that word one message

std::string_view refusal_of(Op op) {
#define TFL_ELEMENTWISE_CHECK(name, types, violated, kind, text) \
  if (op == Op::name) return text;
#include "runtime/ops/elementwise_checks.def"
#undef TFL_ELEMENTWISE_CHECK
  return {};
}

bool is_scalar_text(const Node& n) {
  return n.op == Op::constant && n.constant.dtype() == DType::String && n.constant.size() == 1;
}

// Words one failure.
class Wording {
 public:
  Wording(Context& context, const ir::Function& f) : context_(context), function_(f) {}

  FailureText text;
  std::vector<Ref> shown;  // values of the body that are results of the explanation

  void node(const Node& n) {
    if (n.op == Op::check) {
      if (n.operands.size() < 2 || !words(n.operands[1], 0)) say("assertion failed");
    } else if (n.op == Op::gather) {
      bounds(Piece::Kind::index, n.operands[1], n.operands[0], axis_of(n), "an index is out of range");
      say(" [Op:GatherV2]");
    } else if (n.op == Op::strided_slice) {
      slice(n);
      say(" [Op:StridedSlice]");
    } else if (n.op == Op::matrix_inverse || n.op == Op::lu) {
      say(fmt::format("Input is not invertible. [Op:{}]", op_info(n.op).tf_name));
    } else if (n.op == Op::stateless_truncated) {
      say(fmt::format("Invalid parameters [Op:{}]", op_info(n.op).tf_name));
    } else if (n.op == Op::matrix_solve) {
      say("Input matrix is not invertible. [Op:MatrixSolve]");
    } else if (std::string_view refusal = refusal_of(n.op); !refusal.empty()) {
      say(fmt::format("{} [Op:{}] name: {}", refusal, op_info(n.op).tf_name, n.attrs.get_text(Attr::name)));
    } else {
      say(fmt::format("{} cannot be computed of these values", op_info(n.op).name));
    }
  }

  // Of a node whose operands' sizes must go together.
  void sizes(const Node& n) {
    std::string_view wrong = n.op == Op::range     ? "Requires start <= limit when delta > 0"
                             : n.op == Op::reshape ? "Input to reshape does not have as many values as the requested shape"
                             : n.op == Op::top_k   ? "input must have at least k columns"
                             : n.op == Op::fill    ? "Dimensions must be >= 0"
                                                   : "";
    if (!wrong.empty()) {
      text.sizes = {{Piece::Kind::text, fmt::format("{} [Op:{}]", wrong, op_info(n.op).tf_name)}};
      return;
    }
    if (n.operands.size() != 2 || (op_info(n.op).kind != OpKind::Elementwise && n.op != Op::matmul)) return;
    int64_t a = place(at_top(n.operands[0])), b = place(at_top(n.operands[1]));
    if (a < 0 || b < 0) return;  // only inputs have sizes when sizes do not fit
    bool product = n.op == Op::matmul;
    if (product && n.types[0].tensor.dims.size() != 2) return;  // of batches something else is said
    text.sizes = {{Piece::Kind::text, product ? "Matrix size-incompatible: In[0]: " : "Incompatible shapes: "},
                  {Piece::Kind::shape, {}, a},
                  {Piece::Kind::text, product ? ", In[1]: " : " vs. "},
                  {Piece::Kind::shape, {}, b},
                  {Piece::Kind::text, product ? " [Op:MatMul]" : fmt::format(" [Op:{}] name: ", op_info(n.op).tf_name)}};
  }

 private:
  static constexpr int64_t kNowhere = INT64_MIN;

  void say(std::string_view words) {
    if (!text.pieces.empty() && text.pieces.back().kind == Piece::Kind::text)
      text.pieces.back().text += words;
    else
      text.pieces.push_back({Piece::Kind::text, std::string(words)});
  }

  static int64_t axis_of(const Node& gather) {
    int64_t rank = static_cast<int64_t>(gather.operands[0].type().tensor.dims.size()),
            batch = gather.attrs.get_int(Attr::batch_dims);
    if (batch < 0) batch += static_cast<int64_t>(gather.operands[1].type().tensor.dims.size());
    return shape_rules::front_axis(gather.attrs.get_int(Attr::axis, batch), rank);
  }

  // The value outside of the regions that `r` stands in; none for a loop's variables and what a region computes.
  static Ref at_top(Ref r) {
    while (r && r.node->op == Op::parameter && r.node->block->owner) r = plan::outside(r);
    return r && !r.node->block->owner ? r : Ref{};
  }

  int64_t place(Ref r) {
    if (!r) return kNowhere;
    if (r.node->op == Op::parameter) {
      for (size_t i = 0; i < function_.body.params.size(); ++i) {
        if (function_.body.params[i].get() == r.node) return static_cast<int64_t>(i);
      }
      return kNowhere;
    }
    size_t at = static_cast<size_t>(std::find(shown.begin(), shown.end(), r) - shown.begin());
    if (at == shown.size()) shown.push_back(r);
    return ~static_cast<int64_t>(at);
  }

  void tensor(Ref r, int64_t summarize) {
    if (r.node->op == Op::constant) return say(print_tensor(r.node->constant, summarize));
    int64_t at = place(at_top(r));
    if (at == kNowhere || r.type().tensor.dtype == DType::String) return say("...");
    text.pieces.push_back({Piece::Kind::tensor, {}, at, 0, summarize});
  }

  void bounds(Piece::Kind kind, Ref indices, Ref of, int64_t axis, std::string_view otherwise) {
    int64_t a = place(at_top(indices)), b = place(at_top(of));
    if (a == kNowhere || b == kNowhere || axis < 0) return say(otherwise);
    text.pieces.push_back({kind, std::string(otherwise), a, b, axis});
  }

  void slice(const Node& n) {
    Ref x = n.operands[0], begin = n.operands[1];
    Dims strides;
    plan::SliceForm form;
    bool known = plan::known_integers(context_, n.operands[3], strides) &&
                 plan::slice_form(n.attrs, x.type().tensor.dims.size(), strides.size(), form);
    for (size_t i = 0; known && i < form.axes.size(); ++i) {
      if (form.axes[i].written < 0 || !form.axes[i].shrink) continue;
      if (Ref index = plan::scalar_behind(begin, static_cast<size_t>(form.axes[i].written)))
        bounds(Piece::Kind::element, index, x, static_cast<int64_t>(i), "a slice index is out of bounds.");
    }
    if (text.pieces.empty()) say("a slice index is out of bounds.");
  }

  bool words(Ref r, int depth) {
    const Node& n = *r.node;
    if (depth > kDeepest) return false;
    if (is_scalar_text(n)) {
      say(*n.constant.data<std::string>());
      return true;
    }
    if (n.op == Op::string_format) {
      auto shows = [&](Ref operand) { return tensor(operand, n.attrs.get_int(Attr::summarize, 3)), true; };
      return format_pieces(n, [&](std::string_view piece) { return say(piece), true; }, shows);
    }
    if (n.op == Op::string_join) {
      for (size_t i = 0; i < n.operands.size(); ++i) {
        if (i) say(n.attrs.get_text(Attr::separator));
        if (!words(n.operands[i], depth + 1)) return false;
      }
      return true;
    }
    if (n.op == Op::parameter || n.op == Op::identity) {
      Ref outer = n.op == Op::identity ? n.operands[0] : plan::outside(r);
      return outer && words(outer, depth + 1);
    }
    return false;
  }

  Context& context_;
  const ir::Function& function_;
};

// Gives `shown`, from the parameters of `f`.
std::shared_ptr<ir::Function> explain(const ir::Function& f, const std::vector<Ref>& shown) {
  std::shared_ptr<ir::Function> out = ir::clone(f);
  std::vector<Ref> results;
  for (Ref r : shown) {
    for (size_t i = 0; i < f.body.nodes.size(); ++i) {
      if (f.body.nodes[i].get() == r.node) results.push_back({out->body.nodes[i].get(), r.index});
    }
  }
  out->body.results = std::move(results);
  out->result_names.clear();
  // Nothing is checked here, but for what computing the values checks.
  for (auto& n : out->body.nodes) {
    bool only_checks = n->op == Op::check || (n->types.empty() && !n->regions.empty());
    if (only_checks) n.reset();
  }
  std::erase_if(out->body.nodes, [](const auto& n) { return !n; });
  ir::prune(*out);
  return out;
}

}  // namespace

std::vector<FailureText> find_failures(Context& context, ir::Function& f, std::vector<Explanation>& explanations) {
  auto locations = std::make_shared<ir::Locations>(*f.locations);
  std::vector<Node*> nodes;
  ir::walk(f.body, [&](Node& n) {
    if (n.regions.empty() && (n.op == Op::check || ir::effects_of(n).fails)) nodes.push_back(&n);
  });
  for (size_t i = 0; i < nodes.size(); ++i) {
    ir::Location own = (*locations)[nodes[i]->location];
    own.end_column = static_cast<uint32_t>(locations->size()) + (1u << 24);  // of no line: nothing else has it
    nodes[i]->location = locations->add(std::move(own));
  }
  f.locations = locations;
  std::vector<FailureText> out(locations->size());
  for (size_t i = 0; i < out.size(); ++i) {
    const ir::Location& l = (*locations)[i];
    // Without the folder: libraries do not depend on where they were built.
    if (l.line) out[i].place = fmt::format("{}:{}", l.file.substr(l.file.rfind('/') + 1), l.line);
  }
  for (const Node* n : nodes) {
    Wording wording(context, f);
    wording.node(*n);
    std::vector<Ref> shown = std::move(wording.shown);
    wording.sizes(*n);
    out[n->location].pieces = std::move(wording.text.pieces);
    out[n->location].sizes = std::move(wording.text.sizes);
    if (!shown.empty()) explanations.push_back({n->location, explain(f, shown)});
  }
  return out;
}

}  // namespace tfl::codegen
