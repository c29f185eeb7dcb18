// The module `_functools`: objects that are called in place of a function, for stdlib/python/functools.tfl and stdlib/python/operator.tfl.
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/interpreter/object/containers/dict.h"

namespace tfl::callables {

namespace {

/// Arguments of a call that is made here; few of them need no memory of their own.
class Arguments {
 public:
  explicit Arguments(size_t most) : many_(most > kFew ? most : 0) {}
  void add(Value v) { (many_.empty() ? few_ : many_.data())[count_++] = std::move(v); }
  CallArgs call(uint32_t positional, std::span<Str* const> keywords = {}) {
    return {many_.empty() ? few_ : many_.data(), positional, keywords};
  }

 private:
  static constexpr size_t kFew = 8;
  Value few_[kFew];
  std::vector<Value> many_;
  uint32_t count_ = 0;
};

// -------------------------------------------------------------------------------------------------------- partial

struct Partial : Object {
  Value function;
  Value args;      // Tuple
  Value keywords;  // Dict
};

extern const Slots kPartial;

Partial& partial_of(const Value& v) { return *v.as<Partial>(); }

Result<Value> partial_new(Interp& interp, Type* type, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "type 'partial' takes at least one argument");
  Value function = args.values[0];
  if (!is_callable(interp, function)) return fail(ErrorKind::TypeError, "the first argument must be callable");
  auto* p = interp.allocate<Partial>(type);
  Value self = Value::adopt(p);
  std::vector<Value> held;
  p->keywords = interp.dict();
  if (function.is(Kind::Native) && function.object()->type->slots == &kPartial && !(function.object()->flags & kHasSideDict)) {
    Partial& inner = partial_of(function);
    std::span<Value> before = inner.args.as<Tuple>()->span();
    held.assign(before.begin(), before.end());
    p->keywords = dict_copy(interp, inner.keywords.as<Dict>());
    Value behind = inner.function;
    function = std::move(behind);
  }
  for (uint32_t i = 1; i < args.count; ++i) held.push_back(args.values[i]);
  for (size_t k = 0; k < args.keywords.size(); ++k)
    dict_set_str(p->keywords.as<Dict>(), args.keywords[k], args.values[args.count + k]);
  p->function = std::move(function);
  p->args = interp.tuple(held);
  return self;
}

Result<Value> partial_call(Interp& interp, const Value& self, CallArgs& args) {
  Value function = partial_of(self).function, held = partial_of(self).args, named = partial_of(self).keywords;
  std::span<Value> before = held.as<Tuple>()->span();
  Dict* keywords = named.as<Dict>();
  Arguments all(before.size() + args.total() + static_cast<size_t>(keywords->live));
  for (const Value& v : before) all.add(v);
  for (uint32_t i = 0; i < args.count; ++i) all.add(std::move(args.values[i]));
  auto positional = static_cast<uint32_t>(before.size()) + args.count;
  std::vector<Str*> names;
  size_t at = 0;
  if (keywords->live > 0) {
    // What the call names stands in the place where the partial has it, as in {**keywords, **more}.
    while (Dict::Entry* e = dict_next(keywords, at)) {
      if (!e->key.is_str()) return fail(ErrorKind::TypeError, "keywords must be strings");
      Str* name = interp.intern(text_of(e->key));
      Value value = e->value;
      for (size_t k = 0; k < args.keywords.size(); ++k) {
        if (args.keywords[k] == name) value = std::move(args.values[args.count + k]);
      }
      names.push_back(name);
      all.add(std::move(value));
    }
  }
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    if (args.values[args.count + k].is_empty()) continue;  // taken above
    names.push_back(args.keywords[k]);
    all.add(std::move(args.values[args.count + k]));
  }
  CallArgs more = all.call(positional, names);
  return interp.call(function, more);
}

Result<Value> partial_repr(Interp& interp, const Value& self) {
  if (self.object()->flags & kReprActive) return interp.str("...");
  Nesting nesting(interp);
  if (!nesting.ok()) return too_deep(" while getting the repr of an object");
  Type* type = self.object()->type;
  self.object()->flags |= kReprActive;
  auto text = [&]() -> Result<std::string> {
    std::string out = (type->script ? type->qualname->text : "functools.partial") + "(";
    out += TFL_TRY(repr_text(interp, partial_of(self).function));
    Value held = partial_of(self).args, named = partial_of(self).keywords;
    for (const Value& v : held.as<Tuple>()->span()) out += ", " + TFL_TRY(repr_text(interp, v));
    size_t at = 0;
    while (Dict::Entry* e = dict_next(named.as<Dict>(), at)) {
      Value key = e->key, value = e->value;
      out += ", " + TFL_TRY(str_text(interp, key)) + "=";
      out += TFL_TRY(repr_text(interp, value));
    }
    return out + ")";
  }();
  self.object()->flags &= static_cast<uint8_t>(~kReprActive);
  if (!text) return text.failure();
  return interp.str(text.take());
}

Result<Value> partial_func(Interp&, Value* a) { return partial_of(a[0]).function; }
Result<Value> partial_args(Interp&, Value* a) { return partial_of(a[0]).args; }
Result<Value> partial_keywords(Interp&, Value* a) { return partial_of(a[0]).keywords; }

const Slots kPartial = {.kind = Kind::Native,
                        .destroy = destroy_object<Partial>,
                        .construct = partial_new,
                        .repr = partial_repr,
                        .call = partial_call,
                        .has_dict = true};
constexpr NativeDef kPartialMethods[] = {getter("func", partial_func), getter("args", partial_args),
                                         getter("keywords", partial_keywords)};

// ------------------------------------------------------------------------------------------------------ lru_cache

struct Cache : Object {
  Value function;
  Value entries;      // Dict from keys to results; the entry used last is the last
  int64_t most = -1;  // -1: no limit
  bool typed = false;
  int64_t hits = 0, misses = 0;
};

Cache& cache_of(const Value& v) { return *v.as<Cache>(); }

/// _lru_cache_wrapper(function, maxsize, typed)
Result<Value> cache_new(Interp& interp, Type* type, CallArgs& args) {
  Value out[3];
  TFL_TRY(take_arguments(interp, "_lru_cache_wrapper", args, {"user_function", "maxsize", "typed"}, 3, 3, out));
  if (!is_callable(interp, out[0])) return fail(ErrorKind::TypeError, "the first argument must be callable");
  auto* c = interp.allocate<Cache>(type);
  Value self = Value::adopt(c);
  c->function = out[0];
  c->entries = interp.dict();
  if (!out[1].is_none()) c->most = std::max<int64_t>(0, TFL_TRY(to_index(interp, out[1])));
  c->typed = TFL_TRY(truth(interp, out[2]));
  return self;
}

Value key_of(Interp& interp, const Value& self, const CallArgs& args) {
  bool typed = cache_of(self).typed;
  if (!typed && args.keywords.empty() && args.count == 1) {
    const Value& only = args.values[0];
    if (only.is_int() || (only.is_str() && only.object()->type == interp.types.str)) return only;
  }
  std::vector<Value> parts(args.values, args.values + args.count);
  if (!args.keywords.empty()) parts.push_back(Value::share(self.object()->type));  // between positions and names
  for (size_t k = 0; k < args.keywords.size(); ++k) {
    parts.push_back(interp.str(args.keywords[k]));
    parts.push_back(args.values[args.count + k]);
  }
  for (uint32_t i = 0; typed && i < args.total(); ++i) parts.push_back(Value::share(interp.type_of(args.values[i])));
  return interp.tuple(parts);
}

Result<Value> cache_call(Interp& interp, const Value& self, CallArgs& args) {
  Cache& c = cache_of(self);
  Value function = c.function, entries = c.entries;
  if (c.most == 0) {
    ++c.misses;
    return interp.call(function, args);
  }
  Value key = key_of(interp, self, args);
  Value found = TFL_TRY(dict_get(interp, entries.as<Dict>(), key));
  if (!found.is_empty()) {
    ++c.hits;
    if (c.most > 0) TFL_TRY(dict_move(interp, entries.as<Dict>(), key, true));
    return found;
  }
  ++c.misses;
  Value made = TFL_TRY(interp.call(function, args));
  Dict* d = entries.as<Dict>();
  if (c.most > 0) {
    Value there = TFL_TRY(dict_get(interp, d, key));
    size_t at = 0;
    if (there.is_empty() && d->live >= c.most) {
      Value oldest = dict_next(d, at)->key;
      Value dropped = TFL_TRY(dict_pop(interp, d, oldest));
    }
  }
  TFL_TRY(dict_set(interp, d, key, made));
  return made;
}

/// (hits, misses, maxsize, currsize)
Result<Value> cache_figures(Interp& interp, Value* a) {
  Cache& c = cache_of(a[0]);
  return interp.tuple({Value::integer(c.hits), Value::integer(c.misses), c.most < 0 ? Value::none() : Value::integer(c.most),
                       Value::integer(c.entries.as<Dict>()->live)});
}

Result<Value> cache_clear(Interp& interp, Value* a) {
  Cache& c = cache_of(a[0]);
  c.hits = c.misses = 0;
  Value old = std::exchange(c.entries, interp.dict());
  return Value::none();
}

Result<Value> itself(Interp&, Value* a) { return a[0]; }

const Slots kCache = {.kind = Kind::Native,
                      .destroy = destroy_object<Cache>,
                      .construct = cache_new,
                      .call = cache_call,
                      .has_dict = true,
                      .binds = true};
constexpr NativeDef kCacheMethods[] = {method("_figures", "self, /", cache_figures),
                                       method("cache_clear", "self, /", cache_clear), method("__copy__", "self, /", itself),
                                       method("__deepcopy__", "self, memo, /", itself)};

// ----------------------------------------------------------------------------------------------------- cmp_to_key

struct Key : Object {
  Value compare;
  Value object;  // Empty: what makes the keys
};

extern const Slots kKey;

Result<Value> key_new(Interp& interp, Value* a) {
  Type* type = TFL_TRY(module_type(interp, "_functools", "KeyWrapper", kKey));
  auto* k = interp.allocate<Key>(type);
  k->compare = a[0];
  return Value::adopt(k);
}

Result<Value> key_call(Interp& interp, const Value& self, CallArgs& args) {
  Value out[1];
  TFL_TRY(take_arguments(interp, "K", args, {"obj"}, 1, 0, out));
  auto* k = interp.allocate<Key>(self.object()->type);
  k->compare = self.as<Key>()->compare;
  k->object = std::move(out[0]);
  return Value::adopt(k);
}

Result<Value> key_compare(Interp& interp, CompareOp op, const Value& a, const Value& b) {
  if (!b.is(Kind::Native) || b.object()->type != a.object()->type)
    return fail(ErrorKind::TypeError, "other argument must be K instance");
  Value x = a.as<Key>()->object, y = b.as<Key>()->object, function = a.as<Key>()->compare;
  if (x.is_empty() || y.is_empty()) return fail(ErrorKind::AttributeError, "object");
  Value answer = TFL_TRY(interp.call(function, {x, y}));
  return compare(interp, op, answer, Value::integer(0));
}

Result<Value> key_object(Interp&, Value* a) {
  const Value& object = a[0].as<Key>()->object;
  return object.is_empty() ? Value::none() : object;
}

const Slots kKey = {.kind = Kind::Native, .destroy = destroy_object<Key>, .call = key_call, .compare = key_compare};
constexpr NativeDef kKeyMethods[] = {getter("obj", key_object)};

// ------------------------------------------------------------------------------------------------ operator's getters

struct Getter : Object {
  Value names;     // Tuple: items; attributes, each a Tuple of names; of methodcaller its name
  Value args;      // methodcaller: Tuple
  Value keywords;  // methodcaller: Dict
  Value given;     // Tuple: what it was made with
};

Getter& getter_of(const Value& v) { return *v.as<Getter>(); }

Result<Value> getter_new(Interp& interp, Type* type, const char* name, CallArgs& args) {
  TFL_TRY(no_keywords(name, args));
  if (args.count == 0) return fail(ErrorKind::TypeError, "{} expected 1 argument, got 0", name);
  auto* g = interp.allocate<Getter>(type);
  Value self = Value::adopt(g);
  g->names = g->given = interp.tuple(std::span<const Value>(args.values, args.count));
  return self;
}

/// The one object that a getter is called with.
Result<Value> only(const char* name, CallArgs& args) {
  TFL_TRY(no_keywords(name, args));
  if (args.count != 1) return fail(ErrorKind::TypeError, "{} expected 1 argument, got {}", name, args.count);
  return args.values[0];
}

template <class F>
Result<Value> each(Interp& interp, const Value& names, F&& one) {
  std::span<Value> all = names.as<Tuple>()->span();
  if (all.size() == 1) return one(all[0]);
  std::vector<Value> found;
  for (const Value& name : all) {
    Value v = TFL_TRY(one(name));
    found.push_back(std::move(v));
  }
  return interp.tuple(found);
}

Result<Value> item_new(Interp& interp, Type* type, CallArgs& args) { return getter_new(interp, type, "itemgetter", args); }

Result<Value> item_call(Interp& interp, const Value& self, CallArgs& args) {
  Value v = TFL_TRY(only("itemgetter", args)), names = getter_of(self).names;
  if (v.is(Kind::Tuple) && v.object()->type == interp.types.tuple && names.as<Tuple>()->size == 1 &&
      names.as<Tuple>()->items[0].is_int()) {
    int64_t i = names.as<Tuple>()->items[0].as_int();
    if (i >= 0 && i < v.as<Tuple>()->size) return v.as<Tuple>()->items[i];
  }
  return each(interp, names, [&](const Value& key) { return get_item(interp, v, key); });
}

Result<Value> attr_new(Interp& interp, Type* type, CallArgs& args) {
  Value self = TFL_TRY(getter_new(interp, type, "attrgetter", args));
  std::vector<Value> paths;
  for (const Value& name : getter_of(self).given.as<Tuple>()->span()) {
    if (!name.is_str()) return fail(ErrorKind::TypeError, "attribute name must be a string");
    std::vector<Value> path;
    std::string_view text = text_of(name);
    for (size_t at = 0; at <= text.size();) {
      size_t end = std::min(text.find('.', at), text.size());
      path.push_back(Value::share(interp.intern(text.substr(at, end - at))));
      at = end + 1;
    }
    paths.push_back(interp.tuple(path));
  }
  getter_of(self).names = interp.tuple(paths);
  return self;
}

Result<Value> attr_call(Interp& interp, const Value& self, CallArgs& args) {
  Value v = TFL_TRY(only("attrgetter", args)), names = getter_of(self).names;
  return each(interp, names, [&](const Value& path) -> Result<Value> {
    Value found = v;
    for (const Value& name : path.as<Tuple>()->span()) {
      Value from = std::move(found);
      found = TFL_TRY(get_attr(interp, from, name.as<Str>()));
    }
    return found;
  });
}

Result<Value> method_new(Interp& interp, Type* type, CallArgs& args) {
  if (args.count == 0) return fail(ErrorKind::TypeError, "methodcaller needs at least one argument, the method name");
  if (!args.values[0].is_str()) return fail(ErrorKind::TypeError, "method name must be a string");
  auto* g = interp.allocate<Getter>(type);
  Value self = Value::adopt(g);
  g->names = Value::share(interp.intern(text_of(args.values[0])));
  g->given = interp.tuple(std::span<const Value>(args.values, args.count));
  g->args = interp.tuple(std::span<const Value>(args.values + 1, args.count - 1));
  g->keywords = interp.dict();
  for (size_t k = 0; k < args.keywords.size(); ++k)
    dict_set_str(g->keywords.as<Dict>(), args.keywords[k], args.values[args.count + k]);
  return self;
}

Result<Value> method_call(Interp& interp, const Value& self, CallArgs& args) {
  Value v = TFL_TRY(only("methodcaller", args));
  Value name = getter_of(self).names, held = getter_of(self).args, named = getter_of(self).keywords;
  Value function = TFL_TRY(get_attr(interp, v, name.as<Str>()));
  std::span<Value> positional = held.as<Tuple>()->span();
  Arguments all(positional.size() + static_cast<size_t>(named.as<Dict>()->live));
  for (const Value& a : positional) all.add(a);
  std::vector<Str*> names;
  size_t at = 0;
  while (Dict::Entry* e = dict_next(named.as<Dict>(), at)) {
    names.push_back(e->key.as<Str>());
    all.add(e->value);
  }
  CallArgs call = all.call(static_cast<uint32_t>(positional.size()), names);
  return interp.call(function, call);
}

Result<Value> getter_repr(Interp& interp, const Value& self) {
  std::string text = "operator." + self.object()->type->name->text + "(";
  Value given = getter_of(self).given, named = getter_of(self).keywords;
  bool first = true;
  for (const Value& v : given.as<Tuple>()->span()) {
    text += (first ? "" : ", ") + TFL_TRY(repr_text(interp, v));
    first = false;
  }
  size_t at = 0;
  while (named.is(Kind::Dict)) {
    Dict::Entry* e = dict_next(named.as<Dict>(), at);
    if (!e) break;
    Value value = e->value;
    text += ", " + e->key.as<Str>()->text + "=";
    text += TFL_TRY(repr_text(interp, value));
  }
  return interp.str(text + ")");
}

const Slots kItem = {
    .kind = Kind::Native, .destroy = destroy_object<Getter>, .construct = item_new, .repr = getter_repr, .call = item_call};
const Slots kAttr = {
    .kind = Kind::Native, .destroy = destroy_object<Getter>, .construct = attr_new, .repr = getter_repr, .call = attr_call};
const Slots kMethod = {
    .kind = Kind::Native, .destroy = destroy_object<Getter>, .construct = method_new, .repr = getter_repr, .call = method_call};

// --------------------------------------------------------------------------------------------------------- reduce

Result<Value> reduce(Interp& interp, Value* a) {
  auto it = iter(interp, a[1]);
  if (!it) {
    if (it.error().kind == ErrorKind::TypeError && !it.error().payload)
      return fail(ErrorKind::TypeError, "reduce() arg 2 must support iteration");
    return it;
  }
  Value total = a[2];
  for (;;) {
    Value item = TFL_TRY(next(interp, *it));
    if (item.is_empty()) break;
    if (total.is_empty())
      total = std::move(item);
    else
      total = TFL_TRY(interp.call(a[0], {total, item}));
  }
  if (total.is_empty()) return fail(ErrorKind::TypeError, "reduce() of empty iterable with no initial value");
  return total;
}

constexpr NativeDef kFunctions[] = {
    function("reduce", "function, iterable, initial=..., /", reduce),
    function("cmp_to_key", "mycmp", key_new),
};

}  // namespace

}  // namespace tfl::callables

namespace tfl {

Result<void> init_functools(Interp& interp, Module& module) {
  using namespace callables;
  define_all(interp, module, kFunctions);
  define_native_type(interp, module, "partial", kPartial, kPartialMethods, "functools");
  define_native_type(interp, module, "_lru_cache_wrapper", kCache, kCacheMethods, "functools");
  define_native_type(interp, module, "KeyWrapper", kKey, kKeyMethods, "functools");
  define_native_type(interp, module, "itemgetter", kItem, {}, "operator");
  define_native_type(interp, module, "attrgetter", kAttr, {}, "operator");
  define_native_type(interp, module, "methodcaller", kMethod, {}, "operator");
  return {};
}

}  // namespace tfl
