// The module `_hash`: digests in progress, for stdlib/python/hashlib.tfl.
#include "frontend/core/buffer.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "runtime/support/digest.h"

namespace tfl::hashing {

namespace {

struct Hash : Object {
  std::unique_ptr<Digest> digest;
  Value name;
};

Hash& of(const Value& v) { return *v.as<Hash>(); }

extern const Slots kHash;

Result<void> add(Interp& interp, Hash& h, const Value& data) {
  if (data.is_str()) return fail(ErrorKind::TypeError, "Strings must be encoded before hashing");
  if (!is_bytes_like(data)) return fail(ErrorKind::TypeError, "object supporting the buffer API required");
  Value held = TFL_TRY(bytes_like(interp, data));
  h.digest->update(held.as<Bytes>()->data);
  return {};
}

Result<Value> made(Interp& interp, std::unique_ptr<Digest> digest, const Value& name) {
  Type* type = TFL_TRY(module_type(interp, "_hash", "HASH", kHash));
  auto* h = interp.allocate<Hash>(type);
  h->digest = std::move(digest);
  h->name = name;
  return Value::adopt(h);
}

/// new(name, data): None where there is no such digest.
Result<Value> make(Interp& interp, Value* a) {
  if (!a[0].is_str()) return fail(ErrorKind::TypeError, "the name of a digest is a string");
  auto digest = Digest::make(text_of(a[0]));
  if (!digest) return Value::none();
  Value h = TFL_TRY(made(interp, std::move(digest), a[0]));
  TFL_TRY(add(interp, of(h), a[1]));
  return h;
}

/// blake2(name, data, digest_size, key, salt, person, fanout, depth, leaf_size, node_offset, node_depth, inner_size, last_node)
Result<Value> make_blake(Interp& interp, Value* a) {
  Blake2Parameters p;
  p.wide = a[0].is_str() && text_of(a[0]) == "blake2b";
  const int64_t most = p.wide ? 64 : 32;
  const size_t part = p.wide ? 16 : 8;
  int64_t size = TFL_TRY(to_index(interp, a[2]));
  if (size < 1 || size > most) return fail(ErrorKind::ValueError, "digest_size must be between 1 and {} bytes", most);
  p.size = static_cast<size_t>(size);
  for (int i = 3; i < 6; ++i) a[i] = TFL_TRY(bytes_like(interp, a[i]));
  p.key = a[3].as<Bytes>()->data;
  p.salt = a[4].as<Bytes>()->data;
  p.person = a[5].as<Bytes>()->data;
  if (p.salt.size() > part) return fail(ErrorKind::ValueError, "maximum salt length is {} bytes", part);
  if (p.person.size() > part) return fail(ErrorKind::ValueError, "maximum person length is {} bytes", part);
  if (p.key.size() > static_cast<size_t>(most)) return fail(ErrorKind::ValueError, "maximum key length is {} bytes", most);
  auto number = [&](int i, int64_t low, int64_t high, const char* text) -> Result<int64_t> {
    int64_t n = TFL_TRY(to_index(interp, a[i]));
    if (n < low || n > high)
      return fail(n < 0 || i == 8 || i == 9 ? ErrorKind::OverflowError : ErrorKind::ValueError, "{}", text);
    return n;
  };
  p.fanout = static_cast<uint8_t>(TFL_TRY(number(6, 0, 255, "fanout must be between 0 and 255")));
  p.depth = static_cast<uint8_t>(TFL_TRY(number(7, 1, 255, "depth must be between 1 and 255")));
  p.leaf_size = static_cast<uint32_t>(TFL_TRY(number(8, 0, UINT32_MAX, "leaf_size is too large")));
  p.node_offset =
      static_cast<uint64_t>(TFL_TRY(number(9, 0, p.wide ? INT64_MAX : (int64_t{1} << 48) - 1, "node_offset is too large")));
  p.node_depth = static_cast<uint8_t>(TFL_TRY(number(10, 0, 255, "node_depth must be between 0 and 255")));
  p.inner_size = static_cast<uint8_t>(
      TFL_TRY(number(11, 0, most, p.wide ? "inner_size must be between 0 and is 64" : "inner_size must be between 0 and is 32")));
  p.last_node = TFL_TRY(truth(interp, a[12]));
  Value h = TFL_TRY(made(interp, make_blake2(p), a[0]));
  TFL_TRY(add(interp, of(h), a[1]));
  return h;
}

Result<Value> update(Interp& interp, Value* a) {
  TFL_TRY(add(interp, of(a[0]), a[1]));
  return Value::none();
}

Result<std::string> finished(Interp& interp, Value* a, const char* method) {
  const Digest& digest = *of(a[0]).digest;
  if (digest.size > 0) {
    if (!a[1].is_empty()) return fail(ErrorKind::TypeError, "HASH.{}() takes no arguments (1 given)", method);
    return digest.finish(0);
  }
  if (a[1].is_empty()) return fail(ErrorKind::TypeError, "{}() missing required argument 'length' (pos 1)", method);
  int64_t length = TFL_TRY(to_index(interp, a[1]));
  if (length < 0) return fail(ErrorKind::ValueError, "value must be positive");
  TFL_TRY(guard_memory(interp, static_cast<size_t>(length)));
  return digest.finish(static_cast<size_t>(length));
}

Result<Value> digest(Interp& interp, Value* a) {
  std::string bytes = TFL_TRY(finished(interp, a, "digest"));
  return interp.bytes(std::move(bytes));
}

Result<Value> hexdigest(Interp& interp, Value* a) {
  std::string bytes = TFL_TRY(finished(interp, a, "hexdigest"));
  std::string text;
  for (char c : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
  }
  return interp.ascii(std::move(text));
}

Result<Value> copy(Interp& interp, Value* a) { return made(interp, of(a[0]).digest->copy(), of(a[0]).name); }
Result<Value> name(Interp&, Value* a) { return of(a[0]).name; }
Result<Value> digest_size(Interp&, Value* a) { return Value::integer(static_cast<int64_t>(of(a[0]).digest->size)); }
Result<Value> block_size(Interp&, Value* a) { return Value::integer(static_cast<int64_t>(of(a[0]).digest->block)); }

Result<Value> repr_slot(Interp& interp, const Value& self) {
  return interp.strf("<{} _hashlib.HASH object @ {:#x}>", text_of(of(self).name), reinterpret_cast<uintptr_t>(self.counted()));
}

const Slots kHash = {.kind = Kind::Native, .destroy = destroy_object<Hash>, .repr = repr_slot};

constexpr NativeDef kMethods[] = {
    method("update", "self, obj, /", update),
    method("digest", "self, length=...", digest),
    method("hexdigest", "self, length=...", hexdigest),
    method("copy", "self, /", copy),
    getter("name", name),
    getter("digest_size", digest_size),
    getter("block_size", block_size),
};
constexpr NativeDef kFunctions[] = {
    function("new", "name, data, /", make),
    function("blake2",
             "name, data, digest_size, key, salt, person, fanout, depth, leaf_size, node_offset, node_depth, "
             "inner_size, last_node, /",
             make_blake),
};

}  // namespace

}  // namespace tfl::hashing

namespace tfl {

Result<void> init_hash(Interp& interp, Module& module) {
  define_all(interp, module, hashing::kFunctions);
  define_native_type(interp, module, "HASH", hashing::kHash, hashing::kMethods, "_hashlib");
  return {};
}

}  // namespace tfl
