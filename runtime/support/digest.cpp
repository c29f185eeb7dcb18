// The one file that knows nettle: small, without a state of its own to set up, and fast where the processor has instructions for SHA.
#include "runtime/support/digest.h"

#include <nettle/md5.h>
#include <nettle/nettle-meta.h>
#include <nettle/sha3.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/support/check.h"

namespace tfl {

namespace {

class NettleDigest : public Digest {
 public:
  explicit NettleDigest(const nettle_hash& hash) : hash_(hash), state_((hash.context_size + 7) / 8) {
    size = hash.digest_size;
    block = hash.block_size;
    hash.init(state_.data());
  }
  void update(std::string_view bytes) override {
    hash_.update(state_.data(), bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  std::string finish(size_t) const override {
    std::vector<uint64_t> state = state_;  // asking for it begins anew
    std::string out(size, '\0');
    hash_.digest(state.data(), size, reinterpret_cast<uint8_t*>(out.data()));
    return out;
  }
  std::unique_ptr<Digest> copy() const override { return std::make_unique<NettleDigest>(*this); }

 private:
  const nettle_hash& hash_;
  std::vector<uint64_t> state_;
};

/// SHA-3 and SHAKE: a state of 200 bytes, of which `block` take in and give out bytes between two permutations.
class Sponge : public Digest {
 public:
  Sponge(size_t digest_size, size_t capacity, uint8_t suffix) : suffix_(suffix) {
    size = digest_size;
    block = 200 - capacity;
    std::memset(&state_, 0, sizeof state_);
  }
  void update(std::string_view bytes) override {
    for (size_t at = 0; at < bytes.size();) {
      size_t n = std::min(bytes.size() - at, block - used_);
      auto* lanes = reinterpret_cast<uint8_t*>(state_.a);
      for (size_t i = 0; i < n; ++i) lanes[used_ + i] ^= static_cast<uint8_t>(bytes[at + i]);
      at += n;
      used_ += n;
      if (used_ == block) {
        sha3_permute(&state_);
        used_ = 0;
      }
    }
  }
  std::string finish(size_t length) const override {
    sha3_state state = state_;
    auto* lanes = reinterpret_cast<uint8_t*>(state.a);
    lanes[used_] ^= suffix_;
    lanes[block - 1] ^= 0x80;
    std::string out;
    for (size_t left = size ? size : length; left > 0;) {
      sha3_permute(&state);
      size_t n = std::min(left, block);
      out.append(reinterpret_cast<const char*>(state.a), n);
      left -= n;
    }
    return out;
  }
  std::unique_ptr<Digest> copy() const override { return std::make_unique<Sponge>(*this); }

 private:
  sha3_state state_;
  size_t used_ = 0;
  uint8_t suffix_;
};

}  // namespace

std::unique_ptr<Digest> Digest::make(std::string_view name) {
  struct Row {
    std::string_view name;
    const nettle_hash& hash;
  };
  const Row rows[] = {{"md5", nettle_md5},       {"sha1", nettle_sha1},     {"sha224", nettle_sha224},
                      {"sha256", nettle_sha256}, {"sha384", nettle_sha384}, {"sha512", nettle_sha512}};
  for (const Row& row : rows) {
    if (row.name == name) return std::make_unique<NettleDigest>(row.hash);
  }
  struct Size {
    std::string_view name;
    size_t size, capacity;
  };
  constexpr Size kSizes[] = {{"sha3_224", 28, 56},  {"sha3_256", 32, 64}, {"sha3_384", 48, 96},
                             {"sha3_512", 64, 128}, {"shake_128", 0, 32}, {"shake_256", 0, 64}};
  for (const Size& s : kSizes) {
    if (s.name == name) return std::make_unique<Sponge>(s.size, s.capacity, s.size ? 0x06 : 0x1F);
  }
  if (name == "blake2b") return make_blake2({});
  if (name == "blake2s") return make_blake2({.wide = false, .size = 32});
  return nullptr;
}

std::string digest_of(std::string_view name, std::string_view bytes) {
  std::unique_ptr<Digest> digest = Digest::make(name);
  TFL_CHECK(digest, "a digest of that name is there");
  digest->update(bytes);
  return digest->finish(digest->size);
}

}  // namespace tfl
