// A monotonic clock for tests of prices, preloaded: with GE_PROBE=fixed it stands still but for
// 50 ns a reading and for what engines say that they took, so that no busy neighbour changes what
// is measured. Otherwise it is the machine's, which the machine's own speed is taken with, and what
// engines say comes on top. Other clocks are untouched. Of one process; any thread may read it.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static _Atomic long passed_ns;
static long began_ns;  // of the machine's clock, which waits compare with; 0 where that one goes on

static long machine_ns(void) {
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((constructor)) static void begin(void) {
  const char* probe = getenv("GE_PROBE");
  if (probe && !strcmp(probe, "fixed")) began_ns = machine_ns();
}

// Time passes: ns of it. Engines that are built for the test call this.
void pass_ns(long ns) { atomic_fetch_add(&passed_ns, ns); }

int clock_gettime(clockid_t id, struct timespec* t) {
  if (id != CLOCK_MONOTONIC) return (int)syscall(SYS_clock_gettime, id, t);
  const long ns = began_ns ? began_ns + atomic_fetch_add(&passed_ns, 50) + 50
                           : machine_ns() + atomic_load(&passed_ns);
  t->tv_sec = ns / 1000000000L;
  t->tv_nsec = ns % 1000000000L;
  return 0;
}
