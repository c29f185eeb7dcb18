// Plans on their way to machine code: looked up on disk, compiled by the caller or by a thread of its own. This header must not
// know graphs or tensors: what it holds is read by two threads.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "codegen/jit/jit.h"
#include "codegen/load/object_cache.h"
#include "codegen/plan/plan.h"

namespace tfl::codegen {

/// One plan and its code, shared by all clusters with the same plan.
struct Unit {
  enum Phase : uint8_t { waiting, queued, compiling, ready, failed };

  plan::Plan plan;  // without constants: tensors belong to the thread of their context
  LineTable lines;
  ObjectKey key{};
  std::atomic<uint8_t> phase{waiting};
  std::shared_ptr<const LoadedCode> code;  // when it is ready; not written after that
  std::string error;                       // when it failed
};

/// Belongs to the thread of its context, but for what its own thread does.
class CompileQueue {
 public:
  explicit CompileQueue(const JitOptions& options);
  ~CompileQueue();
  void stop();  // as in jit.h
  CompileQueue(const CompileQueue&) = delete;
  CompileQueue& operator=(const CompileQueue&) = delete;

  /// The unit of a plan whose text is `text`: one that is there already, or a new one, which is ready when its object lies on
  /// disk.
  std::shared_ptr<Unit> unit(plan::Plan plan, std::string_view text);
  /// Leaves a unit to the other thread; nothing when it has it already.
  void compile_later(const std::shared_ptr<Unit>& unit);
  /// The same before all others, and waits until it is ready or has failed, an interrupt comes, or that many seconds have passed.
  void compile_soon(const std::shared_ptr<Unit>& unit, const std::atomic<uint32_t>& interrupt, double seconds);
  JitCounts counts() const;

 private:
  struct KeyHash {
    size_t operator()(const ObjectKey& k) const;
  };
  struct Compiler;
  struct Worker;

  bool start_worker();
  void enqueue(const std::shared_ptr<Unit>& unit, bool first);

  std::shared_ptr<const Compiler> compiler_;
  std::unordered_map<ObjectKey, std::weak_ptr<Unit>, KeyHash> units_;
  size_t sweep_at_ = 64;
  std::shared_ptr<Worker> worker_;
};

}  // namespace tfl::codegen
