// Operations whose operands are all constants are computed now, by the kernels that would compute them later. What would fail is
// left to fail at run time; what would make the graph much larger is left to be made at run time.
//
//   %a = constant [1, 2] : f32[2]
//   %b = exp(%a) : f32[2]
// becomes
//   %b = constant [2.7182817, 7.389056] : f32[2]
#include "ir/infer.h"
#include "optimizer/pass.h"
#include "optimizer/rewrite.h"

namespace tfl::optimizer {

namespace {

constexpr int64_t kMostElements = 1 << 14;  // of one result
constexpr int64_t kMostWork = 1 << 20;      // elements read and written in one run of the pass

int64_t elements_of(const ir::Type& t) {
  int64_t n = 1;
  for (int64_t d : t.tensor.dims) {
    if (d < 0 || __builtin_mul_overflow(n, d, &n)) return INT64_MAX;
  }
  return t.tensor.ranked ? n : INT64_MAX;
}

class Folder {
 public:
  explicit Folder(PassCall& call) : call_(call) {}

  void operator()(Block& block) {
    rewrite(block, call_.changed, [&](Node& n, Rewriter& rewriter) { return visit(n, block, rewriter); });
  }

 private:
  bool visit(Node& n, Block& block, Rewriter& rewriter) {
    if (!is_pure(n) || op_info(n.op).kind == OpKind::Random || n.types.empty()) return true;
    int64_t work = 0, read = 0;
    for (Ref r : n.operands) {
      if (r.node->op != Op::constant) return true;
      read += r.node->constant.size();
    }
    for (const ir::Type& t : n.types) {
      int64_t size = elements_of(t);
      // An unknown size is bounded by the run itself only for operations that choose among their elements.
      if (size == INT64_MAX) size = op_info(n.op).kind == OpKind::Create ? INT64_MAX : read;
      if (size > kMostElements) return true;
      work += size;
    }
    work += read + (op_info(n.op).kind == OpKind::Contract ? read * 16 : 0);
    if (work > kMostWork - spent_) return true;
    spent_ += work;
    Tensors operands, results;
    for (Ref r : n.operands) operands.push_back(r.node->constant);
    if (!apply(call_.context, n.op, operands, n.attrs, results) || results.size() != n.types.size()) return true;
    for (const Tensor& t : results) {
      if (t.size() > kMostElements) return true;
    }
    for (uint32_t i = 0; i < results.size(); ++i) {
      Result<Tensor> whole = contiguous(call_.context, results[i]);
      if (!whole) return true;
      Ref c = ir::append_constant(block, whole.take());
      c.node->location = n.location;
      rewriter.replace({&n, i}, c);
    }
    return false;
  }

  PassCall& call_;
  int64_t spent_ = 0;
};

}  // namespace

void run_fold(PassCall& call) {
  Folder fold(call);
  innermost_first(call.function.body, fold);
}

}  // namespace tfl::optimizer
