#include "runtime/files/bundle.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

#include "runtime/files/own_file.h"

namespace tfl {

namespace {

// "TFLBNDL1", the number of files, and for each: the length of its name, of its bytes, the name, the bytes; then the length of all that,
// and "TFLBNDLE". Integers have 64 bits.
constexpr std::string_view kHead = "TFLBNDL1", kTail = "TFLBNDLE";

struct Bundle {
  std::vector<std::pair<std::string_view, std::string_view>> files;
};

bool read_at(int fd, void* to, size_t bytes, uint64_t offset) {
  return ::pread(fd, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

// Where the bundle lies in the file: in its section, or at the end.
bool find(int fd, uint64_t size, uint64_t& begin, uint64_t& length) {
  char tail[16];
  if (size > sizeof tail && read_at(fd, tail, sizeof tail, size - sizeof tail) && std::string_view(tail + 8, 8) == kTail) {
    std::memcpy(&length, tail, 8);
    begin = size - sizeof tail - length;
    return length <= size - sizeof tail;
  }
  Elf64_Ehdr header;
  if (!read_at(fd, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shnum == 0 || header.e_shstrndx >= header.e_shnum)
    return false;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  if (!read_at(fd, sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) return false;
  const Elf64_Shdr& strings = sections[header.e_shstrndx];
  if (strings.sh_size > 1 << 16) return false;
  std::string names(strings.sh_size, '\0');
  if (!read_at(fd, names.data(), names.size(), strings.sh_offset)) return false;
  for (const Elf64_Shdr& s : sections) {
    if (s.sh_name >= names.size() || std::string_view(names.c_str() + s.sh_name) != kBundleSection) continue;
    begin = s.sh_offset;
    length = s.sh_size;
    return begin <= size && length <= size - begin;
  }
  return false;
}

Bundle load() {
  Bundle out;
  if (is_library()) return out;
  int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {  // no /proc: the path that the program was started by
    const auto* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    if (path) fd = ::open(path, O_RDONLY | O_CLOEXEC);
  }
  if (fd < 0) return out;
  struct stat s{};
  uint64_t begin = 0, length = 0;
  void* memory = MAP_FAILED;
  if (::fstat(fd, &s) == 0 && find(fd, static_cast<uint64_t>(s.st_size), begin, length))
    memory = ::mmap(nullptr, static_cast<size_t>(s.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (memory == MAP_FAILED) return out;
  std::string_view rest(static_cast<const char*>(memory) + begin, length);
  auto integer = [&](uint64_t& v) {
    if (rest.size() < 8) return false;
    std::memcpy(&v, rest.data(), 8);
    rest.remove_prefix(8);
    return true;
  };
  uint64_t count = 0;
  if (!rest.starts_with(kHead)) return out;
  rest.remove_prefix(kHead.size());
  if (!integer(count)) return out;
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t name = 0, bytes = 0;
    if (!integer(name) || !integer(bytes) || name > rest.size() || bytes > rest.size() - name) return {};
    out.files.emplace_back(rest.substr(0, name), rest.substr(name, bytes));
    rest.remove_prefix(name + bytes);
  }
  return out;
}

// Constant from the start of the program on, like its code.
const Bundle& bundle() {
  static const Bundle loaded = load();
  return loaded;
}

}  // namespace

bool is_bundle() { return !bundle().files.empty(); }

std::optional<std::string_view> bundled_file(std::string_view name) {
  for (const auto& [own, bytes] : bundle().files) {
    if (own == name) return bytes;
  }
  return std::nullopt;
}

std::string pack_bundle(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string out(kHead);
  auto integer = [&](uint64_t v) { out.append(reinterpret_cast<const char*>(&v), 8); };
  integer(files.size());
  for (const auto& [name, bytes] : files) {
    integer(name.size());
    integer(bytes.size());
    out += name;
    out += bytes;
  }
  integer(out.size());
  return out += kTail;
}

}  // namespace tfl
