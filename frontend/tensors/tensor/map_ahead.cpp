// A call runs ahead when the whole function is one cluster of machine code, which needs nothing of its context but memory: the
// context's thread takes that and hands the call to the pool as a task, ends it when the element is wanted, and meanwhile runs
// what consumes the elements. Results and errors come in the order of elements. A call that cannot be begun, or does not end well, is
// run when its element is wanted, as without threads.
#include "frontend/tensors/tensor/map_ahead.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>

#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/tensors/tensor/device.h"
#include "runtime/kernels/context_workers.h"

namespace tfl {

namespace {

using Nanoseconds = int64_t;
Nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1); }

// Handing a call to another thread takes a few microseconds, and some tens when that thread sleeps.
constexpr Nanoseconds kWorthATask = 30'000;
constexpr int kTrials = 2;
constexpr size_t kMostBytes = size_t{256} << 20;  // of calls that nobody has asked for yet

/// A begun call, on a worker's thread or on the context's.
struct CallTask final : Task {
  CallTask(const Context& c, std::unique_ptr<ir::BegunRun> r) : context(c), call(std::move(r)) {}
  void run() override { execute(alone(context, stop), false); }
  void execute(const Workers& workers, bool owner) {
    Nanoseconds start = now();
    call->execute(workers, owner);
    took = now() - start;
  }
  const Context& context;
  std::unique_ptr<ir::BegunRun> call;  // goes on the thread of the context
  std::atomic<uint32_t> stop{0};
  Nanoseconds took = 0;
};

struct Element {
  Value operands;                  // a tuple
  std::optional<Failure> failure;  // instead: what upstream raised in its place
  std::shared_ptr<CallTask> task;  // null: the call has not begun
};

struct Mapper : Object {
  Value graph, captures, upstream;
  std::shared_ptr<const ir::Program> program;  // outlives its machine code's tasks
  Context* context = nullptr;
  std::deque<Element> elements;  // taken from upstream, in order
  size_t most = 0;               // of them
  size_t bytes = 0;              // that begun calls hold
  bool over = false;
  // Whether tasks pay: calls are timed, first on the context's thread with all threads inside, then as tasks.
  enum class Mode : uint8_t { trial, ahead, serial } mode = Mode::serial;
  int timed = 0;
  Nanoseconds direct = INT64_MAX, task = INT64_MAX;

  ~Mapper() {
    for (Element& e : elements) drop(e);
  }
  void drop(Element& e) {
    if (!e.task) return;
    e.task->stop.store(1, std::memory_order_relaxed);
    if (!e.task->claim()) {
      while (!context->threads().wait_a_little(*e.task)) {
      }
    }
    bytes -= e.task->call->bytes;
    e.task->call.reset();
    e.task.reset();
  }
};

const Slots kMapperSlots = {.kind = Kind::Native, .destroy = destroy_object<Mapper>};

using Operands = SmallVec<Value, 8>;

Operands operands_of(const Value& tuple, const Value& captures) {
  Operands found;
  for (const Value& v : tuple.as<Tuple>()->span()) found.push_back(v);
  for (const Value& v : captures.as<List>()->items) found.push_back(v);
  return found;
}

Result<Value> run_now(Interp& interp, const FunctionCall& call, const Value& tuple, const Value& captures) {
  Operands operands = operands_of(tuple, captures);
  SmallVec<Value, 2> results;
  const void*& function = interp.tensors->random.function;
  struct Before {
    const void*& now;
    const void* before;
    ~Before() { now = before; }
  } before{function, std::exchange(function, &call)};
  TFL_TRY(run_call(interp, call, {operands.data(), operands.size()}, results));
  return interp.tuple({results.data(), results.size()});
}

Result<Value> run_now(Interp& interp, const Mapper& m, const Value& tuple) {
  return run_now(interp, m.graph.as<TracedGraph>()->call, tuple, m.captures);
}

Result<Value> run(Interp& interp, Value* args) {
  TracedGraph* graph = TFL_TRY(graph_argument(interp, args[0]));
  if (!args[1].is(Kind::Tuple) || !args[2].is(Kind::List)) {
    return fail(ErrorKind::TypeError, "run: a tuple and a list are needed");
  }
  return run_now(interp, graph->call, args[1], args[2]);
}

/// The call for one element as a task that nobody has yet; null where there is no machine code for it.
std::shared_ptr<CallTask> begin(Interp& interp, Mapper& m, const Value& tuple) {
  const FunctionCall& call = m.graph.as<TracedGraph>()->call;
  const ir::Program::Direct* direct = call.program ? call.program->direct() : nullptr;
  if (!direct || call.device != gpu::kCpu) return nullptr;
  Operands operands = operands_of(tuple, m.captures);
  if (where_operands_are(interp, {operands.data(), operands.size()}) != gpu::kCpu) return nullptr;
  SmallVec<Tensor, 6> inputs;
  for (uint32_t i : direct->arguments) {
    if ((i & ir::Program::Direct::kRead) || !operands[i].is_tensor()) return nullptr;
    inputs.push_back(operands[i].tensor());
  }
  std::unique_ptr<ir::BegunRun> begun = direct->native->begin(interp.context, inputs);
  if (!begun) return nullptr;
  m.program = call.program;
  m.bytes += begun->bytes;
  return std::make_shared<CallTask>(interp.context, std::move(begun));
}

/// The results of an executed call; empty where it has to be run again.
std::optional<Value> end(Interp& interp, Mapper& m, CallTask& task) {
  const ir::Program::Direct& direct = *m.program->direct();
  m.bytes -= task.call->bytes;
  SmallVec<Tensor, 4> given(direct.given);
  bool done = task.call->finish(given);
  task.call.reset();
  if (!done) return {};
  SmallVec<Value, 2> results;
  for (uint32_t i : direct.results) results.push_back(Value::of(given[i]));
  return interp.tuple({results.data(), results.size()});
}

void decide(Mapper& m) {
  const int threads = m.context->thread_count();
  if (m.mode == Mapper::Mode::trial && m.timed == kTrials) {
    m.mode = m.direct < kWorthATask ? Mapper::Mode::serial : Mapper::Mode::ahead;
    m.timed = 0;
  } else if (m.mode == Mapper::Mode::ahead && m.timed == 2 * threads) {
    // One call on all threads may be faster than several on one each.
    auto beside = std::min<int64_t>(threads, static_cast<int64_t>(m.most));
    if (m.task / beside > m.direct + m.direct / 4) m.mode = Mapper::Mode::serial;
  }
}

Result<Value> on_trial(Interp& interp, Mapper& m, const Value& tuple) {
  if (std::shared_ptr<CallTask> task = begin(interp, m, tuple)) {
    task->claim();
    task->execute(workers_of(interp.context), true);
    m.direct = std::min(m.direct, task->took);
    ++m.timed;
    decide(m);
    if (std::optional<Value> results = end(interp, m, *task)) return std::move(*results);
  }
  return run_now(interp, m, tuple);
}

/// Takes elements from upstream as far as they are wanted.
Result<void> take(Interp& interp, Mapper& m) {
  int few = std::max(2, interp.context.thread_count());  // at once, so that the first does not wait for many
  while (!m.over) {
    if (!m.elements.empty()) {
      bool more = m.mode == Mapper::Mode::ahead && m.elements.size() <= m.most && m.bytes < kMostBytes && few-- > 0;
      if (!more || m.elements.back().failure) return {};
    }
    Result<Value> element = interp.call(m.upstream, {});
    if (!element) {
      ErrorKind kind = element.error().kind;
      if (m.elements.empty() || kind == ErrorKind::KeyboardInterrupt || kind == ErrorKind::SystemExit) return element.failure();
      m.elements.push_back({Value::none(), element.failure(), nullptr});
    } else if (element->is_none()) {
      m.over = true;
    } else if (!element->is(Kind::Tuple)) {
      return fail(ErrorKind::TypeError, "mapped: an element must be a tuple");
    } else {
      Element e{element.take(), {}, nullptr};
      if (m.mode == Mapper::Mode::ahead) e.task = begin(interp, m, e.operands);
      if (e.task) interp.context.threads().start(e.task);
      m.elements.push_back(std::move(e));
    }
  }
  return {};
}

/// Until the task is done: this thread does it, or others that wait, or waits.
void complete(Interp& interp, Mapper& m, CallTask& wanted) {
  const std::atomic<uint32_t>& interrupt = interp.context.interrupt;
  auto help = [&](CallTask& task) {
    if (!task.claim()) return false;
    task.execute(alone(interp.context, interrupt), true);
    task.phase.store(Task::done, std::memory_order_release);
    return true;
  };
  if (help(wanted)) return;
  while (!wanted.is_done()) {
    if (interrupt.load(std::memory_order_relaxed) != 0) {
      wanted.stop.store(1, std::memory_order_relaxed);
    } else if (std::any_of(m.elements.begin(), m.elements.end(), [&](Element& e) { return e.task && help(*e.task); })) {
      continue;
    }
    interp.context.threads().wait_a_little(wanted);
  }
}

Result<Mapper*> mapper_argument(Interp& interp, const Value& v) {
  if (v.is(Kind::Native) && v.object()->type->slots == &kMapperSlots) return v.as<Mapper>();
  return fail(ErrorKind::TypeError, "a mapper is needed, not '{}'", interp.type_name(v));
}

Result<Value> mapped(Interp& interp, Value* args) {
  Mapper& m = *TFL_TRY(mapper_argument(interp, args[0]));
  TFL_TRY(take(interp, m));
  if (m.elements.empty()) return Value::none();
  Element e = std::move(m.elements.front());
  m.elements.pop_front();
  if (e.failure) return std::move(*e.failure);
  if (e.task) {
    complete(interp, m, *e.task);
    m.task = std::min(m.task, e.task->took);
    ++m.timed;
    decide(m);
    if (std::optional<Value> results = end(interp, m, *e.task)) return std::move(*results);
    return run_now(interp, m, e.operands);
  }
  return m.mode == Mapper::Mode::trial ? on_trial(interp, m, e.operands) : run_now(interp, m, e.operands);
}

Type* mapper_type(Interp& interp) {
  Value module = interp.find_module("_data");
  return dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_Mapper")).as<Type>();
}

Result<Value> mapper(Interp& interp, Value* args) {
  TFL_TRY(graph_argument(interp, args[0]));
  if (!args[1].is(Kind::List)) return fail(ErrorKind::TypeError, "mapper: captures must be a list");
  int64_t ahead = TFL_TRY(to_index(interp, args[3]));
  auto* m = interp.allocate<Mapper>(mapper_type(interp));
  Value made = Value::adopt(m);
  m->graph = args[0];
  m->captures = args[1];
  m->upstream = args[2];
  m->context = &interp.context;
  m->most = static_cast<size_t>(std::max<int64_t>(ahead, 0));
  if (ahead > 0 && interp.context.thread_count() > 1) m->mode = Mapper::Mode::trial;
  return made;
}

Result<Value> is_pure(Interp& interp, Value* args) {
  TracedGraph* graph = TFL_TRY(graph_argument(interp, args[0]));
  bool pure = true;
  for (const auto& p : graph->call.function->body.params) pure = pure && p->types[0].is_tensor();
  for (const auto& n : graph->call.function->body.nodes) {
    ir::Effects e = ir::effects_of(*n);
    pure = pure && !e.reads && !e.writes;
  }
  return Value::boolean(pure);
}

constexpr NativeDef kMapNatives[] = {
    function("run", "graph, operands, captures, /", run),
    function("mapper", "graph, captures, upstream, ahead, /", mapper),
    function("mapped", "mapper, /", mapped),
    function("is_pure", "graph, /", is_pure),
};

}  // namespace

void init_map_ahead(Interp& interp, Module& module) {
  define_native_type(interp, module, "_Mapper", kMapperSlots);
  define_all(interp, module, kMapNatives);
}

}  // namespace tfl
