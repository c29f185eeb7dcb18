// Hashes of strings whose values are part of TensorFlow's results: FarmHash's fingerprint, SipHash with a key, and TensorFlow's own.
// This header must not know tensors.
#pragma once

#include <cstdint>
#include <string_view>

namespace tfl {

uint64_t farm_fingerprint(std::string_view s);
uint64_t sip_hash(std::string_view s, uint64_t key0, uint64_t key1);
uint64_t murmur_hash(std::string_view s);

}  // namespace tfl
