// The module `_protobuf`: messages of protocol buffers, read by schemas that the library writes down (stdlib/tensorflow/_proto.tfl). A
// message is decoded whole, large bytes stay where they lie: in the file, as views, of which tensors are made without a copy.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "frontend/core/file_access.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/core/tensor_api.h"
#include "frontend/interpreter/modules/protobuf.h"
#include "frontend/interpreter/object/file.h"
#include "frontend/text/utf8.h"

namespace tfl::messages {

namespace {

extern const Slots kMessage;

struct KindName {
  std::string_view name;
  What what;
  DType dtype;
};
constexpr KindName kKinds[] = {
    {"int32", What::Int, DType::I32},        {"int64", What::Int, DType::I64},       {"uint32", What::Uint, DType::U32},
    {"uint64", What::Uint, DType::U64},      {"bool", What::Bool, DType::Bool},      {"float", What::Float, DType::F32},
    {"double", What::Double, DType::F64},    {"fixed32", What::Fixed32, DType::U32}, {"fixed64", What::Fixed64, DType::U64},
    {"string", What::String, DType::String}, {"bytes", What::Bytes, DType::String},  {"view", What::View, DType::String}};

// ------------------------------------------------------------------------------------------------------------------- schemas

Result<Value> new_schema(Interp& interp, Value* a) {
  Type* type = TFL_TRY(module_type(interp, "_protobuf", "Schema", kSchema));
  auto* s = interp.allocate<Schema>(type);
  s->name = TFL_TRY(str_text(interp, a[0]));
  return Value::adopt(s);
}

/// schema.field(number, name, kind): kind is a schema or a name, with `repeated` as a list, with `tensor` as a tensor of numbers.
Result<Value> add_field(Interp& interp, Value* a) {
  FieldRow row{0, What::Message, false, false, DType::I64, {}, {}};
  row.number = static_cast<uint32_t>(TFL_TRY(to_index(interp, a[1])));
  row.name = Value::share(interp.intern(TFL_TRY(str_text(interp, a[2]))));
  row.repeated = TFL_TRY(truth(interp, a[4]));
  row.tensor = TFL_TRY(truth(interp, a[5]));
  if (is_a(a[3], kSchema)) {
    row.schema = a[3];
  } else {
    std::string kind = TFL_TRY(str_text(interp, a[3]));
    const auto* found = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const KindName& k) { return k.name == kind; });
    if (found == std::end(kKinds)) return fail(ErrorKind::ValueError, "no kind of field: {}", kind);
    row.what = found->what;
    row.dtype = found->dtype;
  }
  if (row.tensor && is_text(row.what)) return fail(ErrorKind::ValueError, "a tensor of numbers only");
  schema_of(a[0]).fields.push_back(std::move(row));
  return Value::none();
}

// -------------------------------------------------------------------------------------------------------------------- decoding

class Decoder {
 public:
  Decoder(Interp& interp, std::shared_ptr<const MappedFile> file, Type* view, Type* message)
      : interp_(interp), file_(std::move(file)), view_(view), message_(message) {}

  Result<Value> message(const Value& schema_value, std::string_view bytes, int depth) {
    const Schema& schema = schema_of(schema_value);
    if (depth == kMaxDepth) return fail(ErrorKind::DataLossError, "messages lie in each other more than {} deep", kMaxDepth);
    TFL_TRY(count(sizeof(Message) + 32));
    auto* made = interp_.allocate<Message>(message_);
    Value result = Value::adopt(made);
    made->schema = schema_value;
    std::vector<std::pair<uint32_t, std::vector<WireField>>> numbers;  // of the fields that become tensors
    WireReader reader(bytes);
    WireField field;
    while (reader.next(field)) {
      auto row =
          std::find_if(schema.fields.begin(), schema.fields.end(), [&](const FieldRow& r) { return r.number == field.number; });
      if (row == schema.fields.end()) continue;
      auto index = static_cast<uint32_t>(row - schema.fields.begin());
      if (row->tensor) {
        auto known = std::find_if(numbers.begin(), numbers.end(), [&](const auto& n) { return n.first == index; });
        if (known == numbers.end()) known = numbers.insert(numbers.end(), {index, {}});
        known->second.push_back(field);
        continue;
      }
      if (row->repeated) {
        TFL_TRY(append(*row, slot(*made, index, true), field, schema, depth));
      } else {
        Value value = TFL_TRY(one(*row, field, schema, depth));
        slot(*made, index, false) = std::move(value);
      }
    }
    if (reader.damaged()) return fail(ErrorKind::DataLossError, "the message {} is damaged or cut off", schema.name);
    for (const auto& [index, fields] : numbers) {
      Value value = TFL_TRY(tensor(schema.fields[index], fields, schema));
      slot(*made, index, false) = std::move(value);
    }
    return result;
  }

  Value view(std::string_view bytes) {
    auto* v = interp_.allocate<View>(view_);
    v->file = file_;
    v->bytes = bytes;
    return Value::adopt(v);
  }

 private:
  /// What many small messages become is much larger than they are: it is held against the limit as it grows.
  Result<void> count(size_t bytes) {
    made_ += bytes;
    if (made_ < asked_ + (size_t{1} << 20)) return {};
    asked_ = made_;
    TFL_TRY(interp_.check_interrupt());
    return guard_memory(interp_, made_);
  }

  Value& slot(Message& m, uint32_t index, bool list) {
    for (auto& [known, value] : m.values) {
      if (known == index) return value;
    }
    m.values.emplace_back(index, list ? interp_.list({}) : Value::none());
    return m.values.back().second;
  }

  static Failure wrong(const FieldRow& row, const Schema& schema) {
    return fail(ErrorKind::DataLossError, "the field {} of {} is damaged", text_of(row.name), schema.name);
  }

  static Value number(const FieldRow& row, uint64_t bits) {
    switch (row.what) {
      case What::Int:
        return Value::integer(row.dtype == DType::I32 ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits));
      case What::Bool: return Value::boolean(bits != 0);
      case What::Float: return Value::real(std::bit_cast<float>(static_cast<uint32_t>(bits)));
      case What::Double: return Value::real(std::bit_cast<double>(bits));
      default: return Value::integer(static_cast<int64_t>(bits));
    }
  }

  Result<Value> one(const FieldRow& row, const WireField& field, const Schema& schema, int depth) {
    TFL_TRY(count(sizeof(std::pair<uint32_t, Value>)));
    if (is_text(row.what)) {
      if (field.wire != Wire::Bytes) return wrong(row, schema);
      return text(row, field.bytes, schema, depth);
    }
    std::vector<uint64_t> found;  // a packed field where one is expected counts as its last number
    if (!append_numbers(field, wire_of(row.what), found)) return wrong(row, schema);
    return number(row, found.empty() ? 0 : found.back());
  }

  Result<Value> text(const FieldRow& row, std::string_view bytes, const Schema& schema, int depth) {
    switch (row.what) {
      case What::Message: return message(row.schema, bytes, depth + 1);
      case What::View: return view(bytes);
      case What::Bytes: TFL_TRY(count(sizeof(tfl::Bytes) + bytes.size())); return interp_.bytes(std::string(bytes));
      default: break;
    }
    TFL_TRY(count(sizeof(Str) + bytes.size()));
    if (utf8::validate(bytes).at != std::string_view::npos)
      return fail(ErrorKind::DataLossError, "the field {} of {} is no text in UTF-8", text_of(row.name), schema.name);
    return interp_.str(std::string(bytes));
  }

  Result<void> append(const FieldRow& row, const Value& list_value, const WireField& field, const Schema& schema, int depth) {
    Value list = list_value;  // the slot may move
    std::vector<Value>& items = list.as<List>()->items;
    if (is_text(row.what)) {
      if (field.wire != Wire::Bytes) return wrong(row, schema);
      TFL_TRY(count(sizeof(Value)));
      items.push_back(TFL_TRY(text(row, field.bytes, schema, depth)));
      return {};
    }
    size_t more = 0;
    if (!count_numbers(field, wire_of(row.what), more)) return wrong(row, schema);
    TFL_TRY(count(more * (sizeof(Value) + sizeof(uint64_t))));
    std::vector<uint64_t> found;
    if (!append_numbers(field, wire_of(row.what), found)) return wrong(row, schema);
    for (uint64_t bits : found) items.push_back(number(row, bits));
    return {};
  }

  Result<Value> tensor(const FieldRow& row, const std::vector<WireField>& fields, const Schema& schema) {
    int64_t total = 0;
    for (const WireField& f : fields) {
      size_t more = 0;
      if (!count_numbers(f, wire_of(row.what), more)) return wrong(row, schema);
      total += static_cast<int64_t>(more);
    }
    Tensor made = TFL_TRY(Tensor::empty(interp_.context, row.dtype, std::span<const int64_t>(&total, 1)));
    size_t size = dtype_size(row.dtype);
    std::byte* to = made.raw();
    std::vector<uint64_t> found;
    for (const WireField& f : fields) {
      if (f.wire == Wire::Bytes && wire_of(row.what) != Wire::Varint) {  // they lie as in memory
        std::memcpy(to, f.bytes.data(), f.bytes.size());
        to += f.bytes.size();
        continue;
      }
      found.clear();
      if (!append_numbers(f, wire_of(row.what), found)) return wrong(row, schema);
      for (uint64_t bits : found) {
        if (row.what == What::Bool) bits = bits != 0;
        std::memcpy(to, &bits, size);
        to += size;
      }
    }
    return Value::of(std::move(made));
  }

  Interp& interp_;
  std::shared_ptr<const MappedFile> file_;
  Type* view_;
  Type* message_;
  size_t made_ = 0, asked_ = 0;
};

Result<Decoder> decoder(Interp& interp, std::shared_ptr<const MappedFile> file) {
  Type* view = TFL_TRY(module_type(interp, "_protobuf", "View", kView));
  Type* message = TFL_TRY(module_type(interp, "_protobuf", "Message", kMessage));
  return Decoder(interp, std::move(file), view, message);
}

/// schema.decode(data): data is a view or bytes.
Result<Value> decode(Interp& interp, Value* a) {
  if (is_a(a[1], kView)) {
    Decoder d = TFL_TRY(decoder(interp, a[1].as<View>()->file));
    return d.message(a[0], a[1].as<View>()->bytes, 0);
  }
  if (!a[1].is(Kind::Bytes)) return fail(ErrorKind::TypeError, "a view or bytes are needed, not '{}'", interp.type_name(a[1]));
  auto file = MappedFile::of(a[1].as<Bytes>()->data);
  std::string_view bytes = file->bytes();
  Decoder d = TFL_TRY(decoder(interp, std::move(file)));
  return d.message(a[0], bytes, 0);
}

/// schema.encode({name: value}) -> bytes
Result<Value> encode(Interp& interp, Value* a) {
  std::string out = TFL_TRY(encoded(interp, schema_of(a[0]), a[1], 0));
  return interp.bytes(std::move(out));
}

// ------------------------------------------------------------------------------------------------------------- messages and views

/// What is not there: None, or an empty list.
Result<Value> get_field(Interp& interp, const Value& self, Str* name) {
  const Message& m = *self.as<Message>();
  const Schema& schema = schema_of(m.schema);
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const FieldRow& row = schema.fields[i];
    if (row.name.as<Str>() != name && text_of(row.name) != name->text) continue;
    for (const auto& [index, value] : m.values) {
      if (index == i) return value;
    }
    return row.repeated && !row.tensor ? interp.list({}) : Value::none();
  }
  return Value();
}

Result<Value> message_repr(Interp& interp, const Value& self) {
  const Message& m = *self.as<Message>();
  std::string out = schema_of(m.schema).name + "(";
  for (const auto& [index, value] : m.values) {
    if (&value != &m.values.front().second) out += ", ";
    out += text_of(schema_of(m.schema).fields[index].name) + "=" + TFL_TRY(repr_text(interp, value));
  }
  return interp.str(out + ")");
}

/// fields(message) -> [(number, wire, value)]: a message without a schema. Fixed numbers are bytes, as they lie.
Result<Value> all_fields(Interp& interp, Value* a) {
  if (!a[0].is(Kind::Bytes)) return fail(ErrorKind::TypeError, "bytes are needed, not '{}'", interp.type_name(a[0]));
  std::vector<Value> found;
  WireReader reader(a[0].as<Bytes>()->data);
  WireField f;
  while (reader.next(f)) {
    Value value = Value::integer(static_cast<int64_t>(f.value));
    if (f.wire == Wire::Bytes)
      value = interp.bytes(std::string(f.bytes));
    else if (f.wire != Wire::Varint)
      value = interp.bytes(std::string(reinterpret_cast<const char*>(&f.value), f.wire == Wire::Fixed64 ? 8 : 4));
    found.push_back(interp.tuple({Value::integer(f.number), Value::integer(static_cast<int64_t>(f.wire)), std::move(value)}));
  }
  if (reader.damaged()) return fail(ErrorKind::DataLossError, "a message is damaged or cut off");
  return interp.list(std::move(found));
}

/// varints(bytes) -> the numbers of a packed field.
Result<Value> all_varints(Interp& interp, Value* a) {
  if (!a[0].is(Kind::Bytes)) return fail(ErrorKind::TypeError, "bytes are needed, not '{}'", interp.type_name(a[0]));
  std::vector<uint64_t> numbers;
  if (!append_numbers({0, Wire::Bytes, 0, a[0].as<Bytes>()->data}, Wire::Varint, numbers))
    return fail(ErrorKind::DataLossError, "packed numbers are damaged or cut off");
  std::vector<Value> found;
  for (uint64_t n : numbers) found.push_back(Value::integer(static_cast<int64_t>(n)));
  return interp.list(std::move(found));
}

/// open(path): the bytes of a file.
Result<Value> open_file(Interp& interp, Value* a) {
  std::string path = TFL_TRY(path_argument(interp, a[0]));
  Descriptor fd = TFL_TRY(open_for_reading(interp, path));
  std::shared_ptr<const MappedFile> file;
  if (int error = MappedFile::open(fd.get(), file)) return os_error(interp, error, path);
  std::string_view bytes = file->bytes();
  Decoder d = TFL_TRY(decoder(interp, std::move(file)));
  return d.view(bytes);
}

/// view.part(begin, size): ValueError where the view does not reach.
Result<Value> view_part(Interp& interp, Value* a) {
  const View& v = *a[0].as<View>();
  int64_t begin = TFL_TRY(to_index(interp, a[1])), size = TFL_TRY(to_index(interp, a[2]));
  if (begin < 0 || size < 0 || static_cast<uint64_t>(begin) > v.bytes.size() ||
      static_cast<uint64_t>(size) > v.bytes.size() - static_cast<uint64_t>(begin))
    return fail(ErrorKind::ValueError, "bytes {} to {} + {} of {}", begin, begin, size, v.bytes.size());
  Decoder d = TFL_TRY(decoder(interp, v.file));
  return d.view(v.bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(size)));
}

Result<Value> view_bytes(Interp& interp, Value* a) {
  const View& v = *a[0].as<View>();
  TFL_TRY(guard_memory(interp, v.bytes.size()));
  return interp.bytes(std::string(v.bytes));
}

struct SharedBuffer : Buffer {
  std::shared_ptr<const MappedFile> file;
};

/// view.tensor(dtype, dims): its bytes as elements, where they lie when they lie as elements must, else a copy. To be asked for once:
/// whoever has the only reference to a tensor may overwrite it.
Result<Value> view_tensor(Interp& interp, Value* a) {
  const View& v = *a[0].as<View>();
  DType dtype = TFL_TRY(to_dtype(interp, a[1]));
  if (dtype == DType::String) return fail(ErrorKind::TypeError, "texts do not lie as elements");
  Dims dims;
  for (const Value& d : TFL_TRY(to_vector(interp, a[2]))) dims.push_back(TFL_TRY(to_index(interp, d)));
  if (dims.size() > static_cast<size_t>(kMaxRank)) return fail(ErrorKind::ValueError, "{} dimensions are too many", dims.size());
  int64_t count = TFL_TRY(element_count(dims));
  size_t size = dtype_size(dtype);
  if (static_cast<uint64_t>(count) > v.bytes.size() / size || static_cast<size_t>(count) * size != v.bytes.size())
    return fail(ErrorKind::ValueError, "{} elements of {} are not {} bytes", count, dtype_name(dtype), v.bytes.size());
  if (v.bytes.size() > kInlineBytes && reinterpret_cast<uintptr_t>(v.bytes.data()) % size == 0 && dtype != DType::Bool) {
    auto* data = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(v.bytes.data()));  // the memory is private
    auto* buffer = new SharedBuffer{
        {1, false, v.bytes.size(), data, nullptr, [](Buffer* b) { delete static_cast<SharedBuffer*>(b); }}, v.file};
    return Value::of(Tensor::foreign(interp.context, dtype, dims, buffer));
  }
  Tensor made = TFL_TRY(Tensor::empty(interp.context, dtype, dims));
  if (!v.bytes.empty()) std::memcpy(made.raw(), v.bytes.data(), v.bytes.size());
  if (dtype == DType::Bool) {
    for (size_t i = 0; i < v.bytes.size(); ++i) made.data<bool>()[i] = v.bytes[i] != 0;
  }
  v.file->leave(v.bytes);
  return Value::of(std::move(made));
}

Result<int64_t> view_length(Interp&, const Value& self) { return static_cast<int64_t>(self.as<View>()->bytes.size()); }

Result<Value> view_repr(Interp& interp, const Value& self) { return interp.strf("<{} bytes>", self.as<View>()->bytes.size()); }
Result<Value> schema_repr(Interp& interp, const Value& self) { return interp.strf("<schema {}>", schema_of(self).name); }

}  // namespace

const Slots kSchema = {.kind = Kind::Native, .destroy = destroy_object<Schema>, .repr = schema_repr};
const Slots kView = {.kind = Kind::Native, .destroy = destroy_object<View>, .repr = view_repr, .length = view_length};

namespace {

const Slots kMessage = {.kind = Kind::Native, .destroy = destroy_object<Message>, .repr = message_repr, .get_attr = get_field};

constexpr NativeDef kSchemaMethods[] = {
    method("field", "self, number, name, kind, repeated=False, tensor=False", add_field),
    method("decode", "self, data, /", decode),
    method("encode", "self, values, /", encode),
};
constexpr NativeDef kViewMethods[] = {
    method("bytes", "self, /", view_bytes),
    method("part", "self, begin, size, /", view_part),
    method("tensor", "self, dtype, dims, /", view_tensor),
};
constexpr NativeDef kFunctions[] = {
    function("schema", "name, /", new_schema),
    function("open", "path, /", open_file),
    function("fields", "message, /", all_fields),
    function("varints", "data, /", all_varints),
};

}  // namespace

}  // namespace tfl::messages

namespace tfl {

Result<void> init_protobuf(Interp& interp, Module& module) {
  define_all(interp, module, messages::kFunctions);
  define_native_type(interp, module, "Schema", messages::kSchema, messages::kSchemaMethods);
  define_native_type(interp, module, "View", messages::kView, messages::kViewMethods);
  define_native_type(interp, module, "Message", messages::kMessage);
  return {};
}

}  // namespace tfl
