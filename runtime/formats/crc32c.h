// CRC-32C (Castagnoli), and the form in which TensorFlow's files hold it. This header must not know any of these files.
#pragma once

#include <cstdint>
#include <string_view>

namespace tfl {

class Crc32c {
 public:
  void update(std::string_view data);
  /// Rotated, plus a constant: a checksum of bytes that hold checksums stays a good one.
  uint32_t masked() const;

 private:
  uint32_t state_ = 0xffffffffu;
};

uint32_t masked_crc32c(std::string_view data);

}  // namespace tfl
