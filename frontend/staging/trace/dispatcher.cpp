// `_graph.Dispatcher`, the native part of tf.function objects: a call whose arguments look like those of an earlier one finds its
// trace here; the library (stdlib/tensorflow/_function/function.tfl) decides about every other call.
#include <bit>
#include <list>
#include <unordered_map>

#include "frontend/core/concrete.h"
#include "frontend/core/native.h"
#include "frontend/core/scope.h"
#include "frontend/staging/trace/frozen.h"
#include "frontend/staging/trace/keys.h"

namespace tfl {

extern const Slots dispatcher_slots;

namespace {

constexpr size_t kMostEntries = 1000;  // ways of calling that one function remembers

struct Entry {
  Value graph;                  // TracedGraph
  Value outputs;                // the structure of the result; symbolic values stand for tensors
  std::vector<uint32_t> order;  // which leaf of the call is each argument
  bool single = false;          // the result is one tensor
  std::vector<Value> pins;
  std::list<const std::string*>::iterator use;
};

// Most calls look like the one before: what decides about them, where that is little, as words that are quickly compared.
using Words = SmallVec<uint64_t, 24>;
using Leaves = SmallVec<const Value*, 8>;  // the tensors of a call

/// Gives the words of a call to `put` until that is false; false then, and when an argument is neither a tensor nor a number nor
/// an instance: the others are left to the whole key.
template <class Put>
bool put_words(Interp& interp, const CallArgs& args, Leaves& leaves, Put put) {
  if (!put(args.count)) return false;
  for (Str* name : args.keywords) {
    if (!put(reinterpret_cast<uintptr_t>(name))) return false;
  }
  for (uint32_t i = 0; i < args.total(); ++i) {
    const Value& v = args.values[i];
    if (v.is_tensor()) {
      const TensorRep* t = v.tensor_rep();
      if (!put(static_cast<uint64_t>(t->dtype) << 16 | static_cast<uint64_t>(t->rank) << 8 | 255)) return false;
      for (uint8_t axis = 0; axis < t->rank; ++axis) {
        if (!put(static_cast<uint64_t>(t->dims()[axis]))) return false;
      }
      leaves.push_back(&v);
      continue;
    }
    if (v.is(Kind::Instance)) {
      uint64_t id = known_identity(interp, v);
      if (id == 0 || !put(254) || !put(reinterpret_cast<uintptr_t>(v.object()->type)) || !put(id)) return false;
      continue;
    }
    if (!put(static_cast<uint64_t>(v.tag()))) return false;
    switch (v.tag()) {
      case Tag::Empty:
      case Tag::None: break;
      case Tag::Bool:
      case Tag::Int:
        if (!put(static_cast<uint64_t>(v.as_int()))) return false;
        break;
      case Tag::Float:
        if (!put(std::bit_cast<uint64_t>(v.as_float()))) return false;
        break;
      case Tag::Object: return false;
    }
  }
  return true;
}

/// Whether the call has these words.
bool has_words(Interp& interp, const CallArgs& args, const Words& words, Leaves& leaves) {
  const uint64_t *at = words.begin(), *end = words.end();
  return put_words(interp, args, leaves, [&](uint64_t word) { return at != end && *at++ == word; }) && at == end;
}

struct Dispatcher : Object {
  std::unordered_map<std::string, Entry> entries;
  std::list<const std::string*> uses;  // least recently used first
  int64_t calls = 0;                   // served here since the library last asked
  std::vector<FrozenGlobal> frozen;    // host values that its traces have taken in
  Entry* last = nullptr;               // that served a call with these words; its keywords' names are kept
  Words last_words;
  std::vector<Value> last_names;
};

Dispatcher* self_of(const Value& v) { return v.as<Dispatcher>(); }

Result<Value> construct_dispatcher(Interp& interp, Type* type, CallArgs&) {
  return Value::adopt(interp.allocate<Dispatcher>(type));
}

void destroy_dispatcher(Object* o) {
  static_cast<Dispatcher*>(o)->~Dispatcher();
  Heap::release(o, sizeof(Dispatcher));
}

Result<ArgumentKey> key_of_call(Interp& interp, const CallArgs& args) {
  ArgumentKey key;
  key.exact.reserve(128);
  key.exact.push_back(static_cast<char>(args.count));
  for (uint32_t i = 0; i < args.count; ++i) TFL_TRY(add_to_key(interp, key, args.values[i]));
  for (size_t i = 0; i < args.keywords.size(); ++i) {
    key.exact.push_back('=');
    key.exact += args.keywords[i]->text;
    key.exact.push_back('\0');
    TFL_TRY(add_to_key(interp, key, args.values[args.count + i]));
  }
  return key;
}

Result<Value> execute(Interp& interp, const Value& graph, const Value& outputs, bool single, SmallVec<Value, 8>&& operands) {
  const FunctionCall& call = graph.as<TracedGraph>()->call;
  for (Value& v : operands) {
    if (v.is(Kind::NdArray) || v.is(Kind::NumPyScalar)) v = TFL_TRY(to_tensor(interp, v));
  }
  for (const Value& v : call.captures) operands.push_back(v);
  SmallVec<Value, 2> results;
  TFL_TRY(call_function(interp, call, {operands.data(), operands.size()}, results));
  Tracer& tracer = tracer_of(interp);
  if (tracer.recording && tracer.recorded_depth == 0 && !tracer.scope) [[unlikely]] {
    tracer.recorded.push_back(
        interp.tuple({interp.str(call.function->name), interp.list(std::vector<Value>(results.begin(), results.end()))}));
  }
  if (single) return std::move(results[0]);
  if (outputs.is_none()) return Value::none();
  size_t at = 0;
  return replace_leaves(interp, outputs, {results.data(), results.size()}, at);
}

void note_use(Interp& interp, Dispatcher& d, Entry& e) {
  ++d.calls;
  if (!d.frozen.empty()) check_frozen(interp, e.graph.as<TracedGraph>()->call.function->name, d.frozen);
  if (std::next(e.use) != d.uses.end()) d.uses.splice(d.uses.end(), d.uses, e.use);
}

/// A call that does not look like the one before.
Result<Value> call_by_key(Interp& interp, const Value& self, CallArgs& args) {
  Dispatcher* d = self_of(self);
  ArgumentKey key;
  const Tracer& tracer = tracer_of(interp);
  if (!tracer.run_eagerly && tracer.replica < 0) {  // replicas have traces of their own
    key = TFL_TRY(key_of_call(interp, args));
    auto found = d->entries.find(key.exact);
    if (found != d->entries.end()) [[likely]] {
      Entry& e = found->second;
      note_use(interp, *d, e);
      // The key holds for instances that count by identity.
      Words words;
      Leaves leaves;
      bool is_quick = put_words(interp, args, leaves, [&](uint64_t word) {
        words.push_back(word);
        return true;
      });
      for (uint32_t i = 0; i < args.total() && is_quick; ++i)
        is_quick = !args.values[i].is(Kind::Instance) || counts_by_identity(interp, args.values[i].object()->type);
      if (is_quick) {
        d->last = &e;
        d->last_words = std::move(words);
        d->last_names.clear();
        for (Str* name : args.keywords) d->last_names.push_back(Value::share(name));
      }
      Value graph = e.graph, outputs = e.outputs;
      SmallVec<Value, 8> arguments;
      for (uint32_t i : e.order) arguments.push_back(key.leaves[i]);
      return execute(interp, graph, outputs, e.single, std::move(arguments));
    }
  }
  // The library decides: (graph, arguments, structure of the result, may be remembered), or (None, result).
  Value positional = interp.tuple({args.values, args.count});
  Value named = interp.dict();
  for (size_t i = 0; i < args.keywords.size(); ++i) dict_set_str(named.as<Dict>(), args.keywords[i], args.values[args.count + i]);
  Value answer = TFL_TRY(interp.call_method(self, interp.intern("_decide"), {positional, named}));
  auto* t = answer.as<Tuple>();
  if (!answer.is(Kind::Tuple) || t->size < 2) return fail(ErrorKind::InternalError, "_decide gave no tuple");
  if (t->items[0].is_none()) return t->items[1];
  std::vector<Value> arguments = TFL_TRY(to_vector(interp, t->items[1]));
  Value outputs = t->items[2];
  bool single = outputs.is(Kind::Symbolic);
  if (key.lasting && t->items[3].as_bool()) {
    Entry e;
    e.graph = t->items[0];
    e.outputs = outputs;
    e.single = single;
    e.pins = key.pins;
    bool all = true;
    // Where every argument is one tensor, in order, each is found at its own place.
    bool plain = args.keywords.empty() && args.count == key.leaves.size() && arguments.size() == key.leaves.size();
    for (size_t i = 0; plain && i < arguments.size(); ++i) plain = key.leaves[i].identical(arguments[i]);
    for (size_t i = 0; i < arguments.size() && all; ++i) {
      if (plain) {
        e.order.push_back(static_cast<uint32_t>(i));
        continue;
      }
      size_t at = 0;
      while (at < key.leaves.size() && !key.leaves[at].identical(arguments[i])) ++at;
      all = at < key.leaves.size();
      // One tensor in two places does not tell which of them an argument came from.
      for (size_t k = at + 1; k < key.leaves.size(); ++k) all = all && !key.leaves[k].identical(arguments[i]);
      e.order.push_back(static_cast<uint32_t>(at));
    }
    if (all) {
      auto [place, fresh] = d->entries.insert_or_assign(key.exact, std::move(e));
      if (fresh)
        place->second.use = d->uses.insert(d->uses.end(), &place->first);
      else {
        d->uses.remove(&place->first);
        place->second.use = d->uses.insert(d->uses.end(), &place->first);
      }
      if (d->entries.size() > kMostEntries) {
        d->last = nullptr;
        std::string oldest = *d->uses.front();
        d->uses.pop_front();
        d->entries.erase(oldest);
      }
    }
  }
  return execute(interp, t->items[0], outputs, single, SmallVec<Value, 8>(arguments.begin(), arguments.end()));
}

Result<Value> call_dispatcher(Interp& interp, const Value& self, CallArgs& args) {
  Dispatcher* d = self_of(self);
  Tracer& tracer = tracer_of(interp);
  Leaves leaves;
  if (!d->last || tracer.run_eagerly || tracer.replica >= 0 || !has_words(interp, args, d->last_words, leaves))
    return call_by_key(interp, self, args);
  Entry& e = *d->last;
  note_use(interp, *d, e);
  if (e.single && !tracer.recording) {
    SmallVec<TensorRep*, 8> operands;
    for (uint32_t i : e.order) operands.push_back(leaves[i]->tensor_rep());
    Value result;
    if (run_small(interp, e.graph.as<TracedGraph>()->call, operands, result)) return result;
  }
  SmallVec<Value, 8> arguments;
  for (uint32_t i : e.order) arguments.push_back(*leaves[i]);
  Value graph = e.graph, outputs = e.outputs;
  return execute(interp, graph, outputs, e.single, std::move(arguments));
}

/// forget(): every remembered call is decided anew.
Result<Value> forget(Interp&, Value* args) {
  self_of(args[0])->last = nullptr;
  self_of(args[0])->uses.clear();
  self_of(args[0])->entries.clear();
  return Value::none();
}

/// _freeze(f): a trace of f was made; what it read of its module is watched from now on, unless it is watched already.
Result<Value> freeze(Interp& interp, Value* args) {
  for (FrozenGlobal& f : frozen_globals(interp, args[1])) {
    bool known = false;
    for (FrozenGlobal& g : self_of(args[0])->frozen) known |= g.name == f.name && g.module.identical(f.module);
    if (!known) self_of(args[0])->frozen.push_back(std::move(f));
  }
  return Value::none();
}

/// _take_calls(): how many calls were served without the library since it last asked.
Result<Value> take_calls(Interp&, Value* args) { return Value::integer(std::exchange(self_of(args[0])->calls, 0)); }

constexpr NativeDef kDispatcherMethods[] = {method("_forget", "self", forget), method("_take_calls", "self", take_calls),
                                            method("_freeze", "self, f", freeze)};

}  // namespace

bool is_dispatcher(const Value& v) { return v.is(Kind::Native) && v.object()->type->slots == &dispatcher_slots; }

const Slots dispatcher_slots = {.kind = Kind::Native,
                                .destroy = destroy_dispatcher,
                                .construct = construct_dispatcher,
                                .call = call_dispatcher,
                                .has_dict = true};

std::span<const NativeDef> dispatcher_methods() { return kDispatcherMethods; }

}  // namespace tfl
