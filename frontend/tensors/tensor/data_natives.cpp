// The module `_data`: what tf.data needs done fast, with map_ahead.cpp. Everything else about datasets is TFL source in stdlib/tensorflow/data.
#include <utility>

#include "frontend/core/concrete.h"
#include "frontend/core/native_module.h"
#include "frontend/core/registry.h"
#include "frontend/core/tensor_api.h"
#include "frontend/tensors/tensor/map_ahead.h"
#include "runtime/formats/records.h"
#include "runtime/kernels/random/philox.h"

namespace tfl {

namespace {

/// The words of TensorFlow's datasets: the seed is key and counter as it stands.
class Words {
 public:
  Words(uint64_t seed, uint64_t seed2)
      : philox_({0, 0, static_cast<uint32_t>(seed2), static_cast<uint32_t>(seed2 >> 32)},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}) {}

  void skip(uint64_t words) {
    philox_.skip(words / 4);
    used_ = 4;
    for (uint64_t i = 0; i < words % 4; ++i) next();
  }
  uint32_t next() {
    if (used_ == 4) {
      group_ = philox_.next();
      used_ = 0;
    }
    return group_[used_++];
  }

 private:
  Philox philox_;
  Philox::Words group_{};
  unsigned used_ = 4;
};

Result<Words> words_of(Interp& interp, const Value& seed, const Value& seed2) {
  auto first = static_cast<uint64_t>(TFL_TRY(to_index(interp, seed)));
  auto second = static_cast<uint64_t>(TFL_TRY(to_index(interp, seed2)));
  return Words(first, second);
}

constexpr int64_t kMostWords = 1 << 16;

/// words(seed, seed2, start, count): a list of 32-bit words from the place `start` of the stream.
Result<Value> words(Interp& interp, Value* args) {
  Words stream = TFL_TRY(words_of(interp, args[0], args[1]));
  int64_t start = TFL_TRY(to_index(interp, args[2])), count = TFL_TRY(to_index(interp, args[3]));
  if (start < 0 || count < 0 || count > kMostWords) return fail(ErrorKind::ValueError, "words: no such part of a stream");
  stream.skip(static_cast<uint64_t>(start));
  std::vector<Value> found;
  found.reserve(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) found.push_back(Value::integer(stream.next()));
  return interp.list(std::move(found));
}

/// shuffled(rows, buffer_size, seed, seed2): the order in which a buffer of that size gives out 0 ... rows-1. The buffer is filled
/// first; each element taken leaves its place to the oldest one in the buffer, whose place the next row takes.
Result<Value> shuffled(Interp& interp, Value* args) {
  int64_t rows = TFL_TRY(to_index(interp, args[0])), size = TFL_TRY(to_index(interp, args[1]));
  Words stream = TFL_TRY(words_of(interp, args[2], args[3]));
  if (rows < 0 || size < 1) return fail(ErrorKind::ValueError, "shuffled: there must be rows and a buffer");
  size = std::min(size, std::max<int64_t>(rows, 1));
  Tensor order = TFL_TRY(Tensor::empty(interp.context, DType::I64, Dims{rows}));
  Tensor buffer = TFL_TRY(Tensor::empty(interp.context, DType::I64, Dims{size}));
  auto* out = order.data<int64_t>();
  auto* held = buffer.data<int64_t>();
  int64_t end = 0;
  for (; end < size && end < rows; ++end) held[end] = end;
  int64_t place = 0;  // start % size
  for (int64_t start = 0; start < rows; ++start) {
    int64_t index = place + static_cast<int64_t>(stream.next() % static_cast<uint64_t>(end - start));
    if (index >= size) index -= size;
    out[start] = std::exchange(held[index], held[place]);
    if (end < rows) held[place] = end++;
    if (++place == size) place = 0;
  }
  return Value::of(std::move(order));
}

/// What the functions of a pipeline have drawn in one pass (random_streams.h).
struct Draws : Object {
  DrawsOfPass of;
};

const Slots kDrawsSlots = {.kind = Kind::Native, .destroy = destroy_object<Draws>};

/// draws(): of a pass that begins; None while no graph draws numbers.
Result<Value> draws(Interp& interp, Value*) {
  if (interp.tensors->random.draws_in_graphs == 0) return Value::none();
  Value module = interp.find_module("_data");
  Value type = dict_get_str(module.as<Module>()->dict.as<Dict>(), interp.intern("_Draws"));
  return Value::adopt(interp.allocate<Draws>(type.as<Type>()));
}

/// in_pass(draws, function): what the function gives, called as a part of the pass.
Result<Value> in_pass(Interp& interp, Value* args) {
  if (!args[0].is(Kind::Native) || args[0].object()->type->slots != &kDrawsSlots)
    return fail(ErrorKind::TypeError, "in_pass: draws are needed");
  DrawsOfPass*& pass = interp.tensors->random.pass;
  struct Before {
    DrawsOfPass*& now;
    DrawsOfPass* before;
    ~Before() { now = before; }
  } before{pass, std::exchange(pass, &args[0].as<Draws>()->of)};
  return interp.call(args[1], {});
}

/// global_seed(): what tf.random.set_seed was given, or None.
Result<Value> global_seed(Interp& interp, Value*) {
  std::optional<int64_t> seed = interp.tensors->random.seed();
  return seed ? Value::integer(*seed) : Value::none();
}

Result<const std::string*> bytes_argument(const Value& v) {
  if (v.is(Kind::Bytes)) return &v.as<Bytes>()->data;
  return fail(ErrorKind::TypeError, "bytes are needed");
}

/// framed(bytes): one record as it stands in a file.
Result<Value> framed(Interp& interp, Value* args) { return interp.bytes(framed_record(*TFL_TRY(bytes_argument(args[0])))); }

/// record(bytes, at) -> (record, where the next begins), None at the end; "truncated" or "corrupted" in place of a record that is.
Result<Value> record(Interp& interp, Value* args) {
  const std::string* file = TFL_TRY(bytes_argument(args[0]));
  int64_t begin = TFL_TRY(to_index(interp, args[1]));
  if (begin < 0) return fail(ErrorKind::ValueError, "record: {} is no place in a file", begin);
  auto at = static_cast<size_t>(begin);
  std::string_view found;
  switch (next_record(*file, at, found)) {
    case RecordEnd::End: return Value::none();
    case RecordEnd::Truncated: return interp.tuple({interp.str("truncated"), args[1]});
    case RecordEnd::Corrupted: return interp.tuple({interp.str("corrupted"), Value::integer(static_cast<int64_t>(at))});
    case RecordEnd::Record: break;
  }
  return interp.tuple({interp.bytes(std::string(found)), Value::integer(static_cast<int64_t>(at))});
}

constexpr NativeDef kDataNatives[] = {
    function("framed", "data, /", framed),
    function("record", "data, at, /", record),
    function("draws", "", draws),
    function("in_pass", "draws, function, /", in_pass),
    function("global_seed", "", global_seed),
    function("words", "seed, seed2, start, count, /", words),
    function("shuffled", "rows, buffer_size, seed, seed2, /", shuffled),
};

}  // namespace

Result<void> init_data(Interp& interp, Module& module) {
  define_native_type(interp, module, "_Draws", kDrawsSlots);
  define_all(interp, module, kDataNatives);
  init_map_ahead(interp, module);
  return {};
}

}  // namespace tfl
