// The module `_binascii`: bytes as base64 and hexadecimal digits and back, and CRC-32, for stdlib/python/binascii.tfl. The class of its errors is
// put into it by that module.
#include <zlib.h>

#include <array>

#include "frontend/core/buffer.h"
#include "frontend/core/native_module.h"
#include "frontend/text/hex_digits.h"

namespace tfl::binascii {

namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoValue = 0xFF;

/// What each byte stands for in an alphabet; kNoValue: it is not part of it.
constexpr std::array<uint8_t, 256> values_of(std::string_view letters) {
  std::array<uint8_t, 256> values{};
  for (uint8_t& v : values) v = kNoValue;
  for (size_t i = 0; i < letters.size(); ++i) values[static_cast<unsigned char>(letters[i])] = static_cast<uint8_t>(i);
  return values;
}

constexpr std::array<uint8_t, 256> kValues = values_of(kLetters);

Failure wrong(Interp& interp, const std::string& text) { return module_error(interp, "_binascii", "Error", text); }

/// b2a_base64(data, newline)
Result<Value> to_base64(Interp& interp, Value* args) {
  Value held_data = TFL_TRY(bytes_like(interp, args[0]));
  const std::string& data = held_data.as<Bytes>()->data;
  bool newline = TFL_TRY(truth(interp, args[1]));
  size_t size = (data.size() + 2) / 3 * 4;
  TFL_TRY(guard_memory(interp, size + 1));
  std::string out(size + (newline ? 1 : 0), '=');
  char* to = out.data();
  const auto* from = reinterpret_cast<const unsigned char*>(data.data());
  size_t whole = data.size() / 3 * 3;
  for (size_t i = 0; i < whole; i += 3, to += 4) {
    uint32_t word = static_cast<uint32_t>(from[i]) << 16 | static_cast<uint32_t>(from[i + 1]) << 8 | from[i + 2];
    to[0] = kLetters[word >> 18];
    to[1] = kLetters[word >> 12 & 63];
    to[2] = kLetters[word >> 6 & 63];
    to[3] = kLetters[word & 63];
  }
  if (size_t rest = data.size() - whole) {
    uint32_t word = static_cast<uint32_t>(from[whole]) << 16 | (rest > 1 ? static_cast<uint32_t>(from[whole + 1]) << 8 : 0);
    to[0] = kLetters[word >> 18];
    to[1] = kLetters[word >> 12 & 63];
    if (rest > 1) to[2] = kLetters[word >> 6 & 63];
  }
  if (newline) out.back() = '\n';
  return interp.bytes(std::move(out));
}

/// a2b_base64(data, strict_mode)
Result<Value> from_base64(Interp& interp, Value* args) {
  Value held_data = TFL_TRY(bytes_like(interp, args[0]));
  const std::string& data = held_data.as<Bytes>()->data;
  bool strict = TFL_TRY(truth(interp, args[1]));
  TFL_TRY(guard_memory(interp, data.size()));
  std::string out(data.size() / 4 * 3 + 3, '\0');
  char* to = out.data();
  uint32_t bits = 0;
  int count = 0;
  size_t letters = 0, pads = 0;
  for (size_t i = 0; i < data.size(); ++i) {
    const auto* from = reinterpret_cast<const unsigned char*>(data.data()) + i;
    if (count == 0 && i + 4 <= data.size()) {  // four letters at once, as most of a text is
      uint32_t a = kValues[from[0]], b = kValues[from[1]], c = kValues[from[2]], d = kValues[from[3]];
      if ((a | b | c | d) < 64) {
        uint32_t word = a << 18 | b << 12 | c << 6 | d;
        *to++ = static_cast<char>(word >> 16);
        *to++ = static_cast<char>(word >> 8);
        *to++ = static_cast<char>(word);
        letters += 4;
        pads = 0;
        i += 3;
        continue;
      }
    }
    if (*from == '=') {
      ++pads;
      if (letters % 4 >= 2 && letters % 4 + pads >= 4) break;
      continue;
    }
    uint8_t value = kValues[*from];
    if (value == kNoValue) {
      if (strict) return wrong(interp, "Only base64 data is allowed");
      continue;
    }
    pads = 0;
    ++letters;
    bits = bits << 6 | value;
    count += 6;
    if (count >= 8) {
      count -= 8;
      *to++ = static_cast<char>(bits >> count);
    }
  }
  if (letters % 4 == 1) {
    return wrong(
        interp, fmt::format("Invalid base64-encoded string: number of data characters ({}) cannot be 1 more than a multiple of 4",
                            letters));
  }
  if (letters % 4 && letters % 4 + pads < 4) return wrong(interp, "Incorrect padding");
  out.resize(static_cast<size_t>(to - out.data()));
  return interp.bytes(std::move(out));
}

/// unhexlify(digits)
Result<Value> from_hex(Interp& interp, Value* args) {
  Value held_digits = TFL_TRY(bytes_like(interp, args[0]));
  const std::string& digits = held_digits.as<Bytes>()->data;
  if (digits.size() % 2) return wrong(interp, "Odd-length string");
  TFL_TRY(guard_memory(interp, digits.size() / 2));
  std::string out(digits.size() / 2, '\0');
  for (size_t i = 0; i < out.size(); ++i) {
    int byte = hex_pair(digits.data() + 2 * i);
    if (byte < 0) return wrong(interp, "Non-hexadecimal digit found");
    out[i] = static_cast<char>(byte);
  }
  return interp.bytes(std::move(out));
}

/// crc32(data, value)
Result<Value> check_sum(Interp& interp, Value* args) {
  Value held_data = TFL_TRY(bytes_like(interp, args[0]));
  const std::string& data = held_data.as<Bytes>()->data;
  auto sum = static_cast<uint32_t>(TFL_TRY(to_index(interp, args[1])));
  return Value::integer(static_cast<int64_t>(::crc32_z(sum, reinterpret_cast<const Bytef*>(data.data()), data.size())));
}

constexpr NativeDef kFunctions[] = {
    function("b2a_base64", "data, newline, /", to_base64),
    function("a2b_base64", "data, strict_mode, /", from_base64),
    function("unhexlify", "digits, /", from_hex),
    function("crc32", "data, value, /", check_sum),
};

}  // namespace

}  // namespace tfl::binascii

namespace tfl {

Result<void> init_binascii(Interp& interp, Module& module) {
  define_all(interp, module, binascii::kFunctions);
  return {};
}

}  // namespace tfl
