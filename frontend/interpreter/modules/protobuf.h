// Schemas, messages and views of the module `_protobuf`, for the files that read and write them.
#pragma once

#include "frontend/core/protocol.h"
#include "runtime/files/mapped_file.h"
#include "runtime/formats/protobuf.h"
#include "runtime/tensor/dtype.h"

namespace tfl::messages {

inline constexpr int kMaxDepth = 100;  // of messages in messages

enum class What : uint8_t { Int, Uint, Bool, Float, Double, Fixed32, Fixed64, String, Bytes, View, Message };

struct FieldRow {
  uint32_t number;
  What what;
  bool repeated, tensor;
  DType dtype;  // of a tensor
  Value name;   // interned
  Value schema;
};

struct Schema : Object {
  std::string name;
  std::vector<FieldRow> fields;
};

/// Bytes of a file, or of a piece of it.
struct View : Object {
  std::shared_ptr<const MappedFile> file;
  std::string_view bytes;
};

struct Message : Object {
  Value schema;
  std::vector<std::pair<uint32_t, Value>> values;  // row of the schema; only what is there
};

extern const Slots kSchema, kView;

inline Schema& schema_of(const Value& v) { return *v.as<Schema>(); }
inline bool is_a(const Value& v, const Slots& slots) { return v.is(Kind::Native) && v.object()->type->slots == &slots; }

inline Wire wire_of(What what) {
  switch (what) {
    case What::Int:
    case What::Uint:
    case What::Bool: return Wire::Varint;
    case What::Float:
    case What::Fixed32: return Wire::Fixed32;
    case What::Double:
    case What::Fixed64: return Wire::Fixed64;
    case What::String:
    case What::Bytes:
    case What::View:
    case What::Message: break;
  }
  return Wire::Bytes;
}

inline bool is_text(What what) { return wire_of(what) == Wire::Bytes; }

/// The bytes of a message with these fields, a dict.
Result<std::string> encoded(Interp& interp, const Schema& schema, const Value& values, int depth);

}  // namespace tfl::messages
