// Splitting a line at its last bracket, or at one further to the left where that looks better.
// This header must not know about delimiters or what becomes of the parts.
#pragma once

#include <optional>
#include <unordered_set>

#include "frontend/syntax/format/leaf.h"

namespace tfl::format {

enum class Part : uint8_t { Head, Body, Tail };

/// A line of some of the leaves of `original`, with the comments that belong to them.
Line part_line(std::vector<Leaf*> leaves, const Line& original, const Leaf* open, Part part, LeafPool& pool);
bool split_succeeded(const Line& body, const Line& tail);
void show(Leaf* bracket);
std::unordered_set<const Leaf*> inside_brackets(const std::vector<Leaf*>& leaves);
/// Only a comment behind a subscript's bracket makes it too long.
bool long_by_comment(const Line& line);

std::optional<std::vector<Line>> right_hand_split_with_omits(const Line& line, LeafPool& pool, bool force_parentheses);

}  // namespace tfl::format
