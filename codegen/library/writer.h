// Descriptions for a library's runtime: runtime/standalone/reader.h says what they are made of.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "codegen/library/data_object.h"

namespace tfl::codegen {

class Writer {
 public:
  void integer(int64_t v) { bytes.append(reinterpret_cast<const char*>(&v), 8); }
  template <class T>
  void count(const T& container) {
    integer(static_cast<int64_t>(container.size()));
  }
  void string(std::string_view s) {
    integer(static_cast<int64_t>(s.size()));
    bytes.append(s);
    bytes.append(8 - s.size() % 8, '\0');
  }
  void elements(const Tensor& t) {
    constexpr size_t kLarge = 1 << 14;  // bytes that are not copied, and written once
    integer(static_cast<int64_t>(t.bytes()));
    if (t.bytes() >= kLarge) {
      auto [known, first] = places_.try_emplace({t.raw(), t.bytes()}, (size() + 8 + 63) / 64 * 64);
      integer(first ? 0 : static_cast<int64_t>(known->second));
      if (!first) return;
    } else {
      integer(0);
    }
    while (size() % 64) bytes.push_back('\0');
    if (t.bytes() >= kLarge) {
      placed_ += bytes.size() + t.bytes();
      pieces.push_back({std::move(bytes), t});
      bytes.clear();
    } else {
      bytes.append(reinterpret_cast<const char*>(t.raw()), t.bytes());
    }
    while (size() % 8) bytes.push_back('\0');
  }
  template <class D>
  void type(std::string_view name, DType dtype, const D& dims) {
    string(name);
    integer(static_cast<int64_t>(dtype));
    count(dims);
    for (int64_t d : dims) integer(d);
  }

  size_t size() const { return placed_ + bytes.size(); }

  std::vector<DataObject::Piece> pieces;
  std::string bytes;  // behind them

 private:
  size_t placed_ = 0;                                             // bytes of the pieces
  std::map<std::pair<const std::byte*, size_t>, size_t> places_;  // of large elements
};

}  // namespace tfl::codegen
