// The bytes of a file as memory: a large one is mapped, so that what nobody looks at is never read; a small one is read, which is
// cheaper. The memory is private: who writes to it writes to a copy.
// This header must not know about scripts, nor which files they may use.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace tfl {

class MappedFile {
 public:
  /// 0, or the errno that says why not; EISDIR and EINVAL for what is no regular file.
  static int open(int fd, std::shared_ptr<const MappedFile>& file);
  /// Bytes that somebody has in memory already.
  static std::shared_ptr<const MappedFile> of(std::string bytes);

  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return bytes_; }
  bool mapped() const { return memory_ != nullptr; }
  /// Pages that lie wholly in `part` need not stay in memory: they are read again when somebody looks at them.
  void leave(std::string_view part) const;

 private:
  MappedFile() = default;

  void* memory_ = nullptr;  // of a mapping
  std::string held_;
  std::string_view bytes_;
};

}  // namespace tfl
