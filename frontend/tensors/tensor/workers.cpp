// The module `_workers`: the processes of one MPI job, through libtfl_mpi.so (or libtfl_mpich.so), which is loaded when a script asks for the other
// ones; the random streams of replicas. A sum is begun and finished apart, so that a script goes on in between.
#include "frontend/tensors/tensor/workers.h"

#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/core/scope.h"
#include "frontend/core/tensor_api.h"
#include "frontend/tensors/numpy/array.h"
#include "runtime/mpi/table.h"
#include "runtime/support/launch.h"
#include "runtime/support/shared_library.h"

namespace tfl {

namespace workers {

namespace {

// One MPI job a process: MPI allows no second one.
struct Joined {
  const mpi::Table* table = nullptr;
  mpi::World world;
  std::string error;
  bool left = false;
};

Joined& joined() {
  static Joined all;
  return all;
}

Result<const mpi::Table*> table() {
  Joined& j = joined();
  if (j.table) return j.table;
  return fail(ErrorKind::RuntimeError, "no other workers were asked for");
}

/// Sums under way, and the streams of replicas.
struct Sending {
  mpi::Job job;
  std::vector<Tensor> kept, results;       // results: as the script gave them
  std::vector<std::vector<Tensor>> rooms;  // small tensors beside each other: one buffer a node
  struct Piece {
    size_t segment, offset;
    bool packed;
  };
  std::vector<Piece> pieces;  // by tensor
};

struct State : Object {
  std::map<int64_t, std::unique_ptr<Sending>> sendings;
  int64_t next = 1;
  std::map<int, RandomStreams> streams;
  std::optional<int64_t> common;  // what the streams of replicas begin with
};

extern const Slots kState;

State* found(Interp& interp) {
  Value module = interp.find_module("_workers");
  if (!module.is(Kind::Module)) return nullptr;
  Value v = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_state"));
  return v.is(Kind::Native) && v.object()->type->slots == &kState ? v.as<State>() : nullptr;
}

int64_t common_seed(Interp& interp) {
  RandomStreams& script = interp.tensors->random;
  return script.seed() ? *script.seed() : script.unseeded()[2];
}

Result<State*> needed(Interp& interp) {
  if (State* state = found(interp)) return state;
  return fail(ErrorKind::RuntimeError, "the module _workers has lost its state");
}

constexpr int64_t kMostReplicas = 1 << 20;

/// launched(): (rank, size) of the job that a launcher started this process in, or None. Nothing is loaded.
Result<Value> launched(Interp& interp, Value*) {
  const Launch& l = launch();
  if (!l.started) return Value::none();
  return interp.tuple({Value::integer(l.rank), Value::integer(l.size)});
}

/// replicas(): what --replicas said, or None.
Result<Value> replicas(Interp&, Value*) {
  const char* said = std::getenv("TFL_REPLICAS");
  const int n = said ? std::atoi(said) : 0;  // NOLINT(cert-err34-c): the program wrote it
  return n > 0 ? Value::integer(n) : Value::none();
}

/// join(): (rank, size, library); once for all.
Result<Value> join(Interp& interp, Value*) {
  Joined& j = joined();
  if (!j.table) {
    const Launch& l = launch();
    if (!l.started) return fail(ErrorKind::RuntimeError, "this process was not started by mpirun");
    if (j.error.empty()) {
      interp.streams.flush();
      auto entry = reinterpret_cast<mpi::Entry>(entry_beside_program(l.library.c_str(), mpi::kEntry, j.error));
      j.world.say = l.told_on;
      if (entry && entry()->start(j.world, j.error)) j.table = entry();
      if (entry && !j.table) return fail(ErrorKind::RuntimeError, "MPI did not start: {}", j.error);
    }
    if (!j.table) {
      return fail(ErrorKind::ImportError,
                  "several workers need MPI: install Debian's libopenmpi-dev (or libmpich-dev) before TFL is built, and "
                  "openmpi-bin (or mpich) where it runs ({})",
                  j.error);
    }
  }
  return interp.tuple({Value::integer(j.world.rank), Value::integer(j.world.size), interp.str(j.world.library)});
}

/// Waits for a job, and listens to Ctrl-C and time limits meanwhile.
Result<void> wait_for(Interp& interp, mpi::Job& job) {
  const mpi::Table* t = TFL_TRY(table());
  // Whoever ends this process from outside shall find all that was printed.
  interp.streams.flush();
  while (!t->wait(&job, 20)) TFL_TRY(interp.check_interrupt());
  if (!job.error.empty()) return fail(ErrorKind::RuntimeError, "{}", job.error);
  return {};
}

constexpr size_t kSmall = size_t{1} << 20;  // bytes of a tensor that is sent beside others

Result<Tensor> dense(Interp& interp, const Value& v) {
  Tensor t = TFL_TRY(to_concrete(interp, v));
  if (t.dtype() == DType::String || t.dtype() == DType::Bool)
    return fail(ErrorKind::TypeError, "{} tensors of replicas cannot be added", dtype_name(t.dtype()));
  if (!t.contiguous()) t = TFL_TRY(copy_of(interp, t));
  return t;
}

/// One segment of all small tensors of a dtype: each node's lie beside each other in one buffer.
Result<void> pack(Interp& interp, Sending& s, const std::vector<std::vector<Tensor>>& nodes, DType dtype) {
  size_t count = 0;
  std::vector<size_t> which;
  for (size_t i = 0; i < s.results.size(); ++i) {
    const Tensor& t = nodes[0][i];
    if (t.dtype() != dtype || t.bytes() >= kSmall) continue;
    s.pieces[i] = {s.job.segments.size(), count, true};
    count += static_cast<size_t>(t.size());
    which.push_back(i);
  }
  if (which.empty()) return {};
  mpi::Segment segment{dtype, count, {}, nullptr};
  const Dims dims{static_cast<int64_t>(count)};
  for (const auto& node : nodes) {
    Tensor room = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
    for (const size_t i : which)
      std::memcpy(reinterpret_cast<char*>(room.raw()) + s.pieces[i].offset * dtype_size(dtype), node[i].raw(), node[i].bytes());
    segment.nodes.push_back(room.raw());
    s.kept.push_back(std::move(room));
  }
  Tensor sum = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
  segment.result = sum.raw();
  s.kept.push_back(std::move(sum));
  s.job.segments.push_back(std::move(segment));
  return {};
}

/// begin_sum(text, replicas, nodes, any_order): a number for finish_sum. `nodes`: for each of this worker's whole subtrees a list of tensors.
Result<Value> begin_sum(Interp& interp, Value* a) {
  const mpi::Table* t = TFL_TRY(table());
  State* state = TFL_TRY(needed(interp));
  auto s = std::make_unique<Sending>();
  s->job.kind = mpi::Job::Kind::Sum;
  s->job.text = text_of(a[0]);
  const int64_t leaves = TFL_TRY(to_index(interp, a[1]));
  const mpi::World& world = joined().world;
  if (leaves < world.size || leaves > kMostReplicas)
    return fail(ErrorKind::ValueError, "{} replicas cannot be divided among {} workers", leaves, world.size);
  s->job.leaves = static_cast<int>(leaves);
  s->job.any_order = TFL_TRY(truth(interp, a[3]));
  std::vector<mpi::Node> own;
  mpi::whole_nodes({0, s->job.leaves}, mpi::first_leaf(world.rank, world.size, s->job.leaves),
                   mpi::first_leaf(world.rank + 1, world.size, s->job.leaves), own);
  std::vector<std::vector<Tensor>> nodes;
  for (const Value& list : TFL_TRY(to_vector(interp, a[2]))) {
    std::vector<Tensor> node;
    for (const Value& v : TFL_TRY(to_vector(interp, list))) node.push_back(TFL_TRY(dense(interp, v)));
    nodes.push_back(std::move(node));
  }
  if (nodes.size() != own.size() || nodes.empty())
    return fail(ErrorKind::ValueError, "this worker has {} parts of the tree, and {} were given", own.size(), nodes.size());
  for (const auto& node : nodes) {
    bool alike = node.size() == nodes[0].size();
    for (size_t i = 0; alike && i < node.size(); ++i)
      alike = node[i].dtype() == nodes[0][i].dtype() && std::ranges::equal(node[i].dims(), nodes[0][i].dims());
    if (!alike) return fail(ErrorKind::ValueError, "the replicas' tensors have different shapes");
  }
  // Who else has other sizes is told so with both: they are part of what the job is.
  for (const Tensor& one : nodes[0]) {
    Tensor made = TFL_TRY(Tensor::empty(interp.context, one.dtype(), one.dims()));
    s->results.push_back(std::move(made));
  }
  s->pieces.resize(s->results.size());
  for (int d = 0; d < kDTypeCount; ++d) TFL_TRY(pack(interp, *s, nodes, static_cast<DType>(d)));
  for (size_t i = 0; i < s->results.size(); ++i) {
    const Tensor& first = nodes[0][i];
    if (first.bytes() < kSmall) continue;
    s->pieces[i] = {s->job.segments.size(), 0, false};
    mpi::Segment segment{first.dtype(), static_cast<size_t>(first.size()), {}, s->results[i].raw()};
    for (const auto& node : nodes) segment.nodes.push_back(node[i].raw()), s->kept.push_back(node[i]);
    s->job.segments.push_back(std::move(segment));
  }
  t->begin(&s->job);
  const int64_t number = state->next++;
  state->sendings.emplace(number, std::move(s));
  return Value::integer(number);
}

/// finish_sum(number): the sums.
Result<Value> finish_sum(Interp& interp, Value* a) {
  State* state = TFL_TRY(needed(interp));
  auto it = state->sendings.find(TFL_TRY(to_index(interp, a[0])));
  if (it == state->sendings.end()) return fail(ErrorKind::RuntimeError, "this sum was finished before, or never begun");
  TFL_TRY(wait_for(interp, it->second->job));  // else it stays: its bytes may be under way
  const std::unique_ptr<Sending> s = std::move(it->second);
  state->sendings.erase(it);
  std::vector<Value> sums;
  for (size_t i = 0; i < s->results.size(); ++i) {
    Tensor& to = s->results[i];
    const Sending::Piece& p = s->pieces[i];
    if (p.packed && to.size() > 0) {
      const mpi::Segment& segment = s->job.segments[p.segment];
      std::memcpy(to.raw(), static_cast<const char*>(segment.result) + p.offset * dtype_size(segment.dtype), to.bytes());
    }
    sums.push_back(Value::of(std::move(to)));
  }
  return interp.list(std::move(sums));
}

/// gather(text, data): the bytes of all workers, by rank.
Result<Value> gather(Interp& interp, Value* a) {
  const mpi::Table* t = TFL_TRY(table());
  auto* job = new mpi::Job;
  job->kind = mpi::Job::Kind::Gather;
  job->text = text_of(a[0]);
  job->given = a[1].as<Bytes>()->data;
  t->begin(job);
  TFL_TRY(wait_for(interp, *job));  // else it stays
  const std::unique_ptr<mpi::Job> done(job);
  std::vector<Value> all;
  for (std::string& bytes : job->gathered) all.push_back(interp.bytes(std::move(bytes)));
  return interp.list(std::move(all));
}

/// tree(replicas): the parts of the tree over replicas that this worker adds itself, as pairs (first, after the last).
Result<Value> tree(Interp& interp, Value* a) {
  const int64_t leaves = TFL_TRY(to_index(interp, a[0]));
  const int64_t worker = TFL_TRY(to_index(interp, a[1])), size = TFL_TRY(to_index(interp, a[2]));
  if (leaves < 1 || leaves > kMostReplicas || size < 1 || size > leaves || worker < 0 || worker >= size)
    return fail(ErrorKind::ValueError, "no such tree");
  std::vector<mpi::Node> own;
  const auto first = [&](int64_t w) {
    return mpi::first_leaf(static_cast<int>(w), static_cast<int>(size), static_cast<int>(leaves));
  };
  mpi::whole_nodes({0, static_cast<int>(leaves)}, first(worker), first(worker + 1), own);
  std::vector<Value> pairs;
  for (const mpi::Node& n : own) pairs.push_back(interp.tuple({Value::integer(n.low), Value::integer(n.high)}));
  return interp.list(std::move(pairs));
}

/// checkpoint(text): what is told when a worker dies.
Result<Value> checkpoint(Interp&, Value* a) {
  if (joined().table && joined().world.size > 1) joined().table->checkpoint(text_of(a[0]));
  return Value::none();
}

/// replica(): the number of the replica that the script runs in, -1 for none.
Result<Value> replica(Interp& interp, Value*) { return Value::integer(current_replica(interp)); }

/// enter_replica(number): random streams are that replica's from here on; -1: the script's. Gives the number before.
Result<Value> enter_replica(Interp& interp, Value* a) {
  State* state = TFL_TRY(needed(interp));
  const int64_t number = TFL_TRY(to_index(interp, a[0]));
  if (number > kMostReplicas) return fail(ErrorKind::ValueError, "there is no replica {}", number);
  Tracer& tracer = tracer_of(interp);
  const int before = tracer.replica;
  if (number >= 0 && !state->common) state->common = common_seed(interp);  // at the same time by all workers
  tracer.replica = number < 0 ? -1 : static_cast<int>(number);
  return Value::integer(before);
}

const Slots kState = {.kind = Kind::Native, .destroy = destroy_object<State>};

constexpr NativeDef kFunctions[] = {
    function("launched", "", launched),
    function("replicas", "", replicas),
    function("join", "", join),
    function("begin_sum", "text: str, replicas, nodes, any_order: bool, /", begin_sum),
    function("finish_sum", "number, /", finish_sum),
    function("gather", "text: str, data: bytes, /", gather),
    function("tree", "replicas, worker, size, /", tree),
    function("checkpoint", "text: str, /", checkpoint),
    function("replica", "", replica),
    function("enter_replica", "number, /", enter_replica),
};

}  // namespace

}  // namespace workers

void tell_workers(const std::string& text, int code) {
  workers::Joined& j = workers::joined();
  if (j.table && j.world.size > 1 && !j.left) j.table->fail(text, code);
}

std::string leave_workers() {
  workers::Joined& j = workers::joined();
  std::string error;
  if (j.table && !j.left) {
    j.table->end(error);
    j.left = error.empty();
  }
  return error;
}

int current_replica(Interp& interp) { return tracer_of(interp).replica; }

RandomStreams& random_streams(Interp& interp) {
  const int replica = current_replica(interp);
  return replica < 0 ? interp.tensors->random : random_streams_of(interp, replica);
}

RandomStreams& random_streams_of(Interp& interp, int replica) {
  workers::State* found = workers::found(interp);
  if (!found) return interp.tensors->random;
  workers::State& state = *found;
  if (!state.common) state.common = workers::common_seed(interp);
  auto [it, made] = state.streams.try_emplace(replica);
  if (made) {
    auto h = (static_cast<uint64_t>(*state.common) + static_cast<uint64_t>(replica) + 1) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 32) * 0xD6E8FEB86659FD93u;
    it->second.set_seed(static_cast<int64_t>(h >> 33), h >> 33);
  }
  return it->second;
}

void forget_replica_streams(Interp& interp) {
  if (workers::State* state = workers::found(interp)) state->streams.clear(), state->common.reset();
}

Result<void> init_workers(Interp& interp, Module& module) {
  define_all(interp, module, workers::kFunctions);
  Type* type = define_native_type(interp, module, "State", workers::kState, {}, "_workers");
  define(interp, module, "_state", Value::adopt(interp.allocate<workers::State>(type)));
  return {};
}

}  // namespace tfl
