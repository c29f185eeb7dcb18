// Which files a script may touch, and the one way to them. A path is walked from folder to folder with descriptors: each name
// is opened in the folder above it without following links, links are read and walked in turn, and `..` goes back to a folder
// that is held open. What the walk went through decides, so nothing that is renamed or swapped meanwhile leads elsewhere; what
// is done then is done to a name in the folder that the walk ended in. openat2 could say "beneath one folder", but not "into
// any allowed folder, over links": the walk serves all kernels.
// This header must not know about scripts or their values.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tfl {

enum class Access : uint8_t {
  Read,
  Write,
  Module,  // code that is imported: from the script's folder and what the user allowed
};

/// A file descriptor that is closed at the end.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor();
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }
  explicit operator bool() const { return fd_ >= 0; }

 private:
  int fd_ = -1;
};

/// A name in a folder that is held open: what system calls are made on, with `folder.get(), name.c_str()` and without
/// following links.
struct FilePlace {
  Descriptor folder;
  std::string name;      // "." for the folder itself
  std::string path;      // the way to it without links
  struct stat status{};  // of what is there
  bool exists = false;
  bool as_folder = false;       // written with a slash at its end
  bool no_such_root = false;    // the first name of an absolute path is not there, which is no secret
  bool refused = false;         // EACCES because of the rules here
  const char* never = nullptr;  // the folder that no rule allows, when that was why
};

class Sandbox {
 public:
  struct Rules {
    std::string script_folder;             // empty: the working directory
    std::vector<std::string> read, write;  // folders
    std::vector<std::string> files;        // named on the command line
    bool everything = false;
  };
  enum class Links : uint8_t { Follow, Keep };  // of the last name

  bool ready() const { return ready_; }
  /// Looks at the folders of the rules as they are now. To be called before a script could rename any of them.
  void set(const Rules& rules);
  /// From now on a script may use what is below `place`, a folder, or `place`, a file.
  void allow(const FilePlace& place);
  void forget(const FilePlace& place);
  void allow_modules(const std::string& folder);
  /// Is this the first time that one asks about the folder of `place`?
  bool first_in_folder(const FilePlace& place);

  /// Finds `path`: 0, or an errno. What is not there but could be made is found with `exists` false. EACCES with `refused` set
  /// says that the script may not, whatever there is.
  int find(const std::string& path, Access access, Links links, FilePlace& place) const;
  /// May the name at `place` be given to something else, or be taken away? Not when the way to TFL's own cache leads over it.
  bool may_move(const FilePlace& place) const;
  /// May another folder take the name of this one? Not where the script or the program is, nor what the user allowed by name.
  bool may_replace(const FilePlace& place) const;
  /// A folder for temporary files, which lies outside of what a script may use: without asking the rules.
  int find_unchecked(const std::string& path, FilePlace& place) const;

 private:
  using Identity = std::tuple<uint64_t, uint64_t, int64_t, uint32_t>;  // device, inode, time of birth
  struct Folder;
  struct Walk;
  static Identity identity_of(int fd, const char* name, struct stat& status, int& error);
  void add_folder(const std::string& path, uint8_t rights);
  int walk(const std::string& path, Links links, bool start_at_root, Walk& w, FilePlace& place) const;
  int finish(Walk& w, Access access, int error, FilePlace& place) const;

  bool ready_ = false;
  uint8_t base_ = 0;  // rights of everything
  uint8_t here_ = 0;  // rights that the working directory has from the folders above it
  std::map<Identity, uint8_t> folders_;
  std::map<std::pair<Identity, std::string>, uint8_t> names_;
  std::set<Identity> seen_;
  std::vector<std::string> fixed_;  // the ways to the folders of the rules
  std::vector<std::string> cache_;  // the ways to TFL's own cache
};

}  // namespace tfl
