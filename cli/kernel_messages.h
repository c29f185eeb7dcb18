// Messages of notebooks (the Jupyter protocol, 5.3) over libzmq, which is loaded when a kernel starts: sockets, frames, signatures.
// This header must not know what the messages mean.
#pragma once

#include <array>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tfl::cli {

struct Zmq;  // libzmq's functions

struct KernelMessage {
  std::vector<std::string> identities;
  std::array<std::string, 4> parts;  // header, parent header, metadata, content; JSON
};

class KernelSockets {
 public:
  KernelSockets() = default;
  ~KernelSockets();
  KernelSockets(const KernelSockets&) = delete;
  KernelSockets& operator=(const KernelSockets&) = delete;

  /// Loads the library; what is wrong, or empty.
  std::string open(std::string key);
  /// Makes and binds a socket: "router", "pub" or "rep"; its number, or below 0.
  int bind(std::string_view kind, const std::string& address);
  /// Answers on `address` with what comes there, on a thread of its own.
  bool beat(const std::string& address);
  /// Which of these sockets has something, within a time; -1 none, -2 interrupted.
  int poll(const std::vector<int>& sockets, long milliseconds);
  /// The next message; false: there is none, or it is not signed as it should be.
  bool receive(int socket, KernelMessage& out);
  void send(int socket, const std::vector<std::string>& identities, const std::string& type, const std::string& parent,
            const std::string& metadata, const std::string& content);
  /// What headers are made with.
  std::string session, username;

 private:
  std::string signature(const std::array<std::string, 4>& parts) const;
  std::string header(const std::string& type);
  const Zmq* zmq_ = nullptr;
  void* context_ = nullptr;
  std::string key_;
  std::vector<void*> sockets_;
  std::mutex sending_;
  uint64_t sent_ = 0;
};

}  // namespace tfl::cli
