#include "runtime/threads/thread_pool.h"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
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
// system has not run yet. Between jobs it does tasks; a job that begins meanwhile does without it.
struct ThreadPool::State {
  static constexpr uint32_t kOpen = 1;
  static constexpr uint32_t kOneInside = 2;

  Job job;
  alignas(64) std::atomic<int64_t> next{0};
  alignas(64) std::atomic<uint32_t> state{0};   // kOpen, and kOneInside for each worker inside
  alignas(64) std::atomic<uint32_t> signal{0};  // counts jobs and tasks; workers wait for it to change
  std::atomic<bool> stop{false};
  bool busy = false;  // only the owner's thread writes it; a worker that reads it is inside a job
  int size = 1;
  std::vector<pthread_t> workers;
  std::mutex mutex;
  std::condition_variable task_done;
  std::deque<std::shared_ptr<Task>> tasks;  // guarded by the mutex
  std::atomic<uint32_t> queued{0};          // how many these are

  std::shared_ptr<Task> next_task() {
    while (queued.load(std::memory_order_acquire) != 0) {
      std::lock_guard lock(mutex);
      if (tasks.empty()) break;
      std::shared_ptr<Task> task = std::move(tasks.front());
      tasks.pop_front();
      queued.fetch_sub(1, std::memory_order_acq_rel);
      if (task->claim()) return task;
    }
    return nullptr;
  }
  /// Runs tasks until there are none, or a job may want this thread.
  void do_tasks(uint32_t seen) {
    while (std::shared_ptr<Task> task = next_task()) {
      task->run();
      {
        std::lock_guard lock(mutex);
        task->phase.store(Task::done, std::memory_order_release);
      }
      task_done.notify_all();
      if (signal.load(std::memory_order_acquire) != seen) return;
    }
  }

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
      if (s & kOpen) {
        work();
        state.fetch_sub(kOneInside, std::memory_order_acq_rel);
        state.notify_one();
      }
      do_tasks(seen);
    }
  }
};

ThreadPool::ThreadPool(int threads) : state_(new State) {
  state_->size = std::max(1, threads);
  auto begin = [](void* state) -> void* {
    static_cast<State*>(state)->worker();
    return nullptr;
  };
  pthread_t thread;
  while (static_cast<int>(state_->workers.size()) + 1 < state_->size &&
         pthread_create(&thread, nullptr, begin, state_.get()) == 0)
    state_->workers.push_back(thread);
  state_->size = static_cast<int>(state_->workers.size()) + 1;  // the system may have no more
}

ThreadPool::~ThreadPool() {
  state_->stop.store(true, std::memory_order_release);
  state_->signal.fetch_add(1, std::memory_order_acq_rel);
  state_->signal.notify_all();
  for (pthread_t t : state_->workers) pthread_join(t, nullptr);
}

void ThreadPool::start(std::shared_ptr<Task> task) {
  State& s = *state_;
  if (s.workers.empty()) return;
  {
    std::lock_guard lock(s.mutex);
    s.tasks.push_back(std::move(task));
    s.queued.fetch_add(1, std::memory_order_acq_rel);
  }
  s.signal.fetch_add(1, std::memory_order_acq_rel);
  s.signal.notify_one();
}

bool ThreadPool::wait_a_little(const Task& task) {
  State& s = *state_;
  for (int i = 0; i < kSpins; ++i) {
    if (task.is_done()) return true;
    pause_briefly();
  }
  std::unique_lock lock(s.mutex);
  return s.task_done.wait_for(lock, std::chrono::milliseconds(20), [&] { return task.is_done(); });
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
