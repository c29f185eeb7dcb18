// Tables of sorted keys as LevelDB and the indices of TensorFlow's checkpoints have them: blocks of entries whose keys share their
// beginnings, a block that tells where these are, a footer. Bytes may be hostile: every length is checked before it is believed, every
// block against its checksum, and what is taken out cannot be much larger than the file.
// This header must not know what keys and values mean, nor files by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/support/result.h"

namespace tfl {

using TableEntries = std::vector<std::pair<std::string, std::string>>;

/// The entries of a whole file in their order. DataLossError tells what is wrong with it.
Result<TableEntries> read_sorted_table(std::string_view file);
/// The bytes of a file with these entries, which are sorted by their keys; no key twice.
std::string write_sorted_table(const TableEntries& entries);

/// What Snappy has compressed into `data`, or DataLossError.
Result<std::string> snappy_inflated(std::string_view data);

}  // namespace tfl
