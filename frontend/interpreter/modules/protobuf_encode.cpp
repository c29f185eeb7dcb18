// Messages of protocol buffers, written from dictionaries by a schema.
#include <bit>

#include "frontend/core/native.h"
#include "frontend/interpreter/modules/protobuf.h"

namespace tfl::messages {

namespace {

Result<void> put(Interp& interp, const FieldRow& row, const Value& value, int depth, std::string& out) {
  switch (row.what) {
    case What::Message: {
      std::string inside = TFL_TRY(encoded(interp, schema_of(row.schema), value, depth + 1));
      put_bytes_field(out, row.number, inside);
      return {};
    }
    case What::Float:
      put_fixed32_field(out, row.number, std::bit_cast<uint32_t>(static_cast<float>(TFL_TRY(to_double(interp, value)))));
      return {};
    case What::Double: put_fixed64_field(out, row.number, std::bit_cast<uint64_t>(TFL_TRY(to_double(interp, value)))); return {};
    case What::Fixed32: put_fixed32_field(out, row.number, static_cast<uint32_t>(TFL_TRY(to_index(interp, value)))); return {};
    case What::Fixed64: put_fixed64_field(out, row.number, static_cast<uint64_t>(TFL_TRY(to_index(interp, value)))); return {};
    case What::Int:
    case What::Uint:
    case What::Bool: put_varint_field(out, row.number, static_cast<uint64_t>(TFL_TRY(to_index(interp, value)))); return {};
    case What::String:
    case What::Bytes:
    case What::View: break;
  }
  if (value.is(Kind::Bytes))
    put_bytes_field(out, row.number, value.as<Bytes>()->data);
  else if (value.is_str())
    put_bytes_field(out, row.number, text_of(value));
  else if (is_a(value, kView))
    put_bytes_field(out, row.number, value.as<View>()->bytes);
  else
    return fail(ErrorKind::TypeError, "the field {} takes text or bytes, not '{}'", text_of(row.name), interp.type_name(value));
  return {};
}

}  // namespace

Result<std::string> encoded(Interp& interp, const Schema& schema, const Value& values, int depth) {
  if (depth == kMaxDepth) return fail(ErrorKind::ValueError, "messages lie in each other more than {} deep", kMaxDepth);
  if (!values.is(Kind::Dict))
    return fail(ErrorKind::TypeError, "a {} is made of a dict, not '{}'", schema.name, interp.type_name(values));
  std::string out;
  size_t used = 0;
  for (const FieldRow& row : schema.fields) {
    Value value = dict_get_str(values.as<Dict>(), row.name.as<Str>());
    if (value.is_empty()) continue;
    ++used;
    if (value.is_none()) continue;
    if (!row.repeated && !row.tensor) {
      TFL_TRY(put(interp, row, value, depth, out));
      continue;
    }
    for (const Value& item : TFL_TRY(to_vector(interp, value))) TFL_TRY(put(interp, row, item, depth, out));
  }
  if (used != static_cast<size_t>(TFL_TRY(length(interp, values))))
    return fail(ErrorKind::ValueError, "a {} has not all of these fields", schema.name);
  return out;
}

}  // namespace tfl::messages
