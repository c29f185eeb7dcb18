#include "runtime/mpi/watch.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace tfl::mpi {

namespace {

constexpr int64_t kMillisecond = 1'000'000;
// What comes within so long belongs together: an error that all ranks have is told of the first of them.
constexpr int64_t kTogether = 250 * kMillisecond;
// A launcher that ends the others after one died is given this time before we go, so that there is something to be told.
constexpr int64_t kAfterTerm = 900 * kMillisecond;
constexpr size_t kMostText = size_t{1} << 20;

int64_t now() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

// A signal handler has no parameters: it reaches the watch through this end of its pipe.
std::atomic<int> term_pipe{-1};

void on_term(int) {
  const int before = errno;
  const char c = 'T';
  if (const int fd = term_pipe.load(); fd >= 0) (void)!::write(fd, &c, 1);
  errno = before;
}

/// A peer whose machine is gone says nothing: the system asks it every second.
void keep_asking(int socket) {
  const int on = 1, idle = 2, interval = 1, count = 4, most = 6000;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof count);
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

std::string Watch::listen() {
  unsigned char random[16];
  if (getrandom(random, sizeof random, 0) != static_cast<ssize_t>(sizeof random)) return {};
  for (unsigned char c : random) {
    token_.push_back("0123456789abcdef"[c >> 4]);
    token_.push_back("0123456789abcdef"[c & 15]);
  }
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (listener_ < 0) return {};
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t length = sizeof any;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&any), sizeof any) != 0 || ::listen(listener_, size_) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&any), &length) != 0) {
    close(listener_);
    listener_ = -1;
    return {};
  }
  std::string places = token_;
  ifaddrs* all = nullptr;
  if (getifaddrs(&all) == 0) {
    // This machine first: that is refused at once where it is another's.
    for (const bool loopback : {true, false}) {
      for (const ifaddrs* i = all; i; i = i->ifa_next) {
        if (!i->ifa_addr || i->ifa_addr->sa_family != AF_INET || ((i->ifa_flags & IFF_LOOPBACK) != 0) != loopback) continue;
        char host[INET_ADDRSTRLEN];
        inet_ntop(AF_INET, &reinterpret_cast<sockaddr_in*>(i->ifa_addr)->sin_addr, host, sizeof host);
        places.append(1, ' ').append(host).append(1, ' ').append(std::to_string(ntohs(any.sin_port)));
      }
    }
    freeifaddrs(all);
  }
  return places;
}

void Watch::connect(const std::string& places) {
  size_t at = 0;
  auto word = [&] {  // the next one; empty: none is left
    const size_t end = std::min(places.find(' ', at), places.size());
    std::string found = places.substr(at, end - at);
    at = std::min(end + 1, places.size());
    return found;
  };
  token_ = word();
  for (std::string host = word(); !host.empty(); host = word()) {
    const int port = std::atoi(word().c_str());
    const int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s < 0) return;
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, host.c_str(), &to.sin_addr);
    fcntl(s, F_SETFL, O_NONBLOCK);
    int error = 0;
    if (::connect(s, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) {
      error = errno;
      pollfd ready{s, POLLOUT, 0};
      socklen_t length = sizeof error;
      if (error == EINPROGRESS && poll(&ready, 1, 2000) == 1) getsockopt(s, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    // Another program may listen at that place of another machine: rank 0 answers with the token.
    std::string answer(token_.size(), '\0');
    bool known = error == 0;
    if (known) {
      fcntl(s, F_SETFL, 0);
      keep_asking(s);
      const timeval patience{3, 0};
      setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
      const std::string hello = token_ + std::string(reinterpret_cast<const char*>(&rank_), sizeof rank_);
      known = ::send(s, hello.data(), hello.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(hello.size()) &&
              recv(s, answer.data(), answer.size(), MSG_WAITALL) == static_cast<ssize_t>(answer.size()) && answer == token_;
      const timeval forever{0, 0};
      setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
    }
    if (known) {
      peers_.push_back({s, 0, false, {}});
      return;
    }
    close(s);
  }
}

void Watch::begin() {
  if (pipe2(wake_, O_CLOEXEC | O_NONBLOCK) != 0) return;
  term_pipe = wake_[1];
  struct sigaction action{};
  action.sa_handler = on_term;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  thread_ = std::thread([this] { run(); });
  thread_.detach();
}

void Watch::checkpoint(const std::string& text) {
  const std::lock_guard lock(mutex_);
  checkpoint_ = text;
}

void Watch::fail(const std::string& text, int code) {
  if (rank_ == 0) {
    {
      const std::lock_guard lock(mutex_);
      failures_.push_back({0, code, text});
      if (decide_at_ == 0) decide_at_ = now() + kTogether;
    }
    const char c = 'F';
    if (wake_[1] < 0) return;
    (void)!::write(wake_[1], &c, 1);
  } else {
    if (peers_.empty()) return;
    send(peers_[0].socket, 'F', std::string(reinterpret_cast<const char*>(&code), sizeof code) + text.substr(0, kMostText));
  }
  // The thread ends the process.
  for (int i = 0; i < 100; ++i) {
    timespec nap{0, 100 * kMillisecond};
    nanosleep(&nap, nullptr);
  }
}

void Watch::leave() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  for (Peer& p : peers_) send(p.socket, 'B', {});
}

void Watch::send(int socket, char kind, const std::string& body) {
  const auto length = static_cast<uint32_t>(body.size());
  std::string frame(1, kind);
  frame.append(reinterpret_cast<const char*>(&length), sizeof length);
  frame += body;
  size_t at = 0;
  while (at < frame.size()) {
    const ssize_t sent = ::send(socket, frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return;
    at += static_cast<size_t>(sent);
  }
}

void Watch::say(const std::string& text) const {
  size_t at = 0;
  while (at < text.size()) {
    const ssize_t written = ::write(say_, text.data() + at, text.size() - at);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    at += static_cast<size_t>(written);
  }
}

std::string Watch::sentence(const Failure& f) {
  if (!f.text.empty()) {
    return f.rank == 0 ? f.text : "In rank " + std::to_string(f.rank) + " of " + std::to_string(size_) + ":\n" + f.text;
  }
  return "tfl: error: rank " + std::to_string(f.rank) + " of " + std::to_string(size_) +
         " is gone: its process was killed or its machine failed; " +
         (checkpoint_.empty() ? std::string("no checkpoint was written") : "the last checkpoint is " + checkpoint_) + "\n";
}

void Watch::finish() {
  const Failure first = *std::min_element(failures_.begin(), failures_.end(), [](const Failure& a, const Failure& b) {
    // Who is gone cannot have told an error that others have because of it.
    return std::pair(!a.text.empty(), a.rank) < std::pair(!b.text.empty(), b.rank);
  });
  if (rank_ == 0 || rank_ == 1) say(sentence(first));
  const int code = first.text.empty() ? 1 : first.code;
  if (rank_ == 0) {
    for (const Peer& p : peers_) send(p.socket, 'X', std::string(reinterpret_cast<const char*>(&code), sizeof code));
  }
  _exit(code);
}

void Watch::lost(int rank) {
  const std::lock_guard lock(mutex_);
  if (leaving_ && rank_ != 0) return;
  failures_.push_back({rank, 1, {}});
  decide_at_ = now();  // a launcher may end this process any moment
}

void Watch::take(Peer& peer, char kind, const std::string& body) {
  int code = 1;
  if (body.size() >= sizeof code) std::memcpy(&code, body.data(), sizeof code);
  if (kind == 'X') _exit(code);
  if (kind == 'B') peer.left = true;
  if (kind == 'F' && body.size() > sizeof code) {
    const std::lock_guard lock(mutex_);
    peer.left = true;
    failures_.push_back({peer.rank, code, body.substr(sizeof code)});
    if (decide_at_ == 0) decide_at_ = now() + kTogether;
  }
}

void Watch::read_from(Peer& peer) {
  char buffer[4096];
  const ssize_t got = recv(peer.socket, buffer, sizeof buffer, 0);
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (got <= 0) {
    close(peer.socket);
    peer.socket = -1;
    if (!peer.left) lost(peer.rank);
    return;
  }
  peer.unread.append(buffer, static_cast<size_t>(got));
  uint32_t length = 0;
  constexpr size_t kHead = 1 + sizeof length;
  while (peer.unread.size() >= kHead) {
    std::memcpy(&length, peer.unread.data() + 1, sizeof length);
    if (length > kMostText + 64) return lost(peer.rank);
    if (peer.unread.size() < kHead + length) break;
    take(peer, peer.unread[0], peer.unread.substr(kHead, length));
    peer.unread.erase(0, kHead + length);
  }
}

void Watch::accept_one() {
  const int s = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (s < 0) return;
  keep_asking(s);
  const timeval patience{2, 0}, forever{0, 0};
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  int rank = -1;
  std::string hello(token_.size() + sizeof rank, '\0');
  const bool known =
      recv(s, hello.data(), hello.size(), MSG_WAITALL) == static_cast<ssize_t>(hello.size()) && hello.starts_with(token_);
  std::memcpy(&rank, hello.data() + token_.size(), sizeof rank);
  if (!known || rank < 1 || rank >= size_) {
    close(s);
    return;
  }
  setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
  (void)!::send(s, token_.data(), token_.size(), MSG_NOSIGNAL);
  const std::lock_guard lock(mutex_);
  peers_.push_back({s, rank, false, {}});
}

void Watch::run() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  for (;;) {
    std::vector<pollfd> ready{{wake_[0], POLLIN, 0}, {listener_, POLLIN, 0}};
    for (const Peer& p : peers_) ready.push_back({p.socket, POLLIN, 0});  // those below 0 are left out
    int64_t until = 0;
    {
      const std::lock_guard lock(mutex_);
      until = decide_at_ ? decide_at_ : asked_to_end_at_;
    }
    const int64_t left = until ? std::max<int64_t>(until - now(), 0) / kMillisecond + 1 : -1;
    if (poll(ready.data(), ready.size(), static_cast<int>(left)) < 0 && errno != EINTR) return;
    if (ready[0].revents) {
      char c = 0;
      while (::read(wake_[0], &c, 1) == 1)
        if (c == 'T' && asked_to_end_at_ == 0) asked_to_end_at_ = now() + kAfterTerm;
    }
    const size_t before = peers_.size();
    for (size_t i = 0; i < before; ++i) {
      if (peers_[i].socket >= 0 && ready[i + 2].revents) read_from(peers_[i]);
    }
    if (ready[1].revents) accept_one();
    {
      const std::lock_guard lock(mutex_);
      if (decide_at_ && now() >= decide_at_) finish();
    }
    if (asked_to_end_at_ && now() >= asked_to_end_at_) _exit(128 + SIGTERM);
  }
}

}  // namespace tfl::mpi
