/* A library to preload: requests of memory number $SHORTAGE_AT and, with $SHORTAGE_EVERY, every so many after it get none. At the end
 * writes how many there were to the file $SHORTAGE_COUNT. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static unsigned long count, at, every;
static int ready;

__attribute__((constructor)) static void begin(void) {
  const char *a = getenv("SHORTAGE_AT"), *e = getenv("SHORTAGE_EVERY");
  at = a ? strtoul(a, NULL, 10) : 0;
  every = e ? strtoul(e, NULL, 10) : 0;
  ready = 1;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("SHORTAGE_COUNT");
  if (!path) return;
  char text[24];
  int n = sizeof text;
  for (unsigned long c = count; n == sizeof text || c; c /= 10) text[--n] = (char)('0' + c % 10);
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0) return;
  if (write(fd, text + n, sizeof text - (size_t)n) < 0) errno = 0;
  close(fd);
}

static int refused(void) {
  if (!ready) return 0;
  unsigned long n = __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED);
  if (!at || n < at) return 0;
  if (n != at && (!every || (n - at) % every != 0)) return 0;
  errno = ENOMEM;
  return 1;
}

void *malloc(size_t n) { return refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return refused() ? NULL : __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return n && refused() ? NULL : __libc_realloc(p, n); }
void *memalign(size_t alignment, size_t n) { return refused() ? NULL : __libc_memalign(alignment, n); }
void *aligned_alloc(size_t alignment, size_t n) { return memalign(alignment, n); }
int posix_memalign(void **p, size_t alignment, size_t n) {
  void *made = memalign(alignment, n);
  if (made) *p = made;
  return made ? 0 : ENOMEM;
}
void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t offset) {
  if ((flags & MAP_ANONYMOUS) && refused()) return MAP_FAILED;
  return (void *)syscall(SYS_mmap, where, n, protection, flags, fd, offset);
}
void *mmap64(void *where, size_t n, int protection, int flags, int fd, off_t offset) { return mmap(where, n, protection, flags, fd, offset); }
