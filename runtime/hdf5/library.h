// What reading and writing share: identifiers that close themselves, types in memory, HDF5's last error as text.
#pragma once

// Debian 12 has version 1.10 and Debian 13 version 1.14, which speaks it, too.
#define H5_USE_110_API
#include <hdf5.h>

#include <string>
#include <utility>

#include "runtime/hdf5/table.h"

namespace tfl::hdf5 {

/// An identifier of HDF5's, and the function that closes its kind.
class Id {
 public:
  using Close = herr_t (*)(hid_t);
  Id() = default;
  Id(hid_t id, Close close) : id_(id), close_(close) {}
  Id(Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Id& operator=(Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Id() {
    if (id_ >= 0) close_(id_);
  }
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// The type that elements have in memory; none for texts.
Id memory_type(DType dtype);
/// Bytes of one element in memory; 0 for dtypes that no file holds.
size_t element_bytes(DType dtype);
/// What HDF5 said last, for people: "truncated file". To be asked before anything is closed.
std::string last_error();
/// No messages on the standard error, no plug-ins, nothing at exit.
void prepare();

/// Reads a file in a process of its own.
void read(const ReadRequest& request, Node& root, std::string& error);
/// Reads a file in this process.
void read_here(const ReadRequest& request, Node& root, std::string& error);
void write(const Node& root, std::string& file, std::string& error);

}  // namespace tfl::hdf5
