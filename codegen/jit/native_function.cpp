#include "codegen/jit/native_function.h"

#include <algorithm>
#include <cstring>

#include "codegen/jit/services.h"
#include "runtime/kernels/elementwise_checks.h"

namespace tfl::codegen {

namespace {

using plan::is_known;
using plan::Plan;
using plan::ResultPlace;
using plan::Size;
using plan::Step;
using plan::symbol_of;

constexpr size_t kAlignment = 64;
constexpr size_t kRoom = 3072;  // of the stack: a small frame and a small arena
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kFrameHeader = offsetof(Frame, words);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

int64_t size_of(Size s, const int64_t* words) { return is_known(s) ? s : words[symbol_of(s)]; }

bool aligned_end(size_t at, int64_t bytes, size_t& end) {
  return bytes >= 0 && !__builtin_add_overflow(at, static_cast<size_t>(bytes), &end) &&
         !__builtin_add_overflow(end, kAlignment - 1, &end) && (end &= ~(kAlignment - 1), true);
}

bool compute(const plan::Symbol& s, std::span<const Tensor> inputs, const int64_t* words, int64_t& value) {
  using Kind = plan::Symbol::Kind;
  if (s.kind == Kind::dim) {
    value = inputs[s.input].dim(static_cast<int>(s.axis));
    return true;
  }
  int64_t a = size_of(s.a, words), b = size_of(s.b, words);
  switch (s.kind) {
    case Kind::dim: break;
    case Kind::add: return !__builtin_add_overflow(a, b, &value);
    case Kind::subtract: return !__builtin_sub_overflow(a, b, &value);
    case Kind::multiply: return !__builtin_mul_overflow(a, b, &value);
    case Kind::divide:
      if (b == 0 || (a == INT64_MIN && b == -1)) return false;
      value = a / b - (a % b != 0 && (a < 0) != (b < 0));
      return true;
    case Kind::maximum: value = std::max(a, b); return true;
    case Kind::minimum: value = std::min(a, b); return true;
  }
  return false;
}

bool row_fails(const plan::Expr& e) { return e.kind == plan::ExprKind::apply && row_has_checks(e.op); }

bool steps_fail(const plan::Block& block) {
  return std::any_of(block.steps.begin(), block.steps.end(), [](const Step& s) {
    return s.kind == Step::Kind::check || (s.kind == Step::Kind::scalar && row_fails(s.expr)) ||
           std::any_of(s.blocks.begin(), s.blocks.end(), steps_fail);
  });
}

/// Whether the code may find out on the way that an operation would raise.
bool can_fail(const Plan& p) {
  return steps_fail(p.body) || std::any_of(p.kernels.begin(), p.kernels.end(), [](const plan::Kernel& k) {
           return std::any_of(k.exprs.begin(), k.exprs.end(), row_fails);
         });
}

ProductCall call_of(const Plan& p, const plan::Product& product, const int64_t* words) {
  int64_t m = size_of(product.m, words), n = size_of(product.n, words), k = size_of(product.k, words);
  bool ta = product.transpose_a, tb = product.transpose_b;
  return {.a = nullptr,
          .b = nullptr,
          .result = nullptr,
          .dtype = static_cast<int64_t>(p.values[product.a].dtype),
          .batch = size_of(product.batch, words),
          .m = m,
          .n = n,
          .k = k,
          .a_row = ta ? 1 : k,
          .a_k = ta ? m : 1,
          .a_batch = size_of(product.a_batch, words),
          .b_k = tb ? 1 : n,
          .b_col = tb ? k : 1,
          .b_batch = size_of(product.b_batch, words),
          .epilogue = nullptr};
}

}  // namespace

NativeFunction::NativeFunction(std::shared_ptr<const Plan> made, std::vector<Tensor> constants)
    : plan_(std::move(made)), constants_(std::move(constants)) {
  const Plan& p = *plan_;
  for (const plan::Value& v : p.values) {
    if (v.word == plan::kNone) continue;
    usable_ = usable_ && v.word < p.words;
    size_t count = SIZE_MAX;
    switch (v.home) {
      case plan::Home::input: count = p.inputs.size(); break;
      case plan::Home::constant: count = constants_.size(); break;
      case plan::Home::result: count = p.results.size(); break;
      case plan::Home::temporary: count = p.slots.size(); break;
      case plan::Home::pointer:
      case plan::Home::scalar: continue;  // the code writes them
    }
    usable_ = usable_ && v.index < count;
    addresses_.push_back({v.word, v.home, v.index});
  }
  for (const plan::Symbol& s : p.symbols) {
    if (s.kind == plan::Symbol::Kind::dim)
      usable_ = usable_ && s.input < p.inputs.size() && s.axis < p.inputs[s.input].dims.size();
  }
  usable_ = usable_ && p.symbols.size() <= p.words;
  for (const plan::InputType& t : p.inputs) {
    for (Size s : t.dims) symbolic_ = symbolic_ || !is_known(s);
  }
  for (const ResultPlace& r : p.results) {
    switch (r.kind) {
      case ResultPlace::Kind::memory: break;
      case ResultPlace::Kind::scalar:
        usable_ = usable_ && r.index < p.values.size() && p.values[r.index].word < p.words;
        break;
      case ResultPlace::Kind::input: usable_ = usable_ && r.index < p.inputs.size(); break;
      case ResultPlace::Kind::constant: usable_ = usable_ && r.index < constants_.size(); break;
    }
  }
  for (const Tensor& t : constants_) usable_ = usable_ && t.contiguous();

  known_arena_ = std::all_of(p.slots.begin(), p.slots.end(), is_known);
  for (size_t i = 0; known_arena_ && i < p.slots.size(); ++i) {
    offsets_.push_back(arena_bytes_);
    usable_ = usable_ && aligned_end(arena_bytes_, p.slots[i], arena_bytes_);
  }

  if (can_fail(p)) return;
  for (const plan::Donation& d : p.donations) {
    bool given_out = std::any_of(p.results.begin(), p.results.end(), [&](const ResultPlace& r) {
      return r.kind == ResultPlace::Kind::input && r.index == d.input;
    });
    bool fits = d.input < p.inputs.size() && d.result < p.results.size() &&
                p.results[d.result].kind == ResultPlace::Kind::memory;
    if (fits && !given_out) donations_.push_back(d);
  }
}

/// One run. Whatever it took goes back when it ends; results stay when it succeeded.
struct NativeFunction::Call {
  const NativeFunction& self;
  const Plan& plan;
  Context& context;
  std::span<Tensor> inputs, results;
  int64_t* words;
  SmallVec<Tensor, 2> copies;        // of inputs with gaps
  SmallVec<const Tensor*, 12> rows;  // the inputs, row-major
  SmallVec<size_t, 8> offsets;       // of slots
  size_t arena_bytes = 0, scratch_bytes = 0;
  std::byte* arena = nullptr;
  void* taken = nullptr;  // memory of the pool
  size_t taken_bytes = 0;
  SmallVec<plan::Donation, 2> donated;

  Call(const NativeFunction& f, Context& c, std::span<Tensor> in, std::span<Tensor> out, int64_t* w)
      : self(f), plan(*f.plan_), context(c), inputs(in), results(out), words(w) {}
  ~Call() {
    if (taken) context.memory.release(taken, taken_bytes);
  }

  // The types of a trace's inputs are known; this is a second lock on a door behind which memory is written.
  bool types_hold() const {
    if (inputs.size() != plan.inputs.size() || results.size() != plan.results.size()) return false;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const plan::InputType& t = plan.inputs[i];
      const TensorRep* r = inputs[i].rep();
      if (!r || r->dtype != t.dtype || r->rank != t.dims.size()) return false;
      const int64_t* dims = r->dims();
      for (size_t k = 0; k < t.dims.size(); ++k) {
        if (is_known(t.dims[k]) && dims[k] != t.dims[k]) return false;
      }
    }
    return true;
  }

  bool sizes_hold() const {
    for (size_t i = 0; i < plan.symbols.size(); ++i) {
      if (!compute(plan.symbols[i], inputs, words, words[i])) return false;
    }
    for (size_t i = 0; self.symbolic_ && i < inputs.size(); ++i) {
      std::span<const int64_t> dims = inputs[i].dims();
      for (size_t k = 0; k < dims.size(); ++k) {
        if (dims[k] != size_of(plan.inputs[i].dims[k], words)) return false;
      }
    }
    return std::all_of(plan.guards.begin(), plan.guards.end(), [&](const plan::Guard& g) {
      int64_t a = size_of(g.a, words), b = size_of(g.b, words);
      return g.kind == plan::Guard::Kind::equal ? a == b : a >= b;
    });
  }

  bool make_rows() {
    bool gaps = false;
    for (const Tensor& t : inputs) {
      rows.push_back(&t);
      gaps = gaps || !t.contiguous();
    }
    if (!gaps) return true;
    for (const Tensor& t : inputs) {
      if (t.contiguous()) continue;
      Result<Tensor> copy = contiguous(context, t);
      if (!copy) return false;
      copies.push_back(copy.take());
    }
    size_t next = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i].contiguous()) rows[i] = &copies[next++];
    }
    return true;
  }

  /// Memory for slots and products, in `room` when it is large enough.
  bool take_arena(std::byte* room, size_t room_bytes) {
    arena_bytes = self.arena_bytes_;
    if (!self.known_arena_) {
      arena_bytes = 0;
      for (Size s : plan.slots) {
        offsets.push_back(arena_bytes);
        if (!aligned_end(arena_bytes, size_of(s, words), arena_bytes)) return false;
      }
    }
    for (const plan::Product& p : plan.products)
      scratch_bytes = std::max(scratch_bytes, product_scratch_bytes(context, call_of(plan, p, words)));
    size_t all;
    if (__builtin_add_overflow(arena_bytes, scratch_bytes, &all)) return false;
    if (all <= room_bytes) {
      arena = room;
      return true;
    }
    if (all > kHugePage / 8) all = std::max(all, kHugePage);  // worth a large page
    Result<void*> memory = context.memory.allocate(all);
    if (!memory) return false;
    taken = *memory;
    taken_bytes = all;
    arena = static_cast<std::byte*>(taken);
    return true;
  }
  size_t offset_of(uint32_t slot) const { return self.known_arena_ ? self.offsets_[slot] : offsets[slot]; }

  static bool may_be_overwritten(const Tensor& t) {
    const TensorRep* r = t.rep();
    return t.unique() && r->contiguous && !r->host && r->buffer && r->buffer->pool && r->data == r->buffer->data;
  }

  bool make_results() {
    for (const plan::Donation& d : self.donations_) {
      Tensor& t = inputs[d.input];
      const ResultPlace& r = plan.results[d.result];
      if (results[d.result] || !t || !may_be_overwritten(t) || t.dtype() != r.dtype || !same_dims(t, r)) continue;
      results[d.result] = t;  // counted twice until the run has succeeded, so that nothing else takes it
      donated.push_back(d);
    }
    SmallVec<int64_t, 6> dims;
    for (size_t i = 0; i < results.size(); ++i) {
      const ResultPlace& r = plan.results[i];
      if (r.kind != ResultPlace::Kind::memory || results[i]) continue;
      dims.clear();
      for (Size s : r.dims) dims.push_back(size_of(s, words));
      Result<Tensor> made = Tensor::empty(context, r.dtype, dims);
      if (!made) return false;
      results[i] = made.take();
    }
    return true;
  }
  bool same_dims(const Tensor& t, const ResultPlace& r) const {
    if (t.dims().size() != r.dims.size()) return false;
    for (size_t k = 0; k < r.dims.size(); ++k) {
      if (t.dim(static_cast<int>(k)) != size_of(r.dims[k], words)) return false;
    }
    return true;
  }

  void fill_words() {
    for (const Address& a : self.addresses_) {
      const std::byte* at = nullptr;
      switch (a.home) {
        case plan::Home::input: at = rows[a.index]->raw(); break;
        case plan::Home::constant: at = self.constants_[a.index].raw(); break;
        case plan::Home::result: at = results[a.index] ? results[a.index].raw() : nullptr; break;
        case plan::Home::temporary: at = arena + offset_of(a.index); break;
        case plan::Home::pointer:
        case plan::Home::scalar: break;
      }
      words[a.word] = reinterpret_cast<int64_t>(at);
    }
  }

  bool finish_results() {
    for (size_t i = 0; i < results.size(); ++i) {
      const ResultPlace& r = plan.results[i];
      switch (r.kind) {
        case ResultPlace::Kind::memory: break;
        case ResultPlace::Kind::input:
          if (!give(*rows[r.index], r, results[i])) return false;
          break;
        case ResultPlace::Kind::constant:
          if (!give(self.constants_[r.index], r, results[i])) return false;
          break;
        case ResultPlace::Kind::scalar: {
          Result<Tensor> made = Tensor::empty(context, r.dtype, {});
          if (!made) return false;
          std::memcpy(made->raw(), &words[plan.values[r.index].word], dtype_size(r.dtype));  // low bytes first
          results[i] = made.take();
          break;
        }
      }
    }
    for (const plan::Donation& d : donated) {
      inputs[d.input] = Tensor();
      results[d.result].rep()->flags = 0;
    }
    return true;
  }
  /// `from` itself, or its elements under other sizes.
  bool give(const Tensor& from, const ResultPlace& r, Tensor& to) const {
    if (from.dtype() != r.dtype) return false;
    if (same_dims(from, r)) {
      to = from;
      return true;
    }
    Dims dims;
    for (Size s : r.dims) dims.push_back(size_of(s, words));
    Result<int64_t> n = element_count(dims);
    if (!n || *n != from.size()) return false;
    to = Tensor::view(context, from, dims, Tensor::row_major_strides(dims), 0);
    return true;
  }

  bool fail() {
    for (Tensor& t : results) t = Tensor();
    return false;
  }
};

bool NativeFunction::run(Context& context, EntryFunction entry, std::span<Tensor> inputs,
                         std::span<Tensor> results) const {
  alignas(kAlignment) std::byte room[kRoom];
  size_t frame_bytes =
      (kFrameHeader + sizeof(int64_t) * std::max<size_t>(plan_->words, 1) + kAlignment - 1) & ~(kAlignment - 1);
  std::unique_ptr<std::byte[]> large;
  std::byte* memory = room;
  if (frame_bytes > kRoom) {
    large.reset(new std::byte[frame_bytes]);
    memory = large.get();
  }
  auto* frame = new (memory) Frame;

  Call call(*this, context, inputs, results, frame->words);
  if (!call.types_hold() || !call.sizes_hold() || !call.make_rows()) return false;
  bool fits = frame_bytes < kRoom;
  if (!call.take_arena(fits ? room + frame_bytes : room, fits    ? kRoom - frame_bytes
                                                         : large ? kRoom
                                                                 : 0) ||
      !call.make_results())
    return call.fail();
  call.fill_words();

  Run run{context, call.arena + call.arena_bytes, call.scratch_bytes};
  frame->services = &kServices;
  frame->self = &run;
  frame->interrupt = reinterpret_cast<const uint32_t*>(&context.interrupt);
  frame->failed = 0;
  int64_t status;
  {
    FloatEnvironment environment;
    status = entry(frame);
  }
  // After an interrupt parts of the work were left out, whether the code has seen it or not.
  if (status != kDone || frame->failed != 0 || context.interrupt.load(std::memory_order_relaxed) != 0)
    return call.fail();
  return call.finish_results() || call.fail();
}

}  // namespace tfl::codegen
