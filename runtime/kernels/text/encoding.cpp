// Strings as hashes, base64 and raw numbers.
#include <algorithm>
#include <array>
#include <cstring>

#include "runtime/kernels/parallel.h"
#include "runtime/shapes/rules.h"
#include "runtime/text/hash.h"

namespace tfl {

namespace {

using shape_rules::invalid;

constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int digit_value(char c) {
  size_t at = kDigits.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::string encoded(const std::string& s, bool pad) {
  std::string out;
  out.reserve((s.size() + 2) / 3 * 4);
  for (size_t i = 0; i < s.size(); i += 3) {
    uint32_t bits = 0;
    size_t n = std::min<size_t>(3, s.size() - i);
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(s[i + k]) : 0);
    for (size_t k = 0; k <= n; ++k) out += kDigits[bits >> (18 - 6 * k) & 63];
    if (pad) out.append(3 - n, '=');
  }
  return out;
}

bool decode(const std::string& text, std::string& out) {
  size_t n = text.size();
  if (n % 4 == 0 && n > 0 && text[n - 1] == '=') n -= text[n - 2] == '=' ? 2 : 1;
  if (n % 4 == 1) return false;
  uint32_t bits = 0;
  int held = 0;
  for (size_t i = 0; i < n; ++i) {
    int v = digit_value(text[i]);
    if (v < 0) return false;
    bits = (bits << 6 | static_cast<uint32_t>(v)) & 0xFFFFFF;
    held += 6;
    if (held >= 8) {
      held -= 8;
      out += static_cast<char>(bits >> held & 255);
    }
  }
  return true;
}

}  // namespace

Result<void> run_string_to_hash_bucket(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  uint64_t buckets = static_cast<uint64_t>(call.attrs.get_int(Attr::num_buckets));
  std::string_view mode = call.attrs.get_text(Attr::mode);
  const Dims* key = call.attrs.get_ints(Attr::k);
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    const std::string& s = x.data<std::string>()[i];
    uint64_t hash = mode == "strong" && key && key->size() == 2
                        ? sip_hash(s, static_cast<uint64_t>((*key)[0]), static_cast<uint64_t>((*key)[1]))
                    : mode == "plain" ? murmur_hash(s)
                                      : farm_fingerprint(s);
    out.data<int64_t>()[i] = static_cast<int64_t>(mode == "whole" ? hash : hash % buckets);
  }
  return call.give(std::move(out));
}

Result<void> run_encode_base64(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i)
    out.data<std::string>()[i] = encoded(x.data<std::string>()[i], call.attrs.get_bool(Attr::pad));
  return call.give(std::move(out));
}

Result<void> run_decode_base64(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  Tensor out = TFL_TRY(call.allocate());
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i) {
    if (!decode(x.data<std::string>()[i], out.data<std::string>()[i]))
      return invalid(call.op, "Invalid character found in base64.");
  }
  return call.give(std::move(out));
}

Result<void> run_decode_raw(RunCall& call) {
  Tensor x = TFL_TRY(contiguous(call.context, call.operands[0]));
  DType dtype = call.types[0].dtype;
  size_t size = dtype_size(dtype), length = static_cast<size_t>(std::max<int64_t>(call.attrs.get_int(Attr::fixed_length, 0), 0));
  bool fixed = length > 0;
  const std::string* strings = x.data<std::string>();
  if (!fixed) length = x.size() == 0 ? 0 : strings[0].size();
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i) && !fixed; ++i) {
    if (strings[i].size() != length)
      return invalid(call.op, "DecodeRaw requires input strings to all be the same size, but element {} has size {} != {}", i,
                     length, strings[i].size());
  }
  if (length % size != 0)
    return invalid(call.op, "Input to DecodeRaw has length {} that is not a multiple of {}, the size of {}", length, size,
                   dtype_tf_name(dtype));
  Dims dims(x.dims());
  dims.push_back(static_cast<int64_t>(length / size));
  Tensor out = TFL_TRY(Tensor::empty(call.context, dtype, dims));
  bool little = call.attrs.get_bool(Attr::little_endian, true);
  char* to = reinterpret_cast<char*>(out.raw());
  for (int64_t i = 0; i < x.size() && !stopped(call.context, i); ++i, to += length) {
    size_t n = std::min(length, strings[i].size());
    std::memcpy(to, strings[i].data(), n);
    std::memset(to + n, 0, length - n);
    for (size_t k = 0; !little && size > 1 && k < length; k += size) std::reverse(to + k, to + k + size);
  }
  if (dtype == DType::Bool) {
    for (int64_t i = 0; i < out.size() && !stopped(call.context, i); ++i)
      reinterpret_cast<uint8_t*>(out.raw())[i] = out.data<uint8_t>()[i] != 0;
  }
  return call.give(std::move(out));
}

}  // namespace tfl
