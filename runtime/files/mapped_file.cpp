#include "runtime/files/mapped_file.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "runtime/files/file.h"

namespace tfl {

namespace {
constexpr size_t kMappedFrom = size_t{1} << 20;
}

int MappedFile::open(int fd, std::shared_ptr<const MappedFile>& file) {
  struct stat s{};
  if (::fstat(fd, &s) != 0) return errno;
  if (S_ISDIR(s.st_mode)) return EISDIR;
  if (!S_ISREG(s.st_mode)) return EINVAL;
  std::shared_ptr<MappedFile> made(new MappedFile);
  auto size = static_cast<size_t>(s.st_size);
  if (size < kMappedFrom) {
    if (int error = read_whole_file(fd, kMappedFrom, made->held_)) return error;
    made->bytes_ = made->held_;
  } else {
    void* memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) return errno;
    made->memory_ = memory;
    made->bytes_ = std::string_view(static_cast<const char*>(memory), size);
  }
  file = std::move(made);
  return 0;
}

std::shared_ptr<const MappedFile> MappedFile::of(std::string bytes) {
  std::shared_ptr<MappedFile> made(new MappedFile);
  made->held_ = std::move(bytes);
  made->bytes_ = made->held_;
  return made;
}

MappedFile::~MappedFile() {
  if (memory_) ::munmap(memory_, bytes_.size());
}

void MappedFile::leave(std::string_view part) const {
  if (!memory_) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  uintptr_t begin = (reinterpret_cast<uintptr_t>(part.data()) + page - 1) / page * page;
  uintptr_t end = (reinterpret_cast<uintptr_t>(part.data()) + part.size()) / page * page;
  if (begin < end) ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);  // NOLINT: a whole number of pages
}

}  // namespace tfl
