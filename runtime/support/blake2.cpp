// BLAKE2b and BLAKE2s after RFC 7693. nettle has neither.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "runtime/support/digest.h"

namespace tfl {

namespace {

constexpr std::array<std::array<uint8_t, 16>, 10> kOrder = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                                             {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                                             {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                                             {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                                             {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                                             {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                                             {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                                             {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                                             {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                                             {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}}};

struct Wide {
  using Word = uint64_t;
  static constexpr int kRounds = 12;
  static constexpr int kTurns[4] = {32, 24, 16, 63};
  static constexpr std::array<Word, 8> kFirst = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
                                                 0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
};
struct Narrow {
  using Word = uint32_t;
  static constexpr int kRounds = 10;
  static constexpr int kTurns[4] = {16, 12, 8, 7};
  static constexpr std::array<Word, 8> kFirst = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

template <class Kind>
class Blake2 : public Digest {
  using Word = typename Kind::Word;
  static constexpr size_t kBlock = 16 * sizeof(Word);

 public:
  explicit Blake2(const Blake2Parameters& p) : last_node_(p.last_node) {
    size = p.size;
    block = kBlock;
    std::array<uint8_t, 8 * sizeof(Word)> parameters{};
    parameters[0] = static_cast<uint8_t>(p.size);
    parameters[1] = static_cast<uint8_t>(p.key.size());
    parameters[2] = p.fanout;
    parameters[3] = p.depth;
    std::memcpy(&parameters[4], &p.leaf_size, 4);
    constexpr bool wide = sizeof(Word) == 8;
    std::memcpy(&parameters[8], &p.node_offset, wide ? 8 : 6);
    parameters[wide ? 16 : 14] = p.node_depth;
    parameters[wide ? 17 : 15] = p.inner_size;
    size_t part = 2 * sizeof(Word);  // of the salt and of the personalisation
    std::memcpy(&parameters[4 * sizeof(Word)], p.salt.data(), std::min(p.salt.size(), part));
    std::memcpy(&parameters[4 * sizeof(Word) + part], p.person.data(), std::min(p.person.size(), part));
    for (size_t i = 0; i < 8; ++i) {
      Word word;
      std::memcpy(&word, &parameters[i * sizeof(Word)], sizeof word);
      state_[i] = Kind::kFirst[i] ^ word;
    }
    if (p.key.empty()) return;
    std::string first(p.key);
    first.resize(kBlock);
    update(first);
  }

  void update(std::string_view bytes) override {
    // The last block waits: it is known as such only at the end.
    while (!bytes.empty()) {
      if (used_ == kBlock) {
        count_ += kBlock;
        compress(state_, false);
        used_ = 0;
      }
      size_t n = std::min(bytes.size(), kBlock - used_);
      std::memcpy(buffer_ + used_, bytes.data(), n);
      used_ += n;
      bytes.remove_prefix(n);
    }
  }

  std::string finish(size_t) const override {
    Blake2 last = *this;
    std::memset(last.buffer_ + used_, 0, kBlock - used_);
    last.count_ += used_;
    last.compress(last.state_, true);
    return std::string(reinterpret_cast<const char*>(last.state_.data()), size);
  }

  std::unique_ptr<Digest> copy() const override { return std::make_unique<Blake2>(*this); }

 private:
  void compress(std::array<Word, 8>& state, bool last) {
    std::array<Word, 16> m, v;
    std::memcpy(m.data(), buffer_, kBlock);
    for (size_t i = 0; i < 8; ++i) {
      v[i] = state[i];
      v[i + 8] = Kind::kFirst[i];
    }
    v[12] ^= static_cast<Word>(count_);
    v[13] ^= static_cast<Word>(sizeof(Word) == 8 ? 0 : count_ >> 32);
    if (last) v[14] = ~v[14];
    if (last && last_node_) v[15] = ~v[15];
    auto mix = [&](size_t a, size_t b, size_t c, size_t d, Word x, Word y) {
      v[a] += v[b] + x;
      v[d] = std::rotr(static_cast<Word>(v[d] ^ v[a]), Kind::kTurns[0]);
      v[c] += v[d];
      v[b] = std::rotr(static_cast<Word>(v[b] ^ v[c]), Kind::kTurns[1]);
      v[a] += v[b] + y;
      v[d] = std::rotr(static_cast<Word>(v[d] ^ v[a]), Kind::kTurns[2]);
      v[c] += v[d];
      v[b] = std::rotr(static_cast<Word>(v[b] ^ v[c]), Kind::kTurns[3]);
    };
    for (int round = 0; round < Kind::kRounds; ++round) {
      const auto& o = kOrder[static_cast<size_t>(round % 10)];
      for (size_t i = 0; i < 4; ++i) mix(i, 4 + i, 8 + i, 12 + i, m[o[2 * i]], m[o[2 * i + 1]]);
      for (size_t i = 0; i < 4; ++i) mix(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[o[8 + 2 * i]], m[o[9 + 2 * i]]);
    }
    for (size_t i = 0; i < 8; ++i) state[i] ^= v[i] ^ v[i + 8];
  }

  std::array<Word, 8> state_;
  uint8_t buffer_[kBlock] = {};
  size_t used_ = 0;
  uint64_t count_ = 0;
  bool last_node_;
};

}  // namespace

std::unique_ptr<Digest> make_blake2(const Blake2Parameters& p) {
  if (p.wide) return std::make_unique<Blake2<Wide>>(p);
  return std::make_unique<Blake2<Narrow>>(p);
}

}  // namespace tfl
