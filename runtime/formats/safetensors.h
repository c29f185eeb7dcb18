// Files of named tensors in the safetensors format: a length, a JSON header, the elements. The header is data and never code; bytes may be
// hostile, so whatever a file says about itself is checked before it is believed.
// This header must not know files by name, nor host values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace tfl {

/// What the header says of one tensor; its elements are bytes [begin, end) after the header.
struct SafeTensorEntry {
  std::string name;
  DType dtype = DType::F32;
  Dims dims;
  size_t begin = 0, end = 0;
};

struct SafeTensorIndex {
  std::vector<SafeTensorEntry> entries;  // in the order of their elements
  std::vector<std::pair<std::string, std::string>> metadata;
  size_t data_begin = 0;  // of the elements in the file
};

/// Reads and checks the header of a whole file. DataLossError tells what is wrong with it.
Result<SafeTensorIndex> read_safetensors_index(std::string_view file);
/// The elements of one entry as a tensor.
Result<Tensor> read_safetensor(Context& context, std::string_view file, const SafeTensorIndex& index,
                               const SafeTensorEntry& entry);
/// The bytes of a file with these tensors; InvalidArgumentError for strings and for names that occur twice.
Result<std::string> write_safetensors(Context& context, const std::vector<std::pair<std::string, Tensor>>& tensors,
                                      const std::vector<std::pair<std::string, std::string>>& metadata);

}  // namespace tfl
