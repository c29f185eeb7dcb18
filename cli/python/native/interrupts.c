/* Ctrl-C while TFL works: Python notes the signal and does nothing before its next instruction, so TFL is told as well. */
#include <pthread.h>
#include <signal.h>

#include "native.h"

static tfl_interp *volatile working; /* for the main thread */
static pthread_t main_thread;
static void (*python_handler)(int);

static void on_interrupt(int number) {
  if (working) tfl_interp_cancel(working);
  python_handler(number);
}

tfl_interp *begin_work(tfl_interp *interp) {
  if (!python_handler || !pthread_equal(pthread_self(), main_thread)) return NULL;
  tfl_interp *before = working;
  working = interp;
  return before;
}

void end_work(tfl_interp *before) {
  if (python_handler && pthread_equal(pthread_self(), main_thread)) working = before;
}

/* To be called on Python's main thread. A program that sets a handler of its own later has that alone. */
void watch_interrupts(void) {
  struct sigaction action;
  if (python_handler || sigaction(SIGINT, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) || action.sa_handler == SIG_DFL ||
      action.sa_handler == SIG_IGN)
    return;
  main_thread = pthread_self();
  python_handler = action.sa_handler;
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, NULL);
}
