#include "codegen/load/object_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <ctime>

#include "runtime/files/bundle.h"
#include "runtime/files/cache_files.h"
#include "runtime/support/digest.h"

namespace tfl::codegen {

namespace {

constexpr size_t kMostObject = size_t{64} << 20;
constexpr size_t kMostFiles = 20'000;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr time_t kFresh = 24 * 3600;  // seconds: a file that is used more than that after it was written is marked as used

// Changes with the layout of the file, of Frame, and with whatever else plans and keys do not tell.
constexpr uint64_t kFormat = 1;
constexpr std::string_view kMagic = "TFLnativ";

struct Header {
  char magic[8];
  uint64_t format;
  ObjectKey key;
  uint64_t length;
  std::array<uint8_t, 16> checksum;  // of the object
};
static_assert(sizeof(Header) == 64);

std::array<uint8_t, 16> checksum_of(std::string_view object) {
  const std::string digest = digest_of("sha512", object);
  std::array<uint8_t, 16> first;
  std::memcpy(first.data(), digest.data(), first.size());
  return first;
}

std::string file_name(const ObjectKey& key) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string name;
  for (uint8_t byte : key) {
    name += kDigits[byte >> 4];
    name += kDigits[byte & 15];
  }
  return name;
}

}  // namespace

ObjectKey object_key(std::string_view plan_text, std::string_view cpu) {
  std::string all(plan_text);
  for (uint64_t part :
       {program_identity(), program_identity("libtfl_llvm.so"), program_identity("../lib/tfl/libtfl_llvm.so"), kFormat})
    all.append(reinterpret_cast<const char*>(&part), sizeof part);
  all += cpu;
  const std::string digest = digest_of("sha512", all);
  ObjectKey key;
  std::memcpy(key.data(), digest.data(), key.size());
  return key;
}

bool ObjectCache::load(const ObjectKey& key, std::string& object) const {
  std::string name = file_name(key), path = folder_ + "/" + name, data;
  if (auto bundled = is_bundle() ? bundled_file("object/" + name) : std::nullopt) {
    data = *bundled;
    path.clear();
  } else if (folder_.empty() || !read_cache_file(path, kMostObject + sizeof(Header), data)) {
    return false;
  }
  if (data.size() < sizeof(Header)) return false;
  Header h;
  std::memcpy(&h, data.data(), sizeof h);
  std::string_view body = std::string_view(data).substr(sizeof h);
  if (std::string_view(h.magic, sizeof h.magic) != kMagic || h.format != kFormat || h.key != key || h.length != body.size() ||
      h.checksum != checksum_of(body))
    return false;
  object.assign(body);
  struct stat s{};
  if (!path.empty() && ::stat(path.c_str(), &s) == 0 && std::time(nullptr) - s.st_mtim.tv_sec > kFresh)
    ::utimensat(AT_FDCWD, path.c_str(), nullptr, 0);
  return true;
}

void ObjectCache::store(const ObjectKey& key, std::string_view object) const {
  if (folder_.empty() || object.size() > kMostObject) return;
  Header h{};
  std::memcpy(h.magic, kMagic.data(), sizeof h.magic);
  h.format = kFormat;
  h.key = key;
  h.length = object.size();
  h.checksum = checksum_of(object);
  std::string data(reinterpret_cast<const char*>(&h), sizeof h);
  data += object;
  // A look at all files costs as much as the files: now and then is often enough.
  if (write_cache_file(folder_, file_name(key), data) && key[0] % 16 == 0) trim_cache(folder_, kMostFiles, kMostBytes);
}

}  // namespace tfl::codegen
