// Spans of instructions as bytes: most instructions have the place of the one before, the others are near it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/core/code.h"

namespace tfl {

void append_varint(std::string& out, uint64_t v);
/// Reads one and moves `at` behind it; false at the end of the data or for a number of more than 64 bits.
bool read_varint(std::string_view data, size_t& at, uint64_t& v);

std::string pack_spans(const std::vector<InstructionSpan>& spans);
/// `count` spans; those that the data does not reach to, or spoils, have line 0.
std::vector<InstructionSpan> unpack_spans(std::string_view data, size_t count);

}  // namespace tfl
