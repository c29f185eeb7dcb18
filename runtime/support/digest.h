// Digests of bytes: MD5, SHA-1, SHA-2, SHA-3 and SHAKE from the library nettle, BLAKE2.
// This header must not know the library behind it, nor host values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace tfl {

/// A digest in progress.
class Digest {
 public:
  virtual ~Digest() = default;
  virtual void update(std::string_view bytes) = 0;
  /// The digest of what has come so far; more may follow. `length` counts where the size is free (SHAKE).
  virtual std::string finish(size_t length) const = 0;
  virtual std::unique_ptr<Digest> copy() const = 0;

  size_t size = 0;   // bytes of the digest; 0: free
  size_t block = 0;  // bytes that are taken at a time

  /// By Python's name, "sha256", "shake_128"; null: there is none.
  static std::unique_ptr<Digest> make(std::string_view name);
};

/// The digest of one text, by Python's name of a kind that is there.
std::string digest_of(std::string_view name, std::string_view bytes);

/// The parameters of BLAKE2 (RFC 7693, and the tree mode of the BLAKE2 paper).
struct Blake2Parameters {
  bool wide = true;  // BLAKE2b; else BLAKE2s
  size_t size = 64;
  std::string_view key, salt, person;
  uint8_t fanout = 1, depth = 1, node_depth = 0, inner_size = 0;
  uint32_t leaf_size = 0;
  uint64_t node_offset = 0;
  bool last_node = false;
};
std::unique_ptr<Digest> make_blake2(const Blake2Parameters& parameters);

}  // namespace tfl
