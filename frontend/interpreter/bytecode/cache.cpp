#include "frontend/interpreter/bytecode/cache.h"

#include <fmt/core.h>

#include <optional>

#include "frontend/interpreter/bytecode/bytecode.h"
#include "frontend/interpreter/bytecode/format.h"
#include "runtime/files/bundle.h"
#include "runtime/files/cache_files.h"

namespace tfl {
namespace {

constexpr size_t kMaxFile = size_t{256} << 20;
constexpr size_t kMaxFiles = 2048;  // when there are more, the older half goes

}  // namespace

std::string bytecode_cache_folder() { return cache_folder("bytecode"); }

BytecodeCache::BytecodeCache(const Source& source, std::string_view variant) {
  if (source.text().empty()) return;
  if (!is_bundle()) {
    folder_ = bytecode_cache_folder();
    if (folder_.empty()) return;
  }
  uint64_t seed = format::checksum(variant, format::format_version()) ^ program_identity();
  uint64_t first = format::checksum(source.text(), seed);
  uint64_t second = format::checksum(source.text(), ~seed * 0xD6E8FEB86659FD93u + 1);
  name_ = fmt::format("{:016x}{:016x}", first, second);
}

Value BytecodeCache::load(Interp& interp, std::shared_ptr<const Source> source, bool converted) const {
  std::string data;
  std::optional<std::string_view> carried;
  if (is_bundle()) carried = bundled_file("bytecode/" + name_);
  if (!carried && (folder_.empty() || !read_cache_file(folder_ + "/" + name_, kMaxFile, data))) return {};
  auto code =
      deserialise_code(interp, carried.value_or(data), std::move(source), converted ? CodeFile::converted : CodeFile::module);
  return code ? code.take() : Value();
}

void BytecodeCache::store(Interp& interp, const Value& code) const {
  if (folder_.empty() || !write_cache_file(folder_, name_, serialise_code(interp, code))) return;
  trim_cache(folder_, kMaxFiles, SIZE_MAX);
}

}  // namespace tfl
