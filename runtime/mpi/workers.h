// The thread that talks to the other workers, and the jobs it does one after the other.
#pragma once

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/mpi/table.h"
#include "runtime/mpi/watch.h"

namespace tfl::mpi {

/// What goes ahead of a job's bytes: jobs of two workers are alike where the first three fields are.
struct Header {
  uint64_t serial = 0, digest = 0, bytes = 0;
  char text[232] = {};
};

class Workers {
 public:
  bool start(World& world, std::string& error);
  void begin(Job* job);
  bool wait(Job* job, int milliseconds);
  void end(std::string& error);
  Watch* watch() { return watch_.get(); }

 private:
  void run(World& world, std::string& error, bool& started);
  bool join(World& world, std::string& error);
  void do_job(Job& job);

  std::mutex mutex_;  // of what follows
  std::condition_variable new_job_, job_done_;
  std::deque<Job*> jobs_;
  std::atomic<int> waiting_{0};  // scripts that have nothing else to do
  bool stop_ = false, stopped_ = false;
  std::unique_ptr<Watch> watch_;
  uint64_t serial_ = 0;
  int rank_ = 0, size_ = 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// One job on the wire.
class Exchange {
 public:
  Exchange(MPI_Comm comm, int rank, int size, uint64_t serial, Job& job, const std::atomic<int>& waiting);
  void sum();
  void gather();

 private:
  void sum_small();
  void sum_large();
  void sum_in_any_order();
  void meet_all();
  void meet_neighbours();
  bool same(const Header& theirs, int from);
  std::string message(const std::string& body) const;
  /// Sends and receives whole messages of small sums; false after an error.
  void send(int to, const std::string& bytes);
  bool receive(int from, std::string& body, size_t bytes, Header* head = nullptr);
  void keep_what_is_under_way();
  /// Value of a node as bytes of all segments; null where another worker has it.
  std::unique_ptr<std::string> value(Node node);
  int owner(int leaf) const;
  void finish(std::vector<MPI_Request>& requests);
  bool ready(std::vector<MPI_Request>& requests);
  void idle();
  const void* combined(Node node, const Segment& s, size_t count, std::vector<const void*>& leaves, size_t& next, void* out,
                       int depth);

  MPI_Comm comm_;
  int rank_, size_;
  Job& job_;
  const std::atomic<int>& waiting_;
  Header mine_;
  std::vector<std::vector<Node>> nodes_;  // of each worker
  std::deque<std::string> sent_;          // messages that are under way
  std::vector<MPI_Request> sends_;
  std::vector<std::vector<char>> partial_;  // for `combined`, by depth
  int idle_ = 0;
};

}  // namespace tfl::mpi
