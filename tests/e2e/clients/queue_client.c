/* Asynchronous runs by the thousand: how many threads they make, in which order they come, and what
 * a `done` may wait for. queue_client MODEL ENGINES SLOW_ENGINES, MODEL being prepared.gt. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <ge/ge.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/e2e/clients/check.h"

#define CHECK(x) Check((x), #x, __LINE__, &error)
#define CHECK_OK(x) Check((x) == GE_STATUS_OK, #x, __LINE__, &error)

enum { kRuns = 1000, kDims = 8 };

static ge_error error = {.size = sizeof(ge_error)};

static ge_session* Open(const char* model, const char* engines) {
  ge_session_options options;
  ge_session* s = NULL;
  ge_session_options_init(&options);
  options.engines = engines;
  CHECK_OK(ge_session_create(&options, &s, &error));
  CHECK_OK(ge_session_load_file(s, model, GE_FORMAT_AUTO, &error));
  return s;
}

static ge_tensor Vector(float* data, int64_t n) {
  ge_tensor t = {.size = sizeof t, .dtype = 1, .rank = 1, .dims = {n}};
  t.data = data;
  t.bytes = (uint64_t)n * sizeof(float);
  return t;
}

static void SleepMs(long ms) {
  const struct timespec t = {ms / 1000, ms % 1000 * 1000000};
  nanosleep(&t, NULL);
}

static int Threads(void) {
  int n = -2; /* . and .. */
  DIR* tasks = opendir("/proc/self/task");
  while (tasks && readdir(tasks)) ++n;
  if (tasks) closedir(tasks);
  return n;
}

static atomic_int told;
static void Count(void* context, ge_status status) {
  ge_status* out = context;
  *out = status;
  ++told;
}

/* All states are written by one after the other, in the order in which they were started. */
static void Many(ge_session* s) {
  static float x[kRuns][kDims], y[kRuns][kDims];
  static ge_tensor out[kRuns];
  static ge_run* run[kRuns];
  static ge_status status[kRuns];
  ge_tensor in;
  const int before = Threads();
  int most = 0;
  told = 0;
  CHECK_OK(ge_session_reset_states(s, &error));
  for (int i = 0; i < kRuns; ++i) {
    for (int k = 0; k < kDims; ++k) x[i][k] = 1;
    in = Vector(x[i], kDims);
    out[i] = Vector(y[i], kDims);
    CHECK_OK(ge_session_run_async(s, i % 2 ? "twice" : "add", &in, 1, &out[i], 1, Count, &status[i],
                                  &run[i], &error));
    const int now = Threads();
    if (now > most) most = now;
  }
  for (int i = 0; i < kRuns; ++i) {
    const int now = Threads();
    if (now > most) most = now;
    CHECK_OK(ge_run_wait(run[i], UINT64_MAX, &error));
    CHECK(status[i] == GE_STATUS_OK);
    ge_run_destroy(run[i]);
  }
  float sum = 0, wanted = 0;
  for (int i = 0; i < kRuns; i += 2) {
    sum += y[i][0];
    wanted += (float)(i / 2 + 1);
  }
  CHECK(told == kRuns && sum == wanted); /* 1, 2, ... 500 in whatever order */
  printf("%d runs: %d threads before, at most %d\n", kRuns, before, most);
  /* One a core, at least 4, and one that watches; a helper of an engine may come meanwhile. */
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  CHECK(most <= before + (cores > 4 ? (int)cores : 4) + 2);
}

/* Each `done` waits for the run that was started after it: no thread is left for that one. */
struct Chain {
  ge_run* next;
  ge_status waited;
};
static void WaitForNext(void* context, ge_status status) {
  struct Chain* c = context;
  while (!*(ge_run* volatile*)&c->next) SleepMs(1);
  c->waited = status == GE_STATUS_OK ? ge_run_wait(c->next, UINT64_MAX, NULL) : status;
}

static void Chained(ge_session* s) {
  enum { kChain = 24 };
  static float x[kDims], y[kChain][kDims];
  struct Chain chain[kChain] = {{NULL, 99}};
  ge_tensor in = Vector(x, kDims), out[kChain];
  ge_run* run[kChain] = {NULL};
  for (int i = 0; i < kChain; ++i) {
    const int last = i + 1 == kChain;
    out[i] = Vector(y[i], kDims);
    chain[i].waited = last ? GE_STATUS_OK : 99;
    CHECK_OK(ge_session_run_async(s, "twice", &in, 1, &out[i], 1, last ? NULL : WaitForNext,
                                  &chain[i], &run[i], &error));
    if (i > 0) *(ge_run* volatile*)&chain[i - 1].next = run[i];
  }
  for (int i = 0; i < kChain; ++i) {
    CHECK_OK(ge_run_wait(run[i], UINT64_MAX, &error));
    CHECK(chain[i].waited == GE_STATUS_OK);
    ge_run_destroy(run[i]);
  }
}

/* A run that is cancelled before its turn ends now, while those before it go on. */
static void CancelWaiting(ge_session* s) {
  enum { kSlow = 12 };
  static float x[kDims], y[kSlow][kDims];
  static ge_status status[kSlow];
  ge_tensor in = Vector(x, kDims), out[kSlow];
  ge_run* run[kSlow];
  for (int i = 0; i < kSlow; ++i) {
    out[i] = Vector(y[i], kDims);
    status[i] = 99;
    CHECK_OK(
        ge_session_run_async(s, "add", &in, 1, &out[i], 1, Count, &status[i], &run[i], &error));
  }
  CHECK_OK(ge_run_cancel(run[kSlow - 1]));
  CHECK(ge_run_wait(run[kSlow - 1], UINT64_MAX, &error) == GE_STATUS_CANCELLED);
  CHECK(status[kSlow - 1] == GE_STATUS_CANCELLED);
  CHECK(ge_run_wait(run[kSlow - 2], 0, &error) == GE_STATUS_DEADLINE_EXCEEDED); /* still going */
  CHECK_OK(ge_session_cancel(s)); /* those that wait, too */
  for (int i = 0; i < kSlow - 1; ++i) {
    const ge_status ended = ge_run_wait(run[i], UINT64_MAX, &error);
    CHECK(ended == GE_STATUS_CANCELLED || (i < 4 && ended == GE_STATUS_OK));
  }
  for (int i = 0; i < kSlow; ++i) ge_run_destroy(run[i]);
}

/* The time of a run counts from its start, also while it waits. */
static void LateWaiting(ge_session* s) {
  enum { kSlow = 8 };
  static float x[kDims], y[kSlow][kDims];
  ge_tensor in = Vector(x, kDims), out[kSlow];
  ge_run* run[kSlow];
  CHECK_OK(ge_session_set_time_limit(s, 20));
  int late = 0;
  for (int i = 0; i < kSlow; ++i) {
    out[i] = Vector(y[i], kDims);
    CHECK_OK(ge_session_run_async(s, "add", &in, 1, &out[i], 1, NULL, NULL, &run[i], &error));
  }
  for (int i = 0; i < kSlow; ++i) {
    late += ge_run_wait(run[i], UINT64_MAX, &error) == GE_STATUS_DEADLINE_EXCEEDED;
    ge_run_destroy(run[i]);
  }
  CHECK(late >= kSlow / 2); /* one after the other, and each takes longer than that */
  CHECK_OK(ge_session_set_time_limit(s, 0));
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: queue_client MODEL ENGINES SLOW_ENGINES\n");
    return 2;
  }
  ge_session* s = Open(argv[1], argv[2]);
  if (!failed) {
    Many(s);
    Chained(s);
    Many(s);
  }
  ge_session_destroy(s);
  s = Open(argv[1], argv[3]);
  if (!failed) {
    CancelWaiting(s);
    LateWaiting(s);
  }
  ge_session_destroy(s);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
