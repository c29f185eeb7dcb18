// Displays, unpacking, calls with spread arguments, functions and classes.
#include "frontend/core/operations.h"

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/interpreter/object/bases.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/interpreter/object/containers/dict.h"
#include "frontend/interpreter/object/containers/list.h"
#include "frontend/text/quote.h"

namespace tfl {

Result<void> load_method(Interp& interp, const Value& v, Str* name, Value& function, Value& self) {
  if (v.is_object() && !v.is(Kind::Type) && !v.is(Kind::Module) && !v.is(Kind::Super)) {
    Type* type = interp.type_of(v);
    if (!type->has_getattribute) {
      const Value* entry = lookup(interp, type, name);
      bool plain = entry && (entry->is(Kind::Function) ||
                             (entry->is(Kind::NativeFunction) && entry->as<NativeFunction>()->owner &&
                              entry->as<NativeFunction>()->def->how != NativeDef::How::Getter) ||
                             (entry->is(Kind::Native) && (entry->object()->type->slots->binds || is_dispatcher(*entry))));
      if (plain) {
        Dict* own = instance_dict(interp, v, false);
        const Value* shadow = own ? dict_entry(own, name) : nullptr;
        if (shadow) {
          function = *shadow;
          self = Value();
        } else {
          Value keep = v;  // `self` may be the place v stands in
          function = *entry;
          self = std::move(keep);
        }
        return {};
      }
    }
  }
  Value found = TFL_TRY(get_attr(interp, v, name));
  function = std::move(found);
  self = Value();
  return {};
}

std::string function_text(Interp& interp, const Value& callee) {
  auto name = find_attr(interp, callee, interp.sym.__qualname__);
  if (name && name->is_str()) {
    std::string text = name->as<Str>()->text + "()";
    auto module = find_attr(interp, callee, interp.sym.__module__);
    if (module && module->is_str() && module->as<Str>()->text != "builtins") text = module->as<Str>()->text + "." + text;
    return text;
  }
  auto text = str_text(interp, callee);
  return text ? *text : std::string("function");
}

Result<void> extend_list(Interp& interp, List* list, const Value& iterable, const Value* callee) {
  auto done = list_extend(interp, list, iterable);
  if (done || !error_is(done.error(), ErrorKind::TypeError)) return done;
  Type* type = interp.type_of(iterable);
  bool iterable_type = (type->slots->iter && !iterable.is(Kind::Type)) || script_lookup(interp, type, interp.sym.__iter__) ||
                       script_lookup(interp, type, interp.sym.__getitem__);
  if (iterable_type) return done;
  if (!callee) return fail(ErrorKind::TypeError, "Value after * must be an iterable, not {}", type->name->text);
  return fail(ErrorKind::TypeError, "{} argument after * must be an iterable, not {}", function_text(interp, *callee),
              type->name->text);
}

Result<void> merge_keywords(Interp& interp, Dict* into, const Value& mapping, const Value& callee) {
  Value source = mapping;
  if (!source.is(Kind::Dict)) {
    Value keys = TFL_TRY(find_attr(interp, source, interp.intern("keys")));
    if (keys.is_empty()) {
      return fail(ErrorKind::TypeError, "{} argument after ** must be a mapping, not {}", function_text(interp, callee),
                  interp.type_name(mapping));
    }
    source = interp.dict();
    TFL_TRY(dict_update(interp, source.as<Dict>(), mapping));
  }
  Dict* from = source.as<Dict>();
  for (size_t i = 0; i < from->entries.size(); ++i) {
    Value key = from->entries[i].key;
    if (key.is_empty()) continue;
    if (!key.is_str()) return fail(ErrorKind::TypeError, "keywords must be strings");
    Str* name = interp.intern(key.as<Str>()->text);
    if (dict_find_str(into, name) >= 0) {
      return fail(ErrorKind::TypeError, "{} got multiple values for keyword argument '{}'", function_text(interp, callee),
                  name->text);
    }
    dict_set_str(into, name, from->entries[i].value);
  }
  return {};
}

Result<Value> call_spread(Interp& interp, const Value& callee, const Value& args, const Value& keywords) {
  std::vector<Value> values;
  if (args.is(Kind::List)) values = args.as<List>()->items;
  if (args.is(Kind::Tuple)) {
    auto items = args.as<Tuple>()->span();
    values.assign(items.begin(), items.end());
  }
  auto count = static_cast<uint32_t>(values.size());
  std::vector<Str*> names;
  if (keywords.is(Kind::Dict)) {
    for (const Dict::Entry& e : keywords.as<Dict>()->entries) {
      if (e.key.is_empty()) continue;
      if (!e.key.is_str()) return fail(ErrorKind::TypeError, "keywords must be strings");
      names.push_back(interp.intern(e.key.as<Str>()->text));
      values.push_back(e.value);
    }
  }
  CallArgs call_args{values.data(), count, names};
  return interp.call(callee, call_args);
}

Value make_function(Interp& interp, Frame* frame, Code* code, Value* parts) {
  Function* f = interp.allocate<Function>(interp.types.function);
  f->code = Value::share(code);
  f->module = Value::share(frame->module);
  f->defaults = std::move(parts[0]);
  f->kw_defaults = std::move(parts[1]);
  f->annotations = std::move(parts[2]);
  f->closure = std::move(parts[3]);
  f->name = interp.str(code->name);
  f->qualname = interp.str(code->qualname);
  return Value::adopt(f);
}

namespace {

/// Takes `metaclass=` out of the keywords of a class statement.
Value take_metaclass(Interp& interp, const Value& keywords) {
  if (!keywords.is(Kind::Dict)) return Value();
  Str* name = interp.intern("metaclass");
  Value metaclass = dict_get_str(keywords.as<Dict>(), name);
  if (!metaclass.is_empty()) dict_remove_str(keywords.as<Dict>(), name);
  return metaclass;
}

Result<Value> call_with_keywords(Interp& interp, const Value& callee, std::initializer_list<Value> args, const Value& keywords) {
  std::vector<Value> values(args);
  return call_spread(interp, callee, interp.tuple(std::span<const Value>(values)), keywords);
}

/// What the metaclass gives the body for its names: a new dictionary, unless it has a __prepare__.
Result<Value> prepare_namespace(Interp& interp, const Value& metaclass, const Value& name, const Value& bases,
                                const Value& keywords) {
  if (metaclass.identical(Value::share(interp.types.type))) return interp.dict();
  Value prepare = TFL_TRY(find_attr(interp, metaclass, interp.intern("__prepare__")));
  if (prepare.is_empty()) return interp.dict();
  Value space = TFL_TRY(call_with_keywords(interp, prepare, {name, bases}, keywords));
  if (!space.is(Kind::Dict)) {
    std::string_view of = metaclass.is(Kind::Type) ? std::string_view(metaclass.as<Type>()->name->text) : "<metaclass>";
    return fail(ErrorKind::TypeError, "{}.__prepare__() must return a mapping, not {}", of, interp.type_name(space))
        .with_hint("here it must be a dict");
  }
  return space;
}

}  // namespace

Result<Value> build_class(Interp& interp, const Value& name, Value* parts) {
  Value body = std::move(parts[0]);
  Value written = std::move(parts[1]);
  Value keywords = std::move(parts[2]);
  if (written.is(Kind::List))
    written = interp.tuple(std::span<const Value>(written.as<List>()->items));
  else
    written = written.is_empty() ? interp.empty_tuple : interp.tuple({written});
  Value bases = TFL_TRY(resolve_entries(interp, written));
  Value metaclass = take_metaclass(interp, keywords);
  if (metaclass.is_empty()) metaclass = Value::share(interp.types.type);
  if (metaclass.is(Kind::Type)) metaclass = Value::share(TFL_TRY(resolve_metaclass(interp, metaclass.as<Type>(), bases)));
  Value space = TFL_TRY(prepare_namespace(interp, metaclass, name, bases, keywords));
  CallArgs none;
  Frame* frame = TFL_TRY(bind_call(interp, body.as<Function>(), none));
  frame->held = space;
  frame->how = FrameHow::Native;
  frame->back = interp.frame;
  interp.frame = frame;
  ++interp.depth;
  Value cell = TFL_TRY(run_frame(interp, frame));
  if (cell.is(Kind::Cell)) dict_set_str(space.as<Dict>(), interp.sym.__classcell__, cell);
  if (!bases.identical(written)) dict_set_str(space.as<Dict>(), interp.intern("__orig_bases__"), written);
  Value cls;
  if (metaclass.identical(Value::share(interp.types.type)))
    cls = TFL_TRY(make_class(interp, interp.types.type, name, bases, std::move(space), keywords));
  else
    cls = TFL_TRY(call_with_keywords(interp, metaclass, {name, bases, space}, keywords));
  const Value& code = body.as<Function>()->code;
  if (cls.is(Kind::Type) && of_library(code.as<Code>()) && has_doc(*code.as<Code>())) {
    // The body of such a class does not store __doc__: it is read when somebody asks.
    cls.as<Type>()->doc_code = code;
    dict_remove_str(cls.as<Type>()->dict.as<Dict>(), interp.sym.__doc__);
  }
  return cls;
}

Result<Value> build_set(Interp& interp, Value* items, uint32_t count) {
  Value set = interp.set();
  for (uint32_t i = 0; i < count; ++i) {
    Value item = std::move(items[i]);
    TFL_TRY(set_add(interp, set, item));
  }
  return set;
}

Result<Value> build_dict(Interp& interp, Value* items, uint32_t count) {
  Value dict = interp.dict();
  for (uint32_t i = 0; i < count; ++i) {
    Value key = std::move(items[2 * i]);
    TFL_TRY(dict_set(interp, dict.as<Dict>(), key, std::move(items[2 * i + 1])));
  }
  return dict;
}

Result<void> update_display(Interp& interp, Dict* into, const Value& mapping) {
  if (!mapping.is(Kind::Dict)) {
    Value keys = TFL_TRY(find_attr(interp, mapping, interp.intern("keys")));
    if (keys.is_empty()) return fail(ErrorKind::TypeError, "'{}' object is not a mapping", interp.type_name(mapping));
  }
  return dict_update(interp, into, mapping);
}

Value build_string(Interp& interp, Value* items, uint32_t count) {
  size_t size = 0;
  for (uint32_t i = 0; i < count; ++i) size += items[i].as<Str>()->text.size();
  std::string text;
  text.reserve(size);
  for (uint32_t i = 0; i < count; ++i) {
    text += items[i].as<Str>()->text;
    items[i] = Value();
  }
  return interp.str(std::move(text));
}

namespace {

Result<Value> iter_to_unpack(Interp& interp, const Value& v) {
  auto it = iter(interp, v);
  if (it) return it;
  Type* type = interp.type_of(v);
  bool iterable = (type->slots->iter && !v.is(Kind::Type)) || script_lookup(interp, type, interp.sym.__iter__) ||
                  script_lookup(interp, type, interp.sym.__getitem__);
  if (iterable || !error_is(it.error(), ErrorKind::TypeError)) return it;
  return fail(ErrorKind::TypeError, "cannot unpack non-iterable {} object", type->name->text);
}

}  // namespace

Result<void> unpack(Interp& interp, const Value& v, Value* out, uint32_t count) {
  std::span<Value> items;
  bool native = !interp.type_of(v)->script;
  if (native && v.is(Kind::Tuple))
    items = v.as<Tuple>()->span();
  else if (native && v.is(Kind::List))
    items = v.as<List>()->items;
  else
    native = false;
  if (native) {
    if (items.size() < count)
      return fail(ErrorKind::ValueError, "not enough values to unpack (expected {}, got {})", count, items.size());
    if (items.size() > count) return fail(ErrorKind::ValueError, "too many values to unpack (expected {})", count);
    Value keep = v;  // v may stand in one of the registers written
    for (uint32_t i = 0; i < count; ++i) out[i] = items[i];
    return {};
  }
  Value it = TFL_TRY(iter_to_unpack(interp, v));
  std::vector<Value> found;
  for (uint32_t i = 0; i < count; ++i) {
    Value item = TFL_TRY(next(interp, it));
    if (item.is_empty()) return fail(ErrorKind::ValueError, "not enough values to unpack (expected {}, got {})", count, i);
    found.push_back(std::move(item));
  }
  Value more = TFL_TRY(next(interp, it));
  if (!more.is_empty()) return fail(ErrorKind::ValueError, "too many values to unpack (expected {})", count);
  for (uint32_t i = 0; i < count; ++i) out[i] = std::move(found[i]);
  return {};
}

Result<void> unpack_rest(Interp& interp, const Value& v, Value* out, uint32_t before, uint32_t after) {
  Value it = TFL_TRY(iter_to_unpack(interp, v));
  std::vector<Value> items = TFL_TRY(to_vector(interp, it));
  if (items.size() < size_t{before} + after) {
    return fail(ErrorKind::ValueError, "not enough values to unpack (expected at least {}, got {})", before + after,
                items.size());
  }
  size_t rest = items.size() - before - after;
  for (uint32_t i = 0; i < before; ++i) out[i] = std::move(items[i]);
  std::vector<Value> middle(std::make_move_iterator(items.begin() + before),
                            std::make_move_iterator(items.begin() + static_cast<std::ptrdiff_t>(before + rest)));
  out[before] = interp.list(std::move(middle));
  for (uint32_t i = 0; i < after; ++i) out[before + 1 + i] = std::move(items[before + rest + i]);
  return {};
}

Result<Value> step_iterator(Interp& interp, const Value& iterator, const Value& sent, bool& ended) {
  if (!sent.is_none()) {
    auto r = interp.call_method(iterator, interp.sym.send, {sent});
    if (r || !error_is(r.error(), ErrorKind::StopIteration)) return r;
    interp.ended = {Value(), std::move(r.failure().error)};
  } else {
    Value item = TFL_TRY(next(interp, iterator));
    if (!item.is_empty()) return item;
  }
  ended = true;
  return take_end_value(interp);
}

Result<Value> format_field(Interp& interp, const Value& v, int conversion, const Value* spec) {
  Value shown = v;
  if (conversion == 1) shown = TFL_TRY(to_str(interp, v));
  if (conversion == 2) shown = TFL_TRY(repr(interp, v));
  if (conversion == 3) {
    std::string text = TFL_TRY(repr_text(interp, v));
    shown = interp.str(escape_non_ascii(text));
  }
  if (spec && !spec->as<Str>()->text.empty()) return format_value(interp, shown, spec->as<Str>()->text);
  if (shown.is_str() && !shown.object()->type->script) return shown;
  return format_value(interp, shown, "");
}

}  // namespace tfl
