#include "cli/kernel_messages.h"

#include <dlfcn.h>
#include <fmt/core.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <thread>

#include "cli/output_pipes.h"
#include "runtime/support/digest.h"

namespace tfl::cli {

namespace {

constexpr int kRep = 4, kRouter = 6, kPub = 1;             // kinds of sockets
constexpr int kDontWait = 1, kSendMore = 2, kLinger = 17;  // flags and options
constexpr short kPollIn = 1;
constexpr std::string_view kDelimiter = "<IDS|MSG>";
constexpr size_t kMostFrames = 64;

struct Message {
  alignas(8) unsigned char bytes[64];
};
struct PollItem {
  void* socket;
  int fd;
  short events, revents;
};

std::string hex(std::string_view bytes) {
  std::string out;
  for (char c : bytes) out += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace

struct Zmq {
  void* (*ctx_new)();
  int (*ctx_shutdown)(void*);
  void* (*socket)(void*, int);
  int (*bind)(void*, const char*);
  int (*close)(void*);
  int (*setsockopt)(void*, int, const void*, size_t);
  int (*msg_init)(Message*);
  int (*msg_recv)(Message*, void*, int);
  void* (*msg_data)(Message*);
  size_t (*msg_size)(const Message*);
  int (*msg_more)(const Message*);
  int (*msg_close)(Message*);
  int (*send)(void*, const void*, size_t, int);
  int (*poll)(PollItem*, int, long);
  int (*proxy)(void*, void*, void*);
};

namespace {

template <class F>
bool find(void* library, const char* name, F& out) {
  out = reinterpret_cast<F>(dlsym(library, name));
  return out != nullptr;
}

const Zmq* load_zmq() {
  void* library = nullptr;
  for (const char* name : {"libzmq.so.5", "libzmq.so"}) {
    if (!library) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (!library) return nullptr;
  auto* z = new Zmq();  // lives as long as the program
  bool all = find(library, "zmq_ctx_new", z->ctx_new) && find(library, "zmq_ctx_shutdown", z->ctx_shutdown) &&
             find(library, "zmq_socket", z->socket) && find(library, "zmq_bind", z->bind) &&
             find(library, "zmq_close", z->close) && find(library, "zmq_setsockopt", z->setsockopt) &&
             find(library, "zmq_msg_init", z->msg_init) && find(library, "zmq_msg_recv", z->msg_recv) &&
             find(library, "zmq_msg_data", z->msg_data) && find(library, "zmq_msg_size", z->msg_size) &&
             find(library, "zmq_msg_more", z->msg_more) && find(library, "zmq_msg_close", z->msg_close) &&
             find(library, "zmq_send", z->send) && find(library, "zmq_poll", z->poll) && find(library, "zmq_proxy", z->proxy);
  if (all) return z;
  delete z;
  return nullptr;
}

}  // namespace

KernelSockets::~KernelSockets() {
  if (!context_) return;
  std::lock_guard lock(sending_);
  for (void* s : sockets_) {
    int wait = 1000;  // what was said last still goes out
    zmq_->setsockopt(s, kLinger, &wait, sizeof wait);
    zmq_->close(s);
  }
  zmq_->ctx_shutdown(context_);
}

std::string KernelSockets::open(std::string key) {
  zmq_ = load_zmq();
  if (!zmq_) return "the notebook kernel needs libzmq: install it (Debian: apt install libzmq5)";
  key_ = std::move(key);
  context_ = zmq_->ctx_new();
  return context_ ? std::string() : "libzmq cannot start";
}

int KernelSockets::bind(std::string_view kind, const std::string& address) {
  void* s = zmq_->socket(context_, kind == "pub" ? kPub : kind == "rep" ? kRep : kRouter);
  if (!s) return -1;
  sockets_.push_back(s);
  if (zmq_->bind(s, address.c_str()) != 0) return -1;
  return static_cast<int>(sockets_.size()) - 1;
}

bool KernelSockets::beat(const std::string& address) {
  int n = bind("rep", address);
  if (n < 0) return false;
  void* s = sockets_[static_cast<size_t>(n)];
  sockets_.pop_back();  // it belongs to the thread
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([zmq = zmq_, s] {
    zmq->proxy(s, s, nullptr);
    zmq->close(s);
  }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return true;
}

int KernelSockets::poll(const std::vector<int>& sockets, long milliseconds) {
  std::vector<PollItem> items;
  for (int s : sockets) items.push_back({sockets_[static_cast<size_t>(s)], 0, kPollIn, 0});
  int n = zmq_->poll(items.data(), static_cast<int>(items.size()), milliseconds);
  if (n < 0) return errno == EINTR ? -2 : -1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].revents & kPollIn) return sockets[i];
  }
  return -1;
}

bool KernelSockets::receive(int socket, KernelMessage& out) {
  std::vector<std::string> frames;
  for (bool more = true; more;) {
    Message m;
    zmq_->msg_init(&m);
    if (zmq_->msg_recv(&m, sockets_[static_cast<size_t>(socket)], kDontWait) < 0) {
      zmq_->msg_close(&m);
      return false;
    }
    if (frames.size() < kMostFrames) frames.emplace_back(static_cast<const char*>(zmq_->msg_data(&m)), zmq_->msg_size(&m));
    more = zmq_->msg_more(&m) != 0;
    zmq_->msg_close(&m);
  }
  auto delimiter = std::find(frames.begin(), frames.end(), kDelimiter);
  if (frames.end() - delimiter < 6) return false;
  out.identities.assign(frames.begin(), delimiter);
  for (size_t i = 0; i < 4; ++i) out.parts[i] = *(delimiter + 2 + static_cast<std::ptrdiff_t>(i));
  return *(delimiter + 1) == signature(out.parts);
}

std::string KernelSockets::signature(const std::array<std::string, 4>& parts) const {
  if (key_.empty()) return {};
  // HMAC with SHA-256 (RFC 2104).
  std::string key = key_.size() > 64 ? digest_of("sha256", key_) : key_;
  key.resize(64, '\0');
  std::string inner = key, outer = key;
  for (char& c : inner) c ^= 0x36;
  for (char& c : outer) c ^= 0x5c;
  for (const std::string& p : parts) inner += p;
  return hex(digest_of("sha256", outer + digest_of("sha256", inner)));
}

std::string KernelSockets::header(const std::string& type) {
  timeval now{};
  gettimeofday(&now, nullptr);
  tm t{};
  gmtime_r(&now.tv_sec, &t);
  return fmt::format(
      R"({{"msg_id":{},"msg_type":{},"session":{},"username":{},"date":"{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z","version":"5.3"}})",
      json_text(session + "_" + std::to_string(++sent_)), json_text(type), json_text(session), json_text(username),
      t.tm_year + 1900, t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, now.tv_usec);
}

void KernelSockets::send(int socket, const std::vector<std::string>& identities, const std::string& type,
                         const std::string& parent, const std::string& metadata, const std::string& content) {
  std::lock_guard lock(sending_);
  std::array<std::string, 4> parts = {header(type), parent, metadata, content};
  std::vector<std::string> frames = identities;
  frames.emplace_back(kDelimiter);
  frames.push_back(signature(parts));
  frames.insert(frames.end(), parts.begin(), parts.end());
  for (size_t i = 0; i < frames.size(); ++i) {
    int sent;
    do {
      sent = zmq_->send(sockets_[static_cast<size_t>(socket)], frames[i].data(), frames[i].size(),
                        i + 1 < frames.size() ? kSendMore : 0);
    } while (sent < 0 && errno == EINTR);
    if (sent < 0) return;
  }
}

}  // namespace tfl::cli
