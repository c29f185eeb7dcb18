// Sums over a fixed tree of leaves, whatever number of workers holds them; bytes of each for all. Small sums go up the tree and back; of large
// ones each worker adds a part, which it gets from all, and gives back to all. Either way an element of the result is the same expression.
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <ctime>

#include "runtime/mpi/sum.h"
#include "runtime/mpi/workers.h"

namespace tfl::mpi {

namespace {

constexpr int kHeader = 1, kBytes = 2, kSum = 3;  // tags: messages with one tag between two workers keep their order
constexpr size_t kSmall = size_t{64} << 10;       // bytes of a sum that goes up the tree
constexpr size_t kBlock = size_t{1} << 20;        // bytes that are added at a time
constexpr size_t kAhead = 4;                      // blocks that are received ahead of the one that is added
constexpr size_t kAligned = 64;                   // elements: where parts are divided
constexpr size_t kMostMessage = size_t{1} << 30;  // bytes; MPI counts in int

uint64_t mixed(uint64_t h, uint64_t x) {
  h = (h ^ x) * 0x9E3779B97F4A7C15u;
  return h ^ h >> 29;
}

struct Range {
  size_t from, to;
};

/// The elements that a worker adds.
Range part_of(const Segment& s, int worker, int size) {
  const auto bound = [&](int w) {
    if (w == size) return s.count;
    const size_t even = s.count / static_cast<size_t>(size) * static_cast<size_t>(w);
    return std::min(s.count, (even + kAligned - 1) / kAligned * kAligned);
  };
  return {bound(worker), bound(worker + 1)};
}

const char* at(const void* base, size_t element, DType dtype) {
  return static_cast<const char*>(base) + element * dtype_size(dtype);
}
char* at(void* base, size_t element, DType dtype) { return static_cast<char*>(base) + element * dtype_size(dtype); }

}  // namespace

Exchange::Exchange(MPI_Comm comm, int rank, int size, uint64_t serial, Job& job, const std::atomic<int>& waiting)
    : comm_(comm), rank_(rank), size_(size), job_(job), waiting_(waiting) {
  mine_.serial = serial;
  uint64_t h = mixed(static_cast<uint64_t>(job.kind), static_cast<uint64_t>(job.leaves) * 2 + job.any_order);
  for (const char c : job.text) h = mixed(h, static_cast<unsigned char>(c));
  for (const Segment& s : job.segments) h = mixed(mixed(h, static_cast<uint64_t>(s.dtype)), s.count);
  mine_.digest = h;
  mine_.bytes = job.given.size();
  job.text.copy(mine_.text, sizeof mine_.text - 1);
  if (job.kind == Job::Kind::Sum) {
    nodes_.resize(static_cast<size_t>(size));
    for (int w = 0; w < size; ++w)
      whole_nodes({0, job.leaves}, first_leaf(w, size, job.leaves), first_leaf(w + 1, size, job.leaves),
                  nodes_[static_cast<size_t>(w)]);
  }
}

/// Nobody spins beside a script that computes, nor for long.
void Exchange::idle() {
  if (++idle_ < 4000 && waiting_.load(std::memory_order_relaxed) > 0) {
    sched_yield();
    return;
  }
  timespec nap{0, 30'000};
  nanosleep(&nap, nullptr);
}

bool Exchange::ready(std::vector<MPI_Request>& requests) {
  int done = 0;
  if (requests.empty()) return true;
  if (MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE) != MPI_SUCCESS) {
    if (job_.error.empty()) job_.error = "the connection to another worker broke";
    requests.clear();
    return true;
  }
  if (done) {
    requests.clear();
    idle_ = 0;
  }
  return done != 0;
}

void Exchange::finish(std::vector<MPI_Request>& requests) {
  while (!ready(requests)) idle();
}

bool Exchange::same(const Header& theirs, int from) {
  if (theirs.serial == mine_.serial && theirs.digest == mine_.digest) return true;
  if (job_.error.empty()) {
    std::string other(theirs.text, strnlen(theirs.text, sizeof theirs.text));
    const std::string me = "rank " + std::to_string(rank_) + " came to " + job_.text;
    other = "rank " + std::to_string(from) + " to " + other;
    job_.error = "the workers' scripts went different ways: " + me + ", " + other;
  }
  return false;
}

void Exchange::meet_all() {
  const std::string head = message({});
  for (int d = 1; d < size_; ++d) send((rank_ + d) % size_, head);
  if (job_.kind == Job::Kind::Gather) job_.gathered.resize(static_cast<size_t>(size_));
  for (int d = 1; d < size_ && job_.error.empty(); ++d) {
    const int from = (rank_ + size_ - d) % size_;
    std::string nothing;
    Header theirs;
    if (receive(from, nothing, 0, &theirs) && job_.kind == Job::Kind::Gather)
      job_.gathered[static_cast<size_t>(from)].resize(theirs.bytes);
  }
}

void Exchange::gather() {
  meet_all();
  if (job_.error.empty() && job_.kind == Job::Kind::End) finish(sends_);
  if (!job_.error.empty() || job_.kind == Job::Kind::End) return keep_what_is_under_way();
  std::vector<MPI_Request> requests;
  const auto pieces = [&](char* bytes, size_t count, auto&& each) {
    for (size_t done = 0; done < count; done += kMostMessage)
      each(bytes + done, static_cast<int>(std::min(count - done, kMostMessage)));
  };
  for (int w = 0; w < size_; ++w) {
    if (w == rank_) continue;
    std::string& theirs = job_.gathered[static_cast<size_t>(w)];
    pieces(theirs.data(), theirs.size(),
           [&](char* to, int count) { MPI_Irecv(to, count, MPI_BYTE, w, kBytes, comm_, &requests.emplace_back()); });
    pieces(job_.given.data(), job_.given.size(),
           [&](char* from, int count) { MPI_Isend(from, count, MPI_BYTE, w, kBytes, comm_, &requests.emplace_back()); });
  }
  finish(requests);
  finish(sends_);
  job_.gathered[static_cast<size_t>(rank_)] = std::move(job_.given);
}

void Exchange::sum() {
  size_t bytes = 0;
  for (const Segment& s : job_.segments) bytes += s.count * dtype_size(s.dtype);
  if (job_.any_order)
    sum_in_any_order();
  else if (bytes <= kSmall)
    sum_small();
  else
    sum_large();
  if (job_.error.empty()) finish(sends_);
  keep_what_is_under_way();
}

/// After an error nobody may ever take what was sent: it stays, and the run ends.
void Exchange::keep_what_is_under_way() {
  if (job_.error.empty()) return;
  static auto& left = *new std::vector<std::deque<std::string>>;
  left.push_back(std::move(sent_));
}

// ---------------------------------------------------------------------------------------------------------- up the tree and back

std::string Exchange::message(const std::string& body) const {
  std::string bytes(reinterpret_cast<const char*>(&mine_), sizeof mine_);
  return bytes += body;
}

void Exchange::send(int to, const std::string& bytes) {
  sent_.push_back(bytes);
  MPI_Isend(sent_.back().data(), static_cast<int>(bytes.size()), MPI_BYTE, to, kHeader, comm_, &sends_.emplace_back());
}

bool Exchange::receive(int from, std::string& body, size_t bytes, Header* head) {
  if (!job_.error.empty()) return false;
  int there = 0, count = 0;
  MPI_Status status;
  while (MPI_Iprobe(from, kHeader, comm_, &there, &status) == MPI_SUCCESS && !there) idle();
  idle_ = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  std::string got(static_cast<size_t>(std::max(count, 0)), '\0');
  std::vector<MPI_Request> request(1);
  MPI_Irecv(got.data(), count, MPI_BYTE, from, kHeader, comm_, request.data());
  finish(request);
  Header theirs;
  if (got.size() < sizeof theirs) return false;
  std::memcpy(&theirs, got.data(), sizeof theirs);
  if (!same(theirs, from) || got.size() != sizeof theirs + bytes) return false;
  if (head) *head = theirs;
  body = got.substr(sizeof theirs);
  return true;
}

int Exchange::owner(int leaf) const {
  int w = 0;
  while (first_leaf(w + 1, size_, job_.leaves) <= leaf) ++w;
  return w;
}

std::unique_ptr<std::string> Exchange::value(Node node) {
  const std::vector<Node>& own = nodes_[static_cast<size_t>(rank_)];
  const int worker = owner(node.low);
  if (owner(node.high - 1) == worker) {
    if (worker != rank_) return nullptr;
    auto bytes = std::make_unique<std::string>();
    for (size_t i = 0; i < own.size(); ++i) {
      if (own[i].low != node.low || own[i].high != node.high) continue;
      for (const Segment& s : job_.segments) bytes->append(static_cast<const char*>(s.nodes[i]), s.count * dtype_size(s.dtype));
    }
    return bytes;
  }
  const int middle = node.low + left_part(node.high - node.low);
  auto left = value({node.low, middle}), right = value({middle, node.high});
  const int other = owner(middle);
  if (other != worker && other == rank_ && right) {
    send(worker, message(*right));
    return nullptr;
  }
  if (worker != rank_ || !left) return nullptr;
  if (other != worker) {
    right = std::make_unique<std::string>();
    if (!receive(other, *right, left->size())) return left;
  }
  size_t done = 0;
  for (const Segment& s : job_.segments) {
    add(s.dtype, left->data() + done, left->data() + done, right->data() + done, s.count);
    done += s.count * dtype_size(s.dtype);
  }
  return left;
}

void Exchange::sum_small() {
  auto whole = value({0, job_.leaves});
  std::string bytes;
  size_t total = 0;
  for (const Segment& s : job_.segments) total += s.count * dtype_size(s.dtype);
  // From rank 0, which owns the first leaf, to all: each that has it gives it to as many again. After an error it goes on: whoever gets the
  // message sees that it is none of its job.
  int step = 1;
  while (step < size_) step *= 2;
  bool have = rank_ == 0;
  if (have && whole) bytes = std::move(*whole);
  for (step /= 2; step > 0; step /= 2) {
    if (rank_ % (2 * step) == 0 && have && rank_ + step < size_) {
      send(rank_ + step, message(bytes));
    } else if (rank_ % (2 * step) == step) {
      have = receive(rank_ - step, bytes, total);
      if (!have) break;
    }
  }
  if (!job_.error.empty() || bytes.size() != total) return;
  size_t done = 0;
  for (const Segment& s : job_.segments) {
    std::memcpy(s.result, bytes.data() + done, s.count * dtype_size(s.dtype));
    done += s.count * dtype_size(s.dtype);
  }
}

// ------------------------------------------------------------------------------------------------------------- each adds a part

/// The node's value of `count` elements: one of `leaves`, which come from left to right, or a sum in `out`.
const void* Exchange::combined(Node node, const Segment& s, size_t count, std::vector<const void*>& leaves, size_t& next,
                               void* out, int depth) {
  if (owner(node.low) == owner(node.high - 1)) return leaves[next++];
  const int middle = node.low + left_part(node.high - node.low);
  const void* left = combined({node.low, middle}, s, count, leaves, next, out, depth + 1);
  if (partial_.size() <= static_cast<size_t>(depth)) partial_.resize(static_cast<size_t>(depth) + 1);
  std::vector<char>& room = partial_[static_cast<size_t>(depth)];
  room.resize(std::max(room.size(), count * dtype_size(s.dtype)));
  const void* right = combined({middle, node.high}, s, count, leaves, next, room.data(), depth + 1);
  add(s.dtype, out, left, right, count);
  return out;
}

void Exchange::sum_large() {
  meet_all();
  if (!job_.error.empty()) return;
  struct Block {
    const Segment* segment;
    size_t from, count;
    std::vector<std::vector<char>> received;  // a node each, by worker and from left to right
    std::vector<MPI_Request> requests;
  };
  std::vector<Block> mine;
  std::vector<MPI_Request> results;
  const auto blocks = [&](const Segment& s, int worker, auto&& each) {
    const Range part = part_of(s, worker, size_);
    const size_t most = kBlock / dtype_size(s.dtype);
    for (size_t from = part.from; from < part.to; from += most) each(from, std::min(most, part.to - from));
  };
  for (const Segment& s : job_.segments) {
    blocks(s, rank_, [&](size_t from, size_t count) { mine.push_back({&s, from, count, {}, {}}); });
    for (int w = 0; w < size_; ++w) {
      if (w == rank_) continue;
      blocks(s, w, [&](size_t from, size_t count) {
        const int bytes = static_cast<int>(count * dtype_size(s.dtype));
        MPI_Irecv(at(s.result, from, s.dtype), bytes, MPI_BYTE, w, kSum, comm_, &results.emplace_back());
      });
    }
  }
  // What others add goes out in turns, so that nobody waits for the last of it.
  size_t most_blocks = 0;
  std::vector<std::vector<Block>> theirs(static_cast<size_t>(size_));
  for (int w = 0; w < size_; ++w) {
    if (w == rank_) continue;
    auto& list = theirs[static_cast<size_t>(w)];
    for (const Segment& s : job_.segments)
      blocks(s, w, [&](size_t from, size_t count) { list.push_back({&s, from, count, {}, {}}); });
    most_blocks = std::max(most_blocks, list.size());
  }
  size_t received = 0;
  const auto receive_block = [&](Block& b) {
    const size_t bytes = b.count * dtype_size(b.segment->dtype);
    for (int w = 0; w < size_; ++w) {
      if (w == rank_) continue;
      for (size_t k = 0; k < nodes_[static_cast<size_t>(w)].size(); ++k) {
        b.received.emplace_back(bytes);
        MPI_Irecv(b.received.back().data(), static_cast<int>(bytes), MPI_BYTE, w, kBytes, comm_, &b.requests.emplace_back());
      }
    }
  };
  while (received < mine.size() && received < kAhead) receive_block(mine[received++]);
  for (size_t i = 0; i < most_blocks; ++i) {
    for (int d = 1; d < size_; ++d) {
      const int w = (rank_ + d) % size_;
      if (i >= theirs[static_cast<size_t>(w)].size()) continue;
      const Block& b = theirs[static_cast<size_t>(w)][i];
      const int bytes = static_cast<int>(b.count * dtype_size(b.segment->dtype));
      for (const void* node : b.segment->nodes)
        MPI_Isend(at(node, b.from, b.segment->dtype), bytes, MPI_BYTE, w, kBytes, comm_, &sends_.emplace_back());
    }
  }
  for (Block& b : mine) {
    while (!ready(b.requests)) {
      // MPI moves what is under way while it is asked for anything.
      idle();
    }
    if (!job_.error.empty()) break;
    const Segment& s = *b.segment;
    std::vector<const void*> leaves;
    size_t from_others = 0;
    for (int w = 0; w < size_; ++w) {
      for (size_t k = 0; k < nodes_[static_cast<size_t>(w)].size(); ++k)
        leaves.push_back(w == rank_ ? at(s.nodes[k], b.from, s.dtype) : b.received[from_others++].data());
    }
    char* to = at(s.result, b.from, s.dtype);
    size_t next = 0;
    const void* sum = combined({0, job_.leaves}, s, b.count, leaves, next, to, 0);
    const size_t bytes = b.count * dtype_size(s.dtype);
    if (sum != to) std::memcpy(to, sum, bytes);
    for (int d = 1; d < size_; ++d)
      MPI_Isend(to, static_cast<int>(bytes), MPI_BYTE, (rank_ + d) % size_, kSum, comm_, &sends_.emplace_back());
    b.received.clear();
    if (received < mine.size()) receive_block(mine[received++]);
  }
  finish(results);
}

// ---------------------------------------------------------------------------------------------------- in the order of the library

void Exchange::meet_neighbours() {
  std::string nothing;
  send((rank_ + 1) % size_, message({}));
  receive((rank_ + size_ - 1) % size_, nothing, 0);
}

void Exchange::sum_in_any_order() {
  for (const Segment& s : job_.segments) {
    if (s.dtype != DType::F32 && s.dtype != DType::F64) return sum_large();
  }
  meet_neighbours();
  if (!job_.error.empty()) return;
  std::vector<MPI_Request> requests;
  for (const Segment& s : job_.segments) {
    std::memcpy(s.result, s.nodes[0], s.count * dtype_size(s.dtype));
    for (size_t k = 1; k < s.nodes.size(); ++k) add(s.dtype, s.result, s.result, s.nodes[k], s.count);
    for (size_t from = 0; from < s.count; from += kMostMessage / 8) {
      const int count = static_cast<int>(std::min(s.count - from, kMostMessage / 8));
      MPI_Iallreduce(MPI_IN_PLACE, at(s.result, from, s.dtype), count, s.dtype == DType::F32 ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                     comm_, &requests.emplace_back());
    }
  }
  finish(requests);
}

}  // namespace tfl::mpi
