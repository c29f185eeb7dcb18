// zip, map, filter, enumerate, reversed: iterators over other iterators.
#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/iterators.h"

namespace tfl {

namespace {

struct Combinator : Object {
  Value function;              // map, filter
  std::vector<Value> sources;  // iterators
  int64_t count = 0;           // enumerate
  bool strict = false;         // zip
  Value last;                  // zip, enumerate: the tuple given last, made again in place when nobody else has it
};

/// The tuple to give next, of `n` items to be overwritten.
Value result_tuple(Interp& interp, Combinator* c, size_t n) {
  if (c->last.is_empty() || c->last.counted()->refs != 1)
    c->last = Value::adopt(new_tuple(interp, interp.types.tuple, static_cast<int64_t>(n)));
  return c->last;
}

Result<Value> itself(Interp&, const Value& self) { return self; }

Result<Combinator*> make(Interp& interp, Type* type, std::span<Value> iterables, Value& out) {
  auto* c = interp.allocate<Combinator>(type);
  out = Value::adopt(c);
  for (Value& v : iterables) {
    Value it = TFL_TRY(iter(interp, v));
    c->sources.push_back(std::move(it));
  }
  return c;
}

// ------------------------------------------------------------------------------------------------------------ zip

Result<Value> zip_construct(Interp& interp, Type* type, CallArgs& args) {
  bool strict = false;
  if (args.keywords.size() > 1)
    return fail(ErrorKind::TypeError, "zip() takes at most 1 keyword argument ({} given)", args.keywords.size());
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (args.keywords[k]->text != "strict") {
      return fail(ErrorKind::TypeError, "'{}' is an invalid keyword argument for zip()", args.keywords[k]->text);
    }
    strict = TFL_TRY(truth(interp, args.values[args.count + k]));
  }
  auto* c = interp.allocate<Combinator>(type);
  Value self = Value::adopt(c);
  c->strict = strict;
  for (uint32_t i = 0; i < args.count; ++i) {
    auto it = iter(interp, args.values[i]);
    if (!it) {
      if (it.error().kind == ErrorKind::TypeError && !it.error().payload &&
          it.error().message.ends_with("object is not iterable")) {
        return fail(ErrorKind::TypeError, "'{}' object is not iterable", interp.type_name(args.values[i]));
      }
      return it.failure();
    }
    c->sources.push_back(it.take());
  }
  return self;
}

Result<Value> zip_mismatch(Interp& interp, Combinator* c, size_t ended) {
  auto plural = [](size_t n) { return n == 1 ? std::string("argument 1") : "arguments 1-" + std::to_string(n); };
  if (ended > 0) return fail(ErrorKind::ValueError, "zip() argument {} is shorter than {}", ended + 1, plural(ended));
  for (size_t i = 1; i < c->sources.size(); ++i) {
    Value source = c->sources[i];
    Value item = TFL_TRY(next(interp, source));
    if (!item.is_empty()) return fail(ErrorKind::ValueError, "zip() argument {} is longer than {}", i + 1, plural(i));
  }
  interp.ended.forget();
  return Value();
}

Result<Value> zip_next(Interp& interp, const Value& self) {
  auto* c = self.as<Combinator>();
  size_t n = c->sources.size();
  if (n == 0) return Value();
  // Items go into the tuple as they come. While they are made it is held here, so that a step within this one takes another.
  Value result = result_tuple(interp, c, n);
  Value* out = result.as<Tuple>()->items;
  for (size_t i = 0; i < n; ++i) {
    Value item = TFL_TRY(next(interp, c->sources[i]));
    if (item.is_empty()) {
      if (c->strict) return zip_mismatch(interp, c, i);
      return Value();
    }
    out[i] = std::move(item);
  }
  return result;
}

// ------------------------------------------------------------------------------------------------------------ map

Result<Value> map_construct(Interp& interp, Type* type, CallArgs& args) {
  TFL_TRY(no_keywords("map", args));
  if (args.count < 2) return fail(ErrorKind::TypeError, "map() must have at least two arguments.");
  Value self;
  Combinator* c = TFL_TRY(make(interp, type, {args.values + 1, args.count - 1}, self));
  c->function = args.values[0];
  return self;
}

Result<Value> map_next(Interp& interp, const Value& self) {
  auto* c = self.as<Combinator>();
  size_t n = c->sources.size();
  if (n == 1) {
    Value item = TFL_TRY(next(interp, c->sources[0]));
    if (item.is_empty()) return Value();
    CallArgs args{&item, 1, {}};
    return interp.call(c->function, args);
  }
  std::vector<Value> out(n);
  for (size_t i = 0; i < n; ++i) {
    out[i] = TFL_TRY(next(interp, c->sources[i]));
    if (out[i].is_empty()) return Value();
  }
  CallArgs args{out.data(), static_cast<uint32_t>(n), {}};
  return interp.call(c->function, args);
}

// --------------------------------------------------------------------------------------------------------- filter

Result<Value> filter_construct(Interp& interp, Type* type, CallArgs& args) {
  TFL_TRY(no_keywords("filter", args));
  if (args.count != 2) return fail(ErrorKind::TypeError, "filter expected 2 arguments, got {}", args.count);
  Value self;
  Combinator* c = TFL_TRY(make(interp, type, {args.values + 1, 1}, self));
  c->function = args.values[0];
  return self;
}

Result<Value> filter_next(Interp& interp, const Value& self) {
  auto* c = self.as<Combinator>();
  Value source = c->sources[0], function = c->function;
  for (uint32_t turn = 1;; ++turn) {
    if (turn % 1024 == 0) TFL_TRY(interp.check_interrupt());
    Value item = TFL_TRY(next(interp, source));
    if (item.is_empty()) return Value();
    bool keep;
    if (function.is_none()) {
      keep = TFL_TRY(truth(interp, item));
    } else {
      Value verdict = TFL_TRY(interp.call(function, {item}));
      keep = TFL_TRY(truth(interp, verdict));
    }
    if (keep) return item;
  }
}

// ------------------------------------------------------------------------------------------------------ enumerate

Result<Value> enumerate_construct(Interp& interp, Type* type, CallArgs& args) {
  Value out[2];
  if (args.total() == 0) return fail(ErrorKind::TypeError, "enumerate() missing required argument 'iterable'");
  TFL_TRY(take_arguments(interp, "enumerate", args, {"iterable", "start"}, 1, 0, out));
  Value self;
  Combinator* c = TFL_TRY(make(interp, type, {out, 1}, self));
  if (!out[1].is_empty()) c->count = TFL_TRY(to_index(interp, out[1]));
  return self;
}

Result<Value> enumerate_next(Interp& interp, const Value& self) {
  auto* c = self.as<Combinator>();
  Value item = TFL_TRY(next(interp, c->sources[0]));
  if (item.is_empty()) return Value();
  Value result = result_tuple(interp, c, 2);
  result.as<Tuple>()->items[0] = Value::integer(c->count++);
  result.as<Tuple>()->items[1] = std::move(item);
  return result;
}

// ------------------------------------------------------------------------------------------------------- reversed

Result<Value> reversed_construct(Interp& interp, Type*, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "reversed", args, {"sequence"}, 1, 1, out));
  const Value& v = out[0];
  // A class of the script decides for itself: __reversed__, else the sequence protocol, where it has its own.
  if (const Value* entry = script_lookup(interp, interp.type_of(v), interp.sym.__reversed__)) {
    if (entry->is_none()) return fail(ErrorKind::TypeError, "'{}' object is not reversible", interp.type_name(v));
    return call_entry(interp, *entry, v, {});
  }
  bool own_items = script_lookup(interp, interp.type_of(v), interp.sym.__getitem__) != nullptr;
  if (!own_items) {
    if (v.is(Kind::Type)) return fail(ErrorKind::TypeError, "'{}' object is not reversible", interp.type_name(v));
    Value it = make_reverse_iterator(interp, v);
    if (!it.is_empty()) return it;
    if (v.is_object()) {
      if (const Value* entry = type_lookup(interp.type_of(v), interp.sym.__reversed__)) return call_entry(interp, *entry, v, {});
    }
  }
  bool sequence = own_items || (v.is_object() && !v.is(Kind::Instance) && interp.type_of(v)->slots->get_item &&
                                interp.type_of(v)->slots->length);
  if (!sequence || v.is(Kind::Set)) return fail(ErrorKind::TypeError, "'{}' object is not reversible", interp.type_name(v));
  int64_t n = TFL_TRY(length(interp, v));
  return make_reverse_sequence_iterator(interp, v, n);
}

}  // namespace

extern const Slots zip_slots, map_slots, filter_slots, enumerate_slots, reversed_slots, iterator_slots;

const Slots zip_slots = {
    .kind = Kind::Native, .destroy = destroy_object<Combinator>, .construct = zip_construct, .iter = itself, .next = zip_next};
const Slots map_slots = {
    .kind = Kind::Native, .destroy = destroy_object<Combinator>, .construct = map_construct, .iter = itself, .next = map_next};
const Slots filter_slots = {.kind = Kind::Native,
                            .destroy = destroy_object<Combinator>,
                            .construct = filter_construct,
                            .iter = itself,
                            .next = filter_next};
const Slots enumerate_slots = {.kind = Kind::Native,
                               .destroy = destroy_object<Combinator>,
                               .construct = enumerate_construct,
                               .iter = itself,
                               .next = enumerate_next};

namespace {
Result<Value> reversed_next(Interp& interp, const Value& self) {
  auto* it = self.as<Iterator>();
  return it->advance(interp, *it);
}
}  // namespace

const Slots reversed_slots = {.kind = Kind::Iterator,
                              .destroy = destroy_object<Iterator>,
                              .construct = reversed_construct,
                              .iter = itself,
                              .next = reversed_next};

}  // namespace tfl
