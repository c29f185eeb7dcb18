// Bytes as an ELF object with one symbol. It is written piece by piece: weights of hundreds of megabytes go from the tensors into the file and
// through no compiler. This header must not know what the bytes mean.
#pragma once

#include <string>
#include <vector>

#include "codegen/llvm/compile.h"
#include "runtime/tensor/tensor.h"

namespace tfl::codegen {

struct DataObject {
  /// Bytes and, behind them, a row-major tensor's elements.
  struct Piece {
    std::string bytes;
    Tensor elements;
  };
  std::string symbol;  // hidden, at a multiple of 64
  std::vector<Piece> pieces;
  std::string rest;  // behind the pieces

  size_t size() const;
};

/// The object's bytes; written to a file without holding them all.
std::string object_bytes(const DataObject& data, Cpu cpu);
Result<void> write_object(const DataObject& data, Cpu cpu, const std::string& path);

}  // namespace tfl::codegen
