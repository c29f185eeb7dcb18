// Workers watch each other: every one has a connection to rank 0, which the system ends when a process dies, whatever it died of. Rank 0
// tells once what happened, and all end. This header must not know MPI.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tfl::mpi {

class Watch {
 public:
  Watch(int rank, int size, int say) : rank_(rank), size_(size), say_(say) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Rank 0: where the others find it, "TOKEN HOST PORT HOST PORT"; empty where no connection can be listened for.
  std::string listen();
  /// The others: connects to one of these places. Without a connection nothing is watched.
  void connect(const std::string& places);
  /// The thread begins.
  void begin();

  void checkpoint(const std::string& text);
  /// Tells of an error, and waits for the end of this process; returns where nobody ends it.
  void fail(const std::string& text, int code);
  /// From here on the others may go.
  void leave();

 private:
  struct Peer {
    int socket = -1, rank = -1;
    bool left = false;
    std::string unread;
  };
  struct Failure {
    int rank, code;
    std::string text;  // empty: the process is gone
  };

  void run();
  void accept_one();
  void read_from(Peer& peer);
  void lost(int rank);
  void take(Peer& peer, char kind, const std::string& body);
  [[noreturn]] void finish();
  std::string sentence(const Failure& f);
  void send(int socket, char kind, const std::string& body);
  void say(const std::string& text) const;

  int rank_, size_, say_;
  int listener_ = -1, wake_[2] = {-1, -1};
  std::string token_;
  std::vector<Peer> peers_;  // rank 0: of all others; else: of rank 0
  std::mutex mutex_;         // of what follows
  std::string checkpoint_;
  std::vector<Failure> failures_;
  bool leaving_ = false;
  int64_t decide_at_ = 0, asked_to_end_at_ = 0;  // nanoseconds; 0: nothing to decide
  std::thread thread_;
};

}  // namespace tfl::mpi
