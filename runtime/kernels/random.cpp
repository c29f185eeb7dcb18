// Random tensors from a seed: random_loops.h over tensors, and the truncated normal.
#include "runtime/kernels/parallel.h"
#include "runtime/kernels/random_loops.h"
#include "runtime/kernels/random_seed.h"
#include "runtime/kernels/context_workers.h"
#include "runtime/ops/infer_util.h"

namespace tfl {

namespace {

Result<void> give_floats(RunCall& call, bool normal) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_floats(workers_of(call.context), stream_of(call.operands[1]), out.dtype(), out.size(), normal, out.raw());
  return call.give(std::move(out));
}

Result<void> give_integers(RunCall& call, bool full, uint64_t low, uint64_t range) {
  Tensor out = TFL_TRY(call.allocate());
  randoms::give_integers(workers_of(call.context), stream_of(call.operands[1]), dtype_size(out.dtype()), out.size(), full, low, range, out.raw());
  return call.give(std::move(out));
}

/// A group of the truncated normal has 256 words for each element set aside: it draws until its elements are found.
constexpr uint64_t kWordsSetAside = 256;

class SingleWords {
 public:
  explicit SingleWords(Philox& stream) : stream_(stream) {}
  uint32_t next() {
    if (at_ == 4) {
      words_ = stream_.next();
      at_ = 0;
    }
    return words_[at_++];
  }

 private:
  Philox& stream_;
  Philox::Words words_{};
  size_t at_ = 4;
};

}  // namespace

Result<void> run_stateless_uniform(RunCall& call) { return give_floats(call, false); }
Result<void> run_stateless_normal(RunCall& call) { return give_floats(call, true); }

Result<void> run_stateless_uniform_int(RunCall& call) {
  DType d = call.operands[2].dtype();
  auto low = static_cast<uint64_t>(load_int(d, call.operands[2].raw())), high = static_cast<uint64_t>(load_int(d, call.operands[3].raw()));
  uint64_t range = randoms::range_of(d, low, high);
  if (range == 0) return shape_rules::invalid(call.op, "Need minval < maxval, got {} >= {}", low, high);
  return give_integers(call, false, low, range);
}

Result<void> run_stateless_uniform_full_int(RunCall& call) { return give_integers(call, true, 0, 1); }

Result<void> run_stateless_truncated_normal(RunCall& call) {
  Tensor out = TFL_TRY(call.allocate());
  Philox base = stream_of(call.operands[1]);
  int64_t n = out.size();
  DType d = out.dtype();
  bool wide = d == DType::F64;
  int64_t width = wide ? 2 : 4;
  int64_t groups = (n + width - 1) / width;
  std::byte* raw = out.raw();
  in_parallel(call.context, groups, 1024, [&](int64_t first, int64_t last) {
    for (int64_t g = first; g < last; ++g) {
      Philox stream = base;
      stream.skip(static_cast<uint64_t>(g) * static_cast<uint64_t>(width) * kWordsSetAside / 4);
      SingleWords words(stream);
      for (int64_t found = 0; found < width;) {
        double pair[2];
        if (wide) {
          uint32_t w[4];
          for (uint32_t& x : w) x = words.next();
          normal_pair(w[0], w[1], w[2], w[3], pair[0], pair[1]);
        } else {
          uint32_t x0 = words.next(), x1 = words.next();
          float a, b;
          normal_pair(x0, x1, a, b);
          pair[0] = a;
          pair[1] = b;
        }
        for (double v : pair) {
          if (found == width || std::fabs(v) >= 2) continue;
          int64_t at = g * width + found++;
          if (at < n) store_double(d, v, raw + static_cast<size_t>(at) * dtype_size(d));
        }
      }
    }
  }, 64);
  return call.give(std::move(out));
}

}  // namespace tfl
