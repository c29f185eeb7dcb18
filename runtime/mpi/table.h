// libtfl_mpi.so: what the program asks of it. Workers are the processes of one MPI job; they sum tensors and exchange bytes. All of MPI
// runs on a thread of the library's own, which takes jobs one after the other. This header must not know MPI's types, nor about scripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/tensor/dtype.h"

namespace tfl::mpi {

struct World {
  int rank = 0, size = 1;
  int say = 2;          // the descriptor on which the end of the run is told; set by the program
  std::string library;  // MPI's own words: "Open MPI v4.1.4, ..."
};

/// Elements that are summed over the leaves of a tree: leaf i belongs to the worker that owns_leaf(i) tells.
struct Segment {
  DType dtype = DType::F32;
  size_t count = 0;
  std::vector<const void*> nodes;  // this worker's largest whole subtrees, from left to right
  void* result = nullptr;          // where every worker gets the sum
};

/// What all workers do together. Those of a job must be alike: `text` says what it is, for people, when two workers came to different ones.
struct Job {
  enum class Kind : uint8_t { Sum, Gather, End };
  Kind kind = Kind::Gather;
  std::string text;
  int leaves = 0;  // Sum
  std::vector<Segment> segments;
  bool any_order = false;             // Sum: the library's own order of additions, which is not the tree's
  std::string given;                  // Gather: the bytes of this worker
  std::vector<std::string> gathered;  // and of all
  std::string error;                  // empty where all went well
  bool done = false;                  // guarded by the library
  uint64_t busy_nanoseconds = 0;      // from its first message to its last
};

/// The functions of the library.
struct Table {
  /// Joins the workers; once. False with the reason in `error`.
  bool (*start)(World& world, std::string& error);
  /// Hands over a job, which must stay where it is until wait() has said that it is done.
  void (*begin)(Job* job);
  /// Waits so many milliseconds; true when the job is done.
  bool (*wait)(Job* job, int milliseconds);
  /// What is told when a worker dies: "step 40 in backup/".
  void (*checkpoint)(const std::string& text);
  /// This worker's script ended by an error: `text` is told once for all workers, who end. It returns only where nobody else is there.
  void (*fail)(const std::string& text, int code);
  /// The end of a script that went well: waits for the others.
  void (*end)(std::string& error);
};

/// The one function that the library exports, under this name: it gives its table.
inline constexpr const char* kEntry = "tfl_mpi_table";
using Entry = const Table* (*)();

/// The largest power of two below n, where a tree over n leaves is divided.
constexpr int left_part(int n) {
  int part = 1;
  while (part * 2 < n) part *= 2;
  return part;
}
/// The first leaf of a worker; that of worker `size` is the number of leaves.
constexpr int first_leaf(int worker, int size, int leaves) {
  return static_cast<int>(static_cast<int64_t>(worker) * leaves / size);
}

/// A part of the tree: leaves from `low` to before `high`.
struct Node {
  int low, high;
};
/// The largest subtrees that lie within leaves `from` to before `to`, from left to right.
inline void whole_nodes(Node tree, int from, int to, std::vector<Node>& out) {
  if (tree.high <= from || tree.low >= to) return;
  if (tree.low >= from && tree.high <= to) {
    out.push_back(tree);
    return;
  }
  const int middle = tree.low + left_part(tree.high - tree.low);
  whole_nodes({tree.low, middle}, from, to, out);
  whole_nodes({middle, tree.high}, from, to, out);
}

}  // namespace tfl::mpi
