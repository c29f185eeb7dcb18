/* Threads of one context. They sleep between calls; for a short while after a piece of work they look for the next one. */
#include "runtime/standalone/standalone.h"

typedef struct tfls_pool {
  pthread_mutex_t lock;
  pthread_cond_t wake, done;
  pthread_t *thread;
  int threads;
  _Atomic uint64_t round; /* counts pieces of work */
  bool stop;
  void (*body)(void *, int64_t, int64_t);
  void *argument;
  int64_t units, grain;
  _Atomic int64_t next;
  _Atomic int running; /* workers that have not finished this round */
  bool busy;
} pool;

enum { SPINS = 2000 };

static void rest(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

static void work(pool *p) {
  for (;;) {
    int64_t first = atomic_fetch_add_explicit(&p->next, p->grain, memory_order_relaxed);
    if (first >= p->units) return;
    int64_t last = first + p->grain;
    p->body(p->argument, first, last < p->units ? last : p->units);
  }
}

static void *worker(void *argument) {
  pool *p = argument;
  uint64_t seen = 0;
  for (;;) {
    for (int i = 0; i < SPINS && atomic_load_explicit(&p->round, memory_order_acquire) == seen; ++i) rest();
    pthread_mutex_lock(&p->lock);
    while (atomic_load_explicit(&p->round, memory_order_relaxed) == seen && !p->stop) pthread_cond_wait(&p->wake, &p->lock);
    if (p->stop) {
      pthread_mutex_unlock(&p->lock);
      return NULL;
    }
    seen = atomic_load_explicit(&p->round, memory_order_relaxed);
    pthread_mutex_unlock(&p->lock);
    work(p);
    if (atomic_fetch_sub_explicit(&p->running, 1, memory_order_acq_rel) != 1) continue;
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
  while (p->threads < threads - 1 && pthread_create(&p->thread[p->threads], NULL, worker, p) == 0) ++p->threads;
  return p;
}

void tfls_pool_free(struct tfls_pool *p) {
  if (!p) return;
  pthread_mutex_lock(&p->lock);
  p->stop = true;
  atomic_fetch_add(&p->round, 1);
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
  pthread_mutex_lock(&p->lock);
  p->body = body;
  p->argument = argument;
  p->units = units;
  p->grain = grain;
  atomic_store_explicit(&p->next, 0, memory_order_relaxed);
  atomic_store_explicit(&p->running, p->threads, memory_order_relaxed);
  atomic_fetch_add_explicit(&p->round, 1, memory_order_release);
  pthread_cond_broadcast(&p->wake);
  pthread_mutex_unlock(&p->lock);
  work(p);
  for (int i = 0; i < SPINS && atomic_load_explicit(&p->running, memory_order_acquire) != 0; ++i) rest();
  pthread_mutex_lock(&p->lock);
  while (atomic_load_explicit(&p->running, memory_order_acquire) != 0) pthread_cond_wait(&p->done, &p->lock);
  pthread_mutex_unlock(&p->lock);
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
