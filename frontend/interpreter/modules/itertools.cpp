// The module `_itertools`: the iterators of stdlib/python/itertools.tfl. Those that go through combinations of items are in itertools_combine.cpp.
#include "frontend/interpreter/modules/itertools.h"

namespace tfl::itertools {

Result<Value> itself(Interp&, const Value& self) { return self; }

Result<Value> made(Interp& interp, Type* type, std::initializer_list<Value> iterables) {
  auto* it = interp.allocate<Step>(type);
  Value self = Value::adopt(it);
  for (const Value& v : iterables) {
    Value source = TFL_TRY(iter(interp, v));
    it->sources.push_back(std::move(source));
  }
  return self;
}

Result<Value> pulled(Interp& interp, const Step& it, size_t source) {
  Value from = it.sources[source];  // kept alive whatever the step does
  return next(interp, from);
}

Value row_of(Interp& interp, Step& it, size_t n) {
  if (it.last.is_empty() || it.last.counted()->refs != 1)
    it.last = Value::adopt(new_tuple(interp, interp.types.tuple, static_cast<int64_t>(n)));
  return it.last;
}

namespace {

Step& of(const Value& self) { return *self.as<Step>(); }

Result<Value> called(Interp& interp, const Value& function, std::initializer_list<Value> args) {
  return interp.call(function, args);  // which stays the iterator's
}

// ---------------------------------------------------------------------------------------------------------- count

Result<Value> count_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "count", args, {"start", "step"}, 0, 0, out));
  for (Value& v : out) {
    if (v.is_empty()) v = Value::integer(&v == out ? 0 : 1);
    bool number = v.is_int() || v.is_float() || v.is_bool();
    if (!number && !v.is_str()) {
      Value add = TFL_TRY(find_attr(interp, v, interp.sym.__add__));
      number = !add.is_empty();
    }
    if (!number) return fail(ErrorKind::TypeError, "a number is required");
  }
  auto* it = interp.allocate<Step>(type);
  it->current = std::move(out[0]);
  it->function = std::move(out[1]);
  return Value::adopt(it);
}

/// What comes next: the sum is made when it is wanted, since the one behind the last that fits cannot be.
Result<Value> count_following(Interp& interp, Step& it) {
  if (!it.started) return it.current;
  Value from = it.current, by = it.function;
  return binary(interp, BinaryOp::Add, from, by);
}

Result<Value> count_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  Value following = TFL_TRY(count_following(interp, it));
  it.current = following;
  it.started = true;
  return following;
}

Result<Value> count_repr(Interp& interp, const Value& self) {
  Step& it = of(self);
  Value following = TFL_TRY(count_following(interp, it));
  std::string text = "count(" + TFL_TRY(repr_text(interp, following));
  bool one = (it.function.is_int() || it.function.is_bool()) && it.function.as_int() == 1;
  if (!one) text += ", " + TFL_TRY(repr_text(interp, it.function));
  return interp.str(text + ")");
}

// ---------------------------------------------------------------------------------------------------------- cycle

Result<Value> cycle_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "cycle", args, {"iterable"}, 1, 1, out));
  return made(interp, type, {out[0]});
}

Result<Value> cycle_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  if (!it.done) {
    Value item = TFL_TRY(pulled(interp, it, 0));
    if (!item.is_empty()) {
      TFL_TRY(guard_memory(interp, it.pool.size() == it.pool.capacity() ? it.pool.size() * 2 * sizeof(Value) : 0));
      it.pool.push_back(item);
      return item;
    }
    it.done = true;
    interp.ended.forget();  // the end of what it goes round is not its own
  }
  if (it.pool.empty()) return Value();
  if (it.position >= static_cast<int64_t>(it.pool.size())) it.position = 0;
  return it.pool[static_cast<size_t>(it.position++)];
}

// --------------------------------------------------------------------------------------------------------- repeat

Result<Value> repeat_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "repeat", args, {"object", "times"}, 1, 0, out));
  auto* it = interp.allocate<Step>(type);
  Value self = Value::adopt(it);
  it->current = std::move(out[0]);
  it->position = -1;
  if (!out[1].is_empty()) it->position = std::max<int64_t>(TFL_TRY(to_index(interp, out[1])), 0);
  return self;
}

Result<Value> repeat_next(Interp&, const Value& self) {
  Step& it = of(self);
  if (it.position == 0) return Value();
  if (it.position > 0) --it.position;
  return it.current;
}

Result<Value> repeat_repr(Interp& interp, const Value& self) {
  Step& it = of(self);
  Value item = it.current;
  std::string text = "repeat(" + TFL_TRY(repr_text(interp, item));
  if (it.position >= 0) text += ", " + std::to_string(it.position);
  return interp.str(text + ")");
}

Result<Value> repeat_hint(Interp&, Value* a) {
  if (of(a[0]).position < 0) return fail(ErrorKind::TypeError, "len() of unsized object");
  return Value::integer(of(a[0]).position);
}

// ----------------------------------------------------------------------------------------------------- accumulate

Result<Value> accumulate_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, "accumulate", args, {"iterable", "func", "initial"}, 1, 0, out));
  Value self = TFL_TRY(made(interp, type, {out[0]}));
  of(self).function = std::move(out[1]);
  of(self).current = std::move(out[2]);
  return self;
}

Result<Value> accumulate_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  if (!it.started) {
    it.started = true;
    if (!it.current.is_empty() && !it.current.is_none()) return it.current;
    it.current = TFL_TRY(pulled(interp, it, 0));
    return it.current;
  }
  Value item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty() || it.current.is_empty()) return Value();
  Value total = it.current;
  bool plain = it.function.is_empty() || it.function.is_none();
  Value sum = TFL_TRY(plain ? binary(interp, BinaryOp::Add, total, item) : called(interp, it.function, {total, item}));
  it.current = sum;
  return sum;
}

// ---------------------------------------------------------------------------------------------------------- chain

Result<Value> chain_new(Interp& interp, Type* type, CallArgs& args) {
  TFL_TRY(no_keywords("chain", args));
  return made(interp, type, {interp.tuple(std::span<const Value>(args.values, args.count))});
}

Result<Value> chain_from(Interp& interp, Value* a) { return made(interp, a[0].as<Type>(), {a[1]}); }

Result<Value> chain_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  for (;;) {
    if (it.current.is_empty()) {
      if (it.done) return Value();
      Value iterable = TFL_TRY(pulled(interp, it, 0));
      if (iterable.is_empty()) {
        it.done = true;
        return Value();
      }
      it.current = TFL_TRY(iter(interp, iterable));
    }
    Value source = it.current;
    Value item = TFL_TRY(next(interp, source));
    if (!item.is_empty()) return item;
    it.current = Value();
  }
}

// ------------------------------------------------------------------------------------ compress, dropwhile, takewhile

Result<Value> compress_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, "compress", args, {"data", "selectors"}, 2, 0, out));
  return made(interp, type, {out[0], out[1]});
}

Result<Value> compress_next(Interp& interp, const Value& self) {
  for (;;) {
    Value item = TFL_TRY(pulled(interp, of(self), 0));
    if (item.is_empty()) return Value();
    Value chosen = TFL_TRY(pulled(interp, of(self), 1));
    if (chosen.is_empty()) return Value();
    bool yes = TFL_TRY(truth(interp, chosen));
    if (yes) return item;
  }
}

Result<Value> with_function(Interp& interp, Type* type, const char* name, const char* first, CallArgs& args) {
  Value out[2];
  TFL_TRY(take_arguments(interp, name, args, {first, "iterable"}, 2, 2, out));
  Value self = TFL_TRY(made(interp, type, {out[1]}));
  of(self).function = std::move(out[0]);
  return self;
}

Result<bool> holds(Interp& interp, Step& it, const Value& item) {
  if (it.function.is_none()) return truth(interp, item);
  Value verdict = TFL_TRY(called(interp, it.function, {item}));
  return truth(interp, verdict);
}

Result<Value> dropwhile_new(Interp& interp, Type* type, CallArgs& args) {
  return with_function(interp, type, "dropwhile", "predicate", args);
}

Result<Value> dropwhile_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  for (;;) {
    Value item = TFL_TRY(pulled(interp, it, 0));
    if (item.is_empty() || it.started) return item;
    Value verdict = TFL_TRY(called(interp, it.function, {item}));
    bool drop = TFL_TRY(truth(interp, verdict));
    if (drop) continue;
    it.started = true;
    return item;
  }
}

Result<Value> takewhile_new(Interp& interp, Type* type, CallArgs& args) {
  return with_function(interp, type, "takewhile", "predicate", args);
}

Result<Value> takewhile_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  if (it.done) return Value();
  Value item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty()) return item;
  Value verdict = TFL_TRY(called(interp, it.function, {item}));
  bool yes = TFL_TRY(truth(interp, verdict));
  if (yes) return item;
  it.done = true;
  return Value();
}

Result<Value> filterfalse_new(Interp& interp, Type* type, CallArgs& args) {
  return with_function(interp, type, "filterfalse", "function", args);
}

Result<Value> filterfalse_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  for (;;) {
    Value item = TFL_TRY(pulled(interp, it, 0));
    if (item.is_empty()) return item;
    bool yes = TFL_TRY(holds(interp, it, item));
    if (!yes) return item;
  }
}

// -------------------------------------------------------------------------------------------------------- starmap

Result<Value> starmap_new(Interp& interp, Type* type, CallArgs& args) {
  return with_function(interp, type, "starmap", "function", args);
}

Result<Value> starmap_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  Value item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty()) return item;
  constexpr int64_t kFew = 3;
  if (item.is(Kind::Tuple) && item.as<Tuple>()->size <= kFew) {
    Value few[kFew];
    auto count = static_cast<uint32_t>(item.as<Tuple>()->size);
    for (uint32_t i = 0; i < count; ++i) few[i] = item.as<Tuple>()->items[i];
    CallArgs args{few, count};
    return interp.call(it.function, args);
  }
  std::vector<Value> many = TFL_TRY(to_vector(interp, item));
  CallArgs args{many.data(), static_cast<uint32_t>(many.size())};
  return interp.call(it.function, args);
}

// --------------------------------------------------------------------------------------------------------- islice

Result<Value> islice_new(Interp& interp, Type* type, CallArgs& args) {
  TFL_TRY(no_keywords("islice", args));
  if (args.count < 2) return fail(ErrorKind::TypeError, "islice expected at least 2 arguments, got {}", args.count);
  if (args.count > 4) return fail(ErrorKind::TypeError, "islice expected at most 4 arguments, got {}", args.count);
  const char* places = "Indices for islice() must be None or an integer: 0 <= x <= sys.maxsize.";
  auto number = [&](uint32_t i, int64_t otherwise, int64_t least, const char* text) -> Result<int64_t> {
    if (i >= args.count || args.values[i].is_none()) return otherwise;
    auto index = to_index(interp, args.values[i]);
    if (!index && interp.stopped) return index;
    if (index && *index < least - 1 && least == 0) text = places;
    if (!index || *index < least) return fail(ErrorKind::ValueError, "{}", text);
    return index;
  };
  bool one = args.count == 2;
  int64_t stop =
      TFL_TRY(number(one ? 1 : 2, -1, 0, "Stop argument for islice() must be None or an integer: 0 <= x <= sys.maxsize."));
  int64_t start = TFL_TRY(number(one ? 4 : 1, 0, 0, places));
  int64_t step = TFL_TRY(number(3, 1, 1, "Step for islice() must be a positive integer or None."));
  Value self = TFL_TRY(made(interp, type, {args.values[0]}));
  of(self).wanted = start;
  of(self).stop = stop;
  of(self).stride = step;
  return self;
}

Result<Value> islice_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  if (it.done) return Value();
  // As CPython: at the end what lies before `stop` is consumed.
  bool last = it.stop >= 0 && it.wanted >= it.stop;
  int64_t to = last ? it.stop : it.wanted;
  for (; it.position < to; ++it.position) {
    Value skipped = TFL_TRY(pulled(interp, it, 0));
    if (skipped.is_empty()) last = true;
    if (skipped.is_empty()) break;
  }
  Value item;
  if (!last) item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty()) {
    it.done = true;
    it.sources[0] = Value();
    return item;
  }
  ++it.position;
  if (__builtin_add_overflow(it.wanted, it.stride, &it.wanted)) it.wanted = INT64_MAX;
  return item;
}

// -------------------------------------------------------------------------------------------- pairwise, zip_longest

Result<Value> pairwise_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "pairwise", args, {"iterable"}, 1, 1, out));
  return made(interp, type, {out[0]});
}

Result<Value> pairwise_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  if (!it.started) {
    it.started = true;
    it.current = TFL_TRY(pulled(interp, it, 0));
  }
  if (it.current.is_empty()) return Value();
  Value item = TFL_TRY(pulled(interp, it, 0));
  if (item.is_empty()) {
    it.current = Value();
    return Value();
  }
  Value before = std::exchange(it.current, item);
  return interp.tuple({before, item});
}

Result<Value> zip_longest_new(Interp& interp, Type* type, CallArgs& args) {
  Value fill = Value::none();
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (args.keywords[k]->text != "fillvalue")
      return fail(ErrorKind::TypeError, "zip_longest() got an unexpected keyword argument");
    fill = args.values[args.count + k];
  }
  Value self = TFL_TRY(made(interp, type, {}));
  for (uint32_t i = 0; i < args.count; ++i) {
    Value source = TFL_TRY(iter(interp, args.values[i]));
    of(self).sources.push_back(std::move(source));
  }
  of(self).current = std::move(fill);
  of(self).position = args.count;
  return self;
}

Result<Value> zip_longest_next(Interp& interp, const Value& self) {
  Step& it = of(self);
  size_t n = it.sources.size();
  if (it.position <= 0) return Value();
  Value row = row_of(interp, it, n);
  for (size_t i = 0; i < n; ++i) {
    Value item;
    if (!it.sources[i].is_empty()) {
      item = TFL_TRY(pulled(interp, it, i));
      if (item.is_empty()) {
        it.sources[i] = Value();
        if (--it.position <= 0) return Value();
      }
    }
    Value old = std::exchange(row.as<Tuple>()->items[i], item.is_empty() ? it.current : std::move(item));
  }
  return row;
}

constexpr NativeDef kChain[] = {class_method("from_iterable", "type, iterable, /", chain_from)};
constexpr NativeDef kRepeat[] = {method("__length_hint__", "self, /", repeat_hint)};

const Slots kCount = slots_of(count_new, count_next, count_repr);
const Slots kCycle = slots_of(cycle_new, cycle_next);
const Slots kRepeatSlots = slots_of(repeat_new, repeat_next, repeat_repr);
const Slots kAccumulate = slots_of(accumulate_new, accumulate_next);
const Slots kChainSlots = slots_of(chain_new, chain_next);
const Slots kCompress = slots_of(compress_new, compress_next);
const Slots kDropwhile = slots_of(dropwhile_new, dropwhile_next);
const Slots kTakewhile = slots_of(takewhile_new, takewhile_next);
const Slots kFilterfalse = slots_of(filterfalse_new, filterfalse_next);
const Slots kStarmap = slots_of(starmap_new, starmap_next);
const Slots kIslice = slots_of(islice_new, islice_next);
const Slots kPairwise = slots_of(pairwise_new, pairwise_next);
const Slots kZipLongest = slots_of(zip_longest_new, zip_longest_next);

struct Row {
  const char* name;
  const Slots& slots;
  std::span<const NativeDef> methods = {};
};

}  // namespace

}  // namespace tfl::itertools

namespace tfl {

Result<void> init_itertools(Interp& interp, Module& module) {
  using namespace itertools;
  const Row rows[] = {{"count", kCount},
                      {"cycle", kCycle},
                      {"repeat", kRepeatSlots, kRepeat},
                      {"accumulate", kAccumulate},
                      {"chain", kChainSlots, kChain},
                      {"compress", kCompress},
                      {"dropwhile", kDropwhile},
                      {"takewhile", kTakewhile},
                      {"filterfalse", kFilterfalse},
                      {"starmap", kStarmap},
                      {"islice", kIslice},
                      {"pairwise", kPairwise},
                      {"zip_longest", kZipLongest},
                      {"_grouper", kGroup},
                      {"groupby", kGroupby},
                      {"product", kProduct},
                      {"permutations", kPermutations},
                      {"combinations", kCombinations},
                      {"combinations_with_replacement", kReplacement}};
  for (const Row& row : rows) define_native_type(interp, module, row.name, row.slots, row.methods, "itertools");
  return {};
}

}  // namespace tfl
