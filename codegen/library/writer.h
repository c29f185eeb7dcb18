// Descriptions for a library's runtime: runtime/standalone/reader.h says what they are made of.
#pragma once

#include <string>

#include "runtime/tensor/tensor.h"

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
    integer(static_cast<int64_t>(t.bytes()));
    while (bytes.size() % 64) bytes.push_back('\0');
    bytes.append(reinterpret_cast<const char*>(t.raw()), t.bytes());
    while (bytes.size() % 8) bytes.push_back('\0');
  }
  template <class D>
  void type(std::string_view name, DType dtype, const D& dims) {
    string(name);
    integer(static_cast<int64_t>(dtype));
    count(dims);
    for (int64_t d : dims) integer(d);
  }

  std::string bytes;
};

}  // namespace tfl::codegen
