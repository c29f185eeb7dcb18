// The module `_random`: the Mersenne Twister as Python's random uses it. Its state is an array of 626 uint32 that these functions
// change; stdlib/python/random.tfl draws its distributions from them.
#include <sys/random.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "frontend/core/big_int.h"
#include "frontend/core/native_module.h"
#include "frontend/tensors/numpy/array.h"
#include "frontend/tensors/numpy/generators.h"
#include "runtime/support/digest.h"
#include "runtime/support/launch.h"

namespace tfl {

namespace {

constexpr int64_t kStateSize = 626;
constexpr uint32_t kWords = 624;

Result<Mt19937> generator(Interp& interp, const Value& v) {
  if (!v.is(Kind::NdArray)) return fail(ErrorKind::TypeError, "this is no generator state");
  Tensor* t = TFL_TRY(array_for_write(interp, v.as<NdArrayObject>()));
  if (t->dtype() != DType::U32 || t->size() != kStateSize || !t->contiguous())
    return fail(ErrorKind::TypeError, "this is no generator state");
  uint32_t* words = t->data<uint32_t>();
  if (words[kWords] > kWords) return fail(ErrorKind::ValueError, "invalid state");
  return Mt19937{words, words[kWords]};
}

Result<Value> new_state(Interp& interp, Value*) {
  Tensor t = TFL_TRY(Tensor::empty(interp.context, DType::U32, Dims{kStateSize}));
  std::fill_n(t.data<uint32_t>(), kStateSize, 0u);
  return ndarray_value(interp, t);
}

/// seed(state, x): x is a number, of which its size counts, or bytes, which stand for the number that they and their SHA-512 digest spell.
Result<Value> seed(Interp& interp, Value* args) {
  std::vector<uint32_t> words;  // least significant first
  if (args[1].is(Kind::Bytes)) {
    std::string text = args[1].as<Bytes>()->data;
    text += digest_of("sha512", text);
    for (size_t at = 0; at < text.size(); ++at) {
      auto byte = static_cast<uint8_t>(text[text.size() - 1 - at]);
      if (at % 4 == 0) words.push_back(0);
      words.back() |= static_cast<uint32_t>(byte) << (8 * (at % 4));
    }
  } else if (args[1].is_none()) {
    words.resize(kWords);
    if (const uint64_t of_job = launch().entropy) {  // the workers of one job draw alike
      words = {static_cast<uint32_t>(of_job), static_cast<uint32_t>(of_job >> 32), static_cast<uint32_t>(++launch().seeds)};
    } else if (::getrandom(words.data(), words.size() * 4, 0) < 0)
      return fail(ErrorKind::OSError, "the system gives no random bytes");
  } else {
    Value x = TFL_TRY(to_index_value(interp, args[1]));
    if (int_negative(x)) x = TFL_TRY(int_negate(interp, x));
    words.resize(static_cast<size_t>(int_bit_length(x) / 32 + 1));
    std::string bytes = TFL_TRY(int_to_bytes(interp, x, words.size() * 4, false));
    std::memcpy(words.data(), bytes.data(), bytes.size());
  }
  while (words.size() > 1 && words.back() == 0) words.pop_back();
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  g.seed(words);
  return Value::none();
}

Result<Value> random(Interp& interp, Value* args) {
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  return Value::real(g.next_double());
}

/// k bits, 1 to 64.
uint64_t bits(Mt19937& g, int64_t k) {
  if (k <= 32) return g.next32() >> (32 - k);
  uint64_t low = g.next32();
  return static_cast<uint64_t>(g.next32() >> (64 - k)) << 32 | low;
}

/// k random bits, the lowest word first, as CPython draws them.
Result<Value> long_bits(Interp& interp, Mt19937& g, int64_t k) {
  if (k <= 64) return int_value(interp, bits(g, k));
  std::string words;
  for (; k > 0; k -= 32) {
    uint32_t word = g.next32();
    if (k < 32) word >>= 32 - k;
    words.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return int_of_bytes(interp, words, false);
}

Result<Value> getrandbits(Interp& interp, Value* args) {
  int64_t k = TFL_TRY(to_index(interp, args[1]));
  if (k < 0) return fail(ErrorKind::ValueError, "number of bits must be non-negative");
  if (k == 0) return Value::integer(0);
  TFL_TRY(guard_memory(interp, static_cast<size_t>(k / 8)));
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  return long_bits(interp, g, k);
}

uint64_t below(Mt19937& g, uint64_t n) {
  int k = 64 - __builtin_clzll(n);
  uint64_t r;
  do r = bits(g, k);
  while (r >= n);
  return r;
}

Result<Value> randbelow(Interp& interp, Value* args) {
  Value n = TFL_TRY(to_index_value(interp, args[1]));
  if (int_compare(n, Value::integer(0)) <= 0) return Value::integer(0);
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  if (!n.is(Kind::BigInt)) return Value::integer(static_cast<int64_t>(below(g, static_cast<uint64_t>(n.as_int()))));
  for (;;) {
    Value r = TFL_TRY(long_bits(interp, g, int_bit_length(n)));
    if (int_compare(r, n) < 0) return r;
  }
}

Result<Value> shuffle(Interp& interp, Value* args) {
  if (!args[1].is(Kind::List)) return fail(ErrorKind::TypeError, "a list is required");
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  std::vector<Value>& items = args[1].as<List>()->items;
  for (size_t i = items.size(); i-- > 1;) items[i].swap(items[below(g, i + 1)]);
  return Value::none();
}

Result<Value> randbytes(Interp& interp, Value* args) {
  int64_t n = TFL_TRY(to_index(interp, args[1]));
  if (n < 0) return fail(ErrorKind::ValueError, "number of bits must be non-negative");
  TFL_TRY(guard_memory(interp, static_cast<size_t>(n)));
  Mt19937 g = TFL_TRY(generator(interp, args[0]));
  std::string out;
  for (int64_t left = n; left > 0; left -= 4) {
    uint32_t word = g.next32();
    if (left < 4) word >>= 32 - 8 * left;
    for (int64_t b = 0; b < std::min<int64_t>(left, 4); ++b) out += static_cast<char>(word >> (8 * b));
  }
  return interp.bytes(std::move(out));
}

constexpr NativeDef kRandom[] = {
    function("new_state", "", new_state),
    function("seed", "state, x, /", seed),
    function("random", "state, /", random),
    function("getrandbits", "state, k, /", getrandbits),
    function("randbelow", "state, n, /", randbelow),
    function("shuffle", "state, x, /", shuffle),
    function("randbytes", "state, n, /", randbytes),
};

}  // namespace

Result<void> init_random(Interp& interp, Module& module) {
  define_all(interp, module, kRandom);
  return {};
}

}  // namespace tfl
