// Built-in functions that ask about objects: text, identity, attributes, classes, names.
#include <algorithm>

#include "frontend/core/attributes.h"
#include "frontend/core/exception.h"
#include "frontend/core/frame.h"
#include "frontend/interpreter/builtins/functions.h"
#include "frontend/interpreter/object/class.h"
#include "frontend/text/quote.h"

namespace tfl::builtin {

Result<Value> repr_(Interp& interp, Value* a) { return repr(interp, a[0]); }

Result<Value> ascii_(Interp& interp, Value* a) {
  std::string text = TFL_TRY(repr_text(interp, a[0]));
  return interp.str(escape_non_ascii(text));
}

Result<Value> format_(Interp& interp, Value* a) {
  if (!a[1].is_str()) return fail(ErrorKind::TypeError, "format() argument 2 must be str, not {}", interp.type_name(a[1]));
  return format_value(interp, a[0], text_of(a[1]));
}

Result<Value> hash_(Interp& interp, Value* a) {
  uint64_t h = TFL_TRY(hash_value(interp, a[0]));
  return Value::integer(static_cast<int64_t>(h));
}

Result<Value> id_(Interp&, Value* a) {
  const Value& v = a[0];
  if (v.is_object()) return Value::integer(static_cast<int64_t>(reinterpret_cast<uintptr_t>(v.counted())));
  // Unboxed values have no place: the same value is the same object. Heap addresses are multiples of 16, these are not.
  uint64_t payload = v.is_none() ? 0 : static_cast<uint64_t>(v.as_int());
  return Value::integer(static_cast<int64_t>((payload << 4 | static_cast<uint64_t>(v.tag())) & ((uint64_t{1} << 62) - 1)));
}

Result<Value> callable_(Interp& interp, Value* a) { return Value::boolean(is_callable(interp, a[0])); }

namespace {

Result<Str*> attribute_name(Interp& interp, const Value& v) {
  if (!v.is_str()) return fail(ErrorKind::TypeError, "attribute name must be string, not '{}'", interp.type_name(v));
  return v.as<Str>()->interned ? v.as<Str>() : interp.intern(text_of(v));
}

bool is_attribute_error(Interp& interp, Error& error) {
  if (!error.payload) return error.kind == ErrorKind::AttributeError;
  return interp.is_instance(interp.exception_of(error), interp.exception_type(ErrorKind::AttributeError));
}

}  // namespace

Result<Value> getattr_(Interp& interp, Value* a) {
  Str* name = TFL_TRY(attribute_name(interp, a[1]));
  if (a[2].is_empty()) return get_attr(interp, a[0], name);
  auto found = find_attr(interp, a[0], name);
  if (!found) {
    if (is_attribute_error(interp, found.error())) return a[2];
    return found;
  }
  return found->is_empty() ? a[2] : found.take();
}

Result<Value> hasattr_(Interp& interp, Value* a) {
  Str* name = TFL_TRY(attribute_name(interp, a[1]));
  auto found = find_attr(interp, a[0], name);
  if (!found) {
    if (is_attribute_error(interp, found.error())) return Value::boolean(false);
    return found.failure();
  }
  return Value::boolean(!found->is_empty());
}

Result<Value> setattr_(Interp& interp, Value* a) {
  Str* name = TFL_TRY(attribute_name(interp, a[1]));
  TFL_TRY(set_attr(interp, a[0], name, a[2]));
  return Value::none();
}

Result<Value> delattr_(Interp& interp, Value* a) {
  Str* name = TFL_TRY(attribute_name(interp, a[1]));
  TFL_TRY(del_attr(interp, a[0], name));
  return Value::none();
}

Result<Value> isinstance_(Interp& interp, Value* a) {
  bool r = TFL_TRY(is_instance_of(interp, a[0], a[1]));
  return Value::boolean(r);
}

Result<Value> issubclass_(Interp& interp, Value* a) {
  bool r = TFL_TRY(is_subclass_of(interp, a[0], a[1]));
  return Value::boolean(r);
}

namespace {

/// The names of the running frame: the module's dictionary, or a dict of the bound locals.
Value local_names(Interp& interp) {
  Frame* f = interp.frame;
  if (!f) return interp.dict();
  if (f->code->module_body) return f->module->dict;
  if (f->code->class_body) return f->held.is(Kind::Dict) ? f->held : interp.dict();
  Value out = interp.dict();
  for (size_t i = 0; i < f->code->register_names.size(); ++i) {
    Str* name = f->code->register_names[i];
    if (!name) continue;
    Value v = f->registers[i];
    if (v.is(Kind::Cell)) v = v.as<Cell>()->value;
    if (!v.is_empty()) dict_set_str(out.as<Dict>(), name, v);
  }
  return out;
}

}  // namespace

Result<Value> globals_(Interp& interp, Value*) { return interp.frame ? Value::share(interp.frame->globals) : interp.dict(); }
Result<Value> locals_(Interp& interp, Value*) { return local_names(interp); }

Result<Value> vars_(Interp& interp, Value* a) {
  if (a[0].is_empty()) return local_names(interp);
  auto found = find_attr(interp, a[0], interp.sym.__dict__);
  if (!found && !is_attribute_error(interp, found.error())) return found;
  Value d = found ? found.take() : Value();
  if (d.is_empty()) return fail(ErrorKind::TypeError, "vars() argument must have __dict__ attribute");
  return d;
}

/// The page of a value, which the library writes.
Result<Value> help_(Interp& interp, Value* a) {
  Value pages = TFL_TRY(interp.import_module("_pages"));
  if (a[0].is_empty()) return interp.call_method(pages, interp.intern("introduce"), {});
  return interp.call_method(pages, interp.intern("help"), {a[0]});
}

/// Stops the script and asks what to look at; the library does it. Arguments are for debuggers of other kinds.
Result<Value> breakpoint_(Interp& interp, CallArgs&) {
  Value debugger = TFL_TRY(interp.import_module("_debugger"));
  return interp.call_method(debugger, interp.intern("breakpoint"), {});
}

Result<Value> dir_(Interp& interp, Value* a) {
  std::vector<Value> names;
  if (a[0].is_empty()) {
    names = TFL_TRY(to_vector(interp, local_names(interp)));
    std::sort(names.begin(), names.end(),
              [](const Value& x, const Value& y) { return x.is_str() && y.is_str() && text_of(x) < text_of(y); });
    return interp.list(std::move(names));
  }
  Value own = TFL_TRY(call_special(interp, a[0], interp.intern("__dir__"), {}));
  if (!own.is_empty()) {
    CallArgs args{&own, 1};
    return sorted_(interp, args);
  }
  names = TFL_TRY(attribute_names(interp, a[0]));
  return interp.list(std::move(names));
}

Result<Value> import_(Interp& interp, Value* a) {
  if (!a[0].is_str()) return fail(ErrorKind::TypeError, "__import__() argument 1 must be str, not {}", interp.type_name(a[0]));
  return interp.import_module(text_of(a[0]), false);
}

Result<Value> next_(Interp& interp, Value* a) {
  Value item = TFL_TRY(next(interp, a[0]));
  if (!item.is_empty()) return item;
  if (!a[1].is_empty()) return a[1];
  return stop_iteration(interp);
}

}  // namespace tfl::builtin
