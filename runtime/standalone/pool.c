/* Threads of one context. They sleep between calls; for a short while after a piece of work they look for the next one. */
#include <sched.h>
#include <stdint.h>

#include "runtime/standalone/standalone.h"

typedef struct tfls_pool {
  pthread_mutex_t lock; /* of those who sleep: nobody takes it while all are awake */
  pthread_cond_t wake, done;
  pthread_t *thread;
  int threads;
  _Atomic(uint64_t) gate; /* ROUND times the number of the piece of work, CLOSED once nobody may join any more, how many workers have */
  _Atomic(uint32_t) finished; /* workers that joined and are through */
  _Atomic(int) sleeping;
  _Atomic(bool) waiting, stop; /* the caller sleeps until workers are through; all end */
  void (*body)(void *, int64_t, int64_t);
  void *argument;
  int64_t units, grain;
  _Atomic(int64_t) next;
  bool busy;
} pool;

#define CLOSED (UINT64_C(1) << 16)
#define ROUND (UINT64_C(1) << 17)
enum { SPINS = 2000, ALONE = 256 };

/* What somebody who waits does for the i-th time. After a few microseconds whoever is waited for may want this very processor. */
static void rest(int i) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
  if (i >= ALONE && i % 32 == 0) sched_yield();
}

static void work(pool *p) {
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&p->next, p->grain, memory_order_relaxed);
    if (first >= p->units) return;
    int64_t last = first + p->grain;
    p->body(p->argument, first, last < p->units ? last : p->units);
  }
}

/* Whether there is work that this worker has not seen. */
static bool is_open(pool *p, uint64_t seen) {
  uint64_t gate = atomic_load(&p->gate);
  return !(gate & CLOSED) && gate / ROUND != seen;
}

static void *worker(void *argument) {
  pool *p = argument;
  uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < SPINS && !is_open(p, seen) && !atomic_load_explicit(&p->stop, memory_order_relaxed); ++i) rest(i);
    if (!is_open(p, seen)) {
      pthread_mutex_lock(&p->lock);
      atomic_fetch_add(&p->sleeping, 1);
      while (!is_open(p, seen) && !atomic_load(&p->stop)) pthread_cond_wait(&p->wake, &p->lock);
      atomic_fetch_sub(&p->sleeping, 1);
      pthread_mutex_unlock(&p->lock);
      if (atomic_load(&p->stop)) return NULL;
    }
    uint64_t gate = atomic_load(&p->gate);
    if (gate & CLOSED || gate / ROUND == seen || !atomic_compare_exchange_strong(&p->gate, &gate, gate + 1)) continue;
    seen = gate / ROUND;
    work(p);
    atomic_fetch_add(&p->finished, 1);
    if (!atomic_load(&p->waiting)) continue;
    pthread_mutex_lock(&p->lock);
    pthread_cond_signal(&p->done);
    pthread_mutex_unlock(&p->lock);
  }
}

struct tfls_pool *tfls_pool_new(int threads) {
  pool *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  p->thread = calloc((size_t)threads, sizeof *p->thread);
  if (!p->thread) {
    free(p);
    return NULL;
  }
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->wake, NULL);
  pthread_cond_init(&p->done, NULL);
  atomic_store(&p->gate, CLOSED);
  while (p->threads < threads - 1 && pthread_create(&p->thread[p->threads], NULL, worker, p) == 0) ++p->threads;
  return p;
}

void tfls_pool_free(struct tfls_pool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  atomic_store(&p->stop, true);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  for (int i = 0; i < p->threads; ++i) pthread_join(p->thread[i], NULL);
  pthread_cond_destroy(&p->wake);
  pthread_cond_destroy(&p->done);
  pthread_mutex_destroy(&p->lock);
  free(p->thread);
  free(p);
}

void tfls_pool_run(struct tfls_pool *p, int64_t units, int64_t grain, void (*body)(void *, int64_t, int64_t), void *argument) {
  if (grain < 1) grain = 1;
  if (!p || p->threads == 0 || units <= grain || p->busy) {
    body(argument, 0, units);
    return;
  }
  p->busy = true; /* a context is used by one thread at a time, so this is the caller's alone */
  p->body = body; /* nobody looks at these while the gate is closed */
  p->argument = argument;
  p->units = units;
  p->grain = grain;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_store_explicit(&p->finished, 0, memory_order_relaxed);
  atomic_store(&p->gate, (atomic_load(&p->gate) / ROUND + 1) * ROUND);
  if (atomic_load(&p->sleeping)) {
    pthread_mutex_lock(&p->lock);
    pthread_cond_broadcast(&p->wake);
    pthread_mutex_unlock(&p->lock);
  }
  work(p);
  /* Workers that have not come yet are not waited for. */
  uint32_t joined = (uint32_t)(atomic_fetch_or(&p->gate, CLOSED) % CLOSED);
  for (int i = 0; i < SPINS && atomic_load_explicit(&p->finished, memory_order_acquire) != joined; ++i) rest(i);
  if (atomic_load_explicit(&p->finished, memory_order_acquire) != joined) {
    pthread_mutex_lock(&p->lock);
    atomic_store(&p->waiting, true);
    while (atomic_load(&p->finished) != joined) pthread_cond_wait(&p->done, &p->lock);
    atomic_store(&p->waiting, false);
    pthread_mutex_unlock(&p->lock);
  }
  p->busy = false;
}

void tfls_parallel_for(tfl_context *c, int64_t n, int64_t grain, void (*body)(void *, int64_t, int64_t), void *argument) {
  if (!c->pool && c->threads > 1 && n > grain) c->pool = tfls_pool_new(c->threads);
  tfls_pool_run(c->pool, n, grain, body, argument);
}

/* One after the other: libraries keep to the threads that they were given for kernels. */
int64_t tfls_beside(tfls_frame *frame, const tfls_entry *functions, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    int64_t status = functions[i](frame);
    if (status != 0) return status;
  }
  return 0;
}

/* Kernels have the form of a body: their frame comes first. */
void tfls_parallel(tfls_frame *frame, tfls_kernel kernel, int64_t units, int64_t grain) {
  tfls_parallel_for(frame->self, units, grain, (void (*)(void *, int64_t, int64_t))kernel, frame);
}
