// Objects of machine code on disk, one file a key. Whatever cannot be read, is damaged, or is of another build is as if it were
// not there. Thread-safe: it holds nothing that changes. This header must not know what the key is made of.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace tfl::codegen {

/// What decides an object: the plan, the processor, the compiler.
using ObjectKey = std::array<uint8_t, 24>;
ObjectKey object_key(std::string_view plan_text, std::string_view cpu);

class ObjectCache {
 public:
  /// Without a folder nothing is ever found or kept.
  explicit ObjectCache(std::string folder) : folder_(std::move(folder)) {}

  /// Fills `object`; false when there is none.
  bool load(const ObjectKey& key, std::string& object) const;
  void store(const ObjectKey& key, std::string_view object) const;

 private:
  std::string folder_;
};

}  // namespace tfl::codegen
