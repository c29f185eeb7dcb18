// Values of tfl.h: what is neither tensor nor call.
#include "cli/embed/interp.h"
#include "frontend/core/attributes.h"
#include "frontend/core/native.h"
#include "frontend/core/operations.h"
#include "frontend/syntax/diagnostics/source.h"

namespace tfl::embed {

namespace {

const Value kNothing;

bool is_traced(const Value& v) {
  if (is_dispatcher(v)) return true;
  return v.is(Kind::BoundMethod) && is_dispatcher(v.as<BoundMethod>()->function);
}

tfl_kind kind_of(const Value& v) {
  switch (v.tag()) {
    case Tag::Empty:
    case Tag::None: return TFL_KIND_NONE;
    case Tag::Bool: return TFL_KIND_BOOL;
    case Tag::Int: return TFL_KIND_INT;
    case Tag::Float: return TFL_KIND_FLOAT;
    case Tag::Object: break;
  }
  switch (v.kind()) {
    case Kind::Str: return TFL_KIND_STR;
    case Kind::Bytes: return TFL_KIND_BYTES;
    case Kind::List: return TFL_KIND_LIST;
    case Kind::Tuple: return TFL_KIND_TUPLE;
    case Kind::Dict: return TFL_KIND_DICT;
    case Kind::Tensor: return TFL_KIND_TENSOR;
    case Kind::Variable: return TFL_KIND_VARIABLE;
    case Kind::NdArray:
    case Kind::NumPyScalar: return TFL_KIND_ARRAY;
    case Kind::Module: return TFL_KIND_MODULE;
    case Kind::Function: return TFL_KIND_FUNCTION;
    default: return is_traced(v) ? TFL_KIND_TRACED : TFL_KIND_OBJECT;
  }
}

std::span<const Value> items_of(const Value& v) {
  if (v.is(Kind::List)) return v.as<List>()->items;
  if (v.is(Kind::Tuple)) return v.as<Tuple>()->span();
  return {};
}

template <class F>
tfl_error* asked(tfl_interp* interp, tfl_value** out, F&& question) {
  *out = nullptr;
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    core.begin_call();
    Result<Value> answer = question(core.interp);
    core.end_call();
    if (!answer) return answer.failure();
    *out = new_value(core, answer.take());
    return {};
  });
}

template <class F>
tfl_value* made(tfl_interp* interp, F&& make) {
  Core& core = core_of(interp);
  Locked locked(core);
  return new_value(core, make(core.interp));
}

}  // namespace

}  // namespace tfl::embed

using namespace tfl;
using namespace tfl::embed;

extern "C" {

tfl_kind tfl_value_kind(const tfl_value* value) { return kind_of(value->value); }

tfl_value* tfl_value_type(tfl_interp* interp, const tfl_value* value) {
  return made(interp, [&](Interp& i) { return i.str(std::string(i.type_name(value->value))); });
}

tfl_value* tfl_value_copy(const tfl_value* value) {
  Locked locked(*value->core);
  return new_value(*value->core, value->value);
}

void tfl_value_free(tfl_value* value) {
  if (!value) return;
  Core* core = value->core;
  if (value->value.is_object() || value->seen) core->drop(std::move(value->value), std::move(value->seen));
  delete value;
  core->release();
}

tfl_value* tfl_none(tfl_interp* interp) { return new_value(core_of(interp), Value::none()); }
tfl_value* tfl_bool(tfl_interp* interp, int32_t value) { return new_value(core_of(interp), Value::boolean(value != 0)); }
tfl_value* tfl_int(tfl_interp* interp, int64_t value) { return new_value(core_of(interp), Value::integer(value)); }
tfl_value* tfl_float(tfl_interp* interp, double value) { return new_value(core_of(interp), Value::real(value)); }

tfl_error* tfl_str(tfl_interp* interp, const char* text, size_t size, tfl_value** out) {
  return asked(interp, out, [&](Interp& i) -> Result<Value> {
    std::string_view whole(text ? text : "", text ? size : 0);
    if (size_t at = find_invalid_utf8(whole); at != std::string_view::npos)
      return fail(ErrorKind::ValueError, "the text is not UTF-8 at byte {}", at);
    return i.str(std::string(whole));
  });
}

tfl_value* tfl_bytes(tfl_interp* interp, const void* data, size_t size) {
  return made(interp, [&](Interp& i) { return i.bytes(std::string(static_cast<const char*>(data), data ? size : 0)); });
}

tfl_value* tfl_sequence(tfl_interp* interp, tfl_kind kind, size_t count, const tfl_value* const* items) {
  return made(interp, [&](Interp& i) {
    std::vector<Value> values;
    values.reserve(count);
    for (size_t k = 0; k < count; ++k) values.push_back(items[k]->value);
    return kind == TFL_KIND_TUPLE ? i.tuple(std::span<const Value>(values)) : i.list(std::move(values));
  });
}

tfl_error* tfl_dict(tfl_interp* interp, size_t count, const tfl_value* const* keys, const tfl_value* const* values,
                    tfl_value** out) {
  return asked(interp, out, [&](Interp& i) -> Result<Value> {
    Value dict = i.dict();
    for (size_t k = 0; k < count; ++k) TFL_TRY(dict_set(i, dict.as<Dict>(), keys[k]->value, values[k]->value));
    return dict;
  });
}

int64_t tfl_value_int(const tfl_value* value) {
  return value->value.is_int() || value->value.is_bool() ? value->value.as_int() : 0;
}
double tfl_value_float(const tfl_value* value) { return value->value.is_float() ? value->value.as_float() : 0; }

const char* tfl_value_text(const tfl_value* value, size_t* size) {
  const std::string* text = value->value.is_str()          ? &value->value.as<Str>()->text
                            : value->value.is(Kind::Bytes) ? &value->value.as<Bytes>()->data
                                                           : nullptr;
  if (size) *size = text ? text->size() : 0;
  return text ? text->c_str() : nullptr;
}

size_t tfl_value_size(const tfl_value* value) {
  if (value->value.is(Kind::Dict)) return static_cast<size_t>(value->value.as<Dict>()->live);
  return items_of(value->value).size();
}

tfl_error* tfl_value_item(tfl_interp* interp, const tfl_value* value, size_t i, tfl_value** key, tfl_value** item) {
  if (key) *key = nullptr;
  *item = nullptr;
  Core& core = core_of(interp);
  return guarded(core, [&]() -> Result<void> {
    if (i >= tfl_value_size(value)) return fail(ErrorKind::IndexError, "there is no item {} of {}", i, tfl_value_size(value));
    if (!value->value.is(Kind::Dict)) {
      *item = new_value(core, items_of(value->value)[i]);
      return {};
    }
    Dict* dict = value->value.as<Dict>();
    size_t at = 0;
    Dict::Entry* entry = nullptr;
    // Without deleted keys the entries lie where they were put.
    if (dict->entries.size() == static_cast<size_t>(dict->live))
      entry = &dict->entries[i];
    else
      for (size_t k = 0; k <= i; ++k) entry = dict_next(dict, at);
    if (key) *key = new_value(core, entry->key);
    *item = new_value(core, entry->value);
    return {};
  });
}

tfl_error* tfl_get(tfl_interp* interp, const tfl_value* value, const char* name, tfl_value** out) {
  return asked(interp, out, [&](Interp& i) { return get_attr(i, value->value, i.intern(name)); });
}

tfl_error* tfl_set(tfl_interp* interp, const tfl_value* value, const char* name, const tfl_value* to) {
  Core& core = core_of(interp);
  return guarded(core,
                 [&]() -> Result<void> { return set_attr(core.interp, value->value, core.interp.intern(name), to->value); });
}

tfl_error* tfl_names(tfl_interp* interp, const tfl_value* value, tfl_value** out) {
  return asked(interp, out, [&](Interp& i) -> Result<Value> { return i.list(TFL_TRY(attribute_names(i, value->value))); });
}

tfl_error* tfl_to_str(tfl_interp* interp, const tfl_value* value, tfl_value** out) {
  return asked(interp, out, [&](Interp& i) { return to_str(i, value->value); });
}

tfl_error* tfl_to_repr(tfl_interp* interp, const tfl_value* value, tfl_value** out) {
  return asked(interp, out, [&](Interp& i) { return repr(i, value->value); });
}

}  // extern "C"
