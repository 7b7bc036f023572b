/* A time limit and a cancel end the load of a pipe, and the making of a batch, before half of the
 * work is done, by the process's own time; the same call then succeeds, and no thread is left.
 * cancel_client MODEL HOW PIPE...: HOW is load or next. Prints how long each call took to end. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <ge/ge.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/e2e/clients/check.h"

static ge_error error = {.size = sizeof(ge_error)};

static void Checked(int good, const char* pipe, const char* what, int line) {
  char text[300];
  snprintf(text, sizeof text, "%s: %s", pipe, what);
  Check(good, text, line, &error);
}
#define CHECK(x) Checked((x), pipe, #x, __LINE__)
#define CHECK_OK(x) CHECK((x) == GE_STATUS_OK)

static double Seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int Threads(void) {
  int n = 0;
  DIR* d = opendir("/proc/self/task");
  while (d && readdir(d)) ++n;
  if (d) closedir(d);
  return n;
}

typedef struct Work {
  const char *model, *pipe;
  int next; /* else load */
  ge_session* session;
  ge_batches* batches;
} Work;

/* The work alone, which a limit of some milliseconds or none ends. */
static ge_status Do(Work* w, uint64_t limit_ms) {
  if (!w->next) {
    ge_session_set_time_limit(w->session, limit_ms);
    return ge_session_load_file(w->session, w->model, GE_FORMAT_AUTO, &error);
  }
  ge_run_options run = {.size = sizeof run, .time_limit_ms = limit_ms};
  ge_batch* batch = NULL;
  const ge_status status = ge_batches_next(w->batches, &run, &batch, &error);
  ge_batch_release(batch);
  return status;
}

static void Open(Work* w) {
  const char* pipe = w->pipe;
  char pass[4000];
  ge_session_options options;
  ge_session_options_init(&options);
  options.plugins = "data";
  options.prices = GE_PRICES_ANALYTIC;
  snprintf(pass, sizeof pass, "data:pipe=\"%s\";batch=1", pipe);
  options.passes = pass;
  w->batches = NULL;
  CHECK_OK(ge_session_create(&options, &w->session, &error));
  if (!w->next) return;
  CHECK_OK(ge_session_load_file(w->session, w->model, GE_FORMAT_AUTO, &error));
  ge_batches_options o;
  ge_batches_options_init(&o);
  o.batch = o.rows = 1; /* nothing is made yet */
  CHECK_OK(ge_batches_create(w->session, &o, &w->batches, &error));
}

static void Close(Work* w) {
  ge_batches_destroy(w->batches);
  ge_session_destroy(w->session);
}

typedef struct Canceller {
  Work* work;
  double at;
  int ended;
} Canceller;

/* Cancels what the session does every millisecond until it has ended. */
static void* Cancel(void* given) {
  Canceller* c = given;
  const struct timespec some = {0, 1000000};
  while (!__atomic_load_n(&c->ended, __ATOMIC_ACQUIRE)) {
    nanosleep(&some, NULL);
    if (c->at == 0) c->at = Seconds(CLOCK_MONOTONIC);
    ge_session_cancel(c->work->session);
  }
  return NULL;
}

static void Ends(const char* model, int next, const char* pipe) {
  Work w = {model, pipe, next, NULL, NULL};
  pthread_t thread;
  double spent[3], late[2];
  Open(&w);
  double cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID), begin = Seconds(CLOCK_MONOTONIC);
  CHECK(Do(&w, 1) == GE_STATUS_DEADLINE_EXCEEDED);
  late[0] = Seconds(CLOCK_MONOTONIC) - begin;
  spent[0] = Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

  Canceller canceller = {&w, 0, 0};
  ge_session_set_time_limit(w.session, 0);
  cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  CHECK(pthread_create(&thread, NULL, Cancel, &canceller) == 0);
  CHECK(Do(&w, 0) == GE_STATUS_CANCELLED);
  const double end = Seconds(CLOCK_MONOTONIC);
  __atomic_store_n(&canceller.ended, 1, __ATOMIC_RELEASE);
  pthread_join(thread, NULL);
  late[1] = end - canceller.at;
  spent[1] = Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;

  cpu = Seconds(CLOCK_PROCESS_CPUTIME_ID);
  CHECK_OK(Do(&w, 0));
  spent[2] = Seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu;
  CHECK(spent[0] < spent[2] / 2);
  CHECK(spent[1] < spent[2] / 2);
  printf("%-50.50s ended %.3f s late, %.3f s when cancelled; took %.3f, %.3f of %.3f s of work\n",
         pipe, late[0], late[1], spent[0], spent[1], spent[2]);
  Close(&w);
}

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const int next = strcmp(argv[2], "next") == 0;
  const char* pipe = argv[3];
  Work first = {argv[1], pipe, 0, NULL, NULL}; /* starts what stays: the pool, the clock */
  Open(&first);
  ge_session_set_time_limit(first.session, 1);
  (void)ge_session_load_file(first.session, argv[1], GE_FORMAT_AUTO, &error);
  Close(&first);
  const int before = Threads();
  for (int i = 3; i < argc; ++i) Ends(argv[1], next, argv[i]);
  CHECK(Threads() == before);
  printf("%d passed, %d failed, 0 skipped\n", passed, failed);
  return failed != 0;
}
