// HDF5's own reader was not written for hostile files: a damaged one may end it or keep it busy. So a file is read in a process of its own,
// with limits of time and memory, which sends what it found through a pipe: each array when it has been read, then the tree. What comes
// through the pipe is not trusted either.
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "runtime/hdf5/library.h"

namespace tfl::hdf5 {

namespace {

constexpr int kMostDepth = 80;
constexpr uint64_t kSeconds = 5, kBytesPerSecond = uint64_t{10} << 20;  // of the processor's time
constexpr uint64_t kRoom = uint64_t{1} << 30, kRoomPerByte = 16;
constexpr int kPipeBytes = 1 << 20;

enum class Message : uint8_t { Array, Tree, Error };

/// The child's end of the pipe.
class Sender {
 public:
  explicit Sender(int to) : to_(to) {}

  void bytes(const void* from, size_t count) {
    const char* at = static_cast<const char*>(from);
    while (count > 0) {
      const ssize_t sent = ::write(to_, at, count);
      if (sent < 0 && errno == EINTR) continue;
      if (sent <= 0) _exit(1);  // nobody reads
      at += sent;
      count -= static_cast<size_t>(sent);
    }
  }
  template <class T>
  void number(T n) {
    bytes(&n, sizeof n);
  }
  void text(const std::string& t) {
    number<uint64_t>(t.size());
    bytes(t.data(), t.size());
  }

  void content(const Content& c) {
    number(c.kind);
    number(c.dtype);
    number(static_cast<uint8_t>(c.scalar_text));
    number<uint64_t>(c.number);
    number<uint64_t>(c.dims.size());
    for (int64_t d : c.dims) number(d);
    number<uint64_t>(c.texts.size());
    for (const std::string& t : c.texts) text(t);
    text(c.reason);
  }

  void node(const Node& n) {
    text(n.name);
    number(static_cast<uint8_t>(n.group));
    number<uint64_t>(n.attributes.size());
    for (const auto& [name, c] : n.attributes) {
      text(name);
      content(c);
    }
    number<uint64_t>(n.children.size());
    for (const Node& child : n.children) node(child);
    if (!n.group) content(n.content);
  }

 private:
  int to_;
};

/// What the child does: it never returns.
[[noreturn]] void read_as_child(const ReadRequest& request, int to) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int which : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU, SIGINT, SIGTERM, SIGPIPE}) std::signal(which, SIG_DFL);
  if (const int nothing = open("/dev/null", O_RDWR); nothing >= 0)
    for (int fd : {0, 1, 2}) dup2(nothing, fd);
  const auto limit = [](__rlimit_resource which, uint64_t most) {
    const rlimit both{most, most};
    setrlimit(which, &both);
  };
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, kSeconds + request.file.size() / kBytesPerSecond);
  unsigned long pages = 0;
  if (FILE* f = std::fopen("/proc/self/statm", "re")) {
    if (std::fscanf(f, "%lu", &pages) != 1) pages = 0;  // NOLINT(cert-err34-c): of the kernel's own text
    std::fclose(f);
  }
  if (pages > 0)
    limit(RLIMIT_AS, pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) + kRoom + request.file.size() * kRoomPerByte);

  Sender sender(to);
  std::unique_ptr<char, decltype(&std::free)> room(nullptr, std::free);
  uint64_t held = 0;
  const auto send_held = [&] {
    if (room) sender.bytes(room.get(), held);
    room.reset();
  };
  ReadRequest mine = request;
  mine.memory = [&](DType dtype, const std::vector<int64_t>& dims) -> void* {
    send_held();
    held = element_bytes(dtype);
    for (int64_t d : dims) held *= static_cast<uint64_t>(d);
    room.reset(static_cast<char*>(std::malloc(std::max<uint64_t>(held, 1))));
    if (!room) return nullptr;
    sender.number(Message::Array);
    sender.number(dtype);
    sender.number<uint64_t>(dims.size());
    for (int64_t d : dims) sender.number(d);
    return room.get();
  };
  Node root;
  std::string error;
  read_here(mine, root, error);
  send_held();
  if (error.empty()) {
    sender.number(Message::Tree);
    sender.node(root);
  } else {
    sender.number(Message::Error);
    sender.text(error);
  }
  _exit(0);
}

/// The parent's end: every number is looked at before it is believed. False ends all: the pipe ended, or what came makes no sense.
class Receiver {
 public:
  Receiver(const ReadRequest& request, int from) : request_(request), from_(from) {}

  /// Everything up to the tree or the error; false where neither came.
  bool all(Node& root, std::string& error) {
    for (;;) {
      Message what{};
      if (!number(what)) return false;
      if (what == Message::Array) {
        if (!array(error)) return !error.empty();
      } else if (what == Message::Tree) {
        return node(root, 0);
      } else {
        return what == Message::Error && text(error) && !error.empty();
      }
    }
  }

 private:
  struct Made {
    DType dtype;
    std::vector<int64_t> dims;
    void* elements;
  };

  bool bytes(void* to, size_t count) {
    char* at = static_cast<char*>(to);
    while (count > 0) {
      const ssize_t got = ::read(from_, at, count);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      count -= static_cast<size_t>(got);
    }
    return true;
  }
  template <class T>
  bool number(T& n) {
    return bytes(&n, sizeof n);
  }
  bool text(std::string& t) {
    uint64_t size = 0;
    if (!number(size) || size > request_.most_text - std::min(request_.most_text, texts_)) return false;
    texts_ += size;
    t.resize(size);
    return bytes(t.data(), size);
  }
  bool dtype(DType& d) {
    uint8_t which = 0;
    if (!number(which)) return false;
    d = static_cast<DType>(which);
    return which < kDTypeCount && element_bytes(d) > 0;
  }
  bool dims(std::vector<int64_t>& to) {
    uint64_t rank = 0;
    if (!number(rank) || rank > H5S_MAX_RANK) return false;
    to.resize(rank);
    for (int64_t& d : to)
      if (!number(d) || d < 0) return false;
    return true;
  }

  bool array(std::string& error) {
    Made made{};
    if (!dtype(made.dtype) || !dims(made.dims)) return false;
    uint64_t size = element_bytes(made.dtype);
    for (int64_t d : made.dims)
      if (__builtin_mul_overflow(size, static_cast<uint64_t>(d), &size)) return false;
    made.elements = request_.memory(made.dtype, made.dims);
    if (!made.elements) {
      error = "no memory";
      return false;
    }
    arrays_.push_back(made);
    return bytes(made.elements, size);
  }

  bool content(Content& c) {
    uint8_t kind = 0, scalar = 0;
    uint64_t which = 0, count = 0;
    if (!number(kind) || kind > static_cast<uint8_t>(Content::Kind::Refused) || !dtype(c.dtype) || !number(scalar)) return false;
    c.kind = static_cast<Content::Kind>(kind);
    c.scalar_text = scalar == 1;
    if (!number(which) || !dims(c.dims) || !number(count) || count > request_.most_text / sizeof(std::string)) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!text(c.texts.emplace_back())) return false;
    if (!text(c.reason)) return false;
    if (c.kind == Content::Kind::Texts) return !c.scalar_text || count == 1;
    if (c.kind == Content::Kind::Refused) return true;
    if (which >= arrays_.size() || arrays_[which].dtype != c.dtype || arrays_[which].dims != c.dims) return false;
    c.number = which;
    c.elements = arrays_[which].elements;
    return true;
  }

  bool node(Node& n, int depth) {
    uint8_t group = 0;
    uint64_t attributes = 0, children = 0;
    if (depth > kMostDepth || !text(n.name) || !number(group) || !number(attributes)) return false;
    n.group = group == 1;
    for (uint64_t i = 0; i < attributes; ++i) {
      auto& [name, c] = n.attributes.emplace_back();
      if (!text(name) || !content(c)) return false;
    }
    if (!number(children)) return false;
    for (uint64_t i = 0; i < children; ++i)
      if (!node(n.children.emplace_back(), depth + 1)) return false;
    return n.group || content(n.content);
  }

  const ReadRequest& request_;
  int from_;
  uint64_t texts_ = 0;
  std::vector<Made> arrays_;
};

}  // namespace

void read(const ReadRequest& request, Node& root, std::string& error) {
  prepare();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return void(error = std::string("no pipe: ") + std::strerror(errno));
  fcntl(ends[1], F_SETPIPE_SZ, kPipeBytes);
  const pid_t child = fork();
  if (child == 0) read_as_child(request, ends[1]);
  close(ends[1]);
  if (child < 0) error = std::string("no process to read it in: ") + std::strerror(errno);
  const bool whole = child > 0 && Receiver(request, ends[0]).all(root, error);
  close(ends[0]);
  if (child < 0) return;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (whole || !error.empty()) return;
  const bool busy = WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL);
  error = busy ? "reading it took too long and was ended" : "HDF5 could not read it to its end";
}

}  // namespace tfl::hdf5
