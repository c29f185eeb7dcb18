// libtfl_hdf5.so: what the program asks of it and gets. HDF5 files lie in memory, so the library opens none, and a file's whole content
// is one tree. This header must not know HDF5's own types, nor about scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/dtype.h"

namespace tfl::hdf5 {

/// What an attribute or a data set holds.
struct Content {
  enum class Kind : uint8_t { Array, Texts, Refused };
  Kind kind = Kind::Array;
  DType dtype = DType::F32;
  std::vector<int64_t> dims;
  void* elements = nullptr;        // of an array, row-major
  size_t number = 0;               // of an array that was read: how many had been asked for before it
  std::vector<std::string> texts;  // row-major
  bool scalar_text = false;        // one text that is no array
  std::string reason;              // why nothing of it was read: "SoftLink", "external Dataset"
};

struct Node {
  std::string name;
  bool group = true;
  std::vector<std::pair<std::string, Content>> attributes;
  std::vector<Node> children;  // of a group, by name
  Content content;             // of a data set
};

struct ReadRequest {
  std::string_view file;
  /// Room for the elements of an array; null ends the reading, and the one who asked knows why.
  std::function<void*(DType, const std::vector<int64_t>&)> memory;
  uint64_t most_text = 0;  // bytes
};

/// The functions of the library. `error` stays empty where all went well.
struct Table {
  void (*read)(const ReadRequest& request, Node& root, std::string& error);
  void (*write)(const Node& root, std::string& file, std::string& error);
};

/// The one function that the library exports, under this name: it gives its table.
inline constexpr const char* kEntry = "tfl_hdf5_table";
using Entry = const Table* (*)();

}  // namespace tfl::hdf5
