// Element memory with its limit, the heap of small objects, threads.
#include "tests/unit/tensors.h"

#include <atomic>
#include <numeric>

#include "runtime/threads/thread_pool.h"

using namespace tfl;
using namespace tfl::test;

TEST_CASE("the pool counts, caches and obeys its limit", "[memory]") {
  MemoryPool pool(10 << 20);
  void* a = pool.allocate(1000).take();
  CHECK(reinterpret_cast<uintptr_t>(a) % 64 == 0);
  CHECK(pool.live_bytes() == 1000);
  pool.release(a, 1000);
  CHECK(pool.live_bytes() == 0);
  CHECK(pool.peak_bytes() == 1000);
#ifndef TFL_SANITIZED
  CHECK(pool.allocate(999).take() == a);  // the block comes back
  pool.release(a, 999);
#endif
  auto refused = pool.allocate(11 << 20);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind == ErrorKind::ResourceExhaustedError);
  CHECK_FALSE(pool.allocate(SIZE_MAX).ok());
  void* large = pool.allocate(6 << 20).take();
  CHECK(reinterpret_cast<uintptr_t>(large) % (2 << 20) == 0);
  std::memset(large, 1, 6 << 20);
  CHECK_FALSE(pool.allocate(6 << 20).ok());
  CHECK(pool.reserve(1 << 20));
  CHECK_FALSE(pool.reserve(5 << 20));
  pool.unreserve(1 << 20);
  pool.release(large, 6 << 20);
  CHECK(pool.live_bytes() == 0);
  pool.reset_peak();
  CHECK(pool.peak_bytes() == 0);
}

TEST_CASE("blocks of all sizes hold what is written to them", "[memory]") {
  MemoryPool pool(size_t{1} << 30);
  std::vector<std::pair<void*, size_t>> blocks;
  for (size_t n : {1, 63, 64, 65, 200, 256, 257, 300, 320, 321, 4096, 4097, 100000, 2097152, 2097153, 5000000}) {
    for (int i = 0; i < 3; ++i) {
      void* p = pool.allocate(n).take();
      std::memset(p, static_cast<int>(blocks.size()), n);
      blocks.push_back({p, n});
    }
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    auto* p = static_cast<unsigned char*>(blocks[i].first);
    CHECK(p[0] == static_cast<unsigned char>(i));
    CHECK(p[blocks[i].second - 1] == static_cast<unsigned char>(i));
  }
  for (auto [p, n] : blocks) pool.release(p, n);
  pool.trim();
  CHECK(pool.live_bytes() == 0);
}

TEST_CASE("the limit of a context reaches scripts as ResourceExhaustedError", "[memory]") {
  ContextOptions o;
  o.memory_limit = 1 << 20;
  Context c(o);
  auto r = Tensor::empty(c, DType::F32, Dims{1 << 20});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().kind == ErrorKind::ResourceExhaustedError);
  CHECK(r.error().message.starts_with("OOM when allocating tensor with shape[1048576] and type float"));
  CHECK(Tensor::empty(c, DType::F32, Dims{1000}).ok());
}

TEST_CASE("a context frees what is still alive", "[memory]") {
  Tensor* kept;
  {
    Context c(options(1));
    kept = new Tensor(Tensor::empty(c, DType::F32, Dims{1000}).take());
    kept->leak();
  }
  delete kept;
  SUCCEED();
}

TEST_CASE("the heap gives memory back to the class it came from", "[memory]") {
  Heap heap;
  void* a = heap.allocate(40);
  static_cast<Counted*>(a)->kind = 2;
  void* big = heap.allocate(100000);
  static_cast<Counted*>(big)->kind = 2;
  int live = 0;
  heap.for_each_live([&](Counted*) { ++live; });
  CHECK(live == 2);
  Heap::release(a, 40);
  Heap::release(big, 100000);
  CHECK(heap.allocate(48) == a);
}

TEST_CASE("parallel_for covers everything once, in the same chunks with any number of threads", "[threads]") {
  for (int threads : {1, 2, 3, 5}) {
    ThreadPool pool(threads);
    for (int64_t n : {0, 1, 7, 1000, 100000}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(n));
      std::atomic<int> wrong{0};
      pool.parallel_for(n, 64, [&](int64_t first, int64_t last) {
        if (first % 64 || (last != n && last - first != 64)) ++wrong;
        for (int64_t i = first; i < last; ++i) ++seen[static_cast<size_t>(i)];
      });
      CHECK(wrong == 0);
      CHECK(std::all_of(seen.begin(), seen.end(), [](const std::atomic<int>& s) { return s == 1; }));
    }
  }
}

TEST_CASE("nested and many short jobs end", "[threads]") {
  ThreadPool pool(3);
  std::atomic<int64_t> total{0};
  for (int round = 0; round < 300; ++round) {
    pool.parallel_for(10, 1, [&](int64_t first, int64_t last) {
      pool.parallel_for(4, 1, [&](int64_t a, int64_t b) { total += (last - first) * (b - a); });
    });
  }
  CHECK(total == 300 * 40);
}

namespace {

struct CountTask final : Task {
  explicit CountTask(std::atomic<int64_t>& t) : total(t) {}
  void run() override {
    for (int i = 0; i < 1000; ++i) sum += i;
    total += 1;
  }
  std::atomic<int64_t>& total;
  int64_t sum = 0;  // what the owner reads when it is done
};

}  // namespace

TEST_CASE("tasks are done once, by workers or by who claims them, beside jobs", "[threads]") {
  for (int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::atomic<int64_t> total{0}, units{0};
    int64_t sums = 0;
    for (int round = 0; round < 200; ++round) {
      std::vector<std::shared_ptr<CountTask>> tasks;
      for (int i = 0; i < 5; ++i) {
        tasks.push_back(std::make_shared<CountTask>(total));
        pool.start(tasks.back());
      }
      pool.parallel_for(10, 1, [&](int64_t first, int64_t last) { units += last - first; });
      for (const auto& task : tasks) {
        if (task->claim()) {
          task->run();
        } else {
          while (!pool.wait_a_little(*task)) {
          }
        }
        sums += task->sum;
      }
    }
    CHECK(total == 1000);
    CHECK(sums == int64_t{1000} * 499500);
    CHECK(units == 2000);
  }
}

TEST_CASE("a pool goes without the tasks that have not begun", "[threads]") {
  std::atomic<int64_t> total{0};
  std::vector<std::shared_ptr<CountTask>> tasks;
  {
    ThreadPool pool(2);
    for (int i = 0; i < 50; ++i) {
      tasks.push_back(std::make_shared<CountTask>(total));
      pool.start(tasks.back());
    }
  }
  for (const auto& task : tasks) {
    if (task->claim()) task->run();
  }
  CHECK(total == 50);
}
