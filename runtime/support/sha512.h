// SHA-512 (FIPS 180-4) of a piece of text. It knows nothing of what the digest is for.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tfl {

std::array<uint8_t, 64> sha512(std::string_view data);

}  // namespace tfl
