#include "runtime/threads/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tfl {

namespace {

inline void pause_briefly() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// How often a thread looks again before it sleeps: some 20 microseconds. Work often comes in quick succession, and waking a
// sleeper takes longer than this.
constexpr int kSpins = 400;

struct Job {
  void (*call)(void*, int64_t, int64_t) = nullptr;
  void* body = nullptr;
  int64_t n = 0;
  int64_t grain = 1;
};

}  // namespace

// A job is open from its start until the caller finds no chunk left. A worker enters it by counting itself into `state` while it
// is open; one that wakes too late finds it closed and goes back to sleep, so the caller never waits for a thread that the
// system has not run yet.
struct ThreadPool::State {
  static constexpr uint32_t kOpen = 1;
  static constexpr uint32_t kOneInside = 2;

  Job job;
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<uint32_t> state{0};   // kOpen, and kOneInside for each worker inside
  alignas(64) std::atomic<uint32_t> signal{0};  // counts jobs; workers wait for it to change
  std::atomic<bool> stop{false};
  bool busy = false;  // only the owner's thread writes it; a worker that reads it is inside a job
  int size = 1;
  std::vector<std::thread> workers;

  void work() {
    const Job j = job;
    int64_t chunks = (j.n + j.grain - 1) / j.grain;
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) {
      j.call(j.body, i * j.grain, std::min(j.n, (i + 1) * j.grain));
    }
  }

  void worker() {
    uint32_t seen = 0;
    for (;;) {
      for (int i = 0; i < kSpins && signal.load(std::memory_order_acquire) == seen; ++i) pause_briefly();
      signal.wait(seen, std::memory_order_acquire);
      seen = signal.load(std::memory_order_acquire);
      if (stop.load(std::memory_order_acquire)) return;
      uint32_t s = state.load(std::memory_order_acquire);
      while ((s & kOpen) && !state.compare_exchange_weak(s, s + kOneInside, std::memory_order_acq_rel)) {
      }
      if (!(s & kOpen)) continue;
      work();
      state.fetch_sub(kOneInside, std::memory_order_acq_rel);
      state.notify_one();
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(new State) {
  state_->size = std::max(1, threads);
  for (int i = 1; i < state_->size; ++i) state_->workers.emplace_back([s = state_.get()] { s->worker(); });
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_release);
  state_->signal.fetch_add(1, std::memory_order_acq_rel);
  state_->signal.notify_all();
  for (std::thread& t : state_->workers) t.join();
}

int ThreadPool::size() const { return state_->size; }

void ThreadPool::run(int64_t n, int64_t grain, void (*call)(void*, int64_t, int64_t), void* body) {
  State& s = *state_;
  grain = std::max<int64_t>(grain, 1);
  if (n <= grain || s.workers.empty() || s.busy) {
    for (int64_t first = 0; first < n; first += grain) call(body, first, std::min(n, first + grain));
    return;
  }
  s.busy = true;
  s.job = {call, body, n, grain};
  s.next.store(0, std::memory_order_relaxed);
  s.state.store(State::kOpen, std::memory_order_release);
  s.signal.fetch_add(1, std::memory_order_acq_rel);
  s.signal.notify_all();
  s.work();
  uint32_t inside = s.state.fetch_and(~State::kOpen, std::memory_order_acq_rel) & ~State::kOpen;
  for (int i = 0; inside != 0; ++i) {
    if (i < kSpins) {
      pause_briefly();
    } else {
      s.state.wait(inside, std::memory_order_acquire);
    }
    inside = s.state.load(std::memory_order_acquire);
  }
  s.busy = false;
}

}  // namespace tfl
