// The binary form of code: a header (magic, format, length, checksum), a table of strings (their number, where each begins as
// 4 bytes, the strings), then the module's code object with the others nested in its constants: of each a head, length and checksum of
// the rest, and the rest. Numbers are varints, instructions are copied as they are.
// Must not know where the bytes are kept.
#pragma once

#include <cstdint>
#include <string_view>

#include "frontend/core/code.h"

namespace tfl::format {

inline constexpr std::string_view kMagic = "TFLcode\n";
inline constexpr size_t kHeaderSize = 32;  // magic, format, length and checksum, 8 bytes each
inline constexpr int kMaxDepth = 1200;     // of tuples and code in constants

enum class ConstantTag : uint8_t { None, True, False, Ellipsis, Int, Float, Str, Bytes, Tuple, Code, Complex, BigInt };

/// A fast 64-bit hash of bytes: against accidents, not against attackers.
uint64_t checksum(std::string_view data, uint64_t seed = 0);

/// Changes with every change of the instruction set or of this layout.
uint64_t format_version();

}  // namespace tfl::format
