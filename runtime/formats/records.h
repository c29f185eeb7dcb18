// Files of records as TensorFlow writes them (TFRecord): a length, its checksum, the bytes, their checksum. Bytes may be
// hostile: a length is believed when its checksum is right and the file holds that much. This header must not know files by
// name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tfl {

/// The bytes of one record in a file.
std::string framed_record(std::string_view data);

enum class RecordEnd : uint8_t { Record, End, Truncated, Corrupted };
/// The record at `at`, which moves behind it; where the bytes of a record are damaged, to their beginning.
RecordEnd next_record(std::string_view file, size_t& at, std::string_view& record);

}  // namespace tfl
