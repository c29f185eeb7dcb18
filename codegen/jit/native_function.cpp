#include "codegen/jit/native_function.h"

#include <algorithm>
#include <cstring>

#include "codegen/load/services.h"
#include "runtime/kernels/context_workers.h"

namespace tfl::codegen {

namespace {

using plan::Plan;
using plan::ResultPlace;
using plan::Size;

constexpr size_t kAlignment = 64;
constexpr size_t kRoom = 3072;  // of the stack: a small frame and a small arena
constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kFrameHeader = offsetof(Frame, words);
static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

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
          .window = nullptr,
          .epilogue = nullptr};
}

}  // namespace

NativeFunction::NativeFunction(std::shared_ptr<const Plan> made, std::vector<Tensor> constants)
    : plan_(std::move(made)), constants_(std::move(constants)), facts_(*plan_, constants_) {
  const Plan& p = *plan_;
  for (size_t i = 0, end; i < p.body.steps.size(); i = end) {
    end = plan::beside_end(p.body, i);
    if (end == i + 1) continue;
    most_beside_ = std::max(most_beside_, static_cast<int>(end - i));
    for (; i < end; ++i) {
      for (const plan::Block& block : p.body.steps[i].blocks) plan::add_work(p, block, beside_);
    }
  }
  if (facts_.can_fail) return;
  for (const plan::Donation& d : p.donations) {
    bool given_out = std::any_of(p.results.begin(), p.results.end(),
                                 [&](const ResultPlace& r) { return r.kind == ResultPlace::Kind::input && r.index == d.input; });
    bool fits = d.input < p.inputs.size() && d.result < p.results.size() && p.results[d.result].kind == ResultPlace::Kind::memory;
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
  int beside = 0;  // loops that run at the same time, each with a frame and scratch memory of its own
  std::byte* arena = nullptr;
  void* taken = nullptr;  // memory of the pool
  size_t taken_bytes = 0;
  SmallVec<plan::Donation, 2> donated;
  bool full = false;

  Call(const NativeFunction& f, Context& c, std::span<Tensor> in, std::span<Tensor> out, int64_t* w)
      : self(f), plan(*f.plan_), context(c), inputs(in), results(out), words(w) {}
  ~Call() {
    if (taken) context.memory.release(taken, taken_bytes);
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
  bool take_arena(std::byte* room, size_t room_bytes, bool any_thread = false) {
    if (!self.facts_.place_slots(plan, words, offsets, arena_bytes)) return false;
    for (const plan::Product& p : plan.products) {
      ProductCall call = call_of(plan, p, words);
      WindowCall window;
      if (p.window != plan::kNone) {
        int64_t numbers[kWindowWords], *number = numbers;
        for (Size s : plan.windows[p.window].words()) *number++ = size_of(s, words);
        std::memcpy(&window, numbers, sizeof window);
        call.window = &window;
      }
      scratch_bytes = std::max(scratch_bytes, product_scratch_bytes(context, context.thread_count(), call));
      if (any_thread) scratch_bytes = std::max(scratch_bytes, product_scratch_bytes(context, 1, call));
    }
    // Loops whose steps use all threads run one after the other.
    bool small = std::all_of(self.beside_.begin(), self.beside_.end(), [&](const plan::StepWork& w) {
      int64_t work = w.cost;
      for (plan::Size s : w.sizes) {
        if (__builtin_mul_overflow(work, size_of(s, words), &work)) return false;
      }
      return work < w.most;
    });
    // A profiler looks at one frame.
    if (small && self.most_beside_ > 1 && context.thread_count() > 1 && !self.profile_) {
      beside = self.most_beside_;
      scratch_bytes = (scratch_bytes + kAlignment - 1) & ~(kAlignment - 1);
    }
    size_t all, each, parts;
    if (__builtin_add_overflow(arena_bytes, scratch_bytes, &all) ||
        __builtin_add_overflow(scratch_bytes, self.frame_bytes(), &each) ||
        __builtin_mul_overflow(each, static_cast<size_t>(beside), &parts) || __builtin_add_overflow(all, parts, &all))
      return false;
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
  size_t offset_of(uint32_t slot) const { return self.facts_.known_arena ? self.facts_.offsets[slot] : offsets[slot]; }

  static bool may_be_overwritten(const Tensor& t) {
    const TensorRep* r = t.rep();
    return t.unique() && r->contiguous && !r->host && r->buffer && r->buffer->pool && r->data == r->buffer->data;
  }

  bool make_results() {
    for (const plan::Donation& d : self.donations_) {
      Tensor& t = inputs[d.input];
      const ResultPlace& r = plan.results[d.result];
      if (results[d.result] || !t || !may_be_overwritten(t) || t.dtype() != r.dtype || !same_dims(t, r, words)) continue;
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

  void fill_words() {
    for (const PlanFacts::Address& a : self.facts_.addresses) {
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

  /// Whether machine code has done all of its work; `workers` are those of the run.
  bool enter(EntryFunction entry, Frame* frame, const Workers& workers, bool owner) {
    Run run{context, workers, arena + arena_bytes, scratch_bytes, owner};
    if (beside > 0) {
      run.copies = run.scratch + scratch_bytes;
      run.frame_bytes = self.frame_bytes();
    }
    frame->services = &kServices;
    frame->self = &run;
    frame->interrupt = workers.interrupt;
    frame->failed = 0;
    FloatEnvironment environment;
    int64_t status = self.profile_ ? profiled(frame, entry, owner) : entry(frame);
    full = status == kFull;
    // After an interrupt parts of the work were left out, whether the code has seen it or not.
    return status == kDone && frame->failed == 0 && !workers.interrupted();
  }

  /// A run that a profiler sees, where it looks: at the thread of the context.
  int64_t profiled(Frame* frame, EntryFunction entry, bool owner) {
    CodeProfile& profile = *self.profile_;
    int64_t* own = words + plan.words;
    std::fill_n(own, profile.words(), 0);
    if (!owner) return entry(frame);
    RunningCode running{profile.steps.data(), own, static_cast<int64_t>(profile.steps.size())};
    self.all_->running.store(&running, std::memory_order_release);
    int64_t status = entry(frame);
    self.all_->running.store(nullptr, std::memory_order_release);
    size_t bytes = arena_bytes + scratch_bytes;
    for (size_t i = 0; i < results.size(); ++i)
      bytes += results[i] && plan.results[i].kind == ResultPlace::Kind::memory ? results[i].bytes() : 0;
    profile.add(plan, words, bytes);
    return status;
  }

  bool finish_results() {
    if (!give_results(context, plan, words, {rows.data(), rows.size()}, self.constants_, results)) return false;
    for (const plan::Donation& d : donated) {
      inputs[d.input] = Tensor();
      results[d.result].rep()->flags = 0;
    }
    return true;
  }
  bool fail() {
    for (Tensor& t : results) t = Tensor();
    return false;
  }
};

size_t NativeFunction::frame_bytes() const {
  size_t words = std::max<size_t>(plan_->words, 1) + (profile_ ? profile_->words() : 0);
  return (kFrameHeader + sizeof(int64_t) * words + kAlignment - 1) & ~(kAlignment - 1);
}

bool NativeFunction::run(Context& context, EntryFunction entry, std::span<Tensor> inputs, std::span<Tensor> results,
                         bool* full) const {
  alignas(kAlignment) std::byte room[kRoom];
  size_t bytes = frame_bytes();
  std::unique_ptr<std::byte[]> large;
  std::byte* memory = room;
  if (bytes > kRoom) {
    large.reset(new std::byte[bytes]);
    memory = large.get();
  }
  auto* frame = new (memory) Frame;

  Call call(*this, context, inputs, results, frame->words);
  if (!facts_.types_hold(*plan_, inputs, results.size()) || !facts_.sizes_hold(*plan_, inputs, frame->words) || !call.make_rows())
    return false;
  bool fits = bytes < kRoom;
  if (!call.take_arena(fits ? room + bytes : room, fits ? kRoom - bytes : large ? kRoom : 0) || !call.make_results())
    return call.fail();
  call.fill_words();
  if (!call.enter(entry, frame, workers_of(context), true)) {
    if (full) *full = call.full;
    return call.fail();
  }
  return call.finish_results() || call.fail();
}

/// A run on memory of its own.
struct NativeFunction::Begun final : ir::BegunRun {
  EntryFunction entry;
  std::unique_ptr<std::byte[]> memory;
  SmallVec<Tensor, 6> inputs;
  SmallVec<Tensor, 4> results;
  Frame* frame;
  Call call;
  bool done = false;

  Begun(const NativeFunction& f, Context& context, EntryFunction e, std::span<const Tensor> in)
      : entry(e),
        memory(new std::byte[f.frame_bytes()]),
        results(f.plan_->results.size()),
        frame(new(memory.get()) Frame),
        call(f, context, {}, {}, frame->words) {
    for (const Tensor& t : in) inputs.push_back(t);
    call.inputs = inputs;
    call.results = results;
  }
  bool prepare() {
    const PlanFacts& facts = call.self.facts_;
    if (!facts.types_hold(call.plan, inputs, results.size()) || !facts.sizes_hold(call.plan, inputs, frame->words) ||
        !call.make_rows() || !call.take_arena(nullptr, 0, true) || !call.make_results())
      return false;
    call.fill_words();
    bytes = call.taken_bytes;
    for (const Tensor& t : results) {
      if (t) bytes += static_cast<size_t>(t.size()) * dtype_size(t.dtype());
    }
    return true;
  }
  void execute(const Workers& workers, bool owner) override { done = call.enter(entry, frame, workers, owner); }
  bool finish(std::span<Tensor> to) override {
    if (!done || to.size() != results.size() || !call.finish_results()) return false;
    for (size_t i = 0; i < to.size(); ++i) to[i] = std::move(results[i]);
    return true;
  }
};

std::unique_ptr<ir::BegunRun> NativeFunction::begin(Context& context, EntryFunction entry, std::span<const Tensor> inputs) const {
  auto begun = std::make_unique<Begun>(*this, context, entry, inputs);
  if (!begun->prepare()) return nullptr;
  return begun;
}

}  // namespace tfl::codegen
